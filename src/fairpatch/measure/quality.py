"""How often the decisions agree with the labels: functions of Counts."""

import numpy as np

from fairpatch.measure import intervals
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import Model, correct_rate, false_positive_rate, true_positive_rate


def accuracy(
    counts: Counts,
    *,
    model: Model = "g",
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """P(decision = y) over the rows that have a label.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    model : {"g", "f"}
        The patched model, or the base model.
    confidence : float
        Level of the interval.
    method : {"wilson", "clopper_pearson"}
        How the interval is computed.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.

    Examples
    --------
    >>> print(accuracy(Counts.from_arrays(
    ...     decision=[1, 0, 1, 1], y=[1, 0, 0, None], sensitive_features=list("abab"))))
    0.667 [0.208, 0.939]
    """
    return correct_rate(model).of(counts, confidence=confidence, method=method)


def balanced_accuracy(
    counts: Counts,
    *,
    model: Model = "g",
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """(TPR + TNR) / 2.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    model : {"g", "f"}
        The patched model, or the base model.
    confidence : float
        Level of the interval.
    method : {"wilson", "clopper_pearson"}
        How the interval is computed.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.
    """
    tpr = true_positive_rate(model).of(counts, confidence=confidence, method=method)
    fpr = false_positive_rate(model).of(counts, confidence=confidence, method=method)
    for part in (tpr, fpr):
        if part.value is None:
            return part
    t, t_low, t_high, f, f_low, f_high = (
        getattr(part, end) for part in (tpr, fpr) for end in ("value", "low", "high")
    )
    # TPR and TNR are of different people: their limits combine as for a difference (MOVER)
    value = (t + 1 - f) / 2
    low = value - float(np.hypot(t - t_low, f_high - f)) / 2
    high = value + float(np.hypot(t_high - t, f - f_low)) / 2
    return Estimate(value, max(low, 0.0), min(high, 1.0))
