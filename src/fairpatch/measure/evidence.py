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

Where people have several rows, the bet is on everybody's rows together, in random parts of all
people: 1 + s a_i (K - q_i N) / n_i for a part with K hits in N rows. Parts are independent of each
other, as people are, and E[e] <= 1 for the same reason.

How far a failing guarantee is off, and since when, nobody knows: stakes for what shows in months
down to what takes years, each beginning at every period, are averaged with weights that sum to 1.
"""

import numpy as np

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
    largest, alike = (1.0, 1.0) if parts is None else _sizes(parts[1], n)
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


def _sizes(rows: Floats, n: Floats) -> tuple[Floats, Floats]:
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
