"""How few changes could do it? With S known (METHOD section 6), and blind (6 and 7).

No method can do with less, whatever it reads. Everything is computed from counts: people N_g and
positive decisions G_g of each group (given y, for DM), so it costs the same for 10^10 people.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats
from fairpatch.measure.cells import UNKNOWN, Direction, cells, may_demote, may_promote, untouched
from fairpatch.measure.counts import Counts

Whole = NDArray[Any]
"""Whole numbers of any size: products of counts outgrow 64 bits, so they are Python's own."""
NODES = 2_000
"""Places that the integer program looks at, at most."""
SOLVED, IMPOSSIBLE = 0, 2
"""Its status where that was enough; any other says that it gave up."""
EVERYBODY: Bools = cells()
"""All cells (y, decision of f, decision of g)."""

WIDEST = 100_000
"""Rates tried at most for each group; more are needed only where the cost is flat over them."""


@dataclass(frozen=True)
class Bound:
    """The fewest changed decisions that reach a target, and how they split."""

    changes: int
    people: int
    promotions: tuple[int, ...]
    """By group, in the order of the counts."""
    demotions: tuple[int, ...]
    correct: int | None = None
    """How many more decisions equal y, at best, with so few changes; None where y is not known."""

    @property
    def change_rate(self) -> float:
        """As a share of all people."""
        return self.changes / self.people


def fewest_for_ratio(
    counts: Counts, tau: float, *, among: Bools = EVERYBODY, direction: Direction = "both"
) -> Bound | None:
    """Fewest changes of f's decisions to a ratio of rates of at least tau; None if it cannot be.

    With the highest rate allowed to be c, every group must end between tau * c and c. The sweep
    tries every c that is some group's rate (exact for any number of groups). Rates are of the
    people in the cells ``among``: only their changes help.
    """
    t = _fraction(tau)

    def band(c: Whole) -> tuple[Whole, Whole]:
        return t * c, c

    largest = int(counts.known().among(among).sizes.max(initial=1))
    return _sweep(counts, among, band, direction, least=Fraction(1, largest))


def fewest_for_gap(
    counts: Counts, e: float, *, among: Bools = EVERYBODY, direction: Direction = "both"
) -> Bound | None:
    """Fewest changes to a largest difference of rates of at most e, among some people.

    The highest rate c is some group's, and every group must end between c - e and c.
    """
    t = _fraction(e)

    def band(c: Whole) -> tuple[Whole, Whole]:
        return c - t, c

    return _sweep(counts, among, band, direction, least=Fraction(0))


