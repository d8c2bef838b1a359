"""The certificate: whether the requirements hold in the population, not only in the data at hand.

Judged on rows that neither learning nor choosing has seen; how, is each metric's own affair
(``fairpatch.measure.judge``).
"""

from dataclasses import dataclass

from fairpatch.choose.target import Requirement, Target
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.judge import Judgement, Word
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

    @property
    def word(self) -> Word:
        """Certified if all are; refuted if one is."""
        words = {v.word for v in self.verdicts}
        if "refuted" in words:
            return "refuted"
        return "too few data" if "too few data" in words else "certified"

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [
            [
                str(v.requirement),
                f"{v.feature}{v.estimate.groups}",
                v.word,
                str(v.estimate),
                f"{v.people:,}",
                "" if v.people_needed is None else f"{v.people_needed:,}",
            ]
            for v in self.verdicts
        ]
        return Table(
            f"Certificate at {self.target.confidence:.0%}: {self.word}",
            ["requirement", "feature", "verdict", "measured [limits]", "people", "people needed"],
            rows,
            [] if self.warning is None else [f"Take care: {self.warning}."],
        )

    __repr__ = __str__


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
    )
