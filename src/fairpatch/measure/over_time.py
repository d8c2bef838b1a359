"""A requirement over months or years: whether it holds, from one table of counts a period.

    shown not to hold   the periods cannot be explained by a requirement that held in all of them
    certified           they cannot be explained by one that failed in each of them, and nothing of
                        late speaks against it; groups below the floor are left out of that
    inconclusive        neither

Each is right with the confidence asked for over all periods, whoever looks however often
(``fairpatch.measure.evidence``). The interval after a period is all values of the metric that are
not excluded in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools, Floats
from fairpatch.floor import MIN_PEOPLE, SMALL_GROUP, too_few
from fairpatch.inputs.keys import PARTS
from fairpatch.measure.counts import Counts
from fairpatch.measure.evidence import Parts, log_evidence
from fairpatch.measure.metric import ChangedDecisions, Metric
from fairpatch.measure.rates import changed_rate
from fairpatch.verdict import Verdict

LATER = 0.05
"""The share of the error that is kept for groups who are not there at the start."""
DOUBT = 2.0
"""Evidence against a requirement from which on it is not certified, whatever was before."""
MOST_CLAIMS = 2_000
MOST_BETS = 200_000
"""Bets on parts of all people in a period, at most."""
STEPS = 200
"""Values of a metric that are tried for its interval."""


@dataclass(frozen=True, eq=False)
class OverTime:
    """How a requirement stands after each period."""

    limit: float
    confidence: float
    against: Floats
    """The logarithm of the evidence against it."""
    hold: Floats
    """The same for it; minus infinity where there are too many pairs of groups to tell."""
    low: Floats
    high: Floats
    """The interval, each end a limit at the confidence; NaN while nothing is known. Where the low
    end is above the high one, no one value explains all periods: something has changed."""
    pair: tuple[str, ...] | None
    """The groups that most of the evidence is about: the lower and the higher one."""

    @property
    def enough(self) -> float:
        """Evidence of 20 for a confidence of 95 %."""
        return float(-np.log(1 - self.confidence))

    @property
    def refuted_at(self) -> int | None:
        """The first period after which it was shown not to hold."""
        over = np.flatnonzero(self.against >= self.enough)
        return int(over[0]) if len(over) else None

    def verdict(self, period: int = -1) -> Verdict:
        """The verdict after a period; what was shown not to hold stays so."""
        last = period % len(self.against) if len(self.against) else -1
        if self.refuted_at is not None and self.refuted_at <= last:
            return Verdict.REFUTED
        doubt = last < 0 or self.against[last] > np.log(DOUBT)
        if doubt or self.hold[last] < self.enough:
            return Verdict.INCONCLUSIVE
        return Verdict.CERTIFIED


@dataclass(frozen=True, eq=False)
class Claims:
    """What a limit says of pairs of groups: a . p <= b for the rates at ``of``, one row a claim."""

    of: NDArray[np.intp]
    a: Floats
    b: Floats

    @property
    def turned(self) -> "Claims":
        """The opposite: a . p >= b."""
        return Claims(self.of, -self.a, -self.b)

    def pick(self, order: NDArray[np.intp]) -> "Claims":
        """Some of them."""
        return Claims(self.of[order], self.a[..., order, :], self.b[..., order])


def over_time(
    periods: Sequence[Counts | None],
    metric: Metric | ChangedDecisions,
    limit: float,
    *,
    confidence: float = 0.95,
    before: Counts | None = None,
) -> OverTime:
    """Judge a limit after each period; None is a period of which nothing is known (yet).

    ``before`` are counts of earlier people. Without them the first period that is known tells only
    what is to be looked at.
    """
    if not periods:
        none = np.empty(0)
        return OverTime(limit, confidence, none, none, none, none, None)
    groups = _groups([before, *periods])
    (k0,), (n0,) = _people([before], metric, groups)
    k, n = _people(periods, metric, groups)
    parts = _parts(periods, metric, groups)
    claims = claims_of(metric, len(groups), np.array(limit))
    weight = attention(claims, k, n, k0, n0)
    order = np.argsort(-weight, kind="stable")[:MOST_CLAIMS]
    every = len(order) == len(weight)
    weight, claims = weight[order], claims.pick(order)
    # of few people nobody can say that a requirement holds; that it does not, perhaps
    sizes = np.stack([_sizes(counts, groups) for counts in periods])
    large = np.tile(sizes >= MIN_PEOPLE, len(n[0]) // max(len(groups), 1) or 1)
    whole = np.where(large, n, 0.0) if isinstance(metric, Metric) else n
    each = evidence(claims, k, n, k0, n0, parts=parts)
    limits = np.linspace(0, metric.highest, STEPS + 1)
    tried = claims_of(metric, len(groups), limits[:, None]).pick(order)
    # one pair of groups is enough to exclude a better value, all are needed to exclude a worse one
    few = coarser(parts, len(limits) * len(order))
    better = averaged(evidence(tried, k, n, k0, n0, parts=few), weight)
    if every and len(order):
        both = np.minimum(k, whole), whole, k0, n0
        hold = evidence(claims.turned, *both, all_claims=True, parts=_among(parts, whole))
        worse = evidence(tried.turned, *both, all_claims=True, parts=_among(few, whole))
    else:
        hold, worse = np.full(len(periods), -np.inf), np.full_like(better, -np.inf)
    bar = -np.log(1 - confidence)
    not_above, not_below = (better, worse) if metric.at_least else (worse, better)
    low, high = _ends(limits, not_below >= bar, not_above >= bar, n)
    shown = [
        SMALL_GROUP if too_few(size) else name
        for size, name in zip(sizes.sum(0), groups, strict=True)
    ]
    pair = _pair(each, claims, shown)
    return OverTime(limit, confidence, averaged(each, weight), hold, low, high, pair)


def _groups(tables: Sequence[Counts | None]) -> list[str]:
    """Names of all groups that are ever there, in the order in which they come."""
    names = [g for t in tables if t is not None for g in t.known().group_names]
    return list(dict.fromkeys(names))


def _sizes(counts: Counts | None, groups: Sequence[str]) -> Floats:
    """How many people of each group a period has."""
    sizes = np.zeros(len(groups))
    if counts is not None:
        known = counts.known()
        sizes[[groups.index(name) for name in known.group_names]] = known.heads
    return sizes


def _people(
    tables: Sequence[Counts | None], metric: Metric | ChangedDecisions, groups: Sequence[str]
) -> tuple[Floats, Floats]:
    """Hits and people of each rate and group: (periods, rates x groups)."""
    rates = [rate("g") for rate in metric.rates] if isinstance(metric, Metric) else [changed_rate()]
    names = list(groups) if isinstance(metric, Metric) else [""]
    table = np.zeros((2, len(tables), len(rates), len(names)))
    for t, counts in enumerate(tables):
        if counts is None:
            continue
        known = counts.known() if isinstance(metric, Metric) else counts.by()
        at = [names.index(name) for name in known.group_names]
        for r, rate in enumerate(rates):
            table[0, t, r, at] = known.in_cells(rate.hits & rate.among)
            table[1, t, r, at] = known.in_cells(rate.among)
    k, n = table.reshape(2, len(tables), -1)
    return k, n


def _parts(
    tables: Sequence[Counts | None], metric: Metric | ChangedDecisions, groups: Sequence[str]
) -> Parts | None:
    """The same of random parts of all people, where somebody has several rows; None elsewhere."""
    if not any(counts is not None and counts.parts is not None for counts in tables):
        return None
    rates = [rate("g") for rate in metric.rates] if isinstance(metric, Metric) else [changed_rate()]
    names = list(groups) if isinstance(metric, Metric) else [""]
    table = np.zeros((2, len(tables), len(rates), len(names), PARTS))
    for t, counts in enumerate(tables):
        if counts is None:
            continue
        known = counts.known() if isinstance(metric, Metric) else counts.by()
        if known.parts is None:
            raise ValueError("some periods say whose row it is, and others do not: count them anew")
        at = [names.index(name) for name in known.group_names]
        for r, rate in enumerate(rates):
            table[0, t, r, at] = known.in_cells(rate.hits & rate.among, of="parts")
            table[1, t, r, at] = known.in_cells(rate.among, of="parts")
    hits, rows = table.reshape(2, len(tables), -1, PARTS)
    return hits, rows


def _among(parts: Parts | None, n: Floats) -> Parts | None:
    """Parts of the rates that somebody is left for."""
    if parts is None:
        return None
    hits, rows = (np.where(n[..., None] > 0, part, 0.0) for part in parts)
    return hits, rows


def coarser(parts: Parts | None, claims: int) -> Parts | None:
    """Fewer and larger parts, so that many claims are judged in time: they stay independent."""
    if parts is None or claims * PARTS <= MOST_BETS:
        return parts
    step = next(s for s in (5, 10, 20, 50) if claims * PARTS / s <= MOST_BETS or s == 50)
    hits, rows = (part.reshape(*part.shape[:-1], -1, step).sum(-1) for part in parts)
    return hits, rows


def claims_of(metric: Metric | ChangedDecisions, groups: int, limit: Floats) -> Claims:
    """Every pair of groups for a ratio or a gap; every pair in each rate for a sum of gaps.

    Of several limits, an array that broadcasts with one axis for the claims.
    """
    if not isinstance(metric, Metric):
        return Claims(np.zeros((1, 1), np.intp), np.ones((1, 1)), limit + np.zeros(1))
    pairs = list(permutations(range(groups), 2))
    # one more than are looked at: whoever counts them sees that there are too many
    chosen = list(islice(product(pairs, repeat=len(metric.rates)), MOST_CLAIMS + 1))
    of = np.array(
        [[r * groups + g for r, pair in enumerate(claim) for g in pair] for claim in chosen],
        np.intp,
    ).reshape(len(chosen), 2 * len(metric.rates))
    b = limit + np.zeros(len(chosen))
    if metric.how == "gap":  # higher - lower <= limit
        return Claims(of, np.tile([-1.0, 1.0], (len(chosen), len(metric.rates))), b)
    return Claims(of, np.stack([-np.ones_like(b), b], -1), 0 * b)  # limit * higher - lower <= 0


def attention(claims: Claims, k: Floats, n: Floats, k0: Floats, n0: Floats) -> Floats:
    """How much each claim weighs; the weights sum to less than 1.

    What was nearest to the limit at the start weighs most, half of it by rank and half by how many
    standard errors that was; pairs of groups who come later share what is kept for them, in the
    order in which they come. So nobody's coming changes a weight.
    Rates are the last axis, periods the one before it.
    """
    early = np.asarray(n.any(-1)).argmax(-1)[..., None, None]  # the first period with people
    began = ~np.asarray(n0.any(-1))[..., None]
    k0, n0 = (
        np.where(began, np.take_along_axis(x, early, -2)[..., 0, :], first)[..., claims.of]
        for x, first in ((k, k0), (n, n0))
    )
    p = (k0 + 0.5) / (n0 + 1)
    error = np.sqrt((claims.a**2 * p * (1 - p) / (n0 + 1)).sum(-1))
    distance = (claims.b - (claims.a * p).sum(-1)) / error
    there, met = (np.asarray((x > 0).all(-1)) for x in (n0, n[..., claims.of]))
    come = np.where(met.any(-2), met.argmax(-2), n.shape[-2])
    order = np.lexsort((distance, np.where(there, -1, come)))
    rank = np.argsort(order, axis=-1) + 1.0
    first = there.sum(-1, keepdims=True)
    late = np.maximum(rank - first, 1.0)
    share = np.zeros_like(rank)
    for share_of in (1 / (rank * (rank + 1)), np.exp(-np.maximum(distance, 0.0))):
        whole = np.where(there, share_of, 0.0).sum(-1, keepdims=True)
        share += (1 - LATER) / 2 * share_of / np.where(whole > 0, whole, 1.0)
    return np.where(there, share, LATER / (late * (late + 1)))


def evidence(
    claims: Claims, k: Floats, n: Floats, k0: Floats, n0: Floats, *, all_claims: bool = False,
    parts: Parts | None = None,
) -> Floats:  # fmt: skip
    """Log evidence against each claim after each period, of shape (..., claims, periods)."""
    k_own, n_own = (np.moveaxis(x[..., claims.of], -3, -2) for x in (k, n))
    k0_own, n0_own = (x[..., claims.of] for x in (k0, n0))
    own = None
    if parts is not None:
        hits, rows = (np.moveaxis(x[..., claims.of, :], -4, -3) for x in parts)
        own = hits, rows
    return log_evidence(
        k_own, n_own, claims.a, claims.b, k0_own, n0_own, all_claims=all_claims, parts=own
    )


def averaged(each: Floats, weight: Floats) -> Floats:
    """The evidence against any of the claims: by their weights; what they leave is 1."""
    rest = np.log(1 - weight.sum(-1))[..., None]
    all_ = np.logaddexp.reduce(each + np.log(weight)[..., None], axis=-2, initial=-np.inf)
    return np.asarray(np.logaddexp(all_, rest))


def _ends(limits: Floats, not_below: Bools, not_above: Bools, n: Floats) -> tuple[Floats, Floats]:
    """After each period, the ends of the values that are not excluded, outwards to the grid."""
    ends = []
    for t in range(not_below.shape[1]):
        if not n[: t + 1].any():
            ends.append((np.nan, np.nan))
            continue
        first = int(np.argmin(np.append(not_below[:, t], False)))
        last = len(limits) - 1 - int(np.argmin(np.append(not_above[::-1, t], False)))
        ends.append((limits[max(first - 1, 0)], limits[min(last + 1, len(limits) - 1)]))
    low, high = np.array(ends).reshape(-1, 2).T
    return low, high


def _pair(each: Floats, claims: Claims, groups: Sequence[str]) -> tuple[str, ...] | None:
    if not each.size or claims.of.shape[1] < 2:
        return None
    worst = int(each[:, -1].argmax())
    return tuple(groups[i % len(groups)] for i in claims.of[worst][:2])
