"""A patch applied to a table wherever it lies: pandas, polars, pyarrow, DuckDB, Spark, Ibis.

The engine does it: no row comes to Python, unless the table is in Python already.
"""

from collections import Counter
from collections.abc import Sequence
from math import nan
from typing import Any

import narwhals as nw

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.checks import a_patch, a_table, spark_names
from fairpatch._tools.hints import did_you_mean
from fairpatch.inputs.past_decisions import given_score, has_decision_expr
from fairpatch.patch.column_types import typed, with_gaps
from fairpatch.patch.columns import category_of, check_number_type, holds, number_of
from fairpatch.patch.expressions import (
    above_expr,
    bounded_expr,
    changed_expr,
    confidence_expr,
    decision_expr,
    points_expr,
    reason_expr,
    score_expr,
    unbounded_expr,
)
from fairpatch.patch.model import Patch

POINTS, RATIO, SCORE, DECISION, CHANGED, REASON = OWN = (
    "fairpatch_points", "fairpatch_ratio", "fairpatch_score", "fairpatch_decision",
    "fairpatch_changed", "fairpatch_reason",
)  # fmt: skip


CONFIDENCE = "fairpatch_confidence"
FRACTION = "__fairpatch_fraction"
WHOLE = 2**53
"""Whole numbers up to here are doubles."""
REFERRED = "fairpatch_referred"
"""Of a patch that refers people: whom, in place of a change."""


def apply(
    patch: Patch, table: Any, score: str, *, with_score: bool = True, with_reason: bool = False
) -> Any:
    """The table with four more columns: ratio, patched score and decision, and whether it changes.

    Of a card also the points, before the ratio; without the score no ratio either, as its decisions
    are sums and comparisons of points. With reasons one more: for a changed decision, the
    lines of the card (or the concept of the paper's ratio) that pushed towards it. The decision is
    1 or 0 as f's is: of a model that predicts harm, 0 is the favourable one.

    A patch that refers people leaves every decision as it is: ``fairpatch_referred`` says whom a
    person should look at, and there is no patched score.

    ``score`` names the column of the base model's probability. Lazy tables stay lazy. The decision
    is null where the score is missing or not a probability.

    >>> import polars as pl
    >>> from fairpatch.patch import Column, Concept, NumberWeight
    >>> patch = Patch(columns=[Column(name="a", kind="number")], concepts=[Concept(
    ...     name="c", weight=1.0, intercept=0.0,
    ...     numbers=[NumberWeight(column="a", coefficient=-1.0, missing=0.0)])])
    >>> people = pl.DataFrame({"a": [0.0, 2.0, 2.0], "p": [0.6, 0.6, 0.3]})
    >>> apply(patch, people, "p")["fairpatch_decision"].to_list()
    [True, False, True]
    """
    a_patch(patch)
    frame = nw.from_native(a_table("table", table))
    check_columns(patch, frame, score)
    as_given = _objects(patch, frame, score)
    if as_given:
        frame = frame.with_columns(*(_plain(patch, series) for series in as_given))
    filled = with_gaps(patch, frame)
    if filled is not frame and isinstance(frame, nw.DataFrame):
        apart = [n for n, kind in filled.schema.items() if kind != frame.schema[n]]
        known = {series.name for series in as_given}
        as_given += [frame[name] for name in apart if name not in known]
    patch, frame, score = in_fractions(patch, filled, score)
    done = _applied(patch, frame, score, with_score=with_score, with_reason=with_reason)
    if score == FRACTION:
        done = nw.from_native(done).drop(FRACTION).to_native()
    return nw.from_native(done).with_columns(*as_given).to_native() if as_given else done


def in_fractions(patch: Patch, frame: Any, score: str) -> tuple[Patch, Any, str]:
    """Where an engine divides by multiplying, per cent as fractions, divided to the last bit.

    Polars takes x / 100 for x * 0.01, and 35 per cent would be more than 0.35.
    """
    if patch.decision.score_unit != "percent" or not frame.implementation.is_polars():
        return patch, frame, score
    x = nw.col(score).cast(nw.Float64)
    exact = x / (x * 0.0 + 100.0)  # one number a row: by a literal it would multiply
    decision = patch.decision.model_copy(update={"score_unit": "probability"})
    patch = patch.model_copy(update={"decision": decision})
    return patch, frame.with_columns(exact.alias(FRACTION)), FRACTION


