"""X at the door: checked, asked about, with its thresholds; and what a patch may read of it."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import log
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.checks import same_people
from fairpatch._tools.extras import frame_of, rows_of
from fairpatch._tools.hints import did_you_mean
from fairpatch.data.rows import Rows
from fairpatch.decision import MOST_CUTS, Cuts, Decision, PointScale
from fairpatch.inputs.base import AT_THRESHOLD, BaseModel, Estimator
from fairpatch.inputs.notice import SEEN, Seen, ask, ask_table
from fairpatch.inputs.roles import Roles
from fairpatch.inputs.sensitive import Given, grouped_table, take_apart
from fairpatch.inputs.values import plain
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.groups import Groups
from fairpatch.measure.labels import read_labels
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder


def read_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check X by scikit-learn's rules; with ``reset`` the estimator remembers its columns."""
    from sklearn.utils.validation import validate_data  # noqa: PLC0415 two seconds to import

    if _is_frame(X):
        if reset:  # scikit-learn below 1.9 does not see the names of polars 2
            estimator._columns = list(nw.from_native(X).columns)
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_array(X)
    return validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")


def _check_array(X: Any) -> None:
    """Refuse what is no table, and an array that holds text, in our words."""
    rows = isinstance(X, list) and X and isinstance(X[0], dict)
    if X is None or isinstance(X, str) or type(X) is dict or rows:
        raise TypeError(f"X must be a frame or an array; got {type(X).__name__}")
    texts = isinstance(X, np.ndarray) and (
        X.dtype.kind in "US" or (X.dtype == object and any(isinstance(v, str) for v in X.flat))
    )
    if texts:
        raise ValueError("X is an array that holds text: give a frame, whose columns have types")


def _is_frame(X: Any) -> bool:
    """Whether X has columns with names; numbers are positions, as in scikit-learn."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    return len(names) > 0 and all(isinstance(name, str) for name in names)


def read_given(
    estimator: Any, X: Any, y: Any, sensitive_features: Any, decision: Decision, roles: Roles,
    *, gaps: bool = False, kept: Sequence[str] = (),
) -> tuple[Given, NDArray[Any]]:  # fmt: skip
    """Rows in memory, features checked and labels as 0 and 1; and the classes of the labels.

    Columns that are ``kept`` stay among those that a patch may read. Where ``gaps`` are allowed, a
    label that is missing is ``UNKNOWN``, and there may be none.
    """
    f = estimator.estimator
    known, classes = (getattr(f, name, None) for name in ("feature_names_in_", "classes_"))
    read = None if known is None and not kept else [*(() if known is None else known), *kept]
    given = take_apart(X, y, sensitive_features, roles, read)
    given = replace(given, hidden=tuple(name for name in given.hidden if name not in kept))
    same_people(X=given.X, y=given.y)
    features = read_features(estimator, given.X, reset=True)
    if given.y is None and gaps:
        given = replace(given, y=np.full(Columns.of(features).rows, np.nan))
    label_classes, labels = read_labels(given.y, decision, classes, gaps=gaps)
    return replace(given, X=features, y=labels), label_classes


def some_columns(X: Any, names: Any, *, no_others: bool = False) -> Any:
    """The named columns of a frame, in that order; what is no frame, or lacks one, stays so."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not set(names) <= set(frame.columns):
        return X
    if no_others and len(names) != len(frame.columns):
        return X
    return frame.select(list(names)).to_native()


# What of a decision only the table tells: thresholds that a column holds, the odds of points.
#
# Said once, where a table comes in; from then on the decision has numbers, and so has the patch.

SCORE, LABEL, PEOPLE = "fairpatch_score", "fairpatch_y", "fairpatch_n"


def with_thresholds(decision: Decision, table: Any) -> Decision:
    """The decision with the thresholds that a column of the table holds, by its own values."""
    column = decision.threshold
    if not isinstance(column, str):
        return decision
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise TypeError(f"threshold names column {column!r}, so X must be a frame that has it")
    names = frame.collect_schema().names()
    if column not in names:
        raise KeyError(
            f"threshold names column {column!r}, which the table does not have"
            + did_you_mean(column, names)
        )
    found = rows_of(frame.lazy().select(nw.col(column)).unique().head(MOST_CUTS + 2))
    values = [value for row in found if (value := plain(row[column])) is not None]
    if not values or len(values) > MOST_CUTS or any(isinstance(v, str) for v in values):
        raise ValueError(
            f"threshold names column {column!r}, which must hold the threshold of each row as a "
            f"number, at most {MOST_CUTS} different ones; got values such as {values[:3]!r}"
        )
    cuts = Cuts.of({column: {v: float(v) for v in sorted(values)}})
    return decision.replace(threshold=cuts)


