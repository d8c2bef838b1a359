r"""Evidence against a claim about rates, from counts a period: it may be looked at every period.

A claim is a half-space a . p <= b of the groups' rates p: tau p_j - p_i <= 0 for a ratio,
p_i - p_j <= limit for a gap. Take a point q on its edge and a stake s, both from the past alone,
and bet on every person of the period, in group i with outcome y:

    e = \prod over people of  1 + s a_i (y - q_i) / n_i

Where the claim holds, E[e] <= 1: by 1 + x <= exp(x) it is at most exp(s a . (p - q)), and
a . p <= b = a . q. So the product over periods stays below 20 for ever with probability 95 %
(Ville), whenever and however often one looks. People need not be alike: p_i is the mean of their
chances. This is the likelihood ratio of METHOD section 16 (Turner, Ly, Gruenwald) read backwards:
q is the projection of the alternative q_i + s a_i q_i (1 - q_i) / n_i, so that there is nothing to
search for.

Who stands for w others, because only some are known, is bet on w times: y - q_i becomes
w (y - q_i), whose mean over everybody is the same. Then n_i is not known and is taken from the
past, too.

How far off a broken promise is, and since when, nobody knows: stakes for what shows in months down
to what takes years, each beginning at every period, are averaged with weights that sum to 1.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools, Floats

STAKES = np.array([3.2, 1.6, 1.13, 0.8, 0.57, 0.4])
"""Standard errors of a period that a violation is bet to be: 3.2 shows in one period or two, 1.6 in
about four, 0.4 in about sixty."""
FROM_THE_START = 0.7 * np.array([0, 1, 1, 1, 1, 1]) / 5
"""The weight of a violation that was there from the first period on, by stake."""
SINCE_LATER = 0.3 * np.array([1, 1, 1, 1, 0, 0]) / 4
"""Of one that begins later, a sudden one among them: the weights of all beginnings sum to this."""
PAST = 24
"""Periods that the edge's point is learned from."""
NEVER_ALL = 0.9
"""Of what can be lost, so much is staked at most: nothing is ever out of the game."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Outcomes by period and rate: (..., periods, rates, kinds), kinds of people weighing alike."""

    hits: Floats
    misses: Floats
    hit_weight: Floats
    miss_weight: Floats
    """How many each of them stands for."""

    @classmethod
    def of(cls, k: Floats, n: Floats) -> Self:
        """k of n people, each for himself; of shape (..., periods, rates)."""
        k, n = np.broadcast_arrays(k[..., None], n[..., None])
        return cls(k, n - k, np.ones(1), np.ones(1))

    @property
    def plain(self) -> bool:
        """Whether everybody is known, and stands for nobody else."""
        return bool((self.hit_weight == 1).all() and (self.miss_weight == 1).all())

    @property
    def k(self) -> Floats:
        """Hits with those whom they stand for: (..., periods, rates)."""
        return np.asarray((self.hits * self.hit_weight).sum(-1))

    @property
    def n(self) -> Floats:
        """Everybody, in the same way."""
        return np.asarray(self.k + (self.misses * self.miss_weight).sum(-1))

    @property
    def people(self) -> Floats:
        """Those who are known."""
        return np.asarray((self.hits + self.misses).sum(-1))

    def at(self, of: NDArray[np.intp]) -> Self:
        """Some rates for each of many claims: (..., claims, periods, rates, kinds)."""

        def pick(x: Floats) -> Floats:
            return x if x.ndim == 1 else np.asarray(np.moveaxis(x[..., of, :], -4, -3))

        own = (self.hits, self.misses, self.hit_weight, self.miss_weight)
        return type(self)(*map(pick, own))


