"""Confidence intervals for rates, and for gaps and ratios of rates.

Rates: Wilson (score) or Clopper-Pearson (exact, never too short). Counts may be weighted: then n is
the effective sample size, a real number, and both formulas hold as they stand.

Gaps and ratios of two rates are recovered from the two rates' own limits (MOVER: Newcombe 1998 for
the difference, Donner and Zou 2012 for the ratio), which stays sound at rates of 0 and 1 where the
delta method does not. Over more than two groups every pair gets its interval at a level corrected
by Bonferroni, so that the extreme pair is covered whichever it is.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtri

from fairpatch._arrays import Floats

Method = Literal["wilson", "clopper_pearson"]


def wilson(k: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's score interval for k successes of n. NaN where n is 0."""
    z = -ndtri((1 - confidence) / 2)
    k, n = np.asarray(k, float), np.asarray(n, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = k / n
        centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    # At k = 0 and k = n the limit is 0 or 1 exactly; the formula misses it by a rounding error.
    low = np.where(k <= 0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(k >= n, 1.0, np.minimum(centre + half, 1.0))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def clopper_pearson(k: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's exact interval for k successes of n. NaN where n is 0."""
    tail = (1 - confidence) / 2
    k, n = np.asarray(k, float), np.asarray(n, float)
    with np.errstate(invalid="ignore"):
        low = np.where(k > 0, betaincinv(np.maximum(k, 1e-300), n - k + 1, tail), 0.0)
        high = np.where(k < n, betainccinv(k + 1, np.maximum(n - k, 1e-300), tail), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def rate(k: Floats, n: Floats, confidence: float, method: Method) -> tuple[Floats, Floats]:
    """Limits of rates k / n by the named method."""
    return {"wilson": wilson, "clopper_pearson": clopper_pearson}[method](k, n, confidence)


def gap(k: Floats, n: Floats, confidence: float, method: Method) -> tuple[float, float]:
    """Limits of max - min over the groups' rates k / n."""
    i, j, p, low, high = _pairs(k, n, confidence, method)
    d = p[i] - p[j]
    lower = d - np.hypot(p[i] - low[i], high[j] - p[j])
    upper = d + np.hypot(high[i] - p[i], p[j] - low[j])
    # |d| over the interval for d; the largest pair is the gap
    nearest = np.where((lower <= 0) & (upper >= 0), 0.0, np.minimum(np.abs(lower), np.abs(upper)))
    farthest = np.maximum(np.abs(lower), np.abs(upper))
    return float(nearest.max()), float(min(farthest.max(), 1.0))


def ratio(k: Floats, n: Floats, confidence: float, method: Method) -> tuple[float, float]:
    """Limits of min / max over the groups' rates k / n (the P-Rule)."""
    i, j, p, low, high = _pairs(k, n, confidence, method)
    # min / max of a pair is min(R, 1/R), R = p_i / p_j. Over R in [lower, upper] that function
    # is largest at 1 if 1 is inside, and least at one of the two ends.
    lower, upper = _ratio_limits(p[i], low[i], high[i], p[j], low[j], high[j])
    with np.errstate(divide="ignore"):
        ends = np.minimum(lower, 1 / lower), np.minimum(upper, 1 / upper)
    highest = np.where((lower <= 1) & (upper >= 1), 1.0, np.maximum(*ends))
    return float(np.minimum(*ends).min()), float(highest.min())


def _pairs(
    k: Floats, n: Floats, confidence: float, method: Method
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats, Floats]:
    """Every pair of groups, the rates, and their limits at the corrected level."""
    i, j = np.triu_indices(len(k), 1)
    low, high = rate(k, n, 1 - (1 - confidence) / len(i), method)
    return i, j, np.asarray(k, float) / n, low, high


def _ratio_limits(
    p1: Floats, l1: Floats, u1: Floats, p2: Floats, l2: Floats, u2: Floats
) -> tuple[Floats, Floats]:
    """Donner and Zou's limits for R = p1 / p2, from the limits (l, u) of each.

    The lower limit solves p1 - R p2 = hypot(p1 - l1, R (u2 - p2)), the upper one
    R p2 - p1 = hypot(u1 - p1, R (p2 - l2)): two quadratics, written so that neither divides by a
    number that may change its sign.
    """
    product = p1 * p2
    with np.errstate(divide="ignore", invalid="ignore"):
        c = l1 * (2 * p1 - l1)
        low = c / (product + np.sqrt(product**2 - c * u2 * (2 * p2 - u2)))
        a = l2 * (2 * p2 - l2)
        high = (product + np.sqrt(product**2 - a * u1 * (2 * p1 - u1))) / a
    return np.where(c > 0, low, 0.0), np.where(a > 0, high, np.inf)
