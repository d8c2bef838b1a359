"""The certificate: whether the requirements hold in the population, not only in the data at hand.

Judged on rows that neither learning nor choosing has seen; how, is each metric's own affair
(``fairpatch.measure.hypothesis_tests``).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairpatch._tools.smallest_count import MIN_PEOPLE, ROUNDED, SMALL_GROUP, too_few
from fairpatch._tools.tables import Table
from fairpatch._tools.verdict import Verdict, worst
from fairpatch.choose.result import Result, drift, in_periods, judged, said
from fairpatch.data.rows import Rows
from fairpatch.data.splits import count_rows
from fairpatch.disclose.protected import Protected, of_pair, reviewed
from fairpatch.disclose.suppress import PublishedCount
from fairpatch.inputs.base import AT_THRESHOLD
from fairpatch.inputs.past_decisions import Overruled, overruled
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import P_RULE, Metric
from fairpatch.measure.places import Places, share_moved
from fairpatch.measure.rates import changed_rate, selection_rate
from fairpatch.measure.recounted import approved_in_part, evenly_known, judge_partly
from fairpatch.patch import Patch
from fairpatch.target import Requirement, Target, judgeable

MOST_NAMED = 5
"""Strata that are named, at most."""
GIVEN_Y = (
    "the target compares people with the same outcome, which cannot be certified where outcomes "
    "are known of the approved only"
)
OF_A_SAMPLE = (
    "It holds if the denied whose outcome is known stand for the others: as many of the approved "
    "were counted for each of them."
)


@dataclass(frozen=True)
class Certificate:
    """A result for every requirement, at one level of confidence each."""

    target: Target
    results: tuple[Result, ...]
    warning: str | None = None
    """What looks odd about the rows that it was judged on."""
    assumption: str | None = None
    """What it rests on, where groups are known by probabilities alone, or outcomes by a sample."""
    counts: Counts | None = field(default=None, repr=False, compare=False)
    """The table that it was judged on; what is shown of it is protected."""
    remarks: tuple[str, ...] = ()
    """What else is to be known of these rows: decisions made otherwise, figures by period."""
    rows_sha256: str | None = field(default=None, compare=False)
    """Of the rows that it was judged on, where they were in memory: who has them can compare."""

    def __getstate__(self) -> dict[str, Any]:
        """What it says, without what was worked out of it to be shown."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def warned(self, warning: str | None) -> "Certificate":
        """The same with one warning more, where there is one."""
        if warning is None:
            return self
        both = [text for text in (self.warning, warning) if text]
        return replace(self, warning="; ".join(both))

    def remarking(self, *remarks: str | None) -> "Certificate":
        """The same with what else is to be known of its rows, where there is anything."""
        said = tuple(text for text in remarks if text)
        return replace(self, remarks=(*self.remarks, *said)) if said else self

    def resting_on(
        self, assumption: str | None, feature: str | None = None, low: float = 0.0
    ) -> "Certificate":
        """The same with one assumption more, where there is one.

        What it certified of this feature holds under that assumption alone, unless the least that
        the P-Rule can be without it, ``low``, is enough.
        """
        if assumption is None:
            return self
        both = [text for text in (self.assumption, assumption) if text]
        results = tuple(
            replace(v, verdict=Verdict.CONDITIONAL)
            if v.verdict is Verdict.CERTIFIED
            and isinstance(v.requirement.metric, Metric)
            and (feature is None or v.feature.startswith(feature))
            and not (v.requirement.metric is P_RULE and low >= v.requirement.limit)
            else v
            for v in self.results
        )
        return replace(self, assumption=" ".join(both), results=results)

    @cached_property
    def shown(self) -> tuple[tuple[Estimate, PublishedCount], ...]:
        """Of each result, as much of its estimate and its people as may be shown."""
        if self.counts is None:
            return tuple((v.estimate, PublishedCount(v.people, v.people)) for v in self.results)
        return self.shown_by(self._reviewed)

    @cached_property
    def _reviewed(self) -> Protected:
        """The table that it was judged on, as much as may be shown of it."""
        if self.counts is None:
            raise ValueError("this certificate does not know its counts")
        return reviewed(self.counts, self.target.metrics)

    @property
    def rests_on(self) -> tuple[str, ...]:
        """What it assumes that these data cannot verify, in sentences."""
        if self.verdict is not Verdict.CONDITIONAL:
            return ()
        untold = (v.about_untold for v in self.results if v.verdict is Verdict.CONDITIONAL)
        return tuple(text for text in (self.assumption, *untold) if text)

    @property
    def headline(self) -> str:
        """In a line: the verdict, and what it costs."""
        return certificate_title(self.verdict, self.target.confidence, self.effect)

    @cached_property
    def effect(self) -> str | None:
        """What it costs to have it, in words: decisions that change, and approvals."""
        return None if self.counts is None else effect_on(self._reviewed)

    @cached_property
    def least_approved(self) -> float | None:
        """Of a patch that refers people: the share of them that must be approved, to a hundredth.

        In every group alike, rate_g(q) = rate of f + q * share referred: certified from here to 1.
        None where not even all of them are enough.
        """
        least = None
        if self.counts is None or self.target.action != "refer":
            return least
        for percent in range(100, -1, -1):
            counts = approved_in_part(self.counts, percent / 100)
            tables = self.target.compare(counts, least=MIN_PEOPLE).values()
            judged = [
                r.metric.judge(table, r.limit, self.target.confidence).verdict
                for r in self.target.fairness_requirements
                for table in tables
            ]
            if not all(verdict.holds for verdict in judged):
                break
            least = percent / 100
        return least

    @cached_property
    def _compared(self) -> dict[str, Counts]:
        """The tables that it was judged on, by what they are called."""
        if self.counts is None:
            return {}
        found = self.target.compare(self.counts, least=MIN_PEOPLE)
        if not self.target.not_compared:
            return found
        return {name: table.known() for name, table in found.items()}

    def shown_by(self, table: Protected) -> tuple[tuple[Estimate, PublishedCount], ...]:
        """The same, of a table of the same people that is protected already."""
        apart = self.target.not_compared or {}
        return tuple(
            (
                _shown(v, table, self._compared.get(v.feature), apart=v.feature in apart),
                _people(v, table),
            )
            for v in self.results
        )

    @property
    def verdict(self) -> Verdict:
        """The worst of its results."""
        return worst(result.verdict for result in self.results)

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [
            (v.requirement, f"{v.feature}{estimate.groups}", v.verdict, estimate, people,
             v.people_needed_about)
            for v, (estimate, people) in zip(self.results, self.shown, strict=True)
        ]  # fmt: skip
        return certificate_table(
            self.verdict,
            self.target.confidence,
            self.effect,
            rows,
            notes(
                self.warning,
                rounded=any(e.within for e, _ in self.shown),
                second_look=second_look(self.target, self.least_approved),
                assumption=self.assumption,
                remarks=self.remarks,
            ),
        )

    __repr__ = __str__


