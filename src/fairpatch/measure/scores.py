"""How far scores move, beside how many decisions change: few changes can be far ones (METHOD 8)."""

import numpy as np

from fairpatch._arrays import Floats


def displacement(before: Floats, after: Floats, weight: Floats | None = None) -> float:
    """Mean distance of the new from the old probabilities."""
    return float(np.average(np.abs(after - before), weights=weight))


def rank_inversions(before: Floats, after: Floats) -> float:
    """Share of pairs of people whose order is reversed: (1 - Kendall's tau) / 2.

    >>> rank_inversions(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.1, 0.3]))
    0.333...
    """
    from scipy.stats import kendalltau  # noqa: PLC0415 a second to import, and rarely asked

    tau = kendalltau(before, after).statistic
    return 0.0 if np.isnan(tau) else float((1 - tau) / 2)