def fewest_for_gaps(
    counts: Counts, e: float, *, direction: Direction = "both", whole: bool = True
) -> Bound | None:
    """Fewest changes to a TPR gap + FPR gap (DM) of at most e; None where it cannot be.

    A small integer program: promotions and demotions by group and label, the lowest and highest
    rate of each label. (The paper gives all flips to one gap; wrong once that gap is closed.)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 slow to import

    counts = counts.known()
    cases = list(product(range(len(counts.groups)), (0, 1)))
    table = counts.along("group", "label", "before")
    size = np.array([table[g, y].sum() for g, y in cases], np.float64)
    held = np.array([table[g, y, 1] for g, y in cases], np.float64)
    if not size.all():
        raise ValueError("a group has no people with this label, so the gap is undefined")
    # Beyond 10,000 people in a cell the solver's tolerance nears a person: count in lots, and
    # let lots be broken. The fewest is then rounded up, and at most a person a cell too small.
    lot = max(1.0, size.max() / 1e4)
    size, held, k = size / lot, held / lot, len(cases)
    # variables: promotions (k), demotions (k), lowest rate of y = 0, 1, highest rate of y = 0, 1
    rows = np.zeros((2 * k + 1, 2 * k + 4))
    for i, (_, y) in enumerate(cases):  # lowest * size <= positives <= highest * size
        rows[[2 * i, 2 * i + 1], i] = 1
        rows[[2 * i, 2 * i + 1], k + i] = -1
        rows[2 * i, 2 * k + y] = -size[i]
        rows[2 * i + 1, 2 * k + 2 + y] = -size[i]
    rows[-1, 2 * k :] = np.array([-1, -1, 1, 1]) * size.max()  # in people, as the other rows
    at_least = np.append(np.column_stack([-held, np.full(k, -np.inf)]).ravel(), -np.inf)
    at_most = np.append(np.column_stack([np.full(k, np.inf), -held]).ravel(), e * size.max())
    up, down = may_promote(direction), may_demote(direction)
    most = np.concatenate([(size - held) * up, held * down, np.ones(4)])
    limits = LinearConstraint(rows, at_least, at_most)
    flips = np.append(np.ones(2 * k), np.zeros(4))

    def solve(objective: Floats, *constraints: LinearConstraint, whole: bool) -> Any:
        return milp(
            objective,
            constraints=[limits, *constraints],
            bounds=Bounds(np.zeros(len(most)), most),
            integrality=(flips * whole).astype(np.int64),
            options={"mip_rel_gap": 0.0, "node_limit": NODES},
        )

    # Where sizes hardly divide each other and e is next to 0, whole numbers may take for ever:
    # then people may be broken too. That needs no more changes, so it is a bound all the same.
    whole = whole and lot == 1
    first = solve(flips, whole=whole)
    if first.status not in (SOLVED, IMPOSSIBLE):
        whole, first = False, solve(flips, whole=False)
    if first.x is None:
        return None
    fewest = float(first.x @ flips)
    wrong = np.array([1 - 2 * y for _, y in cases])  # promoting y = 0, demoting y = 1
    second = solve(
        np.concatenate([wrong, -wrong, np.zeros(4)]),
        LinearConstraint(flips, 0, fewest + 1e-6),
        whole=whole,
    )
    first, second = first.x, second.x if second.status == SOLVED else None
    moves = np.rint((first if second is None else second)[: 2 * k] * lot).astype(int)
    by_group = moves.reshape(2, -1, 2).sum(2)
    return Bound(
        int(np.ceil(fewest * lot - 1e-4)),
        int(counts.total),
        tuple(by_group[0].tolist()),
        tuple(by_group[1].tolist()),
        -int(moves[:k] @ wrong - moves[k:] @ wrong),
    )


def _fraction(value: float) -> Fraction:
    """The rational number that was meant: 0.8 is 4 / 5, not the nearest float."""
    return Fraction(value).limit_denominator(10_000)


Band = Callable[[Any], tuple[Any, Any]]
"""Lowest and highest rate allowed, given the swept rate c."""


def _sweep(
    everybody: Counts, among: Bools, band: Band, direction: Direction, *, least: Fraction
) -> Bound | None:
    """The cheapest way to bring every group's positives g into a band, most correct among those."""
    counts = everybody.known().among(among)
    table = counts.along("group", "before")
    n, g = table.sum(1).astype(object), table[:, 1].astype(object)
    if not all(n):
        raise ValueError("a group has nobody to compare, so its rate is undefined")
    up, down = may_promote(direction), may_demote(direction)
    best: tuple[int, int, Whole, Whole] | None = None
    for c in _rates(n, g, band, up=up, down=down, least=least):
        below, above = band(c)
        low = -(-below.numerator * n // below.denominator)
        high = above.numerator * n // above.denominator
        if (low > high).any() or (low > n).any():
            continue
        promote, demote = np.maximum(0, low - g), np.maximum(0, g - high)
        if (not up and promote.any()) or (not down and demote.any()):
            continue
        changes = int((promote + demote).sum())
        if best is None or changes <= best[0]:
            correct = _correct(counts, promote, demote)
            if best is None or (changes, -correct) < (best[0], -best[1]):
                best = changes, correct, promote, demote
    if best is None:
        return None
    changes, correct, promote, demote = best
    labelled = not counts.along("label")[UNKNOWN]
    return Bound(
        changes,
        int(everybody.known().total),
        tuple(map(int, promote)),
        tuple(map(int, demote)),
        correct if labelled else None,
    )


def _rates(
    n: Whole, g: Whole, band: Band, *, up: bool, down: bool, least: Fraction
) -> list[Fraction]:
    """Rates k / N of some group that can be cheapest.

    Without whole numbers the cost is convex in c: a sum of hinges. Rounding adds less than one
    person for each group and side, so only rates that cost at most so much more than the least
    are tried: an interval around the minimum, found by bisection.
    """
    sizes, held = n.astype(np.float64), g.astype(np.float64)

    def cost(c: float) -> float:
        below, above = (np.float64(edge) for edge in band(c))
        promote, demote = np.maximum(0, below * sizes - held), np.maximum(0, held - above * sizes)
        return float((promote + demote).sum())

    lowest, highest = float(least), 1.0
    rates = held / sizes
    if not down:  # nobody may be above the band, nor below it
        lowest = max(lowest, _edge(lambda c: float(band(c)[1]) >= rates.max(), up=True))
    if not up:
        highest = min(highest, _edge(lambda c: float(band(c)[0]) <= rates.min(), up=False))
    if lowest > highest:
        return []
    # the minimum of a convex function by thirds
    left, right = lowest, highest
    for _ in range(120):
        third = (right - left) / 3
        if cost(left + third) <= cost(right - third):
            right -= third
        else:
            left += third
    centre = (left + right) / 2
    enough = cost(centre) + 2 * len(n) + 1
    slack = 2 / float(n.min())
    start = max(lowest, _bisect(lambda c: cost(c) <= enough, centre, lowest)) - slack
    stop = min(highest, _bisect(lambda c: cost(c) <= enough, centre, highest)) + slack
    achievable: set[Fraction] = set()
    for size in map(int, n):
        first = max(0, int(np.floor(start * size)))
        last = min(size, int(np.ceil(stop * size)))
        step = max(1, (last - first) // WIDEST)
        achievable |= {Fraction(k, size) for k in [*range(first, last + 1, step), last]}
    return sorted(c for c in achievable if c > 0 or least == 0)


def _edge(holds: Callable[[float], bool], *, up: bool) -> float:
    """Where a condition that is monotone in c on 0 to 1 starts (up) or stops to hold."""
    inside, outside = (1.0, 0.0) if up else (0.0, 1.0)
    return _bisect(holds, inside, outside)


def _bisect(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """The last place on the way from inside to outside where the condition holds."""
    if holds(outside):
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def _correct(counts: Counts, promote: Whole, demote: Whole) -> int:
    """Decisions that become correct less those that become wrong, the right people taken first."""
    table = counts.along("group", "label", "before")
    missed, wrong = table[:, 1, 0], table[:, 0, 1]
    good = np.minimum(promote, missed) + np.minimum(demote, wrong)
    return int((2 * good - promote - demote).sum())


# How few changes could do it without reading S? The blind bound and the Bayes rule (METHOD 6, 7).
#
# With q_g(x) = P(S = g | x), rates are linear in the decisions: P(1 | S = g) = E[decision q_g] /
# pi_g For the P-Rule of a disadvantaged group d against an advantaged group a,
#
#     h(x) = q_d(x) / pi_d - tau q_a(x) / pi_a,      E[decision h] >= 0  is  P-Rule >= tau
#
# so a promotion brings h and a demotion -h: a fractional knapsack on ``|h|`` is the
# fewest changes, and
#
#     change  iff  mu delta h(x) > lambda_ratio + delta (1 - 2 eta(x))
#
# with delta = 1 for a person f denies, -1 for one it approves, eta = P(y = 1 | x), is optimal for
# every exchange rate between accuracy (lambda_ratio = 0) and changes (lambda_ratio large).


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
