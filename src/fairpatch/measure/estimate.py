"""A measured number with its interval, or the reason why there is none."""

from dataclasses import dataclass, field
from math import ceil, floor
from typing import Any

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
    >>> print(Estimate.somewhere(0.104, 0.251))
    0.10 to 0.26
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    between: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    """The groups that the value hangs on: of the lowest rate and of the highest."""
    within: tuple[float, float] | None = None
    """Where the value lies, if no more than that may be said of it."""

    @classmethod
    def somewhere(cls, low: float, high: float) -> "Estimate":
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
        """The groups that the value hangs on, in words; nothing where they are not named.

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
