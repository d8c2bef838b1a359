"""What a certificate says of one requirement for one feature: on the whole, and in every period."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch._tools.verdict import Verdict
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.disclose.protected import of_pair
from fairpatch.inputs.values import periods
from fairpatch.measure.counts import Counts
from fairpatch.measure.hypothesis_tests import Judgement
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import Metric
from fairpatch.measure.recounted import Untold
from fairpatch.patch import Patch
from fairpatch.target import Requirement, Target


@dataclass(frozen=True)
class Result:
    """What a certificate says of one requirement for one sensitive feature."""

    requirement: Requirement
    feature: str
    verdict: Verdict
    estimate: Estimate
    """Each end of its interval is a limit at the certificate's confidence."""
    people: int
    people_needed: int | None = None
    """How many would do to certify it with 80 % power, if what was measured is the truth."""
    decides: tuple[str, str] | None = None
    """The two groups of whom least can be shown: they decide the verdict."""
    untold: Untold | None = None
    """What is to be said where some people's group is not known."""

    @property
    def people_needed_about(self) -> int | None:
        """The same to two digits, upwards: more would tell the counts it was worked out from."""
        if self.people_needed is None:
            return None
        step = int(10 ** max(len(str(self.people_needed)) - 2, 0))
        return -(-self.people_needed // step) * step

    @classmethod
    def of(
        cls, requirement: Requirement, feature: str, judgement: Judgement, groups: Sequence[str]
    ) -> "Result":  # fmt: skip
        """What was found, and of what."""
        decides = judgement.decides
        return cls(
            requirement,
            feature,
            judgement.verdict,
            judgement.estimate,
            judgement.people,
            judgement.people_needed,
            None if decides is None else (groups[decides[0]], groups[decides[1]]),
        )

    @property
    def about_untold(self) -> str | None:
        """What the verdict rests on where some people's group is not known, in words."""
        untold = self.untold
        if untold is None:
            return None
        metric = self.requirement.metric
        whatever = f"between {untold.low:.2f} and {untold.high:.2f}"
        who = "a few" if untold.few else f"{untold.share:.1%} of"
        begin = f"Of {who} people {self.feature} is not known"
        if self.verdict is Verdict.CERTIFIED:
            return f"{begin}: {self.requirement} holds whatever it is."
        if untold.why_not is not None:
            return f"{begin}, so that nothing can be shown: {untold.why_not}."
        if_so = " or ".join(f"{how} (then {value:.2f})" for how, value in untold.readings)
        holds = "holds" if self.verdict is Verdict.CONDITIONAL else "is judged as"
        return (
            f"{begin}. {self.requirement} {holds} if whether it is known depends {if_so}. "
            f"Without that the {metric.words} of these people lies {whatever}."
        )

    @property
    def about_others(self) -> str | None:
        """Whom the verdict is about, where those are not the groups that are measured."""
        if self.verdict.holds or self.decides is None:
            return None
        if self.estimate.between is not None and set(self.estimate.between) == set(self.decides):
            return None
        return (
            f"{self.requirement} of {self.feature} is {self.verdict} because of "
            f"{' against '.join(self.decides)}, of whom least can be shown."
        )


# Whether the target holds in every period by itself, where rows have dates.


@dataclass(frozen=True)
class InPeriod:
    """What holds in one period, of one requirement for one sensitive feature."""

    period: str
    requirement: str
    feature: str
    verdict: Verdict
    estimate: Estimate
    """As much as may be shown."""


def in_periods(rows: Sequence[Rows], patch: Patch, target: Target) -> dict[str, Counts]:
    """Counts by period of rows that have one; none where all are of one period."""
    dated = [some for some in rows if some.month is not None]
    if not dated:
        return {}
    months = [np.asarray(some.month) for some in dated]
    names, place = periods(np.concatenate(months))
    if len(names) < 2:
        return {}
    parts = np.split(place, np.cumsum([len(m) for m in months])[:-1])
    tables: dict[str, Counts] = {}
    for k, name in enumerate(names):
        own = [
            count_rows(replace(some.take(at), outcomes=some.outcomes), patch, target.comparisons)
            for some, part in zip(dated, parts, strict=True)
            if len(at := np.flatnonzero(part == k))
        ]
        whole = own[0]
        for more in own[1:]:
            whole = whole + more
        tables[name] = whole
    return tables


def judged(tables: Mapping[str, Counts], target: Target) -> tuple[InPeriod, ...]:
    """Every period that enough people were decided in, judged by itself."""
    level = 1 - (1 - target.confidence) / max(len(tables), 1)
    found = []
    for period, counts in tables.items():
        for feature, table in _compared(counts, target).items():
            if len(table.groups) < 2 or table.heads.min() < MIN_PEOPLE:
                continue
            for r in target.fairness_requirements:
                if not isinstance(r.metric, Metric) or r.metric.given_y:
                    continue
                verdict = r.metric.judge(table, r.limit, level).verdict
                shown = of_pair(r.metric, table, r.metric.of(table))
                found.append(InPeriod(period, str(r), feature, verdict, shown))
    return tuple(found)


def _compared(counts: Counts, target: Target) -> dict[str, Counts]:
    try:
        return {name: table.known() for name, table in target.compare(counts).items()}
    except ValueError:  # nobody to compare in this period
        return {}


def said(found: Sequence[InPeriod], *, learned: bool = False) -> list[str]:
    """The figures of all periods, a sentence for each requirement and feature."""
    whose = "By period, rows that were learned from among them" if learned else "By period"
    lines: dict[tuple[str, str], list[str]] = {}
    for one in found:
        value = "withheld" if one.estimate.value is None else f"{one.estimate.value:.2f}"
        lines.setdefault((one.requirement, one.feature), []).append(f"{one.period} {value}")
    return [f"{whose}, {r}, {feature}: {', '.join(v)}." for (r, feature), v in lines.items()]


def drift(found: Sequence[InPeriod]) -> str | None:
    """Periods in which the target is shown not to hold, whatever it is on the whole."""
    missed: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.verdict is Verdict.REFUTED:
            missed.setdefault((one.requirement, one.feature), []).append(one.period)
    many = len({one.period for one in found})
    texts = [
        f"{r} is shown not to hold for {feature} in {len(some)} of {many} periods: "
        f"{', '.join(some)}"
        for (r, feature), some in missed.items()
    ]
    return "; ".join(texts) or None
