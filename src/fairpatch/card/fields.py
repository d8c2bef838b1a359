"""Columns as a card sees them: numbers cut into ranges, categories into categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.card.options import CardOptions
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.values import Value
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import Column

RANGES = 10
"""Of a number, at most: where its people are, not where its values are."""


@dataclass(frozen=True, eq=False)
class Field:
    """A column, cut into pieces; what is missing, or not listed, is a piece of its own."""

    column: Column
    edges: Floats | None = None
    """Of a number: where each range but the first begins."""
    around: float = 0.0
    """Of a number: a round number in its middle."""
    spread: float = 1.0
    categories: tuple[tuple[Value, ...], ...] = ()
    """Of a category: categories that stay together."""
    gaps: bool = False
    """Whether anybody has none: then a gap is a piece that a line may name."""

    @property
    def number(self) -> bool:
        """Whether it is a number."""
        return self.edges is not None

    @property
    def pieces(self) -> int:
        """Ranges or categories; the piece after the last is what is missing or not listed."""
        return len(self.categories) if self.edges is None else len(self.edges) + 1

    def read(self, held: Columns) -> tuple[Ints, Floats | None]:
        """Each row's piece, and of a number its distance from ``around`` in units of its spread.

        A number of two values has pieces only: "1 and above" reads better than a slope.
        """
        if self.edges is None:
            place = {
                value: i for i, categories in enumerate(self.categories) for value in categories
            }
            values_seen, code = held.codes(self.column)
            of_category = np.array([place.get(value, self.pieces) for value in values_seen] or [0])
            return np.asarray(of_category[code], np.int64), None
        values = np.asarray(held.values(self.column), np.float64)
        gap = ~np.isfinite(values)
        piece = np.where(gap, self.pieces, np.searchsorted(self.edges, values, side="right"))
        away = np.where(gap, 0.0, (np.where(gap, 0.0, values) - self.around) / self.spread)
        return np.asarray(piece, np.int64), away if len(self.edges) > 1 else None


def fields_of(held: Columns, columns: Sequence[Column], options: CardOptions) -> list[Field]:
    """Every column that can tell people apart, cut by where the people are."""
    fields = []
    for column in columns:
        named = column.model_copy(update={"words": options.names.get(column.name)})
        field = _number(held, named) if column.kind == "number" else _category(held, named, options)
        if field is not None:
            fields.append(field)
    return fields


def _number(held: Columns, column: Column) -> Field | None:
    values = np.asarray(held.values(column), np.float64)
    known = values[np.isfinite(values)]
    distinct = np.unique(known)
    if len(distinct) < 2:
        return None
    edges = distinct[1:]
    if len(distinct) > RANGES:
        inner = np.linspace(0, 1, RANGES + 1)[1:-1]
        edges = np.unique([_round(v) for v in np.quantile(known, inner, method="higher")])
        edges = edges[(edges > distinct[0]) & (edges <= distinct[-1])]
    gaps = bool(len(known) < len(values))
    spread = float(known.std()) or 1.0
    return Field(column, edges, _round(float(np.median(known)), 2), spread, gaps=gaps)


def _category(held: Columns, column: Column, options: CardOptions) -> Field | None:
    values, code = held.codes(column)
    counts = np.bincount(code % len(values), minlength=len(values))  # -1 is the last of the values
    sizes: dict[Value, int] = {}
    for value, count in zip(values, counts, strict=True):
        sizes[value] = sizes.get(value, 0) + int(count)
    together = options.groupings.get(column.name, {})
    grouped = {value for categories in together.values() for value in categories}
    categories = [tuple(v for v in members if sizes.get(v)) for members in together.values()]
    categories += [(value,) for value in sizes if value not in grouped and sizes[value]]
    kept = [members for members in categories if sum(sizes[v] for v in members) >= MIN_PEOPLE]
    kept.sort(key=lambda members: (-sum(sizes[v] for v in members), str(members)))
    if not kept or (len(kept) == 1 and len(categories) == 1):
        return None
    words = _words(options.category_names.get(column.name, {}), together)
    return Field(column.model_copy(update={"category_words": words}), categories=tuple(kept))


def _words(names: Mapping[str, str], together: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    grouped = {
        str(category): name for name, categories in together.items() for category in categories
    }
    return {**grouped, **{str(category): name for category, name in names.items()}}


def _round(value: float, digits: int = 3) -> float:
    """The value to so many digits.

    >>> _round(12345.6), _round(0.0123456)
    (12300.0, 0.0123)
    """
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0
