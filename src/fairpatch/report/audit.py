"""The audit of a base model: what f decides for whom, as data with a text and an HTML form."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw

from fairpatch._tools.hints import did_you_mean
from fairpatch._tools.smallest_count import COARSE, MIN_PEOPLE, UNPROTECTED
from fairpatch._tools.tables import Bar, Bars, Table
from fairpatch.data.features import with_thresholds
from fairpatch.decision import PLAIN, Decision
from fairpatch.disclose.protected import Protected, protect
from fairpatch.disclose.suppress import PublishedCount
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.inputs.probable import WithoutAssumption
from fairpatch.inputs.roles import PLAIN as ROWS
from fairpatch.inputs.roles import Roles, with_moved
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import check_values
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import balanced_accuracy
from fairpatch.measure.rates import SOME_ONLY
from fairpatch.report.audit_counts import ScoreMeans, check_points_right, count_rows, count_table
from fairpatch.report.audit_groups import (
    RATES,
    AdverseImpact,
    GroupComparison,
    adverse_impact,
    metric_row,
    shown_rates,
    told_rows,
)

ALIKE = 0.05
"""Where fewer than this get one of the decisions, the threshold is asked about."""


def audit(
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    estimator: Estimator,
    decision: Decision = PLAIN,
    sample_weight: Any = None,
    confidence: float = 0.95,
    min_count: int = MIN_PEOPLE,
    show_small_counts: bool = False,
    mean_scores: bool = False,
    roles: Roles | None = None,
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
        What f decides: its labels, which of them is favourable, threshold and words.
    sample_weight : array, optional
        What each row weighs; a column of X is named in the roles, ``Roles(weight=...)``.
    confidence : float
        Level of every interval.
    min_count : int
        Groups of fewer people are neither shown nor compared; never fewer than ten, unless small
        counts are shown.
    show_small_counts : bool
        Show everything as it is, groups of fewer than ten people and what tells them too: only for
        people who are entitled to see that. The audit says so.
    mean_scores : bool
        Also the groups' mean scores, for ``adverse_impact``: the table is read once more.
    roles : Roles, optional
        What the columns are. Whose outcomes are known is tested unless said: where they are missing
        by decision, what rests on them is left out.

    Returns
    -------
    Audit
    """
    contract = with_thresholds(BaseModel(estimator, decision or PLAIN).decision, X)
    outcomes = None if roles is None else roles.outcomes
    roles = with_moved(roles, decision)
    about = (X, y, sensitive_features, estimator, contract, roles, outcomes)
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        found = count_table(*about, mean_scores=mean_scores)
    else:
        found = count_rows(*about, sample_weight, mean_scores=mean_scores)
    check_points_right(found.counts, found.decision)
    for feature in found.counts.features:
        check_values(feature, [group[0] for group in found.counts.by(feature).known().groups])
    least = min_count if show_small_counts else max(min_count, MIN_PEOPLE)
    return Audit(
        found.counts, found.decision, confidence, least, show_small_counts, found.scores,
        found.probable, roles, found.remarks, found.estimated,
    )  # fmt: skip


