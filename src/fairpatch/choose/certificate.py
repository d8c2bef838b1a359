"""The certificate: whether the requirements hold in the population, not only in the data at hand.

Judged on rows that neither learning nor choosing has seen; how, is each metric's own affair
(``fairpatch.measure.certificate_tests``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fairpatch._table import Table
from fairpatch.choose.target import Requirement, Target
from fairpatch.disclose.protected import Protected
from fairpatch.disclose.published import PublishedCount
from fairpatch.disclose.reviewed import of_pair, reviewed
from fairpatch.floor import MIN_PEOPLE, ROUNDED, full_tens
from fairpatch.measure.certificate_tests import Judgement
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.metric import Metric
from fairpatch.measure.places import Places
from fairpatch.measure.rates import changed_rate
from fairpatch.measure.recounted import approved_in_part
from fairpatch.measure.sampled import evenly_known
from fairpatch.verdict import Verdict, worst

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

    @property
    def people_needed_about(self) -> int | None:
        """The same to two digits, upwards: more would tell the counts it was worked out from."""
        if self.people_needed is None:
            return None
        step = int(10 ** max(len(str(self.people_needed)) - 2, 0))
        return -(-self.people_needed // step) * step

    @classmethod
    def of(cls, requirement: Requirement, feature: str, judgement: Judgement) -> "Result":
        """What was found, and of what."""
        return cls(
            requirement,
            feature,
            judgement.verdict,
            judgement.estimate,
            judgement.people,
            judgement.people_needed,
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

    def warned(self, warning: str | None) -> "Certificate":
        """The same with one warning more, where there is one."""
        if warning is None:
            return self
        both = [text for text in (self.warning, warning) if text]
        return replace(self, warning="; ".join(both))

    def resting_on(self, assumption: str | None) -> "Certificate":
        """The same with one assumption more, where there is one."""
        if assumption is None:
            return self
        both = [text for text in (self.assumption, assumption) if text]
        return replace(self, assumption=" ".join(both))

    @cached_property
    def shown(self) -> tuple[tuple[Estimate, PublishedCount], ...]:
        """Of each result, as much of its estimate and its people as may be shown."""
        if self.counts is None:
            return tuple((v.estimate, PublishedCount(v.people, v.people)) for v in self.results)
        return self.shown_by(reviewed(self.counts, self.target.metrics))

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
            tables = self.target.compare(approved_in_part(self.counts, percent / 100)).values()
            judged = [
                r.metric.judge(table, r.limit, self.target.confidence).verdict
                for r in self.target.fairness_requirements
                for table in tables
            ]
            if any(verdict is not Verdict.CERTIFIED for verdict in judged):
                break
            least = percent / 100
        return least

    @cached_property
    def _compared(self) -> dict[str, Counts]:
        """The tables that it was judged on, by what they are called."""
        return {} if self.counts is None else self.target.compare(self.counts)

    def shown_by(self, table: Protected) -> tuple[tuple[Estimate, PublishedCount], ...]:
        """The same, of a table of the same people that is protected already."""
        return tuple(
            (_shown(v, table, self._compared.get(v.feature)), _people(v, table))
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
            [
                str(v.requirement),
                f"{v.feature}{estimate.groups}",
                v.verdict,
                str(estimate),
                str(people),
                "" if v.people_needed is None else f"{v.people_needed_about:,}",
            ]
            for v, (estimate, people) in zip(self.results, self.shown, strict=True)
        ]
        return Table(
            f"Certificate at {self.target.confidence:.0%}: {self.verdict}",
            ["requirement", "feature", "verdict", "measured [limits]", "people", "people needed"],
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
    by_feature = target.compare(counts)
    return Certificate(
        target,
        tuple(
            Result.of(
                requirement,
                about,
                requirement.metric.judge(feature_counts, requirement.limit, target.confidence),
            )
            for requirement in target.requirements
            for about, feature_counts in (
                by_feature if requirement.between_groups else {"everybody": counts}
            ).items()
        ),
        assumption=assumption,
        counts=counts,
        remarks=tuple(_not_compared(counts, target)),
    )


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


def _shown(result: Result, table: Protected, own: Counts | None) -> Estimate:
    """The estimate, where the counts behind it are told; else as much as follows from what is."""
    metric, feature = result.requirement.metric, result.feature
    if isinstance(metric, Places):  # of everybody, to two digits
        few = result.people < MIN_PEOPLE**2
        return Estimate.withhold() if few else result.estimate.rounded()
    if not isinstance(metric, Metric):
        estimate = table.rate(changed_rate())
    elif feature not in table.counts.features:  # of a stratum, or against a reference
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
        tens = full_tens(result.people)
        return PublishedCount(tens, tens + 9)
    judged = _judged(table, result.feature)
    heads = table.by(result.feature).persons
    if heads is not None:  # of people with several rows, those
        tens = full_tens(int(heads[judged].sum()))
        whole = not any(table.hidden(result.feature)[i] for i in judged)
        return (
            PublishedCount(result.people, result.people)
            if whole
            else PublishedCount(tens, tens + 9)
        )
    groups = [table.people(result.feature, group=i) for i in judged]
    high = [size.high for size in groups]
    most = None if None in high else sum(n for n in high if n is not None)
    return PublishedCount(sum(size.low for size in groups), most)


def _judged(table: Protected, feature: str) -> list[int]:
    """The groups that a certificate compares: all that are known, however small."""
    return table.compared(feature, least=0)
