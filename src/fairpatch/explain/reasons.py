"""Why one person's decision changes, and the smallest difference that would have kept it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fairpatch._arrays import Floats
from fairpatch.explain.contributions import Contributions, contributions
from fairpatch.measure.values import Value, plain
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import merge
from fairpatch.patched import PatchedModel

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


@dataclass(frozen=True)
class Reason:
    """One changed decision."""

    row: int
    direction: Literal["promotion", "demotion"]
    ratio: float
    baseline: float
    contributions: tuple[tuple[str, float], ...]
    """Column and what it adds to the ratio, those that pushed it down first; sums to r - 1."""
    keeps: tuple[Difference, ...]
    """The smallest difference found that would have kept f's decision."""

    def __str__(self) -> str:
        pushed = [f"{c} ({v:+.2f})" for c, v in self.contributions if v < 0][:3]
        text = f"{self.direction}: ratio {self.ratio:.2f}"
        if pushed:
            text += f", pushed down by {', '.join(pushed)}"
        if self.keeps:
            text += f"; f's decision would stand with {' and '.join(map(str, self.keeps))}"
        return text


def reasons(
    model: PatchedModel, X: Any, *, rows: Sequence[int] | None = None, reference: Any = None
) -> list[Reason]:
    """A reason for every changed row of X, or for some of them.

    ``reference`` gives the average person, the ranges and the spreads; X itself where not given.
    """
    f, patch = model.logits(X), model.patch
    changed = patch.decide(X, f) != (f > 0)
    wanted = np.flatnonzero(changed) if rows is None else [r for r in rows if changed[r]]
    known = contributions(patch, X, reference)
    moves = _Moves.of(patch, X if reference is None else reference)
    held = Columns.of(X)
    values = {c.name: held.values(c) for c in patch.columns}
    return [_reason(int(row), known, moves, values, f) for row in wanted]


def with_difference(X: Any, row: int, differences: Sequence[Difference]) -> Any:
    """The row of X as a frame of one row, with the differences made."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        one = np.array(np.asarray(X)[[row]], np.float64)
        for d in differences:
            one[0, int(d.column[1:])] = d.instead
        return one
    single = frame[[row]]
    for d in differences:
        series = nw.new_series(d.column, [d.instead], backend=nw.get_native_namespace(single))
        single = single.with_columns(series)
    return single.to_native()


def _reason(
    row: int,
    known: Contributions,
    moves: "_Moves",
    values: dict[str, Any],
    f: Floats,
) -> Reason:
    own = sorted(zip(known.columns, known.values[row], strict=True), key=lambda c: c[1])
    ratio = float(1 + known.baseline + known.values[row].sum())
    here = {name: plain(column[row]) for name, column in values.items()}
    return Reason(
        row,
        "demotion" if f[row] > 0 else "promotion",
        ratio,
        known.baseline,
        tuple((name, float(value)) for name, value in own),
        moves.smallest(here, ratio),
    )


@dataclass(frozen=True, eq=False)
class _Moves:
    """What values each column may take, and what they add to the ratio."""

    slope: dict[str, float]
    few: dict[str, Floats]
    span: dict[str, tuple[float, float]]
    spread: dict[str, float]
    whole: dict[str, bool]
    levels: dict[str, dict[Value, float]]
    other: dict[str, float]
    gap: dict[str, float]

    @classmethod
    def of(cls, patch: Patch, reference: Any) -> "_Moves":
        merged = merge(patch.concepts, patch.offset, patch.strength)
        held, columns = Columns.of(reference), {c.name: c for c in patch.columns}
        slope, few, span, spread, whole, gap = {}, {}, {}, {}, {}, {}
        for number in merged.numbers:
            values = np.asarray(held.values(columns[number.column]), np.float64)
            values = values[~np.isnan(values)]
            distinct = np.unique(values)
            name = number.column
            slope[name], gap[name] = number.coefficient, number.missing
            span[name] = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
            spread[name] = float(values.std()) or 1.0
            whole[name] = bool(np.all(distinct == np.rint(distinct)))
            if len(distinct) <= FEW:
                few[name] = distinct
        levels: dict[str, dict[Value, float]] = {}
        other = {}
        for category in merged.categories:
            seen = {plain(v) for v in held.values(columns[category.column])} - {None}
            weights: dict[Value, float] = {e.level: e.weight for e in category.levels}
            name = category.column
            levels[name] = {v: weights.get(v, category.other) for v in sorted(seen, key=str)}
            other[name], gap[name] = category.other, category.missing
        return cls(slope, few, span, spread, whole, levels, other, gap)

    def smallest(self, here: dict[str, Value], ratio: float) -> tuple[Difference, ...]:
        """One column's smallest sufficient move; several where no single one will do."""
        options = [o for name in here if (o := self._single(name, here[name], ratio)) is not None]
        inside = [o for o in options if o[1].within_range]
        if inside:
            return (min(inside, key=lambda o: o[0])[1],)
        combined = self._several(here, ratio)
        if combined:
            return combined
        return (min(options, key=lambda o: o[0])[1],) if options else ()

    def _single(self, name: str, value: Value, ratio: float) -> tuple[float, Difference] | None:
        """The smallest move of one column that brings the ratio above zero, and how large it is."""
        lacking = MARGIN - ratio
        if name in self.levels:
            now = self._now(name, value)
            enough = {v: w for v, w in self.levels[name].items() if w - now >= lacking}
            if not enough:
                return None
            level = min(enough, key=lambda v: (enough[v], str(v)))
            return 1.0, Difference(name, value, level, within_range=True)
        slope = self.slope.get(name, 0.0)
        if not slope:
            return None
        x = self.gap[name] / slope if value is None else float(value)
        needed = x + lacking / slope
        low, high = self.span[name]
        if name in self.few:
            reach = self.few[name][(self.few[name] - x) * slope >= lacking]
            if not len(reach):
                return None
            to = float(reach[np.abs(reach - x).argmin()])
        elif self.whole[name]:
            to = float(np.ceil(needed) if slope > 0 else np.floor(needed))
        else:
            to = _shown_beyond(needed, up=slope > 0)
        size = abs(to - x) / self.spread[name]
        return size, Difference(name, value, to, within_range=low <= to <= high)

    def _several(self, here: dict[str, Value], ratio: float) -> tuple[Difference, ...]:
        """Columns moved to their most helpful values, the strongest first, until it is enough."""
        gains = []
        for name, value in here.items():
            now = self._now(name, value)
            if self.levels.get(name):
                best = max(self.levels[name].items(), key=lambda e: e[1])
                gains.append((best[1] - now, Difference(name, value, best[0], within_range=True)))
            elif self.slope.get(name):
                to = self.span[name][1 if self.slope[name] > 0 else 0]
                gains.append(
                    (self.slope[name] * to - now, Difference(name, value, to, within_range=True))
                )
        kept = []
        for gain, difference in sorted(gains, key=lambda g: -g[0]):
            if gain <= 0:
                break
            kept.append(difference)
            ratio += gain
            if ratio >= MARGIN:
                return tuple(kept)
        return ()

    def _now(self, name: str, value: Value) -> float:
        """What the value adds to the ratio as it is."""
        if value is None:
            return self.gap.get(name, 0.0)
        if name in self.levels:
            return self.levels[name].get(value, self.other[name])
        return self.slope.get(name, 0.0) * float(value)


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
