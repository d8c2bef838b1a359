"""Concepts of rows in memory, in numpy. A test holds this equal to the expressions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch.measure.sensitive import Value
from fairpatch.patch.parts import CategoryWeight, Column, Concept, NumberWeight
from fairpatch.patch.table import Table

Floats = NDArray[np.float64]

LARGEST = float(np.finfo(np.float64).max)


def activation(concept: Concept, columns: Sequence[Column], X: Any) -> Floats:
    """c(x) of every row: the intercept plus the weights of x's raw values."""
    table = Table.of(X)
    by_name = {column.name: column for column in columns}
    total = np.full(table.rows, concept.intercept)
    for number in concept.numbers:
        total += number_part(number, table.values(by_name[number.column]))
    for category in concept.categories:
        total += category_part(category, *table.codes(by_name[category.column]))
    return total


def number_part(part: NumberWeight, values: Floats) -> Floats:
    """What a number adds to a concept, row by row."""
    with np.errstate(invalid="ignore", over="ignore"):
        weighed, total = np.asarray(part.coefficient * values), values.sum()
    if not total <= LARGEST:  # NaN, and infinity with it, in some row
        weighed[~(values <= LARGEST)] = part.missing
    return weighed


def category_part(part: CategoryWeight, levels: list[Value], code: NDArray[np.intp]) -> Floats:
    """What a category adds to a concept, row by row."""
    weights = {entry.level: entry.weight for entry in part.levels} | {None: part.missing}
    return np.array([weights.get(level, part.other) for level in levels] or [0.0])[code]
