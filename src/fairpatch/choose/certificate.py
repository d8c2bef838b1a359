"""The certificate: whether the requirements hold in the population, not only in the data at hand.

Judged on rows that neither learning nor choosing has seen; how, is each metric's own affair
(``fairpatch.measure.judge``).
"""

from dataclasses import dataclass, field
from functools import cached_property

from fairpatch.choose.target import Requirement, Target
from fairpatch.measure.counts import Counts
from fairpatch.measure.disclose import Told
from fairpatch.measure.estimate import FEW_BEHIND, Estimate
from fairpatch.measure.floor import ROUNDED
from fairpatch.measure.judge import WORDS, Judgement, Word
from fairpatch.measure.metric import Metric
from fairpatch.measure.protected import Protected
from fairpatch.measure.rates import changed_rate
from fairpatch.measure.reviewed import reviewed
from fairpatch.measure.show import Table


@dataclass(frozen=True)
class Verdict:
    """The verdict on one requirement for one sensitive feature."""

    requirement: Requirement
    feature: str
    word: Word
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
    def of(cls, requirement: Requirement, feature: str, found: Judgement) -> "Verdict":
        """What was found, and of what."""
        return cls(
            requirement, feature, found.word, found.estimate, found.people, found.people_needed
        )


@dataclass(frozen=True)
class Certificate:
    """A verdict on every requirement, at one level of confidence each."""

    target: Target
    verdicts: tuple[Verdict, ...]
    warning: str | None = None
    """What looks odd about the rows that it was judged on."""
    counts: Counts | None = field(default=None, repr=False, compare=False)
    """The table that it was judged on; what is shown of it is protected."""

    @cached_property
    def shown(self) -> tuple[tuple[Estimate, Told], ...]:
        """Of each verdict, as much of its estimate and its people as may be told."""
        if self.counts is None:
            return tuple((v.estimate, Told(v.people, v.people)) for v in self.verdicts)
        return self.shown_by(reviewed(self.counts, self.target.metrics))

    def shown_by(self, table: Protected) -> tuple[tuple[Estimate, Told], ...]:
        """The same, of a table of the same people that is protected already."""
        return tuple((_shown(v, table), _people(v, table)) for v in self.verdicts)

    @property
    def word(self) -> Word:
        """The worst of its verdicts: certified if all are, refuted if one is."""
        return max((v.word for v in self.verdicts), key=WORDS.index)

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [
            [
                str(v.requirement),
                f"{v.feature}{estimate.groups}",
                v.word,
                str(estimate),
                str(people),
                "" if v.people_needed is None else f"{v.people_needed_about:,}",
            ]
            for v, (estimate, people) in zip(self.verdicts, self.shown, strict=True)
        ]
        return Table(
            f"Certificate at {self.target.confidence:.0%}: {self.word}",
            ["requirement", "feature", "verdict", "measured [limits]", "people", "people needed"],
            rows,
            notes(self.warning, rounded=any(e.within for e, _ in self.shown)),
        )

    __repr__ = __str__


def notes(warning: str | None, *, rounded: bool) -> list[str]:
    """What is said below a certificate's table, here and on the page."""
    said = [ROUNDED] if rounded else []
    return said if warning is None else [*said, f"Take care: {warning}."]


def certify(counts: Counts, target: Target) -> Certificate:
    """Judge decisions on rows that nothing else has touched."""
    by_feature = {feature: counts.by(feature) for feature in counts.features}
    return Certificate(
        target,
        tuple(
            Verdict.of(
                requirement,
                about,
                requirement.metric.judge(own, requirement.limit, target.confidence),
            )
            for requirement in target.requirements
            for about, own in (
                by_feature if requirement.between_groups else {"everybody": counts}
            ).items()
        ),
        counts=counts,
    )


def _shown(verdict: Verdict, table: Protected) -> Estimate:
    """The estimate, where the counts behind it are told; else as much as follows from what is."""
    metric, feature = verdict.requirement.metric, verdict.feature
    if not isinstance(metric, Metric):
        told = table.rate(changed_rate())
    elif any(table.hidden(feature)[i] for i in _judged(table, feature)):
        # a small group is judged with the others, but not shown: then neither is the figure
        return Estimate(None, reason=FEW_BEHIND)
    else:
        told = table.metric(metric, feature)
    whole = told.low is not None or (told.value is None and told.reason != FEW_BEHIND)
    return verdict.estimate if whole else told


def _people(verdict: Verdict, table: Protected) -> Told:
    """How many people it was judged on: everybody, or those whose feature is known."""
    if not isinstance(verdict.requirement.metric, Metric):
        return table.people()
    groups = [table.people(verdict.feature, group=i) for i in _judged(table, verdict.feature)]
    high = [told.high for told in groups]
    most = None if None in high else sum(n for n in high if n is not None)
    return Told(sum(told.low for told in groups), most)


def _judged(table: Protected, feature: str) -> list[int]:
    """The groups that a certificate compares: all that are known, however small."""
    return table.compared(feature, least=0)
