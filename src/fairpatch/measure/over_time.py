"""A requirement over months or years: whether it holds, however often one looks.

    shown not to hold   the periods cannot be explained by a requirement that held in all of them
    certified           they cannot be explained by one that failed in each of them, and nothing of
                        late speaks against it; groups below the floor are left out of that
    inconclusive        neither

Each is right with the confidence asked for over all periods, whoever looks however often
(``fairpatch.measure.over_time``). The interval after a period is all values of the metric that are
not excluded in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice, permutations, product
from operator import add

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE, SMALL_GROUP, too_few
from fairpatch._tools.verdict import Verdict
from fairpatch.inputs.values import PARTS
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import ChangedDecisions, Metric
from fairpatch.measure.rates import changed_rate

# Evidence against a claim about rates, from counts a period: it may be looked at every period.
#
# A claim is a half-space a . p <= b of the groups' rates p: tau p_j - p_i <= 0 for a ratio,
# p_i - p_j <= limit for a gap. Take a point q on its edge and a stake s, both from the past alone,
# and bet on every person of the period, in group i with outcome y:
#
#     e = \prod over people of  1 + s a_i (y - q_i) / n_i
#
# Where the claim holds, E[e] <= 1: by 1 + x <= exp(x) it is at most exp(s a . (p - q)), and a . p
# <= b = a . q. So the product over periods stays below 20 for ever with probability 95 % (Ville),
# whenever and however often one looks. People need not be alike: p_i is the mean of their chances.
# This is the likelihood ratio of METHOD section 16 (Turner, Ly, Gruenwald) read backwards: q is the
# projection of the alternative q_i + s a_i q_i (1 - q_i) / n_i, so that there is nothing to search
# for.
#
# Where people have several rows, the bet is on everybody's rows together, in random parts of all
# people: 1 + s a_i (K - q_i N) / n_i for a part with K hits in N rows. Parts are independent of
# each other, as people are, and E[e] <= 1 for the same reason.
#
# How far a failing guarantee is off, and since when, nobody knows: stakes for what shows in months
# down to what takes years, each beginning at every period, are averaged with weights that sum to 1.

STAKES = np.array([3.2, 1.6, 1.13, 0.8, 0.57, 0.4])
"""Standard errors of a period that a violation is bet to be: 3.2 shows in one period or two, 1.6 in
about four, 0.4 in about sixty."""
FROM_THE_START = 0.7 * np.array([0, 1, 1, 1, 1, 1]) / 5
"""The weight of a violation that was there from the first period on, by stake."""
SINCE_LATER = 0.3 * np.array([1, 1, 1, 1, 0, 0]) / 4
"""Of one that begins later, a sudden one among them: the weights of all beginnings sum to this."""
PAST = 24
"""Periods that the edge's point is learned from."""
ALIKE = 0.5
"""How alike the rows of a person are taken to be, for the size of a stake."""
Parts = tuple[Floats, Floats]
"""Hits and rows of each part of all people: (..., periods, rates, parts)."""
NEVER_ALL = 0.9
"""Of what can be lost, so much is staked at most: nothing is ever out of the game."""


def log_evidence(
    k: Floats,
    n: Floats,
    a: Floats,
    b: Floats,
    k0: Floats | None = None,
    n0: Floats | None = None,
    *,
    all_claims: bool = False,
    parts: Parts | None = None,
) -> Floats:
    """The logarithm of the evidence against a . p <= b after each period.

    ``k`` of ``n`` people are hits, of shape (..., periods, rates); ``a`` is (..., rates), ``b``
    (...,). A period in which a rate that the claim speaks of has nobody counts for nothing.
    ``k0`` of ``n0``, of shape (..., rates), are known from before; without them the first period
    only tells where the edge is. ``all_claims``: against "in each period one of the claims on the
    last axis holds", by the least that each period gives against any of them.

    >>> k, n = np.array([[300.0, 60.0]] * 6), np.array([[1000.0, 300.0]] * 6)  # a ratio of 2/3
    >>> log_evidence(k, n, np.array([0.8, -1.0]), np.array(0.0)).round(1)
    array([-0. ,  0.8,  1.7,  2.7,  3.7,  4.7])
    """
    shape = np.broadcast_shapes(k.shape[:-2], a.shape[:-1], b.shape)
    periods, rates = k.shape[-2:]
    a, b = np.broadcast_to(a, (*shape, rates)), np.broadcast_to(b, shape)
    past_k, past_n = _before(k, k0), _before(n, n0)
    shape = shape[:-1] if all_claims else shape
    running = np.full((*shape, len(STAKES)), -np.inf)
    evidence = np.empty((*shape, periods))
    for t in range(periods):
        with np.errstate(divide="ignore"):
            begun = np.log(FROM_THE_START if t == 0 else SINCE_LATER / (t * (t + 1)))
        q = edge(past_k[..., t, :], past_n[..., t, :], n[..., t, :], a, b)
        there = ((n[..., t, :] > 0) & (past_n[..., t, :] > 0)) | (a == 0)
        own = None if parts is None else (parts[0][..., t, :, :], parts[1][..., t, :, :])
        bets = _bets(k[..., t, :], n[..., t, :], a, b, q, np.asarray(there.all(-1)), own)
        if all_claims:
            bets = _least(bets, np.asarray(((n[..., t, :] > 0) | (a == 0)).all(-1)))
        running = np.logaddexp(running, begun) + bets
        yet = SINCE_LATER.sum() / (t + 1)  # of violations that are still to begin
        evidence[..., t] = np.logaddexp(np.logaddexp.reduce(running, axis=-1), np.log(yet))
    return evidence


