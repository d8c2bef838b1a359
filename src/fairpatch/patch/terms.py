"""Concepts of rows in memory, in numpy. A test holds this equal to the expressions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Floats
from fairpatch.measure.values import Value
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import CategoryWeight, Column, Concept, NumberWeight, RangesWeight

LARGEST = float(np.finfo(np.float64).max)


def activation(concept: Concept, columns: Sequence[Column], X: Any) -> Floats:
    """c(x) of every row: the intercept plus the weights of x's raw values."""
    held = Columns.of(X)
    return np.full(held.rows, concept.intercept) + sum(
        by_column(concept, columns, held).values(), np.zeros(held.rows)
    )


def by_column(concept: Concept, columns: Sequence[Column], held: Columns) -> dict[str, Floats]:
    """What each column adds to a concept, row by row."""
    known = {column.name: column for column in columns}
    found: dict[str, Floats] = {}
    parts = (
        *((n.column, number_term(n, held.values(known[n.column]))) for n in concept.numbers),
        *((r.column, ranges_term(r, held.values(known[r.column]))) for r in concept.ranges),
        *((c.column, category_term(c, *held.codes(known[c.column]))) for c in concept.categories),
    )
    for name, values in parts:
        found[name] = found[name] + values if name in found else values
    return found


def number_term(part: NumberWeight, values: Floats) -> Floats:
    """What a number adds to a concept, row by row."""
    with np.errstate(invalid="ignore", over="ignore"):
        weighed, total = np.asarray(part.coefficient * (values - part.around)), values.sum()
    if not total <= LARGEST:  # NaN, and infinity with it, in some row
        weighed[~(values <= LARGEST)] = part.missing
    return weighed


def ranges_term(part: RangesWeight, values: Floats) -> Floats:
    """What a number adds to a concept by the range that it lies in, row by row."""
    total = np.zeros(len(values))
    for r in part.ranges:
        inside = np.ones(len(values), bool) if r.at_least is None else values >= r.at_least
        if r.below is not None:
            inside &= values < r.below
        total += r.weight * inside
    return np.where(values <= LARGEST, total, part.missing)


def category_term(part: CategoryWeight, levels: list[Value], code: NDArray[np.intp]) -> Floats:
    """What a category adds to a concept, row by row."""
    weights = {entry.level: entry.weight for entry in part.levels} | {None: part.missing}
    return np.array([weights.get(level, part.other) for level in levels] or [0.0])[code]