def certificate_title(verdict: Any, confidence: float, effect: str | None) -> str:
    """The verdict, and what it costs to have it."""
    beside = "" if effect is None else f"; {effect}"
    return f"Certificate at {round(100 * confidence, 2):g}%: {verdict}{beside}"


def certificate_table(
    verdict: Any, confidence: float, effect: str | None, rows: Iterable[Sequence[Any]],
    said: list[str],
) -> Table:  # fmt: skip
    """Requirement, feature, verdict, measured, people and people needed of every result."""
    return Table(
        certificate_title(verdict, confidence, effect),
        ["requirement", "feature", "verdict", "measured [limits]", "people", "people needed"],
        [[*map(str, row), "" if needed is None else f"{needed:,}"] for *row, needed in rows],
        said,
    )


def effect_on(table: Protected) -> str | None:
    """Decisions that change and the approval rate before and after; None where few would show."""
    changed, *approved = (
        table.rate(rate) for rate in (changed_rate(), selection_rate("f"), selection_rate("g"))
    )
    before, after = (rate.value for rate in approved)
    if changed.value is None or before is None or after is None:
        return None
    return (
        f"{changed.value:.1%} of decisions change, the approval rate {share_moved(before, after)}"
    )


def second_look(target: Target, least: float | None) -> str | None:
    """What must come of the referrals, in words; None where nobody is referred."""
    if target.action != "refer":
        return None
    if least is None:
        return "Even if every person who is referred is approved, the target is not certified."
    return (
        f"Measured as if every person who is referred were approved. The target is certified if at "
        f"least {least:.0%} of them are, in every group alike."
    )


