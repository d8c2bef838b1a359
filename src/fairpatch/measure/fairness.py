"""The comparisons of groups as functions of Counts, for those who want one figure.

Options are those of ``Metric.of``: ``model`` ("g", or "f" for the base model), ``confidence`` and
``method`` ("wilson" or "clopper_pearson").
"""

from collections.abc import Callable
from typing import Any, Literal

from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.metric import FPR_GAP, MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP

Fairness = Literal["demographic_parity", "equalized_odds"]
"""Decisions independent of S, or given y."""


def p_rule(counts: Counts, **options: Any) -> Estimate:
    """Compute the P-Rule: the lowest group's rate of decision 1 over the highest group's.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    **options
        ``model`` ("g", or "f" for the base model), ``confidence`` and ``method`` of the interval.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.

    Examples
    --------
    >>> counts = Counts.from_arrays(
    ...     decision=[1, 1, 1, 0, 1, 0, 0, 0], sensitive_features=["a"] * 4 + ["b"] * 4)
    >>> float(p_rule(counts))
    0.3333333333333333
    """
    return P_RULE.of(counts, **options)


def demographic_parity_difference(counts: Counts, **options: Any) -> Estimate:
    """Largest difference between two groups' rates of decision 1.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    **options
        ``model`` ("g", or "f" for the base model), ``confidence`` and ``method`` of the interval.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.
    """
    return RATE_DIFFERENCE.of(counts, **options)


def tpr_gap(counts: Counts, **options: Any) -> Estimate:
    """Largest difference between two groups' true positive rates.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    **options
        ``model`` ("g", or "f" for the base model), ``confidence`` and ``method`` of the interval.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.
    """
    return TPR_GAP.of(counts, **options)


equal_opportunity_difference: Callable[..., Estimate] = tpr_gap
"""Equal opportunity asks for equal true positive rates: its violation is the TPR gap."""


def fpr_gap(counts: Counts, **options: Any) -> Estimate:
    """Largest difference between two groups' false positive rates.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    **options
        ``model`` ("g", or "f" for the base model), ``confidence`` and ``method`` of the interval.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.
    """
    return FPR_GAP.of(counts, **options)


def disparate_mistreatment(counts: Counts, **options: Any) -> Estimate:
    """DM, the violation of equalized odds: TPR gap + FPR gap.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    **options
        ``model`` ("g", or "f" for the base model), ``confidence`` and ``method`` of the interval.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.
    """
    return MISTREATMENT.of(counts, **options)
