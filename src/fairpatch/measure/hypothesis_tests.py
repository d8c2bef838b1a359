"""Judging a limit from counts (METHOD section 9); ``fairpatch._tools.verdict`` has the verdicts.

ratio >= tau      score test of p_i - tau p_j <= 0 for every ordered pair of groups; all must be
rejected, so no correction is needed (intersection-union)
gap <= limit      score test of the difference for every ordered pair of groups, of a sum of gaps
for every pair in each of them, all of which must be rejected (intersection-union)
anything else     one-sided limits of its interval
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from fairpatch._tools.arrays import Floats
from fairpatch._tools.verdict import Verdict
from fairpatch.measure.intervals import Estimate

POWER = 0.8
MOST_TESTED, FAR = 8, 2.0
"""Pairs of groups whose gap is tested, at most; and standard errors beyond the nearest one from
where on none is."""
FARTHEST = 1e9
"""Multipliers are sought between this times the people: rates are then 0 or 1."""
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
    decides: tuple[int, int] | None = None
    """The two groups of whom least can be shown: they decide the verdict."""


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
    decides = pairs[int(z.argmin())]
    if (z >= enough).all():
        return Judgement(Verdict.CERTIFIED, estimate, people, decides=decides)
    if (z <= little).any():
        return Judgement(Verdict.REFUTED, estimate, people, decides=decides)
    # z grows with the square root of the people
    needed = None
    if (z > 0).all():
        needed = int(np.ceil(people * ((enough + ndtri(POWER)) / z.min()) ** 2))
    return Judgement(_open(value >= tau), estimate, people, needed, decides)


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
    enough = -ndtri(1 - confidence)
    little = -ndtri((1 - confidence) / np.prod([len(p) * (len(p) - 1) for p in n]))
    near = _farthest_apart(k, n, limit)

    def tested(limit: float) -> float:
        return min(gap_test(hits, people, limit) for hits, people in near)

    top = float(len(k))  # the largest a sum of so many gaps can be
    worst = tested(limit)
    # the limits of this very test: the smallest that it certifies, the largest that it refutes
    estimate = replace(
        estimate,
        low=_last(lambda t: bool(tested(t) <= -little), 0.0, value),
        high=top - _last(lambda t: bool(tested(top - t) >= enough), 0.0, top - value),
    )
    if worst >= enough and value <= limit:
        return Judgement(Verdict.CERTIFIED, estimate, people)
    if worst <= -little:
        return Judgement(Verdict.REFUTED, estimate, people)
    needed = None
    if worst > 0:
        needed = int(np.ceil(people * ((enough + ndtri(POWER)) / worst) ** 2))
    return Judgement(_open(value <= limit), estimate, people, needed)


def _farthest_apart(
    k: Sequence[Floats], n: Sequence[Floats], limit: float
) -> list[tuple[Floats, Floats]]:
    """Pairs of groups in each rate that are nearest to a violation: the others go with them.

    Hits and people of each, the higher group's first.
    """
    found: list[tuple[float, tuple[Floats, Floats]]] = []
    for pairs in product(*(permutations(range(len(size)), 2) for size in n)):
        hits = np.array([k[r][g] for r, pair in enumerate(pairs) for g in pair])
        people = np.array([n[r][g] for r, pair in enumerate(pairs) for g in pair])
        p = (hits + 1) / (people + 2)
        z = (limit - (p[::2] - p[1::2]).sum()) / np.sqrt((p * (1 - p) / (people + 2)).sum())
        found.append((float(z), (hits, people)))
    found.sort(key=lambda pair: pair[0])
    return [pair for z, pair in found[:MOST_TESTED] if z < found[0][0] + FAR]


def gap_test(k: Floats, n: Floats, limit: float) -> float:
    """z of limit - sum_r (p_r1 - p_r2), its variance taken where the two are equal.

    ``k`` of ``n`` are the hits of the higher and of the lower group in each rate. Where the sum is
    the limit, the likeliest rates solve k / p - (n - k) / (1 - p) = a lambda with a = 1, -1 and one
    lambda for all: a p falls with it.
    """
    each = [
        (float(h), float(m), 1.0 - 2.0 * (r % 2)) for r, (h, m) in enumerate(zip(k, n, strict=True))
    ]

    def beyond(multiplier: float) -> float:
        return sum(a * _rate_at(h, m, a * multiplier) for h, m, a in each) - limit

    end = FARTHEST * max(m for _, m, _ in each)
    low, high = beyond(-end), beyond(end)
    at = -end if low <= 0 else end if high >= 0 else float(brentq(beyond, -end, end, xtol=1e-6))
    p = [_rate_at(h, m, a * at) for h, m, a in each]
    variance = sum(q * (1 - q) / m for q, (_, m, _) in zip(p, each, strict=True))
    room = limit - sum(a * h / m for h, m, a in each)
    if variance <= 0:
        return float(np.sign(room) * np.inf) if room else 0.0
    return float(room / variance**0.5)


def _rate_at(k: float, n: float, slope: float) -> float:
    """The p in [0, 1] with k / p - (n - k) / (1 - p) = slope."""
    b = n + slope
    root = max(b * b - 4 * slope * k, 0.0) ** 0.5
    return float(2 * k / (b + root) if b + root > 1e-9 * n else (b - root) / (2 * slope))


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
