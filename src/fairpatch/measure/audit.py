"""The audit of a base model: what f decides for whom, as data with a text and an HTML form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw

from fairpatch.base import BaseModel, Estimator
from fairpatch.measure import quality
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.measure.metric import METRICS
from fairpatch.measure.rates import (
    base_rate,
    correct_rate,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from fairpatch.measure.show import Table


def audit(
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    estimator: Estimator,
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
        0 / 1 or boolean, may have gaps. Without labels only decision rates are compared.
    sensitive_features : frame, series, dict, array, or names of columns of X
        Used only to compare groups.
    estimator : fitted classifier, callable or str
        The base model f: see :class:`fairpatch.BaseModel`.
    cutoff : float
        f decides 1 where its probability is above this.
    favourable : {1, 0}
        The decision that is good for a person, and whose rates are compared. In COMPAS it is 0.
    sample_weight : weights or column's name, optional
    confidence : float
        Level of every interval.
    min_count : int
        Groups of fewer people are neither shown nor compared.

    Returns
    -------
    Audit
    """
    f = BaseModel(estimator, cutoff)
    frame = nw.from_native(X, pass_through=True)
    names = _column_names(frame, sensitive_features)
    if isinstance(frame, nw.LazyFrame):
        counts = Counts.from_frame(
            X,
            decision=f.decision_expr(),
            y=_name(y, "y"),
            sensitive_features=names or _no_names(sensitive_features),
            sample_weight=_name(sample_weight, "sample_weight"),
        )
    else:
        counts = Counts.from_arrays(
            decision=f.decisions(X),
            y=_values(frame, y),
            sensitive_features=frame.select(names).to_native() if names else sensitive_features,
            sample_weight=_values(frame, sample_weight),
        )
    return Audit(counts, favourable, cutoff, confidence, min_count)


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
    favourable: Literal[0, 1]
    cutoff: float
    confidence: float
    min_count: int

    def __post_init__(self) -> None:
        if self.favourable not in (0, 1):
            raise ValueError(f"favourable must be 1 or 0, got {self.favourable!r}")

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
        outcome = f"decision {self.favourable}"
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
            yield _group_table(comparison, self.favourable)
            metrics = comparison.metrics
            yield Table(
                f"Between the groups of {comparison.name}",
                ["", "value", level],
                [_metric_row(m.title, metrics[m.key]) for m in METRICS],
                _notes(metrics),
            )


def _group_table(comparison: GroupComparison, favourable: int) -> Table:
    rates = ("base_rate", "selection_rate", "true_positive_rate", "false_positive_rate", "accuracy")
    rows = [
        [
            g["group"],
            "withheld" if g["people"] is None else f"{g['people']:,}",
            *(f"{g[r].value:.3f}" if g[r].defined else "undefined" for r in rates),
        ]
        for g in comparison.groups
    ]
    notes = [
        f"TPR and FPR: share that gets decision {favourable} of those with y = {favourable}, "
        f"and of those with y = {1 - favourable}."
    ]
    if comparison.n_hidden:
        few = comparison.n_hidden
        notes.append(
            f"{few} group{'s' if few > 1 else ''} of fewer than {comparison.min_count} people "
            f"{'are' if few > 1 else 'is'} not shown and not compared."
        )
    if comparison.counts.known().total < comparison.counts.total:
        notes.append(f"People with {comparison.name} missing are not compared.")
    header = ["people", f"y = {favourable}", f"decision {favourable}", "TPR", "FPR", "accuracy"]
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


def _column_names(frame: Any, sensitive_features: Any) -> list[str] | None:
    """The columns of X that are named, if sensitive_features are names."""
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return None
    columns = frame.collect_schema().names()
    if isinstance(sensitive_features, str):
        sensitive_features = [sensitive_features]
    if not isinstance(sensitive_features, Sequence) or not all(
        isinstance(name, str) and name in columns for name in sensitive_features
    ):
        return None
    return list(sensitive_features)


def _no_names(sensitive_features: Any) -> list[str]:
    raise ValueError(
        "for a table in an engine, sensitive_features must be names of its columns; "
        f"got {sensitive_features!r}"
    )


def _name(column: Any, argument: str) -> str | None:
    if column is not None and not isinstance(column, str):
        raise ValueError(
            f"for a table in an engine, {argument} must be the name of one of its columns; "
            f"got {type(column).__name__}"
        )
    return column


def _values(frame: Any, column: Any) -> Any:
    """A column given by name, or the values themselves."""
    if isinstance(column, str):
        if not isinstance(frame, nw.DataFrame) or column not in frame.columns:
            raise KeyError(f"no column {column!r} in X")
        return frame[column].to_numpy()
    return column