def with_scale(decision: Decision, table: Any, score: Any, y: Any = None) -> Decision:
    """The decision with how points go with odds: stated, or fitted to outcomes that are known.

    ``y`` are labels of rows in memory, 1 for the favourable one; or an expression of a table's.
    """
    if not decision.in_points or decision.points is not None:
        return decision
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(score, str) or not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise ValueError("score_unit is about a score column: name it as the estimator")
    label = nw.lit(None).cast(nw.Float64) if y is None else y
    if not isinstance(label, nw.Expr):
        told = np.where(np.asarray(y) == UNKNOWN, np.nan, np.asarray(y, np.float64))
        series = nw.new_series(LABEL, told, backend=nw.get_native_namespace(frame))
        frame, label = frame.with_columns(series), nw.col(LABEL)
    points = nw.col(score).cast(nw.Float64)
    counted = rows_of(
        frame.lazy()
        .select(points.round(0).alias(SCORE), label.cast(nw.Float64).alias(LABEL))
        .group_by(SCORE, LABEL)
        .agg(nw.len().alias(PEOPLE))
    )
    values = np.array(
        [[_number(row[name]) for name in (SCORE, LABEL, PEOPLE)] for row in counted], np.float64
    ).reshape(-1, 3)
    values = values[np.isfinite(values[:, 0])]
    s, good, people = values[np.lexsort(values[:, :2].T)].T  # in one order, whatever the engine's
    return decision.replace(points=_scale(decision, s, good, people))


def _scale(decision: Decision, s: Any, good: Any, people: Any) -> PointScale:
    if not len(s):
        raise ValueError("no row has a score in points")
    known = np.isfinite(good)
    positive = good[known] if decision.favourable else 1 - good[known]
    found = fitted_scale(s[known], positive, people[known])
    if found is not None:
        return found
    middle = float(np.average(s, weights=people))
    spread = float(np.sqrt(np.average((s - middle) ** 2, weights=people)))
    return assumed_scale(middle, spread)


FEWEST = 50
"""People of each outcome, from which on a scale is fitted."""
LEAST_SLOPE = 0.05
"""Log-odds of a standard deviation: a score that goes with outcomes less than this says nothing."""


