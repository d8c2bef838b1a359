"""The certificate: whether the requirements hold in the population, not only in the data at hand.

Judged on rows that neither learning nor choosing has seen (METHOD section 9):

    P-Rule >= tau     score test of p_i - tau p_j <= 0 for every ordered pair of groups; all must be
                      rejected, so no correction is needed (intersection-union)
    other metrics     one-sided limits of their intervals
    changes <= m      one-sided limit of Clopper and Pearson
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np
from scipy.stats import norm

from fairpatch.choose.target import Requirement, Target
from fairpatch.measure import (
    Counts,
    change_rate,
    demographic_parity_difference,
    disparate_mistreatment,
    p_rule,
    tpr_gap,
)
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import selection_rate
from fairpatch.measure.show import Table

Word = Literal["certified", "refuted", "too few data"]
POWER = 0.8


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


@dataclass(frozen=True)
class Certificate:
    """A verdict on every requirement, at one level of confidence each."""

    target: Target
    verdicts: tuple[Verdict, ...]

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
                v.feature,
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
        )

    __repr__ = __str__


def certify(counts: Counts, target: Target) -> Certificate:
    """Judge decisions on rows that nothing else has touched."""
    verdicts = []
    for requirement in target.requirements:
        if requirement.name == "max_changes":
            verdicts.append(_by_limits(counts, requirement, "everybody", target.confidence))
            continue
        for feature in counts.features:
            judge = _by_score_test if requirement.name == "p_rule" else _by_limits
            verdicts.append(judge(counts.by(feature), requirement, feature, target.confidence))
    return Certificate(target, tuple(verdicts))


def score_test(k1: float, n1: float, k2: float, n2: float, tau: float) -> float:
    """Z of p1 - tau p2, its variance taken where the two are equal (Koopman's constraint).

    Positive where the data speak for p1 > tau p2.
    """
    a = (n1 + n2) * tau
    b = -(n1 * tau + k1 + n2 + k2 * tau)
    c = k1 + k2
    p2 = (-b - np.sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a)
    p1 = tau * p2
    variance = p1 * (1 - p1) / n1 + tau**2 * p2 * (1 - p2) / n2
    difference = k1 / n1 - tau * k2 / n2
    if variance <= 0:
        return float(np.sign(difference) * np.inf) if difference else 0.0
    return float(difference / np.sqrt(variance))


def _by_score_test(
    counts: Counts, requirement: Requirement, feature: str, confidence: float
) -> Verdict:
    counts = counts.known()
    estimate = p_rule(counts, confidence=2 * confidence - 1)
    people = counts.total
    if estimate.value is None:
        return Verdict(requirement, feature, "too few data", estimate, people)
    k, n = selection_rate().per_group(counts)
    pairs = list(permutations(range(len(n)), 2))
    z = np.array([score_test(k[i], n[i], k[j], n[j], requirement.limit) for i, j in pairs])
    enough = norm.isf(1 - confidence)
    if (z >= enough).all():
        return Verdict(requirement, feature, "certified", estimate, people)
    if (z <= -norm.isf((1 - confidence) / len(pairs))).any():
        return Verdict(requirement, feature, "refuted", estimate, people)
    # z grows with the square root of the people
    needed = None
    if (z > 0).all():
        needed = int(np.ceil(people * ((enough + norm.ppf(POWER)) / z.min()) ** 2))
    return Verdict(requirement, feature, "too few data", estimate, people, needed)


def _by_limits(
    counts: Counts, requirement: Requirement, feature: str, confidence: float
) -> Verdict:
    metric = {
        "demographic_parity_difference": demographic_parity_difference,
        "equal_opportunity_difference": tpr_gap,
        "disparate_mistreatment": disparate_mistreatment,
        "max_changes": change_rate,
    }[requirement.name]
    estimate = metric(counts, confidence=2 * confidence - 1)
    people = counts.total
    if estimate.value is None or estimate.high is None or estimate.low is None:
        return Verdict(requirement, feature, "too few data", estimate, people)
    if estimate.high <= requirement.limit:
        return Verdict(requirement, feature, "certified", estimate, people)
    if estimate.low > requirement.limit:
        return Verdict(requirement, feature, "refuted", estimate, people)
    room = requirement.limit - estimate.value
    needed = None
    if room > 0:
        longer = 1 + norm.ppf(POWER) / norm.isf(1 - confidence)
        needed = int(np.ceil(people * (longer * (estimate.high - estimate.value) / room) ** 2))
    return Verdict(requirement, feature, "too few data", estimate, people, needed)
