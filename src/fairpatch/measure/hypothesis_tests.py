"""Judging a limit from counts (METHOD section 9); ``fairpatch._tools.verdict`` has the verdicts.

ratio >= tau      score test of p_i - tau p_j <= 0 for every ordered pair of groups; all must be
rejected, so no correction is needed (intersection-union)
gap <= limit      z test of the difference for every ordered pair of groups, of a sum of gaps for
every pair in each of them, all of which must be rejected (intersection-union); rates with one more
hit and one more miss in each group, which keeps the level for few people (Agresti and Caffo)
anything else     one-sided limits of its interval
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np
from scipy.special import ndtri

from fairpatch._tools.arrays import Floats
from fairpatch._tools.verdict import Verdict
from fairpatch.measure.intervals import Estimate

POWER = 0.8
EXACT = 1e-6
"""How far a limit may be from the test that it belongs to."""


@dataclass(frozen=True)
class Judgement:
    """What the data say of a limit."""

    verdict: Verdict
    estimate: Estimate
    """Each end of its interval is a limit at the judgement's confidence."""
    people: int
    people_needed: int | None = None
    """How many would do to certify it with 80 % power, if what was measured is the truth."""


def two_sided(confidence: float) -> float:
    """The level of an interval each of whose ends is a limit at this confidence."""
    return 2 * confidence - 1


def judge_ratio(
    k: Floats, n: Floats, tau: float, estimate: Estimate, people: int, confidence: float
) -> Judgement:
    """Whether the lowest of the groups' rates k / n is at least tau times the highest.

    The limits beside it are those of this very test: the largest tau that it certifies, and the
    smallest that it refutes.
    """
    value = estimate.value
    if value is None:
        return Judgement(Verdict.INCONCLUSIVE, estimate, people)
    pairs = list(permutations(range(len(n)), 2))
    enough, little = -ndtri(1 - confidence), ndtri((1 - confidence) / len(pairs))

    def tested(tau: float) -> Floats:
        return np.array([score_test(k[i], n[i], k[j], n[j], tau) for i, j in pairs])

    estimate = replace(
        estimate,
        low=_last(lambda t: bool((tested(t) >= enough).all()), 0.0, value),
        high=1.0 - _last(lambda t: bool((tested(1.0 - t) <= little).any()), 0.0, 1.0),
    )
    z = tested(tau)
    if (z >= enough).all():
        return Judgement(Verdict.CERTIFIED, estimate, people)
    if (z <= little).any():
        return Judgement(Verdict.REFUTED, estimate, people)
    # z grows with the square root of the people
    needed = None
    if (z > 0).all():
        needed = int(np.ceil(people * ((enough + ndtri(POWER)) / z.min()) ** 2))
    return Judgement(_open(value >= tau), estimate, people, needed)


def judge_gaps(
    k: Sequence[Floats],
    n: Sequence[Floats],
    limit: float,
    estimate: Estimate,
    people: int,
    confidence: float,
) -> Judgement:
    """Whether the gaps between the groups' rates k / n, one for each rate, sum to at most a limit.

    A sum of gaps is at most the limit exactly if every sum of differences is, one ordered pair of
    groups for each rate: many simple hypotheses, all of which have to be rejected.
    """
    value = estimate.value
    if value is None:
        return Judgement(Verdict.INCONCLUSIVE, estimate, people)
    rates = [(hits + 1) / (size + 2) for hits, size in zip(k, n, strict=True)]
    noise = [p * (1 - p) / (size + 2) for p, size in zip(rates, n, strict=True)]
    z: list[float] = []
    highs: list[float] = []
    lows: list[float] = []
    enough = -ndtri(1 - confidence)
    little = -ndtri((1 - confidence) / np.prod([len(p) * (len(p) - 1) for p in rates]))
    for pairs in product(*(permutations(range(len(p)), 2) for p in rates)):
        apart = sum(p[i] - p[j] for p, (i, j) in zip(rates, pairs, strict=True))
        error = np.sqrt(sum(v[i] + v[j] for v, (i, j) in zip(noise, pairs, strict=True)))
        z.append(float((limit - apart) / error))
        highs.append(float(apart + enough * error))
        lows.append(float(apart - little * error))
    worst = min(z)
    # the limits of this very test: the smallest that it certifies, the largest that it refutes
    estimate = replace(
        estimate,
        low=float(np.clip(max(lows), 0.0, value)),
        high=max([*highs, value]),
    )
    if worst >= enough and value <= limit:
        return Judgement(Verdict.CERTIFIED, estimate, people)
    if worst <= -little:
        return Judgement(Verdict.REFUTED, estimate, people)
    needed = None
    if worst > 0:
        needed = int(np.ceil(people * ((enough + ndtri(POWER)) / worst) ** 2))
    return Judgement(_open(value <= limit), estimate, people, needed)


def judge_ceiling(limit: float, estimate: Estimate, people: int, confidence: float) -> Judgement:
    """Whether what was estimated is at most the limit."""
    if estimate.value is None or estimate.high is None or estimate.low is None:
        return Judgement(Verdict.INCONCLUSIVE, estimate, people)
    if estimate.high <= limit:
        return Judgement(Verdict.CERTIFIED, estimate, people)
    if estimate.low > limit:
        return Judgement(Verdict.REFUTED, estimate, people)
    room = limit - estimate.value
    needed = None
    if room > 0:
        longer = 1 + ndtri(POWER) / -ndtri(1 - confidence)
        needed = int(np.ceil(people * (longer * (estimate.high - estimate.value) / room) ** 2))
    return Judgement(_open(estimate.value <= limit), estimate, people, needed)


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Where something that holds from ``low`` on ceases to, up to ``high``."""
    if not holds(low + EXACT):
        return low
    while high - low > EXACT:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _open(kept: bool) -> Verdict:
    """Neither shown to hold nor shown not to: what is measured keeps the limit, or misses it."""
    return Verdict.INCONCLUSIVE if kept else Verdict.NOT_MET


def score_test(k1: float, n1: float, k2: float, n2: float, tau: float) -> float:
    """z of p1 - tau p2, its variance taken where the two are equal (Koopman's constraint).

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
