"""What of a decision only the table tells: thresholds that a column holds, the odds of points.

Said once, where a table comes in; from then on the decision has numbers, and so has the patch.
"""

from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._fetch import rows_of
from fairpatch._hints import did_you_mean
from fairpatch.decision import Decision
from fairpatch.inputs.values import plain
from fairpatch.measure.cells import UNKNOWN
from fairpatch.score import MOST_CUTS, Cuts, PointScale, assumed_scale, fitted_scale

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


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
