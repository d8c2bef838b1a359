"""How few changes could do it without reading S? The blind bound and the Bayes rule (METHOD 6, 7).

With q_g(x) = P(S = g | x), rates are linear in the decisions: P(1 | S = g) = E[decision q_g] / pi_g
For the P-Rule of a disadvantaged group d against an advantaged group a,

    h(x) = q_d(x) / pi_d - tau q_a(x) / pi_a,      E[decision h] >= 0  is  P-Rule >= tau

so a promotion brings h and a demotion -h: a fractional knapsack on ``|h|`` is the
fewest changes, and

    change  iff  mu delta h(x) > lambda_ratio + delta (1 - 2 eta(x))

with delta = 1 for a person f denies, -1 for one it approves, eta = P(y = 1 | x), is optimal for
every exchange rate between accuracy (lambda_ratio = 0) and changes (lambda_ratio large).
"""

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.measure.direction import Direction, untouched


def helpfulness(
    q: Floats,
    decided: Bools,
    tau: float,
    *,
    shares: tuple[float, float] | None = None,
    disadvantaged: int | None = None,
    weight: Floats | None = None,
) -> Floats:
    """h(x) for two groups, from q = P(S = 1 | x).

    The groups' shares and which of them is disadvantaged follow from these people and f's
    decisions, unless they are given.
    """
    share = float(np.average(q, weights=weight))
    pi = np.array(shares) if shares else np.array([1 - share, share])
    both = np.stack([1 - q, q])
    if disadvantaged is None:
        rates = np.average(both * decided, axis=1, weights=weight) / pi
        disadvantaged = int(rates[1] <= rates[0])
    d, a = disadvantaged, 1 - disadvantaged
    return np.asarray(both[d] / pi[d] - tau * both[a] / pi[a])


def fewest_blind(
    q: Floats,
    decided: Bools,
    tau: float,
    *,
    slack: float = 0.0,
    direction: Direction = "both",
    weight: Floats | None = None,
) -> float | None:
    """Least share of decisions to change for a P-Rule of tau by a rule that reads x only.

    With tau = 1 and ``slack``: for a rate difference of at most that. Exact for the q that is
    given: with q estimated, so is the bound. None where it cannot be. ``weight`` says for how many
    people each row stands.

    >>> q = np.array([0.9, 0.9, 0.1, 0.1]); decided = np.array([True, True, False, False])
    >>> fewest_blind(q, decided, tau=0.8)
    0.378...
    """
    w = np.ones(len(q)) if weight is None else weight
    h = helpfulness(q, decided, tau, weight=weight)
    deficit = -float((w * h * decided).sum()) - slack * float(w.sum())
    if deficit <= 0:
        return 0.0
    gain = np.where(decided, -h, h)
    allowed = (gain > 0) & ~untouched(direction, decided)
    order = np.argsort(-gain[allowed], kind="stable")
    taken = w[allowed][order]
    best = (gain[allowed][order] * taken).cumsum()
    k = int(np.searchsorted(best, deficit))
    if k == len(best):
        return None
    before = best[k - 1] if k else 0.0
    people = taken[:k].sum() + taken[k] * (deficit - before) / (best[k] - before)
    return float(people / w.sum())


def bayes_multiplier(
    q: Floats, eta: Floats, decided: Bools, tau: float, *, lambda_ratio: float
) -> float:
    """The least mu at which the Bayes rule meets the P-Rule on these people; infinite if none does.

    At mu = 0 it changes whoever pays for himself (cost < 0). As mu grows, people who help come in
    and people who harm go out, each when mu passes cost / gain: one sort finds the least mu.
    """
    h = helpfulness(q, decided, tau)
    cost, gain = _cost_and_gain(h, eta, decided, lambda_ratio)
    changed = cost < 0
    reached = float((h * decided).sum() + gain[changed].sum())
    if reached >= 0:
        return 0.0
    turning = np.flatnonzero((gain > 0) != changed)  # comes in, or goes out
    turning = turning[gain[turning] != 0]
    at = cost[turning] / gain[turning]
    order = np.argsort(at, kind="stable")
    met = np.flatnonzero(reached + np.abs(gain[turning][order]).cumsum() >= 0)
    if not len(met):
        return float("inf")
    here = at[order[met[0]]]
    later = at[at > here]  # halfway to the next one, so that rounding does not matter
    return float((here + (later.min() if len(later) else 2 * here + 1)) / 2)


def bayes_changes(
    q: Floats, eta: Floats, decided: Bools, tau: float, *, lambda_ratio: float
) -> Bools | None:
    """Whom the Bayes rule changes at the least mu that meets the P-Rule; None where none does."""
    mu = bayes_multiplier(q, eta, decided, tau, lambda_ratio=lambda_ratio)
    if np.isinf(mu):
        return None
    cost, gain = _cost_and_gain(helpfulness(q, decided, tau), eta, decided, lambda_ratio)
    return np.asarray(mu * gain > cost)


def _cost_and_gain(
    h: Floats, eta: Floats, decided: Bools, lambda_ratio: float
) -> tuple[Floats, Floats]:
    """What changing a person costs, and what it brings towards the target."""
    delta = np.where(decided, -1.0, 1.0)
    return lambda_ratio + delta * (1 - 2 * eta), delta * h
