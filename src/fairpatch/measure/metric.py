"""What a target can limit and a review compares: one object a metric, and everything about it.

    ratio   the lowest group's rate over the highest group's: a floor
    gap     the highest group's rate less the lowest group's: a ceiling; of several rates, the sum

Target, certificate, choice, frontier, dial, audit, review and command line read ``METRICS``: a new
metric is one more entry there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import SMALL_GROUP, too_few
from fairpatch.measure import intervals
from fairpatch.measure.bounds import (
    Bound,
    fewest_blind,
    fewest_for_gap,
    fewest_for_gaps,
    fewest_for_ratio,
)
from fairpatch.measure.cells import Direction
from fairpatch.measure.counts import Counts
from fairpatch.measure.hypothesis_tests import (
    Judgement,
    judge_ceiling,
    judge_gaps,
    judge_ratio,
    two_sided,
)
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.rates import (
    Model,
    Rate,
    changed_rate,
    correct_rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)


class Steps(Protocol):
    """Counts that change step by step, as a patch's dial is turned."""

    @property
    def positive(self) -> Any:
        """Decisions of 1 by step, group and label."""

    @property
    def size(self) -> Any:
        """People by group and label."""

    @property
    def changed(self) -> Any:
        """Changed decisions by step."""

    @property
    def people(self) -> float:
        """Everybody."""


