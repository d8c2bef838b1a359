"""How few changes could do it? The fewest that reach a target if S were known (METHOD section 6).

No method can do with less, whatever it reads. Everything is computed from counts: people N_g and
positive decisions G_g of each group (given y, for DM).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairpatch.measure.counts import Counts

Ints = NDArray[np.int64]

MOST = 3_000_000
"""The sweep tries every rate that a group can have; beyond so many people, count a sample."""

SMALL = 2_000
"""Up to so many people of a label every combination is tried; beyond, a gap closes evenly."""


@dataclass(frozen=True)
class Bound:
    """The fewest changed decisions that reach a target, and how they split."""

    changes: int
    people: int
    promotions: tuple[int, ...]
    """By group, in the order of the counts."""
    demotions: tuple[int, ...]

    @property
    def change_rate(self) -> float:
        """As a share of all people."""
        return self.changes / self.people


def fewest_for_p_rule(counts: Counts, tau: float, *, direction: str = "both") -> Bound | None:
    """Fewest changes of f's decisions to a P-Rule of at least tau; None where it cannot be.

    With the highest rate allowed to be c, every group must end between tau * c and c. The sweep
    tries every c that is some group's rate (exact for any number of groups).

    >>> counts = Counts.from_arrays(
    ...     decision=[1] * 6 + [0] * 4 + [1] * 2 + [0] * 8,
    ...     sensitive_features=["a"] * 10 + ["b"] * 10)
    >>> fewest_for_p_rule(counts, 0.8).changes
    3
    """
    t = _fraction(tau)
    n, g = _sizes(counts)

    def band(k: Ints, size: int) -> tuple[Ints, Ints]:
        """Least and most positives of each group for the caps c = k / size."""
        low = -(-t.numerator * k[:, None] * n // (t.denominator * size))
        return low, k[:, None] * n // size

    up, down = direction != "demote_only", direction != "promote_only"
    return _best(n, g, _sweep(n, band, start=1), up=up, down=down)


def fewest_for_rate_difference(counts: Counts, e: float) -> Bound | None:
    """Fewest changes to a largest difference of rates of at most e."""
    t = _fraction(e)
    n, g = _sizes(counts)

    def from_below(k: Ints, size: int) -> tuple[Ints, Ints]:
        """Lowest rate k / size, highest k / size + e."""
        low = -(-k[:, None] * n // size)
        return low, (k[:, None] * t.denominator + t.numerator * size) * n // (size * t.denominator)

    def from_above(k: Ints, size: int) -> tuple[Ints, Ints]:
        """Highest rate k / size, lowest k / size - e."""
        low = -(-(k[:, None] * t.denominator - t.numerator * size) * n // (size * t.denominator))
        return low, k[:, None] * n // size

    bands = [*_sweep(n, from_below, start=0), *_sweep(n, from_above, start=0)]
    return _best(n, g, bands, up=True, down=True)


def fewest_for_mistreatment(counts: Counts, e: float) -> int:
    """Fewest changes to DM = TPR gap + FPR gap of at most e, for two groups.

    (The paper gives all flips to one gap; that is wrong once the gap is closed.)
    """
    counts = counts.known()
    if len(counts.groups) != 2:
        raise ValueError(f"the bound for DM is for two groups, there are {len(counts.groups)}")
    tpr, fpr = (_gap_after(*_sizes(counts, y)) for y in (1, 0))
    # For each number of flips on the TPR gap, the fewest on the FPR gap that do the rest. Gaps are
    # multiples of 1 / (N_a N_d), far above the rounding error that is allowed for here.
    needed = np.searchsorted(-fpr, -(e - tpr) - 1e-12)
    there = needed < len(fpr)
    return int((np.arange(len(tpr)) + needed)[there].min())


def _gap_after(n: Ints, g: Ints) -> NDArray[np.float64]:
    """Least gap of two groups' rates after K = 0, 1, ... flips, until it is as small as it gets."""
    if not n.all():
        raise ValueError("a group has no people with this label, so the gap is undefined")
    if n.sum() <= SMALL:
        return _gap_after_any_flips(n, g)
    a, d = (0, 1) if g[0] * n[1] >= g[1] * n[0] else (1, 0)
    gap = g[a] / n[a] - g[d] / n[d]
    K = np.arange(int(np.ceil(gap * n.max())) + 2)
    # i promotions in d and K - i demotions in a: the gap is linear in i, and least near its zero
    slope = 1 / n[a] - 1 / n[d]
    zero = np.zeros(len(K)) if abs(slope) < 1e-15 else (K / n[a] - gap) / slope
    best = np.full(len(K), np.inf)
    for i in (np.floor(zero), np.ceil(zero), np.zeros(len(K)), K):
        up = np.clip(i, np.maximum(0, K - g[a]), np.minimum(K, n[d] - g[d]))
        best = np.minimum(best, np.abs((g[a] - (K - up)) / n[a] - (g[d] + up) / n[d]))
    return np.minimum.accumulate(best)


def _gap_after_any_flips(n: Ints, g: Ints) -> NDArray[np.float64]:
    """The same by trying every number of positives in both groups: small groups may overshoot."""
    one, two = (np.arange(size + 1) for size in n)
    flips = np.abs(one - g[0])[:, None] + np.abs(two - g[1])[None]
    gaps = np.abs(one[:, None] / n[0] - two[None] / n[1])
    best = np.full(int(flips.max()) + 1, np.inf)
    np.minimum.at(best, flips.ravel(), gaps.ravel())
    return np.minimum.accumulate(best)


def _sizes(counts: Counts, y: int | None = None) -> tuple[Ints, Ints]:
    """N_g and G_g: people, and f's positive decisions."""
    table = counts.known().n
    table = table.sum(1) if y is None else table[:, y]
    return table.sum((1, 2)), table[:, 1].sum(1)


def _fraction(value: float) -> Fraction:
    """The rational number that was meant: 0.8 is 4 / 5, not the nearest float."""
    return Fraction(value).limit_denominator(10_000)


Band = Callable[[Ints, int], tuple[Ints, Ints]]


def _sweep(n: Ints, band: Band, *, start: int) -> list[tuple[Ints, Ints]]:
    """The bands of every rate that some group can have."""
    if n.sum() > MOST:
        raise ValueError(f"the exact bound is for up to {MOST:,} people, there are {n.sum():,}")
    return [band(np.arange(start, size + 1, dtype=np.int64), int(size)) for size in n]


def _best(
    n: Ints, g: Ints, bands: list[tuple[Ints, Ints]], *, up: bool, down: bool
) -> Bound | None:
    """The cheapest way to bring every group's positives g into one of the bands."""
    found: list[tuple[int, Ints, Ints]] = []
    for low, high in bands:
        promote, demote = np.maximum(0, low - g), np.maximum(0, g - high)
        ok = ((low <= high) & (low <= n)).all(1)
        ok &= up or ~promote.any(1)
        ok &= down or ~demote.any(1)
        if ok.any():
            cost = np.where(ok, (promote + demote).sum(1), np.iinfo(np.int64).max)
            i = int(cost.argmin())
            found.append((int(cost[i]), promote[i], demote[i]))
    if not found:
        return None
    changes, promote, demote = min(found, key=lambda f: f[0])
    return Bound(changes, int(n.sum()), tuple(promote.tolist()), tuple(demote.tolist()))
