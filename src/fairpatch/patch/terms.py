"""Concepts of rows in memory, in numpy. A test holds this equal to the expressions."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools, Floats
from fairpatch.inputs.values import Value
from fairpatch.patch.columns import Columns
from fairpatch.patch.kinds import category_of, holds
from fairpatch.patch.parts import (
    CategoricalWeight,
    Column,
    Concept,
    NumberWeight,
    Range,
    RangesWeight,
)

LARGEST = 1e100
"""What is farther from zero than this is no number of a person: it is taken for missing, as NaN and
the infinities are. With weights of at most 1e15, no sum of terms overflows in any engine."""
SMALLEST = 1e-100
"""What is nearer to zero is zero: Postgres stops at products that are too small to be told."""


def activation(concept: Concept, columns: Sequence[Column], X: Any) -> Floats:
    """c(x) of every row: the intercept, then term by term what x's raw values add.

    In this order in every engine: sums of doubles depend on it in their last bits.
    """
    held = Columns.of(X)
    total = np.full(held.rows, float(concept.intercept))
    for _, values in terms(concept, columns, held):
        total = total + values
    return total


def terms(
    concept: Concept, columns: Sequence[Column], held: Columns
) -> Iterator[tuple[str, Floats]]:
    """What each part adds to a concept, row by row, in the order in which it is summed."""
    known = {column.name: column for column in columns}
    for n in concept.numbers:
        yield n.column, number_term(n, held.values(known[n.column]))
    for r in concept.ranges:
        yield r.column, ranges_term(r, held.values(known[r.column]))
    for c in concept.categories:
        yield c.column, category_term(c, *held.codes(known[c.column]))


def by_column(concept: Concept, columns: Sequence[Column], held: Columns) -> dict[str, Floats]:
    """What each column adds to a concept, row by row."""
    totals: dict[str, Floats] = {}
    for name, values in terms(concept, columns, held):
        totals[name] = totals[name] + values if name in totals else values
    return totals


def number_term(part: NumberWeight, values: Floats) -> Floats:
    """What a number adds to a concept, row by row."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        size = np.abs(values)
        near = np.where(size >= SMALLEST, values, 0.0)
        weighed = np.asarray(part.coefficient * (near - part.around))
        return np.where(size <= LARGEST, weighed, part.missing)


def ranges_term(part: RangesWeight, values: Floats) -> Floats:
    """What a number adds to a concept by the range that it lies in, row by row."""
    total = np.zeros(len(values))
    for r in part.quantities:
        total += r.weight * inside(r, values)
    for r in part.codes:
        total = np.where(values == r.code, r.weight, total)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) <= LARGEST, total, part.missing)


def inside(r: Range, values: Floats) -> Bools:
    """Which values lie in a range; a gap lies in none that has an end."""
    if r.code is not None:
        return np.asarray(values == r.code)
    with np.errstate(invalid="ignore"):  # a comparison with NaN is no accident
        here = np.ones(len(values), bool) if r.at_least is None else values >= r.at_least
        return np.asarray(here if r.below is None else here & (values < r.below))


def category_term(
    part: CategoricalWeight, categories: list[Value], code: NDArray[np.intp]
) -> Floats:
    """What a category adds to a concept, row by row."""
    weights = {entry.category: entry.weight for entry in part.categories} | {None: part.missing}
    if part.categories:
        weights.setdefault("", part.missing)  # an empty text says as little as a gap
    held = holds(entry.category for entry in part.categories)
    for category in categories:
        if category is not None and category not in weights:
            category_of(part.column, category, held)  # refused where no line could hold
        if isinstance(category, float) and not abs(category) <= LARGEST:  # nor is it a code
            weights[category] = part.missing
    return np.array([weights.get(category, part.other) for category in categories] or [0.0])[code]