def _objects(patch: Patch, frame: Any, score: str) -> list[Any]:
    """Columns of Python's own objects in memory, whose values have to be looked at one by one."""
    if not isinstance(frame, nw.DataFrame):
        return []
    held = [frame[name] for name in dict.fromkeys([*(c.name for c in patch.columns), score])]
    return [series for series in held if _is_object(series)]


def _is_object(series: Any) -> bool:
    if series.dtype == nw.Categorical:  # of text as a rule, of codes now and then
        return any(not isinstance(v, str) for v in series.unique().to_list() if v is not None)
    if series.implementation.is_pyarrow() and series.dtype in (nw.Int64, nw.UInt64):
        sizes = [abs(v) for v in (series.min(), series.max()) if v is not None]
        return max(sizes, default=0) > WHOLE  # which it refuses to compare
    return bool(series.dtype == nw.Object)


def _plain(patch: Patch, series: Any) -> Any:
    """Such a column as numbers or plain categories; what means nothing is refused."""
    name, backend = series.name, series.implementation
    parts = [c for concept in patch.concepts for c in concept.categories if c.column == name]
    locks = () if patch.card is None else patch.card.locked
    locking = [v for lock in locks if lock.column == name for v in lock.values]
    if not parts and not locking:
        values = [number_of(name, value) for value in series.to_list()]
        return nw.new_series(name, values, nw.Float64, backend=backend)
    held = holds([*(e.category for part in parts for e in part.categories), *locking])
    known = [v if type(v) is str else category_of(name, v, held) for v in series.to_list()]
    texts = sum(isinstance(value, str) for value in known)
    if texts and texts + known.count(None) < len(known):  # both: compared as they are
        return nw.new_series(name, known, nw.Object, backend=backend)
    if texts:
        return nw.new_series(name, known, nw.String, backend=backend)
    numbers = [nan if value is None else float(value) for value in known]
    return nw.new_series(name, numbers, nw.Float64, backend=backend)


def _applied(patch: Patch, frame: Any, score: str, *, with_score: bool, with_reason: bool) -> Any:
    patch, r = typed(patch, frame.collect_schema()), nw.col(RATIO)
    before = above_expr(patch, score)
    if patch.card is None:
        given = frame.collect_schema().names()
        frame = frame.with_columns(unbounded_expr(patch).alias(RATIO))
        frame = frame.with_columns(decision_expr(patch, score, r).alias(DECISION))
        decided = nw.col(DECISION)
        changed = nw.when(~decided.is_null()).then(decided != before)
        more = [score_expr(patch, score, r, decided != before).alias(SCORE)] if with_score else []
        frame = frame.with_columns(*more, changed.alias(CHANGED))
        made = [RATIO, *([SCORE] if with_score else []), DECISION, CHANGED]
        return _finished(patch, frame.select(*given, *made), with_reason=with_reason)
    with_score = with_score and patch.action == "decide"
    # one column after the other, so that an engine works each of them out once
    points, confidence = nw.col(POINTS), nw.col(CONFIDENCE)
    frame = frame.with_columns(
        points_expr(patch).alias(POINTS), confidence_expr(patch, score).alias(CONFIDENCE)
    )
    scored = has_decision_expr(patch.decision, given_score(patch.decision, score))
    changes = changed_expr(patch, score, points, confidence)
    changed = nw.when(scored).then(changes).alias(CHANGED)
    known = ~nw.col(CHANGED).is_null()
    decided = nw.when(known).then(nw.col(CHANGED) != before).alias(DECISION)
    if with_score:
        ratio = unbounded_expr(patch, score, points, confidence).alias(RATIO)
        frame = frame.with_columns(ratio, changed)
        frame = frame.with_columns(bounded_expr(r).alias(RATIO), decided)
        frame = frame.with_columns(score_expr(patch, score, r, nw.col(CHANGED)).alias(SCORE))
    else:
        frame = frame.with_columns(changed).with_columns(decided)
    rest = [name for name in frame.collect_schema().names() if name not in OWN]
    made = [POINTS, *([RATIO, SCORE] if with_score else []), DECISION, CHANGED]
    frame = frame.select(*(name for name in rest if name != CONFIDENCE), *made)
    return _finished(patch, frame, with_reason=with_reason)


