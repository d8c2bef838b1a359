"""A measured number with its interval, or the reason why there is none."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Estimate:
    """A value with a confidence interval; ``value`` is None where the metric is undefined.

    An undefined metric never turns into 0 or 1 by accident: ``float()`` of it raises, and
    ``reason`` says why.

    >>> print(Estimate(0.276, 0.19, 0.39))
    0.276 [0.190, 0.390]
    >>> print(Estimate.undefined("no group gets outcome 1"))
    undefined: no group gets outcome 1
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    between: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    """The groups that the value hangs on: of the lowest rate and of the highest."""

    @classmethod
    def undefined(cls, reason: str) -> "Estimate":
        """No value, and why."""
        return cls(None, reason=reason)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    @property
    def groups(self) -> str:
        """The groups that the value hangs on, in words; nothing where they are not named.

        >>> Estimate(0.8, between=("f", "m")).groups
        ' (f against m)'
        """
        return "" if self.between is None else f" ({self.between[0]} against {self.between[1]})"

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"this metric is undefined: {self.reason}")
        return self.value

    def __str__(self) -> str:
        if self.value is None:
            return f"undefined: {self.reason}"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"
