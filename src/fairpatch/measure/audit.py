"""The audit of a base model: what f decides for whom, as data with a text and an HTML form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fairpatch._checks import same_people
from fairpatch._hints import did_you_mean, hint
from fairpatch.base import BaseModel, Estimator
from fairpatch.decision import Decision, decision_of
from fairpatch.measure import quality
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.measure.labels import label_expr, positive_labels
from fairpatch.measure.metric import METRICS
from fairpatch.measure.rates import (
    base_rate,
    correct_rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from fairpatch.measure.show import Table
from fairpatch.roles import take_apart


def audit(
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    estimator: Estimator,
    decision: Decision | None = None,
    cutoff: float = 0.5,
    favourable: Literal[0, 1] = 1,
    sample_weight: Any = None,
    confidence: float = 0.95,
    min_count: int = MIN_PEOPLE,
) -> "Audit":
    """Audit a base model: decision rates, errors and fairness metrics, group by group.

    Parameters
    ----------
    X : array or frame
        What ``estimator`` reads. A table in an engine (DuckDB, PySpark, Ibis) is counted where it
        lies; then every other argument is a column's name.
    y : labels or column's name, optional
        Of two classes, may have gaps. Without labels only decision rates are compared.
    sensitive_features : frame, series, dict, array, or names of columns of X
        Used only to compare groups.
    estimator : fitted classifier, callable or str
        The base model f: see :class:`fairpatch.BaseModel`.
    decision : Decision, optional
        What f decides: its labels, which of them is good for a person, cut-off, weights and words.
    cutoff, favourable, sample_weight : float, 1 or 0, weights or column's name, optional
        The same one by one: f decides 1 where its probability is above the cut-off; the decision
        that is good for a person, and whose rates are compared.
    confidence : float
        Level of every interval.
    min_count : int
        Groups of fewer people are neither shown nor compared.

    Returns
    -------
    Audit
    """
    by_name = sample_weight if isinstance(sample_weight, str) else None
    contract = decision_of(decision, cutoff=cutoff, favourable=favourable, weight=by_name)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        counts, found = _of_table(X, y, sensitive_features, estimator, contract)
    else:
        given = take_apart(X, y, sensitive_features, contract, _read_by(estimator))
        weight = sample_weight if given.weight is None else given.weight
        same_people(X=given.X, y=given.y, sensitive_features=given.sensitive, sample_weight=weight)
        labels, found = None, contract
        if given.y is not None:
            classes, labels = positive_labels(given.y, contract)
            found = contract.named(classes)
        counts = Counts.from_arrays(
            decision=BaseModel(estimator, decision=found).decisions(given.X),
            y=labels,
            sensitive_features=given.sensitive,
            sample_weight=weight,
        )
    _check_points_right(counts, found)
    return Audit(counts, found, confidence, min_count)


def _of_table(
    X: Any, y: Any, sensitive_features: Any, f: Estimator, decision: Decision
) -> tuple[Counts, Decision]:
    """Counts of a table in an engine, and the contract with the labels that it has."""
    label, y = None, _name(y, "y")
    if y is not None:
        classes, label = label_expr(X, y, decision.but(favourable=1))
        decision = decision.named(classes)
    names = [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
    columns = nw.from_native(X).collect_schema().names()
    if not isinstance(names, Sequence) or not all(isinstance(n, str) for n in names):
        raise ValueError(
            "for a table in an engine, sensitive_features must be names of its columns; "
            f"got {sensitive_features!r}"
        )
    for name in (*names, *([decision.weight] if decision.weight else [])):
        if name not in columns:
            raise ValueError(
                f"for a table in an engine, sensitive_features must be names of its columns; there "
                f"is no {name!r}" + did_you_mean(name, columns)
            )
    counts = Counts.from_frame(
        X,
        decision=BaseModel(f, decision=decision).decision_expr(),
        y=label,
        sensitive_features=names,
        sample_weight=decision.weight,
    )
    return counts, decision


def _read_by(f: Estimator) -> list[str] | None:
    return BaseModel(f).columns


def _check_points_right(counts: Counts, decision: Decision) -> None:
    """Refuse a model that decides 1 far more often for the negative label than for the positive."""
    n = counts.n.sum((0, 3)).astype(float)  # by label and decision of f
    if n[:2].sum(1).min() < MIN_PEOPLE:
        return
    rate = n[:2, 1] / n[:2].sum(1)
    error = float(np.sqrt((rate * (1 - rate) / n[:2].sum(1)).sum()))
    if rate[1] - rate[0] > -max(0.1, 5 * error):
        return
    negative, positive = decision.outcomes
    raise ValueError(
        f"the score points against its label: {rate[1]:.0%} of those with {positive} are above the "
        f"cut-off, and {rate[0]:.0%} of those with {negative}. Is it the probability of "
        f"{negative}? Then say so: "
        + hint(f"Decision(positive={decision.negative!r})", f"--positive {decision.negative}")
    )


@dataclass(frozen=True)
class GroupComparison:
    """The groups of one sensitive feature, or of an intersection, side by side."""

    counts: Counts
    confidence: float
    min_count: int

    @property
    def name(self) -> str:
        """The sensitive feature, or the features of the intersection."""
        return " & ".join(self.counts.features)

    @property
    def compared(self) -> Counts:
        """The groups that are known and large enough."""
        return self.counts.known().large(self.min_count)

    @property
    def metrics(self) -> dict[str, Estimate]:
        """Every comparison of the groups: P-Rule, rate difference, TPR and FPR gap, DM."""
        return {m.key: m.of(self.compared, confidence=self.confidence) for m in METRICS}

    @property
    def groups(self) -> list[dict[str, Any]]:
        """One record a group that may be shown: people, rates. Small groups are not in it."""
        shown = self.counts.large(self.min_count)
        size = shown.sizes
        rates = {
            "base_rate": base_rate(),
            "selection_rate": selection_rate(),
            "true_positive_rate": true_positive_rate(),
            "false_positive_rate": false_positive_rate(),
            "accuracy": correct_rate(),
        }
        by_group = {k: r.by_group(shown, confidence=self.confidence) for k, r in rates.items()}
        # If the hidden people are few altogether, all minus those shown would give them away:
        # then the smallest shown group keeps its rates, but not its size.
        hidden = self.counts.total - int(size.sum())
        withheld = int(size.argmin()) if 0 < hidden < self.min_count else None
        return [
            {"group": name, "people": None if i == withheld else int(size[i])}
            | {rate: estimates[name] for rate, estimates in by_group.items()}
            for i, name in enumerate(shown.group_names)
        ]

    @property
    def n_hidden(self) -> int:
        """How many groups are too small to be shown."""
        return int((self.counts.sizes < self.min_count).sum())


@dataclass(frozen=True)
class Audit:
    """What a base model decides, for whom, and how often it is right.

    ``print(audit)`` shows it, a notebook shows it as tables, ``to_dict`` gives it as plain data.
    """

    counts: Counts
    decision: Decision
    confidence: float
    min_count: int

    @property
    def favourable(self) -> int:
        """The decision that is good for a person."""
        return self.decision.favourable

    @property
    def cutoff(self) -> float:
        """Decision 1 is a score above this."""
        return self.decision.cutoff

    @property
    def comparisons(self) -> dict[str, GroupComparison]:
        """One comparison a sensitive feature; where there are several, their intersection too."""
        counts = self._favourable_counts
        sets: list[tuple[str, ...]] = [(name,) for name in counts.features]
        if len(sets) > 1:
            sets.append(counts.features)
        found = [
            GroupComparison(counts.by(*names), self.confidence, self.min_count) for names in sets
        ]
        return {comparison.name: comparison for comparison in found}

    @property
    def accuracy(self) -> Estimate:
        """P(decision = y)."""
        return quality.accuracy(self.counts, confidence=self.confidence)

    @property
    def balanced_accuracy(self) -> Estimate:
        """(TPR + TNR) / 2."""
        return quality.balanced_accuracy(self.counts, confidence=self.confidence)

    @property
    def selection_rate(self) -> Estimate:
        """Share of people who get the favourable decision."""
        return selection_rate().of(self._favourable_counts, confidence=self.confidence)

    @property
    def _favourable_counts(self) -> Counts:
        """Counts in which 1 is the favourable outcome, so that TPR means: deserved and got it."""
        return self.counts if self.favourable == 1 else self.counts.flip()

    def to_dict(self) -> dict[str, Any]:
        """Everything that is shown, as plain data for JSON."""
        return {
            "people": self.counts.total,
            "cutoff": self.cutoff,
            "favourable": self.favourable,
            "confidence": self.confidence,
            "accuracy": _plain(self.accuracy),
            "balanced_accuracy": _plain(self.balanced_accuracy),
            "selection_rate": _plain(self.selection_rate),
            "sensitive_features": {
                name: {
                    "metrics": {k: _plain(v) for k, v in comparison.metrics.items()},
                    "groups": [
                        {k: _plain(v) if isinstance(v, Estimate) else v for k, v in g.items()}
                        for g in comparison.groups
                    ],
                    "hidden_groups": comparison.n_hidden,
                }
                for name, comparison in self.comparisons.items()
            },
        }

    def __str__(self) -> str:
        return "\n".join(table.text() for table in self._tables())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self._tables())

    def _tables(self) -> Iterator[Table]:
        outcome = self.decision.favoured
        level = f"{self.confidence:.0%} interval"
        yield Table(
            f"Audit of {self.counts.total:,} people; 1 is decided above {self.cutoff:g}; "
            f"favourable outcome: {outcome}",
            ["", "value", level],
            [
                _metric_row("accuracy", self.accuracy),
                _metric_row("balanced accuracy", self.balanced_accuracy),
                _metric_row(f"rate of {outcome}", self.selection_rate),
            ],
        )
        for comparison in self.comparisons.values():
            yield _group_table(comparison, self.decision)
            metrics = comparison.metrics
            yield Table(
                f"Between the groups of {comparison.name}",
                ["", "value", level, "lowest and highest"],
                [
                    [*_metric_row(m.title, found), " / ".join(found.between or ())]
                    for m in METRICS
                    for found in [metrics[m.key]]
                ],
                _notes(metrics),
            )


def _group_table(comparison: GroupComparison, decision: Decision) -> Table:
    rates = ("base_rate", "selection_rate", "true_positive_rate", "false_positive_rate", "accuracy")
    rows = [
        [
            g["group"],
            "withheld" if g["people"] is None else f"{g['people']:,}",
            *(f"{g[r].value:.3f}" if g[r].defined else "undefined" for r in rates),
        ]
        for g in comparison.groups
    ]
    favoured = f"gets decision {decision.favourable}"
    if decision.approved is not None:
        favoured = f"is {decision.approved}"
    good, bad = decision.good_outcome, decision.bad_outcome
    notes = [f"TPR and FPR: share that {favoured} of those with {good}, and of those with {bad}."]
    if comparison.n_hidden:
        few = comparison.n_hidden
        notes.append(
            f"{few} group{'s' if few > 1 else ''} of fewer than {comparison.min_count} people "
            f"{'are' if few > 1 else 'is'} not shown and not compared."
        )
    if comparison.counts.known().total < comparison.counts.total:
        notes.append(f"People with {comparison.name} missing are not compared.")
    header = ["people", good, decision.favoured, "TPR", "FPR", "accuracy"]
    return Table(f"By {comparison.name}", ["group", *header], rows, notes)


def _metric_row(name: str, estimate: Estimate) -> list[str]:
    if estimate.value is None:
        return [name, "undefined", ""]
    return [name, f"{estimate.value:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}"]


def _notes(metrics: dict[str, Estimate]) -> list[str]:
    reasons = {m.reason for m in metrics.values() if m.reason}
    return [f"Undefined: {reason}." for reason in sorted(reasons)]


def _plain(estimate: Estimate) -> dict[str, Any]:
    if estimate.value is None:
        return {"value": None, "reason": estimate.reason}
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _name(column: Any, argument: str) -> str | None:
    if column is not None and not isinstance(column, str):
        raise ValueError(
            f"for a table in an engine, {argument} must be the name of one of its columns; "
            f"got {type(column).__name__}"
        )
    return column