def _before(x: Floats, first: Floats | None) -> Floats:
    """What is known before each period: the sum of the last ones."""
    total = np.cumsum(x, axis=-2)
    zero = np.zeros_like(total[..., :1, :])
    until = np.concatenate([zero, total[..., :-1, :]], axis=-2)
    gone = np.concatenate([np.repeat(zero, PAST, axis=-2), until], axis=-2)[..., : x.shape[-2], :]
    return np.asarray(until - gone + (0.0 if first is None else first[..., None, :]))


def _least(bets: Floats, about: Bools) -> Floats:
    """Of the claims about people who are there, the least; nothing where there are none."""
    least = np.where(about[..., None], bets, np.inf).min(-2, initial=np.inf)
    return np.asarray(np.where(np.isinf(least), 0.0, least))


def _bets(
    k: Floats, n: Floats, a: Floats, b: Floats, q: Floats, known: Bools, parts: Parts | None
) -> Floats:
    """The logarithm of one period's e for each stake."""
    about = a != 0
    play = known & np.asarray((a * q).sum(-1) >= b - 1e-12)
    n = np.where(n > 0, n, 1.0)
    largest, alike = (1.0, 1.0) if parts is None else _bet_sizes(parts[1], n)
    spread = (a * a * q * (1 - q) / n * alike).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        risk = np.abs(a) * np.maximum(q, 1 - q) * largest
        most = np.where(about, NEVER_ALL * n / risk, np.inf).min(-1)
        stake = np.minimum(STAKES / np.sqrt(spread)[..., None], most[..., None])
    stake = np.where(play[..., None] & np.isfinite(stake), stake, 0.0)
    bet = stake[..., None] * (a / n)[..., None, :]
    if parts is not None:
        hits, rows = (part[..., None, :, :] for part in parts)
        each = np.log1p(bet[..., None] * (hits - q[..., None, :, None] * rows)).sum(-1)
        return np.asarray(np.where(about[..., None, :], each, 0.0).sum(-1))
    won = k[..., None, :] * np.log1p(bet * (1 - q)[..., None, :])
    lost = (n - k)[..., None, :] * np.log1p(-bet * q[..., None, :])
    return np.asarray(np.where(about[..., None, :], won + lost, 0.0).sum(-1))


def _bet_sizes(rows: Floats, n: Floats) -> tuple[Floats, Floats]:
    """The largest part; and how many times the variance of independent rows a rate may have."""
    squares = np.maximum(rows.var(-1) * rows.shape[-1], n)
    return np.maximum(rows.max(-1), 1e-9), 1 + ALIKE * (squares / n - 1)


def edge(k: Floats, n: Floats, size: Floats, a: Floats, b: Floats) -> Floats:
    """The rates on the edge a . p = b that are nearest to those of the past, in standard errors."""
    p = (k + 0.5) / (n + 1)
    spread = p * (1 - p) / np.where(size > 0, size, 1.0) * a
    beyond = (a * p).sum(-1) - b
    with np.errstate(divide="ignore", invalid="ignore"):
        q = p - np.nan_to_num(beyond / (a * spread).sum(-1))[..., None] * spread
    q = np.clip(q, 1e-4, 1 - 1e-4)
    # what the ends 0 and 1 cut off, the other rates make up for: a . q must not be below b
    room = np.where(a > 0, 1 - 1e-6 - q, q - 1e-6)
    short = np.maximum(b - (a * q).sum(-1), 0.0)
    share = np.minimum(short / np.maximum((room * np.abs(a)).sum(-1), 1e-12), 1.0)[..., None]
    return np.asarray(q + np.sign(a) * share * room)


# A requirement over months or years: whether it holds, from one table of counts a period.

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


LATELY, SURE_OF_LATELY = 3, 0.995
"""Periods that are looked at by themselves, and how sure one is that they miss a limit."""


def missed_lately(
    periods: Sequence[Counts | None], metric: Metric | ChangedDecisions, limit: float
) -> bool:
    """Whether the last periods by themselves, pooled, miss a limit: a reason to look, no verdict.

    It is asked anew every period, so it is wrong more often than what is said of all periods.
    """
    known = [counts for counts in periods[-LATELY:] if counts is not None]
    if not known:
        return False
    pooled = reduce(add, known)
    if len(pooled.known().groups) < 2 and isinstance(metric, Metric):
        return False
    return metric.judge(pooled, limit, SURE_OF_LATELY).verdict is Verdict.REFUTED


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