def fitted_scale(scores: Sequence[float] | Any, good: Any, weight: Any) -> PointScale | None:
    """How points go with outcomes that are known, by logistic regression; None if that says little.

    Scores, labels and how many people stand behind each pair.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 half a second to import
    from scipy.special import expit  # noqa: PLC0415 half a second to import

    s, y, w = (np.asarray(v, np.float64) for v in (scores, good, weight))
    some = np.isfinite(s) & (w > 0)
    s, y, w = s[some], y[some], w[some]
    if min(w[y == 1].sum(), w[y == 0].sum()) < FEWEST:
        return None
    middle = float(np.average(s, weights=w))
    spread = float(np.sqrt(np.average((s - middle) ** 2, weights=w)))
    if not spread:
        return None
    z, sign = (s - middle) / spread, np.where(y == 1, 1.0, -1.0)

    def loss(beta: Any) -> tuple[float, Any]:
        margin = sign * (beta[0] + beta[1] * z)
        slope = -w * sign * expit(-margin)
        return float(w @ np.logaddexp(0, -margin)), np.array([slope.sum(), slope @ z])

    a, b = minimize(loss, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B").x
    if b <= LEAST_SLOPE:
        return None
    double = log(2) * spread / float(b)
    odds = float(np.exp(a))
    return PointScale(
        base=round(middle, 1), odds=_three(odds), double=_three(double), origin="fitted"
    )


def assumed_scale(middle: float, spread: float) -> PointScale:
    """Where nobody has an outcome: a standard deviation is one unit of log-odds."""
    return PointScale(
        base=round(middle, 1), odds=1.0, double=_three(log(2) * spread or 1.0), origin="assumed"
    )


def _three(value: float) -> float:
    """Three digits are as much as anybody states."""
    return float(f"{value:.3g}")


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


# Questions about a table (``fairpatch.inputs.notice``), asked wherever rows come in.
#
# A fit asks all of them; an audit and a certificate those that change what is counted.


def ask_rows(
    rows: Rows, base: BaseModel, roles: Roles, but: Collection[str] = (), *, learns: bool = False
) -> None:
    """Refuse to go on with rows in memory while something about them has to be said.

    ``learns``: whether a patch will read their columns; ``but`` are those that it must not.
    """
    ask_about(
        rows.X, rows.s, base, roles, but, approved=rows.f > 0, label=rows.labels,
        at_threshold=np.abs(rows.f) <= AT_THRESHOLD if learns else None, learns=learns,
        score=rows.f,
    )  # fmt: skip


def ask_about(
    X: Any, groups: Groups, base: BaseModel, roles: Roles, but: Collection[str] = (), *,
    approved: Bools, label: Floats | None, at_threshold: Bools | None, learns: bool = False,
    score: Floats | None = None,
) -> None:  # fmt: skip
    """The same of what is at hand; ``at_threshold`` where the rule for such scores is open."""
    seen = Seen.of(
        X, groups.columns, {*but, base.score_column or ""}, read_by_f=base.columns or (),
        approved=approved, label=label, at_threshold=at_threshold if _rule_is_open(base) else None,
        score=score,
    )  # fmt: skip
    ask(seen, roles, base.decision, learns=learns)


def ask_engine(
    table: Any, features: Sequence[str], base: BaseModel, roles: Roles, *, rule_is_open: bool = True
) -> None:
    """The same of a table in an engine: of some of its rows, and who has several of all."""
    score, names = base.score_column, nw.from_native(table).collect_schema().names()
    cuts, features = base.decision.cuts, [name for name in features if name in names]
    wanted = [score, *features, *([] if cuts is None else [cuts.by])]
    known = [name for name in dict.fromkeys(wanted) if name is not None and name in names]
    some = frame_of(nw.from_native(grouped_table(table, roles, features)).lazy()
                    .select(*known).head(SEEN)).to_native()  # fmt: skip
    whose = nw.from_native(some, eager_only=True).select(*features).to_native()
    groups = Groups.of(whose).columns if features else {}
    here = None
    if rule_is_open and score in known and len(some):
        p = base.decision.compared(nw.from_native(some)[score].cast(nw.Float64).to_numpy())
        here = p == base.thresholds(some)
    ask(Seen.of(None, groups, at_threshold=here), roles, base.decision)
    ask_table(table, roles, known)


def _rule_is_open(base: BaseModel) -> bool:
    """Whether nothing but the score says what is decided: no model whose own rule was looked at."""
    f = base.estimator
    own = hasattr(f, "predict") and hasattr(f, "predict_proba")
    return not own or (base.decision.has_threshold and not base.decides_for_itself)


# What a patch may read, and the base model: the first two things that a fit needs.


def prepare(
    rows: Rows,
    f: Estimator,
    decision: Decision,
    roles: Roles,
    exclude: Collection[str],
    categories: Collection[str] = (),
    *,
    reads_groups: bool = False,
) -> tuple[Encoder, BaseModel]:
    """Encode what the patch may read, never f's score, nor S by its name unless it may; and f.

    Where there is no f, a logistic regression on the same columns stands in, for trying things out.
    """
    hidden = {f} if isinstance(f, str) else set()
    hidden |= set() if rows.groups is None or reads_groups else set(rows.groups.features)
    names = set(Columns.of(rows.X).names)
    encoder = Encoder.fit(rows.X, exclude={*exclude, *(hidden & names)}, categories=categories)
    base = BaseModel(
        _StandIn(encoder, rows, decision) if f is None else f, decision=decision, roles=roles
    )
    return encoder, base


class _StandIn:
    """A logistic regression on the encoded columns, fitted on the rows that are learned from."""

    def __init__(self, encoder: Encoder, rows: Rows, decision: Decision) -> None:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 two seconds to import

        self.encoder = encoder
        self.model = LogisticRegression()
        y = rows.y if decision.favourable else 1 - rows.y  # 1 is the positive label
        self.model.fit(encoder.transform(rows.X), y, sample_weight=rows.sample_weight)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two classes."""
        return np.asarray(self.model.predict_proba(self.encoder.transform(X)))