def with_decisions(
    patch: Patch,
    frame: Any,
    *,
    ratio: Floats,
    score: Floats,
    before: Bools,
    after: Bools,
    with_score: bool = True,
    with_reason: bool = False,
) -> Any:
    """The same columns for a frame in memory whose decisions have been worked out already."""
    check_columns(patch, frame)
    with_score = with_score and patch.action == "decide"
    columns: dict[str, Any] = {} if patch.card is None else {POINTS: patch.points(frame)}
    if patch.card is None or with_score:
        columns[RATIO] = ratio
    columns |= {SCORE: score, DECISION: after, CHANGED: before != after}
    backend = nw.get_native_namespace(frame)
    series = [
        nw.new_series(name, values, backend=backend)
        for name, values in columns.items()
        if with_score or name != SCORE
    ]
    frame = frame.with_columns(*series)
    return _finished(patch, frame, with_reason=with_reason)


def _finished(patch: Patch, frame: Any, *, with_reason: bool) -> Any:
    """The frame as the caller had it, with the reason of each change where that is asked for."""
    if with_reason:
        # compared, so that no null is left: pandas has no conditions with gaps
        yes = nw.lit(1).cast(nw.Boolean)
        before = ~(nw.col(DECISION) == yes)  # f's, where it changed
        reason = reason_expr(patch, approved=before if patch.decision.favourable else ~before)
        frame = frame.with_columns(nw.when(nw.col(CHANGED) == yes).then(reason).alias(REASON))
    return (frame if patch.action == "decide" else _referred(frame)).to_native()


def _referred(frame: Any) -> Any:
    """Whoever would change is referred, and keeps the decision until a person has looked."""
    changed, decided = nw.col(CHANGED), nw.col(DECISION)
    known = ~changed.is_null()
    names = [n for n in frame.collect_schema().names() if n not in (DECISION, CHANGED, REASON)]
    more = [REASON] if REASON in frame.collect_schema().names() else []
    frame = frame.with_columns(changed.alias(REFERRED))
    frame = frame.with_columns(
        nw.when(known).then(decided != nw.col(REFERRED)).alias(DECISION),
        nw.when(known).then(nw.col(REFERRED) != nw.col(REFERRED)).alias(CHANGED),
    )
    return frame.select(*names, DECISION, CHANGED, REFERRED, *more)


def check_columns(patch: Patch, frame: Any, score: str | None = None) -> None:
    """Say which columns are missing, and which would be written over."""
    names = list(frame.collect_schema().names())
    missing = [c.name for c in patch.columns if c.name not in names]
    if score is not None and score not in names:
        missing.append(score)
    if missing:
        raise ValueError(
            f"the table has no column {', '.join(map(repr, missing))}, which the patch needs; its "
            f"columns are {', '.join(map(repr, names[:50]))}" + did_you_mean(missing[0], names)
        )
    if score is not None:
        check_number_type(score, frame.collect_schema()[score])
    read = [*(c.name for c in patch.columns), *([score] if score else [])]
    spark_names(frame, read)
    check_names(read, names)


def check_names(read: Sequence[str], names: Sequence[str]) -> None:
    """Refuse names that not every engine takes for what they are: most do not mind their case."""
    taken = [name for name in names if name.lower() in (*OWN, CONFIDENCE, REFERRED)]
    if taken:
        raise ValueError(f"the table already has a column {taken[0]!r}: drop or rename it first")
    lower = Counter(name.lower() for name in dict.fromkeys([*names, *read]))
    for name in read:
        if lower[name.lower()] > 1:
            twin = next(n for n in [*names, *read] if n != name and n.lower() == name.lower())
            raise ValueError(
                f"columns {name!r} and {twin!r} differ in their case alone, which most engines do "
                "not tell apart: rename one of them, in the table and in the data of the fit"
            )
        if not name or (name.startswith("^") and name.endswith("$")):
            raise ValueError(
                f"a column named {name!r} is taken for a pattern, or for nothing, by some engines: "
                "rename it, in the table and in the data of the fit"
            )
