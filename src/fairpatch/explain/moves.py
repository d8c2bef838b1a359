"""How a person would have to differ for f's decision to stand: the smallest moves of columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.inputs.values import Value, plain
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import NumberWeight, RangesWeight, merge
from fairpatch.patch.terms import number_term, ranges_term

FEW = 10
"""A number of at most so many values is moved to one of them, not in between."""
MARGIN = 1e-6
"""How far above zero the ratio must come, so that rounding does not matter."""


@dataclass(frozen=True)
class Difference:
    """One column set to another value."""

    column: str
    value: Value
    instead: Value
    within_range: bool
    """Whether such values occur in the reference rows."""

    def __str__(self) -> str:
        return f"{self.column} {_shown(self.instead)} instead of {_shown(self.value)}"


@dataclass(frozen=True, eq=False)
class _Number:
    """A number of the patch: its points, and the values that it has in the reference rows."""

    slope: NumberWeight
    ranges: tuple[RangesWeight, ...]
    few: Floats | None
    low: float
    high: float
    spread: float
    whole: bool

    def points(self, value: Value) -> float:
        x = np.array([np.nan if value is None else float(value)])
        term = number_term(self.slope, x) + sum(ranges_term(r, x) for r in self.ranges)
        return float(term[0])

    def stops(self, x: float, lacking: float, each: float) -> Iterator[float]:
        """Values worth trying: those seen if few, else both sides of every edge and the slope's."""
        if self.few is not None:
            yield from self.few
            return
        step = 1.0 if self.whole else 10.0 ** (np.floor(np.log10(self.spread)) - 2)
        for part in self.ranges:
            for r in part.quantities:
                if r.at_least is not None:
                    edge = np.ceil(r.at_least) if self.whole else r.at_least
                    yield from (edge, edge - step)
                if r.below is not None:
                    edge = np.ceil(r.below) if self.whole else r.below
                    yield from (edge, edge - step)
        slope = each * self.slope.coefficient
        if slope:
            needed = x + lacking / slope
            if self.whole:
                yield float(np.ceil(needed) if slope > 0 else np.floor(needed))
            else:
                yield _shown_beyond(needed, up=slope > 0)


@dataclass(frozen=True, eq=False)
class Moves:
    """What values each column may take, and how many points they have."""

    numbers: dict[str, _Number]
    categories: dict[str, dict[Value, float]]
    other: dict[str, float]
    gap: dict[str, float]

    @classmethod
    def of(cls, patch: Patch, reference: Any) -> "Moves":
        """Read the patch, and the values that occur in the reference rows."""
        merged = merge(patch.concepts, patch.offset)
        held, columns = Columns.of(reference), {c.name: c for c in patch.columns}
        slopes = {n.column: n for n in merged.numbers}
        numbers = {}
        for name in dict.fromkeys([*slopes, *(r.column for r in merged.ranges)]):
            values = np.asarray(held.values(columns[name]), np.float64)
            distinct = np.unique(values[~np.isnan(values)])
            numbers[name] = _Number(
                slopes.get(name, NumberWeight(column=name, coefficient=0.0, missing=0.0)),
                tuple(r for r in merged.ranges if r.column == name),
                distinct if len(distinct) <= FEW else None,
                float(distinct.min(initial=np.inf)),
                float(distinct.max(initial=-np.inf)),
                float(np.nanstd(values)) or 1.0,
                bool(np.all(distinct == np.rint(distinct))),
            )
        categories: dict[str, dict[Value, float]] = {}
        other, gap = {}, {}
        for category in merged.categories:
            seen = {plain(v) for v in held.values(columns[category.column])} - {None}
            weights: dict[Value, float] = {e.category: e.weight for e in category.categories}
            name = category.column
            categories[name] = {v: weights.get(v, category.other) for v in sorted(seen, key=str)}
            other[name], gap[name] = category.other, category.missing
        return cls(numbers, categories, other, gap)

    def smallest(self, here: dict[str, Value], ratio: float, each: float) -> tuple[Difference, ...]:
        """One column's smallest sufficient move; several where no single one will do.

        ``each`` is what a point adds to this person's ratio.
        """
        lacking = MARGIN - ratio
        options = [
            move
            for name in here
            for move in self._moves(name, here[name], lacking, each)
            if each * (move[2] - self._now(name, here[name])) >= lacking
        ]
        inside = [o for o in options if o[1].within_range]
        if inside:
            return (min(inside, key=lambda o: o[0])[1],)
        combined = self._several(here, lacking, each)
        if combined:
            return combined
        return (min(options, key=lambda o: o[0])[1],) if options else ()

    def _moves(
        self, name: str, value: Value, lacking: float, each: float
    ) -> Iterator[tuple[tuple[float, float, str], Difference, float]]:
        """Moves of one column: how large each is, what it says, and the points there."""
        for category, points in self.categories.get(name, {}).items():
            if category != value:
                size = (1.0, each * points, str(category))  # of several the one that does least
                yield size, Difference(name, value, category, within_range=True), points
        if name in self.numbers:
            number = self.numbers[name]
            x = 0.0 if value is None else float(value)
            if value is None and number.slope.coefficient:
                x = number.slope.missing / number.slope.coefficient
            for to in number.stops(x, lacking, each):
                inside = number.low <= to <= number.high
                size = (abs(to - x) / number.spread, 0.0, "")
                difference = Difference(name, value, float(to), within_range=inside)
                yield size, difference, number.points(to)

    def _several(
        self, here: dict[str, Value], lacking: float, each: float
    ) -> tuple[Difference, ...]:
        """Columns moved to their most helpful values, the strongest first, until it is enough."""
        gains = []
        for name, value in here.items():
            stops: dict[Value, float] = dict(self.categories.get(name, {}))
            if name in self.numbers:
                number = self.numbers[name]
                tried = [*number.stops(number.low, lacking, each), number.low, number.high]
                tried = [v for v in tried if number.low <= v <= number.high]
                stops = {float(v): number.points(v) for v in tried}
            if stops:
                best = max(stops.items(), key=lambda e: each * e[1])
                gain = each * (best[1] - self._now(name, value))
                gains.append((gain, Difference(name, value, best[0], within_range=True)))
        kept = []
        for gain, difference in sorted(gains, key=lambda g: -g[0]):
            if gain <= 0:
                break
            kept.append(difference)
            lacking -= gain
            if lacking <= 0:
                return tuple(kept)
        return ()

    def _now(self, name: str, value: Value) -> float:
        """The points of the value as it is."""
        if name in self.categories:
            here = self.categories[name].get(value, self.other[name])
            return self.gap[name] if value is None else here
        return self.numbers[name].points(value)


def _shown_beyond(value: float, *, up: bool) -> float:
    """The nearest number of four digits that is not short of the value: what is said suffices.

    >>> _shown_beyond(31.20701, up=True), _shown_beyond(-0.123449, up=False)
    (31.21, -0.1235)
    """
    if value == 0:
        return 0.0
    digits = 3 - int(np.floor(np.log10(abs(value))))
    scaled = value * 10.0**digits
    return round(float(np.ceil(scaled) if up else np.floor(scaled)) / 10.0**digits, max(digits, 0))


def _shown(value: Value) -> str:
    if value is None:
        return "missing"
    return repr(value) if isinstance(value, str) else f"{value:.12g}"
