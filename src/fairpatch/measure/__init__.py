"""Counts, and what is computed from them. Knows neither learning nor patches."""

from fairpatch.measure.changes import Changes, change_rate, changes_by_group
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.fairness import (
    demographic_parity_difference,
    disparate_mistreatment,
    equal_opportunity_difference,
    fpr_gap,
    p_rule,
    tpr_gap,
)
from fairpatch.measure.metric import METRICS, Metric
from fairpatch.measure.quality import accuracy, balanced_accuracy

__all__ = [
    "METRICS",
    "Changes",
    "Counts",
    "Estimate",
    "Metric",
    "accuracy",
    "balanced_accuracy",
    "change_rate",
    "changes_by_group",
    "demographic_parity_difference",
    "disparate_mistreatment",
    "equal_opportunity_difference",
    "fpr_gap",
    "p_rule",
    "tpr_gap",
]
