"""Estimates as plain data, with no more digits than they may have."""

from typing import Any

from fairpatch.measure.estimate import Estimate


def figure_data(estimate: Estimate, digits: int = 6) -> dict[str, Any]:
    """Value, limits, what it lies between if no more may be told, and why there is none."""
    at_least, at_most = estimate.within or (None, None)
    numbers = {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "at_least": at_least,
        "at_most": at_most,
    }
    return {
        **{k: None if v is None else round(v, digits) for k, v in numbers.items()},
        "reason": estimate.reason,
        "groups": estimate.groups,
    }