def notes(
    warning: str | None, *, rounded: bool, second_look: str | None = None,
    assumption: str | None = None, remarks: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """What is said below a certificate's table, here and on the page."""
    notes = [ROUNDED] if rounded else []
    notes += [text for text in (second_look, assumption, *remarks) if text]
    return notes if warning is None else [*notes, f"Warning: {warning}."]


def certify(counts: Counts, target: Target) -> Certificate:
    """Judge decisions on rows that nothing else has touched.

    What conditions on outcomes is judged where everybody's are known; or where those of a sample of
    the denied are, as if the approved had as few.
    """
    assumption = None
    if target.given_y:
        if counts.outcomes == "approved":
            raise ValueError(f"{GIVEN_Y}: {counts.labels}")
        if counts.outcomes == "sample":
            counts, assumption = evenly_known(counts, with_label=True), OF_A_SAMPLE
    by_feature = target.compare(counts, least=MIN_PEOPLE)
    results = tuple(
        _judged_of(requirement, about, of_feature, counts, target)
        for requirement in target.requirements
        for about, of_feature in (
            by_feature if requirement.between_groups else {"everybody": counts}
        ).items()
    )
    judged = Certificate(
        target,
        results,
        counts=counts,
        remarks=(
            *(text for result in results if (text := result.about_others)),
            *(text for result in results if (text := result.about_untold)),
            *_left_out(counts, target),
            *_too_small(counts, target),
            *_not_compared(counts, target),
        ),
    )
    return judged.resting_on(assumption)


def _judged_of(
    requirement: Requirement, about: str, table: Counts, counts: Counts, target: Target
) -> Result:
    """One requirement of one table; where not everybody's group is known, as well as may be."""
    metric, untold = requirement.metric, None
    if isinstance(metric, Metric) and about in counts.features:

        def narrowed(of_feature: Counts) -> Counts:
            return target.compare(of_feature, least=MIN_PEOPLE)[about]

        judgement, untold = judge_partly(
            metric, counts.by(about), narrowed, requirement.limit, target.confidence
        )
    else:
        judgement = metric.judge(table, requirement.limit, target.confidence)
    return replace(
        Result.of(requirement, about, judgement, table.known().group_names), untold=untold
    )


def _left_out(counts: Counts, target: Target) -> Iterator[str]:
    """Groups that the target leaves out, in words."""
    for feature, groups in (target.not_compared or {}).items():
        if feature in counts.features:
            names = ", ".join(map(str, groups))
            yield f"Not compared, as the target says, so nothing is shown of: {names} ({feature})."


def _too_small(counts: Counts, target: Target) -> Iterator[str]:
    """Features with groups that nobody can say anything of, in words."""
    if target.comparisons is not None:
        return
    counts = counts.without(target.not_compared or {})
    for feature in counts.features:
        table = counts.by(feature)
        left = len(table.groups) - len(judgeable(table, MIN_PEOPLE).groups)
        if left:
            which = SMALL_GROUP if left == 1 else f"groups of fewer than {MIN_PEOPLE} people"
            yield f"Not judged, as nobody can say anything of it: {which} ({feature})."


def _not_compared(counts: Counts, target: Target) -> Iterator[str]:
    """Who was compared with nobody, in words; and what holds for all of them together."""
    comparisons = target.comparisons
    if comparisons is None:
        return
    yield from (f"{text}." for text in comparisons.spared(counts))
    names, share, together = comparisons.not_compared(counts)
    if together is None:
        return
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    yield (
        f"Not compared, as too few people of two groups are there: {len(names):,} of "
        f"{len(counts.strata):,} strata, {share:.0%} of the rows ({', '.join(names[:MOST_NAMED])}"
        f"{more})."
    )
    for feature in together.features:
        table = together.by(feature).known()
        if len(table.groups) < 2 or table.heads.min() < MIN_PEOPLE:
            continue
        for r in target.fairness_requirements:
            if isinstance(r.metric, Metric):
                judged = r.metric.judge(table, r.limit, target.confidence)
                value = of_pair(r.metric, table, judged.estimate)
                yield f"All of those together, {feature}: {r} is {judged.verdict}, {value}."


def _shown(result: Result, table: Protected, own: Counts | None, *, apart: bool) -> Estimate:
    """The estimate, where the counts behind it are told; else as much as follows from what is."""
    metric, feature = result.requirement.metric, result.feature
    if isinstance(metric, Places):  # of everybody, to two digits
        few = result.people < MIN_PEOPLE**2
        return Estimate.withhold() if few else result.estimate.rounded()
    if not isinstance(metric, Metric):
        estimate = table.rate(changed_rate())
    elif apart or feature not in table.counts.features:
        # without some groups, of a stratum, or against a reference
        return Estimate.withhold() if own is None else of_pair(metric, own, result.estimate)
    elif any(table.hidden(feature)[i] for i in _judged(table, feature)):
        # a small group is judged with the others, but not shown: then neither is the figure
        return Estimate.withhold()
    else:
        estimate = table.metric(metric, feature)
    whole = estimate.low is not None or (estimate.value is None and not estimate.withheld)
    return result.estimate if whole else estimate


def _people(result: Result, table: Protected) -> PublishedCount:
    """How many people it was judged on: everybody, or those whose feature is known."""
    if not isinstance(result.requirement.metric, Metric):
        return table.people()
    if result.feature not in table.counts.features:
        return PublishedCount.by_tens(result.people)
    judged = _judged(table, result.feature)
    heads = table.by(result.feature).persons
    if heads is not None:  # of people with several rows, those
        whole = not any(table.hidden(result.feature)[i] for i in judged)
        return (
            PublishedCount(result.people, result.people)
            if whole
            else PublishedCount.by_tens(int(heads[judged].sum()))
        )
    groups = [table.people(result.feature, group=i) for i in judged]
    high = [size.high for size in groups]
    most = None if None in high else sum(n for n in high if n is not None)
    return PublishedCount(sum(size.low for size in groups), most)


def _judged(table: Protected, feature: str) -> list[int]:
    """The groups that a certificate compares: all that are known, however small."""
    return table.compared(feature, least=0)


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
