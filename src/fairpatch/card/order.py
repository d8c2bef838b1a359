"""f's own order of a column's pieces: which of them it likes better, asked of f itself.

The points keep it: with a(v) f's mean log-odds when everybody's column is set to v, points never
rank two pieces against a. So nobody is approved for what f counts against people, and nobody loses
an approval by a number that f likes better. Where f cannot be asked, because it is a column of
scores, an additive model of its log-odds answers instead.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.linear_model import Ridge

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


def likings(
    ask: Ask | None, X: Any, f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]
) -> list[Floats]:
    """By field: f's mean log-odds of each piece; NaN where nobody is in it."""
    if ask is None:
        return _by_model(f_logit, fields, pieces)
    some = np.random.default_rng(0).permutation(len(f_logit))[:ASKED]
    return [_asked(ask, X, some, field, piece) for field, piece in zip(fields, pieces, strict=True)]


def _asked(ask: Ask, X: Any, some: Ints, field: Field, piece: Ints) -> Floats:
    """f's mean answer when some people have a typical value of each piece instead of their own."""
    values = Columns.of(X).values(field.column)
    liked = np.full(field.pieces, np.nan)
    for k in range(field.pieces):
        inside = np.flatnonzero(piece == k)
        if len(inside):
            liked[k] = float(np.mean(ask(with_value(X, some, field, _typical(values[inside])))))
    return liked


def _typical(values: Any) -> Any:
    """A value that somebody has: the middle of numbers, the commonest category."""
    if values.dtype != object:
        return np.quantile(values, 0.5, method="nearest")
    distinct, many = np.unique(values.astype(str), return_counts=True)
    return next(v for v in values if str(v) == distinct[many.argmax()])


def with_value(X: Any, some: Ints, field: Field, value: Any) -> Any:
    """Some rows with one column set to a value, in the column's own type."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        rows = np.array(np.asarray(X)[some])
        rows[:, field.column.position] = value
        return rows
    rows, name = frame[some.tolist()], field.column.name
    plain = value.item() if hasattr(value, "item") else value
    if rows.implementation.is_pandas():  # which keeps the type, also of categories
        native = rows.to_native().copy()
        native[name] = native[name].where(np.zeros(len(native), bool), plain)
        return native.astype({name: X[name].dtype})
    return rows.with_columns(nw.lit(plain).cast(rows[name].dtype).alias(name)).to_native()


def _by_model(f_logit: Floats, fields: Sequence[Field], pieces: Sequence[Ints]) -> list[Floats]:
    """The same by an additive model of f's log-odds on all pieces; alike where it is noise."""
    blocks = [np.eye(field.pieces + 1)[piece] for field, piece in zip(fields, pieces, strict=True)]
    weights = Ridge(alpha=1.0).fit(np.hstack(blocks), f_logit).coef_
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)])
    liked = [
        np.where(block.any(0), weights[a:b], np.nan)[: field.pieces]
        for field, block, a, b in zip(fields, blocks, ends[:-1], ends[1:], strict=True)
    ]
    unread = UNREAD * float(f_logit.std())
    return [each * (np.nanmax(each) - np.nanmin(each) > unread) for each in liked]


def chain(liked: Floats) -> list[int]:
    """The pieces from the one that f likes least; none where f does not tell them apart.

    >>> chain(np.array([0.5, np.nan, -1.0])), chain(np.zeros(3))
    ([2, 0], [])
    """
    known = np.flatnonzero(~np.isnan(liked))
    if len(known) < 2 or np.ptp(liked[known]) <= SAME:
        return []
    return [int(k) for k in known[np.argsort(liked[known], kind="stable")]]
