"""Counts, and what is computed from them. Knows neither learning nor patches."""

from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import (
    METRICS,
    Metric,
    accuracy,
    balanced_accuracy,
    change_rate,
    demographic_parity_difference,
    disparate_mistreatment,
    equal_opportunity_difference,
    fpr_gap,
    p_rule,
    tpr_gap,
)

__all__ = [
    "METRICS",
    "Counts",
    "Estimate",
    "Metric",
    "accuracy",
    "balanced_accuracy",
    "change_rate",
    "demographic_parity_difference",
    "disparate_mistreatment",
    "equal_opportunity_difference",
    "fpr_gap",
    "p_rule",
    "tpr_gap",
]
