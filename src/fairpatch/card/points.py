"""Scores as whole points, before anything is chosen or certified: what is signed was tested."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.card.fields import Field
from fairpatch.card.options import CardOptions
from fairpatch.card.scorecard import Scores
from fairpatch.choose.learner import HUNDRED
from fairpatch.measure.direction import Direction
from fairpatch.patch.model import weights_of
from fairpatch.patch.parts import (
    CategoricalWeight,
    CategoryWeight,
    Concept,
    Range,
    RangesWeight,
    moved_by,
)


@dataclass(frozen=True, eq=False)
class Points:
    """A scorecard: whole points of every piece of its columns."""

    fields: Sequence[Field]
    points: dict[int, Floats]
    """By field: of each piece, the one after the last included."""
    constant: int
    """What everybody has, where points that give and points that take are weighed alike."""

    def of(self, pieces: Sequence[Ints]) -> Floats:
        """The points of every row, without the constant."""
        total = np.zeros(len(pieces[0]) if len(pieces) else 0)
        for j, points in self.points.items():
            total += points[pieces[j]]
        return total

    @property
    def reach(self) -> tuple[float, float]:
        """The fewest and the most points that anybody can have."""
        return (
            float(sum(points.min() for points in self.points.values())),
            float(sum(points.max() for points in self.points.values())),
        )

    @property
    def attributes(self) -> int:
        """How many pieces have points of their own, columns' references included."""
        return sum(len(np.unique(points[: self.fields[j].pieces]))
                   for j, points in self.points.items())  # fmt: skip

    @cached_property
    def concepts(self) -> tuple[Concept, ...]:
        """One concept a column, named as people call it; columns of most points first."""
        widest = sorted(self.points, key=lambda j: (-float(np.ptp(self.points[j])), j))
        return tuple(_concept(self.fields[j], self.points[j]) for j in widest)


def rounded(
    scores: Scores, fields: Sequence[Field], pieces: Sequence[Ints], worth: float,
    options: CardOptions,
) -> Points:  # fmt: skip
    """Scores that vary by one as points that vary by ``worth`` times a hundred."""
    step = float(options.points_step)
    points: dict[int, Floats] = {}
    for j, values in scores.values.items():
        people = np.bincount(pieces[j], minlength=len(values)).astype(float)
        whole = np.round(worth * HUNDRED * values / step) * step
        whole = _few(whole, people, options.max_bins, fields[j].reference, step)
        if whole.any():
            points[j] = whole + 0.0  # no minus zero
    constant = int(step * round(worth * HUNDRED * scores.constant / step))
    return Points(fields, points, constant)


def _few(
    points: Floats, people: Floats, most: int, reference: int, step: float = 0.0
) -> Floats:  # fmt: skip
    """At most so many different numbers: the nearest two become the one that more people have.

    So do any two that are a single step apart, which says nothing.

    >>> _few(np.array([0.0, 5, 30, 35]), np.array([9.0, 1, 5, 6]), 2, 0).tolist()
    [0.0, 0.0, 35.0, 35.0]
    """
    points = points.copy()
    while len(levels := np.unique(points)) > 1:
        k = int(np.diff(levels).argmin())
        if len(levels) <= most and levels[k + 1] - levels[k] > step:
            break
        a, b = levels[k], levels[k + 1]
        keeps_a = people[points == a].sum() >= people[points == b].sum()
        if points[reference] in (a, b):  # the reference stays 0
            keeps_a = bool(points[reference] == a)
        points[points == (b if keeps_a else a)] = a if keeps_a else b
    return points


def _concept(field: Field, points: Floats) -> Concept:
    column = field.column
    missing = float(points[-1]) if field.gaps else 0.0
    name = column.words or column.name
    bare = Concept(name=name, weight=1.0, intercept=0.0)
    if field.edges is not None:
        ranges: list[Range] = []
        ends = [None, *(float(e) for e in field.edges), None]
        for k in range(field.bins):
            if ranges and ranges[-1].weight == points[k]:  # neighbours alike are one bin
                ranges[-1] = ranges[-1].model_copy(update={"below": ends[k + 1]})
            else:
                ranges.append(Range(at_least=ends[k], below=ends[k + 1], weight=float(points[k])))
        for (code, words), worth in zip(field.codes, points[field.bins :], strict=False):
            ranges.append(Range(code=code, words=words or None, weight=float(worth)))
        part = RangesWeight(column=column.name, ranges=tuple(ranges), missing=missing)
        return bare.model_copy(update={"ranges": (part,)})
    weights = []
    for k, members in enumerate(field.categories):
        if None in members:
            missing = float(points[k])
        shown = points[k] or field.in_order
        weights += [
            CategoryWeight(category=v, weight=float(points[k]))
            for v in members
            if v is not None and shown
        ]
    category = CategoricalWeight(column=column.name, categories=tuple(weights), missing=missing)
    return bare.model_copy(update={"categories": (category,)})


def above_zero(
    concepts: tuple[Concept, ...], scale: Mapping[str, int], direction: Direction
) -> tuple[tuple[Concept, ...], int]:
    """The columns so that somebody needs points to be approved, and loses some to be denied.

    "Approved at -40 points or more" is hard to read. Where the commonest values of all columns are
    enough, a column counts from another value: all its points, and those needed, move alike.
    """
    up = -1 if direction == "demote_only" else 1
    needed = scale["approve_at"] if up > 0 else -scale["deny_at"]
    shift, moved = 0, list(concepts)
    for i, concept in enumerate(concepts):
        if needed + shift > 0:
            break
        below = sorted({-up * w for w in weights_of(concept) if up * w < 0})
        if below:
            enough = [b for b in below if needed + shift + b > 0]
            by = int(enough[0] if enough else below[-1])
            moved[i] = moved_by(concept, float(up * by))
            shift += by
    return tuple(moved), up * shift
