"""How far apart the groups are: functions of Counts, for any number of groups.

People whose sensitive feature is missing belong to no group and are left out here.
"""

from collections.abc import Callable

from fairpatch.measure import intervals
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import (
    Model,
    Rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)


def p_rule(
    counts: Counts,
    *,
    model: Model = "g",
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """Compute the P-Rule: the lowest group's rate of decision 1 over the highest group's.

    >>> counts = Counts.from_arrays(
    ...     decision=[1, 1, 1, 0, 1, 0, 0, 0], sensitive_features=["a"] * 4 + ["b"] * 4)
    >>> float(p_rule(counts))
    0.3333333333333333
    """
    counts = counts.known()
    why = _not_comparable(counts, selection_rate(model))
    if why:
        return Estimate.undefined(why)
    k, n = selection_rate(model).per_group(counts)
    if not k.any():
        return Estimate.undefined("no group gets outcome 1, so the ratio is 0 / 0")
    rates = k / n
    return Estimate(float(rates.min() / rates.max()), *intervals.ratio(k, n, confidence, method))


def demographic_parity_difference(
    counts: Counts,
    *,
    model: Model = "g",
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """Largest difference between two groups' rates of decision 1."""
    return _gap(counts, selection_rate(model), confidence, method)


def tpr_gap(
    counts: Counts,
    *,
    model: Model = "g",
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """Largest difference between two groups' true positive rates."""
    return _gap(counts, true_positive_rate(model), confidence, method)


equal_opportunity_difference: Callable[..., Estimate] = tpr_gap
"""Equal opportunity asks for equal true positive rates: its violation is the TPR gap."""


def fpr_gap(
    counts: Counts,
    *,
    model: Model = "g",
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """Largest difference between two groups' false positive rates."""
    return _gap(counts, false_positive_rate(model), confidence, method)


def disparate_mistreatment(
    counts: Counts,
    *,
    model: Model = "g",
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """DM, the violation of equalized odds: TPR gap + FPR gap.

    Each gap's interval is taken at half the error, so that their sum holds at the whole.
    """
    each = 1 - (1 - confidence) / 2
    gaps = [gap(counts, model=model, confidence=each, method=method) for gap in (tpr_gap, fpr_gap)]
    for part in gaps:
        if part.value is None:
            return part
    value, low, high = (
        sum(getattr(part, end) for part in gaps) for end in ("value", "low", "high")
    )
    return Estimate(value, low, high)


def _gap(counts: Counts, rate: Rate, confidence: float, method: intervals.Method) -> Estimate:
    counts = counts.known()
    why = _not_comparable(counts, rate)
    if why:
        return Estimate.undefined(why)
    k, n = rate.per_group(counts)
    rates = k / n
    return Estimate(float(rates.max() - rates.min()), *intervals.gap(k, n, confidence, method))


def _not_comparable(counts: Counts, rate: Rate) -> str | None:
    """Why the groups cannot be compared by this rate, if so."""
    if len(counts.groups) < 2:
        return f"a comparison needs two groups, there are {len(counts.groups)}"
    _, n = rate.per_group(counts)
    for name, size in zip(counts.group_names, n, strict=True):
        if not size:
            return f"group {name!r}: {rate.nobody}"
    return None
