"""f's own order of a column's pieces: which of them it likes better, asked of f itself.

The points keep it: with a(v) f's mean log-odds when everybody's column is set to v, points never
rank two pieces against a. So nobody is approved for what f counts against people, and nobody loses
an approval by a number that f likes better. Two bins of a number whose answers overlap, because f
goes up and down inside them, have the same points: either would turn somebody's order round. Where
f cannot be asked, because it is a column of scores, an additive model of its log-odds answers.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.card.fields import Field
from fairpatch.choose.learner import Ask
from fairpatch.patch.columns import Columns

ASKED = 300
"""People who are asked about."""
UNREAD = 0.1
"""Of the spread of f's log-odds: a column that moves a model of them by less is none of f's."""
SAME = 1e-9
"""Log-odds that differ by less are the same: f does not read the column."""
WITHIN = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the numbers in a bin, those that f is asked about."""

Levels = tuple[tuple[int, ...], ...]
"""The pieces of a field from those that f likes least; () where it does not tell them apart."""


def orders_of(
    ask: Ask | None, X: Any, f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]
) -> list[Levels]:
    """By field: f's order of its pieces."""
    return [levels(*answers) for answers in answers_of(ask, X, f_logit, fields, pieces)]


def answers_of(
    ask: Ask | None, X: Any, f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]
) -> list[tuple[Floats, Floats]]:
    """By field: f's least and best mean log-odds of each piece, also of gaps that have points.

    NaN where nobody is in it.
    """
    if ask is None:
        return [(each, each) for each in _by_model(f_logit, fields, pieces)]
    some = np.random.default_rng(0).permutation(len(f_logit))[:ASKED]
    return [_asked(ask, X, some, field, piece) for field, piece in zip(fields, pieces, strict=True)]


def _asked(ask: Ask, X: Any, some: Ints, field: Field, piece: Ints) -> tuple[Floats, Floats]:
    """f's least and best mean answer when some people have a value of each piece, not their own.

    NaN where nobody is in it.
    """
    held = Columns.of(X).values(field.column)
    each: list[tuple[int, Any]] = []
    for k in range(field.pieces + field.gaps):
        inside = np.flatnonzero(piece == k)
        if len(inside):
            each += [(k, v) for v in ([None] if k == field.pieces else _typical(held[inside]))]
    low, high = np.full((2, field.pieces + field.gaps), np.nan)
    if not each:
        return low, high
    rows = with_values(X, some, field, [value for _, value in each])  # f is asked once
    for (k, _), answer in zip(each, ask(rows).reshape(len(each), -1).mean(1), strict=True):
        low[k], high[k] = np.fmin(low[k], answer), np.fmax(high[k], answer)
    return low, high


def _typical(values: Any) -> list[Any]:
    """Values that somebody has: numbers from low to high, the commonest category."""
    if values.dtype != object:
        return list(np.unique(np.quantile(values, WITHIN, method="nearest")))
    distinct, many = np.unique(values.astype(str), return_counts=True)
    return [next(v for v in values if str(v) == distinct[many.argmax()])]


def with_values(X: Any, some: Ints, field: Field, values: Sequence[Any]) -> Any:
    """Some rows, once for each value of a column, in the column's own type."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    rows = np.tile(some, len(values))
    plain = [v.item() if hasattr(v, "item") else v for v in values for _ in range(len(some))]
    if not isinstance(frame, nw.DataFrame):
        array = np.array(np.asarray(X)[rows])
        array[:, field.column.position] = [np.nan if v is None else v for v in plain]
        return array
    taken, name = frame[rows.tolist()], field.column.name
    if taken.implementation.is_pandas():  # which keeps the type, also of categories
        native = taken.to_native().copy()
        native[name] = np.array(plain, object)
        return native.astype({name: X[name].dtype})
    column = nw.new_series(name, plain, backend=taken.implementation)
    return taken.with_columns(column.cast(taken[name].dtype)).to_native()


def _by_model(f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]) -> list[Floats]:
    """The same by an additive model of f's log-odds on all pieces; alike where it is noise."""
    from sklearn.linear_model import Ridge  # noqa: PLC0415 two seconds to import

    blocks = [np.eye(field.pieces + 1)[piece] for field, piece in zip(fields, pieces, strict=True)]
    weights = Ridge(alpha=1.0).fit(np.hstack(blocks), f_logit).coef_
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)])
    liked = [
        np.where(block.any(0), weights[a:b], np.nan)[: field.pieces + field.gaps]
        for field, block, a, b in zip(fields, blocks, ends[:-1], ends[1:], strict=True)
    ]
    unread = UNREAD * float(f_logit.std())
    return [each * (np.nanmax(each) - np.nanmin(each) > unread) for each in liked]


def levels(low: Floats, high: Floats) -> Levels:
    """The pieces from those that f likes least; pieces whose answers overlap are one level.

    >>> nobody = np.nan
    >>> levels(np.array([0.5, nobody, -1.0]), np.array([0.7, nobody, -0.9]))
    ((2,), (0,))
    >>> levels(np.array([0.0, 0.1, 2.0]), np.array([0.3, 0.2, 2.1]))
    ((0, 1), (2,))
    >>> levels(np.zeros(3), np.zeros(3))
    ()
    """
    known = np.flatnonzero(~np.isnan(low))
    if len(known) < 2 or high[known].max() - low[known].min() <= SAME:
        return ()
    found: list[list[int]] = []
    top = -np.inf
    for k in known[np.lexsort((high[known], low[known]))]:
        if found and low[k] < top - SAME:
            found[-1].append(int(k))
        else:
            found.append([int(k)])
        top = max(top, float(high[k]))
    return tuple(map(tuple, found))
