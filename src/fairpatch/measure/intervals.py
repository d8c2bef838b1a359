"""A measured number with its interval, or the reason why there is none.

Rates: Wilson (score) or Clopper-Pearson (exact, never too short). Counts may be weighted: then n is
the effective sample size, a real number, and both formulas hold as they stand.

Gaps and ratios of two rates are recovered from the two rates' own limits (MOVER: Newcombe 1998 for
the difference, Donner and Zou 2012 for the ratio), which stays sound at rates of 0 and 1 where the
delta method does not. Over more than two groups every pair gets its interval at a level corrected
by Bonferroni, so that the extreme pair is covered whichever it is.
"""

from dataclasses import dataclass, field
from math import ceil, floor
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtri

from fairpatch._tools.arrays import Floats

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


# A measured number with its interval, or the reason why there is none.

WITHHELD = "withheld to protect small groups"
"""Why a figure that exists is not given in full."""


@dataclass(frozen=True)
class Estimate:
    """A value with a confidence interval; ``value`` is None where the metric is undefined.

    An undefined metric never turns into 0 or 1 by accident: ``float()`` of it raises, and
    ``reason`` says why.

    >>> print(Estimate(0.276, 0.19, 0.39))
    0.276 [0.190, 0.390]
    >>> print(Estimate.undefined("no group gets outcome 1"))
    undefined: no group gets outcome 1
    >>> print(Estimate.from_range(0.104, 0.251))
    0.10 to 0.26
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    between: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    """The groups that the value depends on: of the lowest rate and of the highest."""
    within: tuple[float, float] | None = None
    """Where the value lies, if no more than that may be said of it."""

    @classmethod
    def from_range(cls, low: float, high: float) -> "Estimate":
        """As much of a value as may be told: two digits, or what it lies between."""
        value = round(low, 2)
        if value == round(high, 2) and (0 < value < 1 or low == high):  # nobody is not few
            return cls(value)
        ends = floor(low * 100 + 1e-9) / 100, ceil(high * 100 - 1e-9) / 100
        return cls.withhold(ends)

    @classmethod
    def withhold(cls, within: tuple[float, float] | None = None) -> "Estimate":
        """A value that exists, of which no more may be shown than what it lies between."""
        return cls(None, reason=WITHHELD, within=within)

    @classmethod
    def undefined(cls, reason: str) -> "Estimate":
        """No value, and why."""
        return cls(None, reason=reason)

    def rounded(self) -> "Estimate":
        """The same to two digits, its interval outwards.

        >>> print(Estimate(0.2761, 0.1904, 0.3961).rounded())
        0.280 [0.190, 0.400]
        """
        if self.value is None or self.low is None or self.high is None:
            return self
        low, high = floor(self.low * 100 + 1e-9) / 100, ceil(self.high * 100 - 1e-9) / 100
        value = round(self.value, 2) + 0.0  # no minus zero
        return Estimate(value, low + 0.0, high + 0.0, between=self.between)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    @property
    def withheld(self) -> bool:
        """Whether there is a value that is not given in full."""
        return self.reason == WITHHELD

    @property
    def ends(self) -> tuple[float, float] | None:
        """What the value itself lies between, as far as it is told; None where nothing is."""
        if self.within is not None or self.value is None:
            return self.within
        # without an interval it was told to two digits
        half = 0.005 if self.low is None else 0.0
        return self.value - half, self.value + half

    @property
    def data(self) -> dict[str, Any]:
        """As plain data."""
        if self.within is not None:
            at_least, at_most = self.within
            return {"value": None, "at_least": at_least, "at_most": at_most, "reason": self.reason}
        if self.value is None:
            return {"value": None, "reason": self.reason, "withheld": self.withheld}
        return {"value": self.value, "low": self.low, "high": self.high}

    @property
    def groups(self) -> str:
        """The groups that the value depends on, in words; nothing where they are not named.

        >>> Estimate(0.8, between=("f", "m")).groups
        ' (f against m)'
        """
        return "" if self.between is None else f" ({self.between[0]} against {self.between[1]})"

    def __float__(self) -> float:
        if self.value is None:
            what = "undefined" if self.within is None else f"only told as {self}"
            raise ValueError(f"this metric is {what}: {self.reason}")
        return self.value

    def __str__(self) -> str:
        if self.within is not None:
            return f"{self.within[0]:.2f} to {self.within[1]:.2f}"
        if self.value is None:
            return "not shown" if self.withheld else f"undefined: {self.reason}"
        if self.low is None or self.high is None:
            return f"{self.value:.2f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"
