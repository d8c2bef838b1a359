"""The fingerprint of a fit: enough to tell later whether scores and columns still look the same.

Shares of people below round edges, and f's mean score between them: of the score itself and of
every column that the patch reads. Beside them f's scores of a few made-up people. Shares are
rounded to ten people, edges to three digits; categories and bands of fewer than ten are left out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Floats
from fairpatch.floor import MIN_PEOPLE
from fairpatch.inputs.values import Value
from fairpatch.patch.columns import Columns
from fairpatch.patch.fingerprint import ColumnPrint, Fingerprint
from fairpatch.patch.parts import Category, Column

DECILES = np.arange(0.1, 0.95, 0.1)
MOST_CATEGORIES = 30


def fingerprint_of(
    X: Any, scores: Floats, columns: Sequence[Column], weight: Floats | None = None
) -> Fingerprint:
    """Of the rows that a patch was learned from."""
    w = np.ones(len(scores)) if weight is None else np.asarray(weight, np.float64)
    edges = _edges(scores, w)
    held = Columns.of(X)
    return Fingerprint(
        people=len(scores),
        edges=edges,
        shares=_rounded([_share(scores <= e, w) for e in edges], len(scores)),
        mean=round(float(np.average(scores, weights=w)), 4),
        columns=tuple(_print(c, held, scores, w) for c in columns),
    )


def _print(column: Column, held: Columns, scores: Floats, w: Floats) -> ColumnPrint:
    if column.kind == "number":
        x = held.values(column)
        known = np.isfinite(x)
        edges = _edges(x[known], w[known])
        inside = [known & (x <= e) for e in edges]
        bands = [b & ~a for a, b in zip([np.zeros_like(known), *inside], inside, strict=False)]
        categories: tuple[Category, ...] = ()
    else:
        values, code = codes_of(held, column)
        known = np.array([v is not None for v in values])[code]
        size = np.bincount(code[w > 0], minlength=len(values))
        order = sorted(range(len(values)), key=lambda i: (-size[i], str(values[i])))
        kept = [i for i in order if values[i] is not None and size[i] >= MIN_PEOPLE][
            :MOST_CATEGORIES
        ]
        categories, edges = tuple(v for i in kept if (v := values[i]) is not None), ()
        inside = bands = [code == i for i in kept]
    found_shares = [_share(part[known], w[known]) for part in inside]
    shares, others = _rounded(found_shares, len(w)), 0.0
    if categories:
        (others,) = _rounded([1 - sum(found_shares)], len(w))
    return ColumnPrint(
        column=column.name,
        edges=edges,
        categories=categories,
        shares=shares,
        others=max(0.0, others),
        missing=_rounded([_share(~known, w)], len(w))[0],
        means=tuple(
            round(float(np.average(scores[b], weights=w[b])), 3)
            if b.sum() >= MIN_PEOPLE and w[b].any()
            else None
            for b in bands
        ),
    )


def codes_of(held: Columns, column: Column) -> tuple[list[Value], NDArray[np.intp]]:
    """Categories and everybody's place among them; a gap is the last."""
    categories, code = held.codes(column)
    return categories, np.where(code < 0, len(categories) - 1, code)


def _edges(values: Floats, w: Floats) -> tuple[float, ...]:
    """Deciles, rounded to three digits, each of them once; none where a band would be few."""
    if len(values) < len(DECILES) * 2 * MIN_PEOPLE or not w.any():
        return ()
    order = np.argsort(values, kind="stable")
    total = np.cumsum(w[order])
    at = np.searchsorted(total / total[-1], DECILES)
    return tuple(sorted({float(f"{values[order[k]]:.3g}") for k in at}))


def _share(here: Any, w: Floats) -> float:
    return float(w[here].sum() / w.sum()) if len(w) and w.any() else 0.0


def step_of(people: int) -> float:
    """Shares are rounded to hundredths, and to ten people: no smaller number follows from them."""
    return max(0.01, MIN_PEOPLE / max(people, 1))


def _rounded(values: list[float], people: int) -> tuple[float, ...]:
    step = step_of(people)
    return tuple(round(min(1.0, round(v / step) * step), 4) for v in values)