def log_evidence(
    seen: Seen, a: Floats, b: Floats, k0: Floats | None = None, n0: Floats | None = None
) -> Floats:
    """The logarithm of the evidence against a . p <= b after each period.

    ``a`` is (..., rates), ``b`` (...,). A period in which a rate that the claim speaks of has
    nobody counts for nothing. ``k0`` of ``n0``, of shape (..., rates), are known from before;
    without them the first period only tells where the edge is.

    >>> k, n = np.array([[300.0, 60.0]] * 6), np.array([[1000.0, 300.0]] * 6)  # a ratio of 2/3
    >>> log_evidence(Seen.of(k, n), np.array([0.8, -1.0]), np.array(0.0)).round(1)
    array([-0. ,  0.8,  1.7,  2.7,  3.7,  4.7])
    """
    k, n = seen.k, seen.n
    shape = np.broadcast_shapes(k.shape[:-2], a.shape[:-1], b.shape)
    periods, rates = k.shape[-2:]
    a, b = np.broadcast_to(a, (*shape, rates)), np.broadcast_to(b, shape)
    past_k, past_n = _before(k, k0), _before(n, n0)
    size = n if seen.plain else _expected(n, past_n)
    each = np.divide(n, seen.people, out=np.ones_like(n), where=seen.people > 0)
    running = np.full((*shape, len(STAKES)), -np.inf)
    found = np.empty((*shape, periods))
    for t in range(periods):
        with np.errstate(divide="ignore"):
            begun = np.log(FROM_THE_START if t == 0 else SINCE_LATER / (t * (t + 1)))
        now = (size[..., t, :], each[..., t, :])
        q = edge(past_k[..., t, :], past_n[..., t, :], now[0], a, b)
        known = (now[0] > 0) & (past_n[..., t, :] > 0)
        running = np.logaddexp(running, begun) + _bets(_period(seen, t), *now, a, b, q, known)
        yet = SINCE_LATER.sum() / (t + 1)  # of violations that are still to begin
        found[..., t] = np.logaddexp(np.logaddexp.reduce(running, axis=-1), np.log(yet))
    return found


def _before(x: Floats, first: Floats | None) -> Floats:
    """What is known before each period: the sum of the last ones."""
    total = np.cumsum(x, axis=-2)
    zero = np.zeros_like(total[..., :1, :])
    until = np.concatenate([zero, total[..., :-1, :]], axis=-2)
    gone = np.concatenate([np.repeat(zero, PAST, axis=-2), until], axis=-2)[..., : x.shape[-2], :]
    return np.asarray(until - gone + (0.0 if first is None else first[..., None, :]))


def _expected(n: Floats, past: Floats) -> Floats:
    """How large each group of a period is, by its share in the past."""
    whole = past.sum(-1, keepdims=True)
    return np.asarray(n.sum(-1, keepdims=True) * past / np.where(whole > 0, whole, 1.0))


def _period(seen: Seen, t: int) -> list[Floats]:
    """Hits and misses of a period and their weights, with an axis for the stakes."""
    own = (seen.hits, seen.misses, seen.hit_weight, seen.miss_weight)
    return [x[..., t, None, :, :] if x.ndim > 1 else x for x in own]


def _bets(
    people: list[Floats], size: Floats, each: Floats, a: Floats, b: Floats, q: Floats, known: Bools
) -> Floats:
    """The logarithm of one period's e for each stake."""
    hits, misses, hit_weight, miss_weight = people
    about = a != 0
    play = np.asarray((known | ~about).all(-1)) & np.asarray((a * q).sum(-1) >= b - 1e-12)
    size = np.where(size > 0, size, 1.0)
    spread = (a * a * q * (1 - q) * each / size).sum(-1)
    heaviest = np.maximum(*(w.max(tuple(range(-min(w.ndim, 3), 0))) for w in people[2:]))
    with np.errstate(divide="ignore", invalid="ignore"):
        most = NEVER_ALL * size / np.abs(a) / np.maximum(q, 1 - q) / np.asarray(heaviest)[..., None]
        most = np.where(about, most, np.inf).min(-1)[..., None]
        stake = np.minimum(STAKES / np.sqrt(spread)[..., None], most)
    stake = np.where(play[..., None] & np.isfinite(stake), stake, 0.0)
    bet, q = (stake[..., None] * (a / size)[..., None, :])[..., None], q[..., None, :, None]
    won = hits * np.log1p(bet * hit_weight * (1 - q))
    return np.asarray((won + misses * np.log1p(-bet * miss_weight * q)).sum((-1, -2)))


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
