"""What figures of a table should not keep to themselves: periods, overrules, people without score.

A certificate is of all its rows together: a year that began at 1.0 and ended at 0.2 may be 0.8 on
the whole. So every period is judged by itself, at a level that makes one false alarm in all of them
as rare as one of the certificate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairpatch.base import AT_THRESHOLD
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.disclose.reviewed import of_pair
from fairpatch.floor import MIN_PEOPLE, too_few
from fairpatch.inputs.dates import periods
from fairpatch.inputs.made import Overruled, overruled
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.metric import P_RULE, Metric
from fairpatch.patch import Patch
from fairpatch.verdict import Verdict


@dataclass(frozen=True)
class InPeriod:
    """What holds in one period, of one requirement for one sensitive feature."""

    period: str
    requirement: str
    feature: str
    verdict: Verdict
    estimate: Estimate
    """As much as may be shown."""


def about_rows(
    certificate: Certificate, rows: Sequence[Rows], patch: Patch, target: Target
) -> Certificate:
    """The same with what else is to be known of the rows that it is about, which are the last.

    Rows before them are those that were learned from: they say how other periods are.
    """
    found = judged(in_periods(rows, patch, target), target)
    made = overruled_of(rows, patch)
    remarks = [*([] if made is None else [str(made)]), *said(found, learned=len(rows) > 1)]
    if patch.decision.knocks_out:
        counts = [count_rows(some, patch) for some in (rows[-1], rows[-1].with_score)]
        remarks += funnel(*counts)
    return replace(certificate, remarks=(*certificate.remarks, *remarks)).warned(drift(found))


def funnel(everybody: Counts, scored: Counts) -> list[str]:
    """The P-Rule of those who were scored, beside that of everybody who came."""
    none = 1 - scored.total / max(everybody.total, 1)
    if not none:
        return []
    lines = [f"{none:.1%} of the rows have no score: they were denied before, and count so."]
    for feature in everybody.features:
        whole, own = (c.by(feature).known().large(MIN_PEOPLE) for c in (everybody, scored))
        if len(own.groups) < 2 or whole.groups != own.groups:
            continue
        alone, of_all = (of_pair(P_RULE, c, P_RULE.of(c)).value for c in (own, whole))
        shares = ", ".join(
            f"{1 - n / max(size, 1):.0%} of {name}"
            for name, n, size in zip(whole.group_names, own.heads, whole.heads, strict=True)
            if not too_few(size - n)
        )
        if alone is not None and of_all is not None:
            lines.append(
                f"P-Rule of {feature}: {of_all:.2f} of everybody, {alone:.2f} of those who were "
                f"scored (without a score: {shares})."
            )
    return lines


def overruled_of(rows: Sequence[Rows], patch: Patch) -> Overruled | None:
    """How many decisions were made otherwise than the score says; None where none are known."""
    column, known = patch.roles.decided_column, [some for some in rows if some.made is not None]
    if column is None or not known:
        return None
    made, f = (
        np.concatenate(values)
        for values in zip(*((np.asarray(some.made), some.f) for some in known), strict=True)
    )
    return overruled(made, f > 0, np.abs(f) <= AT_THRESHOLD, column)


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
