"""Concepts of rows in memory, in numpy. A test holds this equal to the expressions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Floats
from fairpatch.measure.values import Value
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import CategoryWeight, Column, Concept, NumberWeight

LARGEST = float(np.finfo(np.float64).max)


def activation(concept: Concept, columns: Sequence[Column], X: Any) -> Floats:
    """c(x) of every row: the intercept plus the weights of x's raw values."""
    held = Columns.of(X)
    by_name = {column.name: column for column in columns}
    total = np.full(held.rows, concept.intercept)
    for number in concept.numbers:
        total += number_term(number, held.values(by_name[number.column]))
    for category in concept.categories:
        total += category_term(category, *held.codes(by_name[category.column]))
    return total


def number_term(part: NumberWeight, values: Floats) -> Floats:
    """What a number adds to a concept, row by row."""
    with np.errstate(invalid="ignore", over="ignore"):
        weighed, total = np.asarray(part.coefficient * values), values.sum()
    if not total <= LARGEST:  # NaN, and infinity with it, in some row
        weighed[~(values <= LARGEST)] = part.missing
    return weighed


def category_term(part: CategoryWeight, levels: list[Value], code: NDArray[np.intp]) -> Floats:
    """What a category adds to a concept, row by row."""
    weights = {entry.level: entry.weight for entry in part.levels} | {None: part.missing}
    return np.array([weights.get(level, part.other) for level in levels] or [0.0])[code]
