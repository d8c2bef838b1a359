"""Weights as whole points, before anything is chosen or certified: what is signed was tested.

A hundred points are one standard deviation of the push. Lines are rounded to tens, slopes to two
digits; a line that is left with nothing is struck.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.card.fields import Field
from fairpatch.card.select import Chosen, Seen, Selection
from fairpatch.patch.parts import (
    CategoricalWeight,
    CategoryWeight,
    Concept,
    NumberWeight,
    Range,
    RangesWeight,
)

HUNDRED = 100.0
TENS = 10.0


@dataclass(frozen=True, eq=False)
class Points:
    """Lines with whole points."""

    fields: Sequence[Field]
    lines: tuple[Chosen, ...]
    points: tuple[float, ...]
    """Of a slope: for each unit of its column."""
    everybody: float

    def of(self, seen: Seen) -> Floats:
        """The points of every row."""
        total = np.full(seen.rows, self.everybody)
        for line, points in zip(self.lines, self.points, strict=True):
            unit = 1.0 if line.members else self.fields[line.field].spread
            total += points * unit * line.of(seen)
        return total

    def concepts(self) -> tuple[Concept, ...]:
        """One concept a column, named as people call it."""
        concepts = []
        for j in dict.fromkeys(line.field for line in self.lines):
            of_column = [
                (c, p) for c, p in zip(self.lines, self.points, strict=True) if c.field == j
            ]
            concepts.append(_concept(self.fields[j], of_column))
        return tuple(concepts)


def rounded(
    selection: Selection, fields: Sequence[Field], seen: Seen, push: Floats, weight: Floats
) -> Points:
    """The selection in whole points; everybody's keep the mean of the push where it was."""
    fitted = np.full(seen.rows, selection.constant)
    for line, value in zip(selection.lines, selection.weights, strict=True):
        fitted += value * line.of(seen)
    unit = (
        HUNDRED / (float(np.sqrt(np.cov(fitted, aweights=weight))) or 1.0)
        if len(fitted) > 1
        else 1.0
    )
    lines, points = [], []
    for line, value in zip(selection.lines, selection.weights, strict=True):
        scaled = value * unit
        if line.members:
            whole = TENS * round(scaled / TENS)
        else:  # at least five points for one standard deviation, or it says nothing
            whole = (
                _two_digits(scaled / fields[line.field].spread) if abs(scaled) >= TENS / 2 else 0.0
            )
        if whole:
            lines.append(line)
            points.append(float(whole))
    bare = Points(fields, tuple(lines), tuple(points), 0.0)
    missing = np.average(push * unit - bare.of(seen), weights=weight)
    return Points(fields, bare.lines, bare.points, float(round(missing)))


def _two_digits(value: float) -> float:
    return round(value, 1 - floor(log10(abs(value)))) if value else 0.0


def _concept(field: Field, lines: list[tuple[Chosen, float]]) -> Concept:
    column = field.column
    numbers, ranges, categories = [], [], []
    missing = 0.0
    for line, points in lines:
        members = [m for m in line.members if m < field.pieces]
        missing += points if len(members) < len(line.members) else 0.0
        if not line.members:
            slope = NumberWeight(
                column=column.name, coefficient=points, missing=0.0, around=field.around
            )
            numbers.append(slope)
        elif field.edges is not None and members:
            ends = [None, *(float(e) for e in field.edges), None]
            low, high = ends[members[0]], ends[members[-1] + 1]
            ranges.append(Range(at_least=low, below=high, weight=points))
        else:
            named = [v for m in members for v in field.categories[m]]
            missing += points if None in named else 0.0
            categories += [
                CategoryWeight(category=v, weight=points) for v in named if v is not None
            ]
    cut = [RangesWeight(column=column.name, ranges=tuple(ranges), missing=missing)]
    by_category = [
        CategoricalWeight(column=column.name, categories=tuple(categories), missing=missing)
    ]
    return Concept(
        name=column.words or column.name,
        weight=1.0,
        intercept=0.0,
        numbers=tuple(numbers),
        ranges=tuple(cut) if field.number and not numbers else (),
        categories=tuple(by_category) if not field.number else (),
    )
