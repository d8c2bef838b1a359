"""Estimates as plain data, with no more digits than they may have."""

from typing import Any

from fairpatch.measure.estimate import Estimate
from fairpatch.measure.floor import MIN_PEOPLE


def figure_data(estimate: Estimate, digits: int = 6) -> dict[str, Any]:
    """Value, limits, and why there are none."""
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {
        **{k: None if v is None else round(v, digits) for k, v in numbers.items()},
        "reason": estimate.reason,
        "groups": estimate.groups,
    }


def coarse(rate: Estimate, people: int) -> dict[str, Any]:
    """A rate to the nearest ten people, so that it tells no smaller count; without an interval."""
    if rate.value is None:
        return figure_data(rate)
    step = max(MIN_PEOPLE / people, 0.01)
    return figure_data(Estimate(min(1.0, round(rate.value / step) * step)), digits=3)