@dataclass(frozen=True)
class Metric:
    """How far apart the groups of one sensitive feature are.

    People whose feature is missing belong to no group and are left out.
    """

    name: str
    """As ``Target`` has it."""
    words: str = field(compare=False)
    title: str = field(compare=False)
    """What it is, for the lines of an audit."""
    how: Literal["ratio", "gap"] = field(compare=False)
    rates: tuple[Callable[[Model], Rate], ...] = field(compare=False)
    """What is compared between the groups."""
    audited_as: str = field(default="", compare=False)
    """Its name in an audit's data, where that is not ``name``."""

    def __post_init__(self) -> None:
        if self.how == "ratio" and len(self.rates) != 1:
            raise ValueError(f"{self.name}: a ratio is of one rate; there are {len(self.rates)}")

    @property
    def key(self) -> str:
        """Its name in an audit's data."""
        return self.audited_as or self.name

    @property
    def at_least(self) -> bool:
        """Whether a limit is a floor; otherwise it is a ceiling."""
        return self.how == "ratio"

    @property
    def side(self) -> str:
        """At least or at most."""
        return "at least" if self.at_least else "at most"

    @property
    def highest(self) -> float:
        """The largest value it can have; the least is 0."""
        return float(len(self.rates))

    @property
    def given_y(self) -> bool:
        """Whether it compares people with the same label."""
        return any(not rate("g").among.all() for rate in self.rates)

    def met(self, values: Any, limit: float) -> Any:
        """Whether values keep the limit; not where they are undefined."""
        with np.errstate(invalid="ignore"):
            return values >= limit if self.at_least else values <= limit

    def inside(self, limit: float, margin: float) -> float:
        """The limit moved inwards, never quite to the end of the range."""
        if self.at_least:
            return min(limit + margin, 0.1 * limit + 0.9 * self.highest)
        return max(limit - margin, 0.1 * limit)

    def of(
        self,
        counts: Counts,
        *,
        model: Model = "g",
        confidence: float = 0.95,
        method: intervals.Method = "wilson",
    ) -> Estimate:
        """Its value with an interval.

        Of several rates, each one's interval is taken at its share of the error, so that their sum
        holds at the whole.
        """
        counts = counts.known()
        each = 1 - (1 - confidence) / len(self.rates)
        estimates = [self._compare(counts, rate(model), each, method) for rate in self.rates]
        undefined = [estimate for estimate in estimates if estimate.value is None]
        if undefined or len(estimates) == 1:
            return (undefined or estimates)[0]
        value, low, high = (
            sum(getattr(e, end) for e in estimates) for end in ("value", "low", "high")
        )
        return Estimate(value, low, high)

    def _compare(
        self, counts: Counts, rate: Rate, confidence: float, method: intervals.Method
    ) -> Estimate:
        why = _not_comparable(counts, rate)
        if why:
            return Estimate.undefined(why)
        k, n = rate.per_group(counts)
        if self.how == "ratio" and not k.any():
            return Estimate.undefined("no group gets outcome 1, so the ratio is 0 / 0")
        limits = intervals.ratio if self.how == "ratio" else intervals.gap
        low, high = int((k / n).argmin()), int((k / n).argmax())
        lowest, highest = (
            SMALL_GROUP if too_few(counts.heads[g]) else counts.group_names[g] for g in (low, high)
        )
        return Estimate(
            float(self._apart((k / n)[None])[0]),
            *limits(k, n, confidence, method),
            between=None if low == high else (lowest, highest),
        )

    def along(self, steps: Steps) -> Floats:
        """Its value at every step of a dial; NaN where it is undefined."""
        if len(steps.size) < 2:  # nobody to compare with
            return np.full(len(steps.changed), np.nan)
        distances = [
            self._apart(rate("g").along(steps.positive, steps.size)) for rate in self.rates
        ]
        return np.asarray(np.sum(distances, axis=0))

    def error_along(self, steps: Steps) -> Floats:
        """The standard error of its value at every step, by the groups that are farthest apart."""
        variance = np.zeros(len(steps.changed))
        for rate in self.rates:
            p = rate("g").along(steps.positive, steps.size)
            n = np.maximum(steps.size @ rate("g").labels.astype(float), 1.0)
            for end in (p.argmin(1), p.argmax(1)):
                rate_there = p[np.arange(len(p)), end]
                scale = np.maximum(rate_there, 1e-12) ** 2 if self.how == "ratio" else 1.0
                spread = np.maximum(rate_there * (1 - rate_there), 0.0)  # sums of weights overshoot
                variance += spread / n[end] / scale
        error = np.sqrt(variance)
        return np.asarray(error * self.along(steps) if self.how == "ratio" else error)

    def _apart(self, rates: Floats) -> Floats:
        """Of the groups' rates, (steps, groups): how far apart they are at each step."""
        if self.how == "gap":
            return np.asarray(np.ptp(rates, axis=1))
        top = rates.max(1)
        return np.where(top > 0, rates.min(1) / np.where(top > 0, top, 1.0), np.nan)

    def between(self, rates: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """Where it lies, if of each group's rate no more is known than what that lies between."""
        low, high = np.array(rates).T
        if self.how == "gap":
            return max(0.0, float(low.max() - high.min())), float(high.max() - low.min())
        if not low.max():
            return 0.0, 1.0
        return float(low.min() / high.max()), min(1.0, float(high.min() / low.max()))

    def judge(self, counts: Counts, limit: float, confidence: float) -> Judgement:
        """Whether a limit holds in the population that the people were drawn from."""
        counts = counts.known()
        estimate = self.of(counts, confidence=two_sided(confidence))
        k, n = zip(*(rate("g").per_group(counts) for rate in self.rates), strict=True)
        if self.how == "gap":
            return judge_gaps(k, n, limit, estimate, counts.people, confidence)
        return judge_ratio(k[0], n[0], limit, estimate, counts.people, confidence)

    def fewest(
        self,
        counts: Counts,
        limit: float,
        *,
        direction: Direction = "both",
        roughly: bool = False,
    ) -> Bound | None:
        """The fewest changes of f's decisions that keep a limit, if S were known (METHOD 6).

        ``roughly``, for a line of many limits: where whole people are slow to count, parts of them
        are. That is a bound, too, and a little lower.

        None where no changes do, where a group has nobody of the label that it compares, and for
        rates of anything but decision 1: what a change does to those is not worked out.

        >>> counts = Counts.from_arrays(
        ...     decision=[1] * 6 + [0] * 4 + [1] * 2 + [0] * 8,
        ...     sensitive_features=["a"] * 10 + ["b"] * 10)
        >>> P_RULE.fewest(counts, 0.8).changes
        3
        """
        counts = counts.known()
        rates = [rate("f") for rate in self.rates]
        if any(_not_comparable(counts, rate) for rate in rates) or not self._of_decisions:
            return None
        if len(rates) > 1:
            return fewest_for_gaps(counts, limit, direction=direction, whole=not roughly)
        bound = fewest_for_ratio if self.how == "ratio" else fewest_for_gap
        return bound(counts, limit, among=rates[0].among, direction=direction)

    @property
    def _of_decisions(self) -> bool:
        """Whether it compares rates of decision 1: one of them, or those of both labels."""
        if len(self.rates) > 1:
            return set(self.rates) == {true_positive_rate, false_positive_rate}
        return self.rates[0] in (selection_rate, true_positive_rate, false_positive_rate)

    def fewest_blind(
        self,
        q: Floats,
        decided: Bools,
        limit: float,
        *,
        direction: Direction = "both",
        weight: Floats | None = None,
    ) -> float | None:
        """The same for two groups without reading S, q = P(S|x), as a share; None if not known."""
        if self.rates != (selection_rate,):
            return None
        tau, slack = (limit, 0.0) if self.how == "ratio" else (1.0, limit)
        return fewest_blind(q, decided, tau, slack=slack, direction=direction, weight=weight)


def _not_comparable(counts: Counts, rate: Rate) -> str | None:
    """Why the groups cannot be compared by this rate, if so."""
    if len(counts.groups) < 2:
        return f"a comparison needs two groups, there are {len(counts.groups)}"
    why = rate.refused(counts)
    if why is not None:
        return why
    _, n = rate.per_group(counts)
    for name, size in zip(counts.group_names, n, strict=True):
        if not size:
            return f"group {name!r}: {rate.nobody}"
    return None


P_RULE = Metric("p_rule", "P-Rule", "P-Rule (lowest rate / highest)", "ratio", (selection_rate,))
RATE_DIFFERENCE = Metric(
    "demographic_parity_difference", "rate difference", "rate difference", "gap", (selection_rate,)
)
TPR_GAP = Metric(
    "equal_opportunity_difference",
    "TPR gap",
    "TPR gap (equal opportunity)",
    "gap",
    (true_positive_rate,),
    audited_as="tpr_gap",
)
FPR_GAP = Metric(
    "predictive_equality_difference",
    "FPR gap",
    "FPR gap (predictive equality)",
    "gap",
    (false_positive_rate,),
    audited_as="fpr_gap",
)
MISTREATMENT = Metric(
    "disparate_mistreatment",
    "DM",
    "DM (TPR gap + FPR gap)",
    "gap",
    (true_positive_rate, false_positive_rate),
)
METRICS = (P_RULE, RATE_DIFFERENCE, TPR_GAP, FPR_GAP, MISTREATMENT)
"""Every comparison of groups, in the order in which they are shown."""


@dataclass(frozen=True)
class ChangedDecisions:
    """The share of changed decisions, over everybody: what a target limits beside the groups."""

    name: str = "max_changes"
    words: str = "changed decisions"
    at_least: bool = False
    side: str = "at most"
    highest: float = 1.0

    def met(self, values: Any, limit: float) -> Any:
        """Whether values keep the limit."""
        return values <= limit

    def along(self, steps: Steps) -> Floats:
        """Its value at every step of a dial."""
        return np.asarray(steps.changed / steps.people)

    def judge(self, counts: Counts, limit: float, confidence: float) -> Judgement:
        """By the one-sided limit of Clopper and Pearson."""
        estimate = change_rate(counts, confidence=two_sided(confidence))
        return judge_ceiling(limit, estimate, counts.people, confidence)


CHANGES = ChangedDecisions()


# The same as functions of Counts, for those who want one figure.

Fairness = Literal["demographic_parity", "equalized_odds"]
"""Decisions independent of S, or given y."""


def _figure(name: str, metric: Metric, what: str) -> Callable[..., Estimate]:
    """A metric as a function of Counts."""

    def figure(counts: Counts, **options: Any) -> Estimate:
        return metric.of(counts, **options)

    figure.__name__ = figure.__qualname__ = name
    figure.__doc__ = f"""Compute {what}.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    **options
        ``model`` ("g", or "f" for the base model), ``confidence`` and ``method`` ("wilson" or
        "clopper_pearson") of the interval.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.
    """
    return figure


p_rule = _figure(
    "p_rule", P_RULE, "the P-Rule: the lowest group's rate of decision 1 over the highest's"
)
demographic_parity_difference = _figure(
    "demographic_parity_difference",
    RATE_DIFFERENCE,
    "the largest difference between two groups' rates of decision 1",
)
tpr_gap = _figure(
    "tpr_gap", TPR_GAP, "the largest difference between two groups' true positive rates"
)
equal_opportunity_difference = tpr_gap
"""Equal opportunity asks for equal true positive rates: its violation is the TPR gap."""
fpr_gap = _figure(
    "fpr_gap", FPR_GAP, "the largest difference between two groups' false positive rates"
)
disparate_mistreatment = _figure(
    "disparate_mistreatment", MISTREATMENT, "DM, the violation of equalized odds: TPR + FPR gap"
)


def change_rate(
    counts: Counts, *, confidence: float = 0.95, method: intervals.Method = "clopper_pearson"
) -> Estimate:
    """P(decision of g != decision of f).

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
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
    >>> print(change_rate(Counts.from_arrays(
    ...     decision=[1, 0, 0, 0], new_decision=[1, 1, 0, 0], sensitive_features=list("abab"))))
    0.250 [0.006, 0.806]
    """
    return changed_rate().of(counts, confidence=confidence, method=method)


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