@dataclass(frozen=True)
class Audit:
    """What a base model decides, for whom, and how often it is right.

    ``print(audit)`` shows it, a notebook shows it as tables, ``to_dict`` gives it as plain data.
    """

    counts: Counts
    decision: Decision
    confidence: float
    min_count: int
    show_small_counts: bool = False
    scores: ScoreMeans | None = None
    probable: WithoutAssumption | None = None
    """What probabilities of groups allow to say, where those are all that is known."""
    roles: Roles = ROWS
    remarks: tuple[str, ...] = ()
    """What else is to be known of these rows: decisions made otherwise, figures by period."""
    estimated: Counts | None = None
    """Of a feature that is known by probabilities: people by those, and not as they were drawn."""

    @property
    def favourable(self) -> int:
        """The decision that is good for a person."""
        return self.decision.favourable

    @property
    def threshold(self) -> float | dict[str, float]:
        """Decision 1 is a score above this; several by a column's values."""
        cuts = self.decision.cuts
        if cuts is None:
            return self.decision.cut
        return {str(value): t for value, t in cuts.by_value.items()}

    @cached_property
    def protected(self) -> Protected:
        """What may be told of the counts, in which 1 is the favourable outcome."""
        margins = self._margins
        return protect(
            self.favourable_counts,
            list(shown_rates(self.counts).values()),
            margins,
            crossed=len(margins) > 1,
            show_small=self.show_small_counts,
        )

    @property
    def _margins(self) -> list[tuple[str, ...]]:
        """Every sensitive feature; where there are several, their intersection too."""
        features = self.counts.features
        one = [(name,) for name in features]
        return [*one, features] if len(one) > 1 else list(one)

    @property
    def comparisons(self) -> dict[str, GroupComparison]:
        """One comparison a sensitive feature; where there are several, their intersection too."""
        compared = [
            GroupComparison(self.protected, margin, self.confidence, self.min_count)
            for margin in self._margins
        ]
        return {comparison.name: comparison for comparison in compared}

    @property
    def people(self) -> PublishedCount:
        """How many there are."""
        return self.protected.people()

    @property
    def _whose(self) -> str:
        """People, or rows of so many people where somebody has several."""
        if self.counts.persons is None:
            return f"{self.people} people"
        return f"{self.people} rows of {self.counts.people:,} people"

    @property
    def accuracy(self) -> Estimate:
        """P(decision = y)."""
        return self._overall("accuracy")

    @property
    def balanced_accuracy(self) -> Estimate:
        """(TPR + TNR) / 2."""
        tpr, fpr = (self._overall(key) for key in ("true_positive_rate", "false_positive_rate"))
        if tpr.low is not None and fpr.low is not None:
            return balanced_accuracy(self.counts, confidence=self.confidence)
        for part in (tpr, fpr):
            if part.ends is None:
                return part
        (t_low, t_high), (f_low, f_high) = tpr.ends or (0, 1), fpr.ends or (0, 1)
        return Estimate.from_range((t_low + 1 - f_high) / 2, (t_high + 1 - f_low) / 2)

    def _overall(self, key: str) -> Estimate:
        return self.protected.rate(RATES[key], confidence=self.confidence)

    @property
    def selection_rate(self) -> Estimate:
        """Share of people who get the favourable decision."""
        return self._overall("selection_rate")

    @property
    def favourable_counts(self) -> Counts:
        """Counts in which 1 is the favourable outcome, so that TPR means: deserved and got it."""
        return self.counts if self.favourable == 1 else self.counts.flip()

    @property
    def _labelled(self) -> list[float]:
        """Of the approved and of the denied, the share with an outcome, to two digits."""
        return [round(share, 2) for share in self.favourable_counts.labels.shares]

    def adverse_impact(self, reference: str | None = None) -> list[AdverseImpact]:
        """The tables that US lenders and employers file: every group against a reference.

        Parameters
        ----------
        reference : str, optional
            A group of one of the features, such as "White"; of the other features, and where it is
            not given, the group with the highest rate.

        Returns
        -------
        list of AdverseImpact
            One for each sensitive feature, and one for their intersection.
        """
        known = [str(g["group"]) for c in self.comparisons.values() for g in c.groups]
        if reference is not None and reference not in known:
            raise ValueError(
                f"there is no group {reference!r} that may be shown; there are "
                f"{', '.join(map(repr, known))}" + did_you_mean(reference, known)
            )
        turn = -1.0 if self.favourable == 0 else 1.0
        found = []
        for comparison in self.comparisons.values():
            names = [str(g["group"]) for g in comparison.groups]
            if not names:
                continue
            means = {} if self.scores is None else self.scores.by(*comparison.features)
            own, about = comparison, comparison.name
            if self.estimated is not None and comparison.features == self.estimated.features:
                own, about = self._by_chances(), f"{comparison.name} (estimated groups)"
            found.append(
                adverse_impact(
                    about,
                    own.groups,
                    reference=reference if reference in names else None,
                    weighted=self.counts.weighted,
                    several=self.counts.persons is not None,
                    unknown=own.unknown,
                    scores={name: turn * value for name, value in means.items()},
                )
            )
        return found

    def _by_chances(self) -> GroupComparison:
        """The groups of a feature that is known by probabilities, as many people as those say."""
        counts = self.estimated or self.counts
        counts = counts if self.favourable == 1 else counts.flip()
        table = protect(
            counts, list(shown_rates(counts).values()), [counts.features],
            crossed=False, show_small=self.show_small_counts,
        )  # fmt: skip
        return GroupComparison(table, counts.features, self.confidence, self.min_count)

    def to_dict(self) -> dict[str, Any]:
        """Everything that is shown, as plain data for JSON."""
        return {
            "protected": not self.show_small_counts,
            "people": self.people.data,
            **({} if self.counts.persons is None else {"persons": self.counts.people}),
            "threshold": self.threshold,
            "favourable": self.favourable,
            "confidence": self.confidence,
            "accuracy": _plain(self.accuracy),
            "balanced_accuracy": _plain(self.balanced_accuracy),
            "selection_rate": _plain(self.selection_rate),
            "outcomes": {
                "known": self.counts.outcomes,
                **dict(zip(("approved", "denied"), self._labelled, strict=True)),
            },
            "remarks": list(self.remarks),
            "sensitive_features": {
                name: {
                    "metrics": {k: _plain(v) for k, v in comparison.metrics.items()},
                    "groups": [{k: _plain(v) for k, v in g.items()} for g in comparison.groups],
                    "hidden_groups": comparison.n_hidden,
                }
                for name, comparison in self.comparisons.items()
            },
        }

    def __str__(self) -> str:
        return "\n".join(table.text() for table in self._tables())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        bars = "".join(bars.html() for bars in self.bars())
        return bars + "".join(table.html() for table in self._tables())

    def bars(self) -> list[Bars]:
        """The groups' rates as bars, for a terminal or a notebook: ``print(bars.text())``."""
        title = f"Rate of {self.decision.favoured}"
        return [
            Bars(
                f"{title}, by {name}",
                [Bar(str(g["group"]), _value(g["selection_rate"])) for g in comparison.groups],
            )
            for name, comparison in self.comparisons.items()
        ]

    def _notes(self) -> Iterator[str]:
        if self.show_small_counts:
            yield UNPROTECTED
        elif not self.protected.whole:
            yield COARSE
        if self.probable is not None:
            yield str(self.probable)
        elif self.roles.probable:
            yield f"Groups of {', '.join(self.roles.probable)} are drawn by probabilities."
        yield from self._outcomes()
        yield from self.remarks
        rate = self.selection_rate.value
        if rate is not None and not ALIKE < rate < 1 - ALIKE:
            yield (
                f"Nearly everybody gets the same decision: is {self.decision.above} the threshold "
                "your model uses?"
            )

    def _outcomes(self) -> Iterator[str]:
        """Whose outcomes are known, where not everybody's are."""
        n, labels = self.counts.along("label"), self.favourable_counts.labels
        if not n[:UNKNOWN].any() or not n[UNKNOWN]:
            return
        if self.counts.outcomes == "everybody":
            yield (
                f"{n[UNKNOWN] / n.sum():.0%} of the rows have no outcome: they count in approval "
                "rates, and not in what rests on outcomes."
            )
            return
        yield (
            f"{str(labels)[:1].upper()}{str(labels)[1:]}. Everybody counts in approval rates; what "
            "needs outcomes of the denied, accuracy and errors, is left out."
        )

    def _tables(self) -> Iterator[Table]:
        outcome = self.decision.favoured
        quality = {"accuracy": self.accuracy, "balanced accuracy": self.balanced_accuracy}
        level = f"{self.confidence:.0%} interval"
        yield Table(
            f"Audit of {self._whose}; 1 is decided {self.decision.rule}; "
            f"favourable outcome: {outcome}",
            ["", "value", level],
            [
                *(
                    metric_row(name, figure)
                    for name, figure in quality.items()
                    if figure.reason not in SOME_ONLY.values()
                ),
                metric_row(f"rate of {outcome}", self.selection_rate),
            ],
            list(self._notes()),
        )
        for comparison in self.comparisons.values():
            yield comparison.table(self.decision)
            title = f"Between the groups of {comparison.name}"
            yield told_rows(comparison.metrics, level, title)


def _value(figure: Estimate | PublishedCount | str) -> float | None:
    """An estimate's value; None where it is withheld."""
    return figure.value if isinstance(figure, Estimate) else None


def _plain(figure: Estimate | PublishedCount | str) -> Any:
    if isinstance(figure, Estimate):
        return figure.data
    return figure.data if isinstance(figure, PublishedCount) else figure
