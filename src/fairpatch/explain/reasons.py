"""Why one person's decision changes, what would have kept it, and reasons for a notice."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch.explain.concepts import Contributions, contributions
from fairpatch.inputs.values import Value, plain
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.edit import held_back, taken
from fairpatch.patch.parts import Column, NumberWeight, RangesWeight, merge
from fairpatch.patch.terms import activation, number_term, ranges_term
from fairpatch.patch.words import lacking_lines, reason_lines
from fairpatch.patched import PatchedModel

# How a person would have to differ for f's decision to stand: the smallest moves of columns.

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


# Why one person's decision changes, and the smallest difference that would have kept it.


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
    tally: tuple[int, int, int] | None = None
    """Of a card: the points, those that the base model's confidence is worth, and those needed."""
    lines: tuple[str, ...] = ()
    """Of a card: its lines that pushed towards the change, as ``apply`` and SQL say them."""
    names: tuple[str, ...] = ()
    """Of a card: the same without points, or by their codes."""

    def to_customer(self) -> str:
        """The same as the person should read it: what counted less, never a reward for a risk."""
        counted = self.names or tuple(column for column, v in self.contributions if v < 0)[:3]
        if not counted:
            return ""
        side = "against you" if self.direction == "promotion" else "in your favour"
        return f"What counted less {side}: {'; '.join(counted)}."

    def __str__(self) -> str:
        text = f"{self.direction}: "
        if self.tally is None:
            text += f"ratio {self.ratio:.2f}"
            pushed = [f"{c} ({v:+.2f})" for c, v in self.contributions if v < 0][:3]
        else:
            points, confidence, needed = self.tally
            against = f" less {confidence} for the base model's confidence" if confidence else ""
            text += f"{points} points{against}, {needed} needed"
            pushed = list(self.lines)
        if pushed:
            text += f", pushed {'down ' if self.tally is None else ''}by {', '.join(pushed)}"
        if self.keeps:
            text += f"; f's decision would stand with {' and '.join(map(str, self.keeps))}"
        return text


def reasons(
    model: PatchedModel, X: Any, *, rows: Sequence[int] | None = None, reference: Any = None
) -> list[Reason]:
    """A reason for every changed row of X, or for some of them.

    ``reference`` gives the average person, the ranges and the spreads; X itself where not given.

    Parameters
    ----------
    model : PatchedModel
        f with its patch.
    X : frame or array
        Rows as f takes them.
    rows : sequence of int, optional
        Numbers of rows; all that change by default.
    reference : frame or array, optional
        Rows for averages and ranges; X where they are not given.

    Returns
    -------
    list of Reason
        One for each changed row.
    """
    f, patch = model.logits(X), model.patch
    changed = patch.decide(X, f) != (f > 0)
    wanted = np.flatnonzero(changed) if rows is None else [r for r in rows if changed[r]]
    known = contributions(patch, X, reference, f_logit=f)
    moves = Moves.of(patch, X if reference is None else reference)
    held = Columns.of(X)
    values = {c.name: held.values(c) for c in patch.columns}
    each = np.broadcast_to(patch.effect(f, X)[0], len(f))
    (lines, names), tallies = _lines(patch, X, f > 0), _tallies(patch, X, f)
    return [
        replace(
            _reason(int(row), known, moves, values, f, float(each[row]), tallies[row]),
            lines=tuple(lines[row]),
            names=tuple(names[row]),
        )
        for row in wanted
    ]


def _tallies(patch: Patch, X: Any, f: Floats) -> list[tuple[int, int, int] | None]:
    """Everybody's points towards a change, what confidence is worth, and what is needed."""
    if patch.card is None:
        return [None] * len(f)
    turned = np.where(f > 0, -1, 1) * patch.points(X)
    gain, loss = patch.needed
    needed = np.where(f > 0, loss, gain)
    rows = np.stack([turned, patch.confidence(f, X), needed]).T.round().astype(int).tolist()
    return [(a, b, c) for a, b, c in rows]


def _lines(patch: Patch, X: Any, approved: Bools) -> tuple[list[list[str]], list[list[str]]]:
    """Everybody's lines that push towards a change of f's decision, with points and without."""
    texts: list[list[str]] = [[] for _ in approved]
    names: list[list[str]] = [[] for _ in approved]
    for line in reason_lines(patch) if patch.card is not None else ():
        points = activation(merge([line.part]), patch.columns, X)
        for row in np.flatnonzero(np.where(approved, points < 0, points > 0)):
            texts[row].append(line.text)
            names[row].append(line.name)
    silent = approved & np.array([not text for text in texts], bool)
    for line in lacking_lines(patch):
        points = activation(merge([line.part]), patch.columns, X)
        for row in np.flatnonzero(silent & (points < 0)):
            texts[row].append(line.text)
            names[row].append(line.name)
    return texts, names


def _reason(
    row: int,
    known: Contributions,
    moves: Moves,
    values: dict[str, Any],
    f: Floats,
    each: float,
    tally: tuple[int, int, int] | None,
) -> Reason:
    parts = sorted(zip(known.columns, known.values[row], strict=True), key=lambda c: c[1])
    ratio = float(1 + known.baseline + known.values[row].sum())
    here = {name: plain(column[row]) for name, column in values.items()}
    return Reason(
        row,
        "demotion" if f[row] > 0 else "promotion",
        ratio,
        known.baseline,
        tuple((name, float(value)) for name, value in parts),
        moves.smallest(here, ratio, each),
        tally,
    )


# Reasons for a notice: of everybody who is declined, why, and by whom.
#
# Who is declined by the patched model was declined by the base model and the patch left that, so
# the base model's own reasons stay true; or the patch declines them, and its lines are the reasons.
# Some of the first would be approved but for points that a line takes: that line is a reason, too.

BaseReasons = str | Callable[[Any], Sequence[Any]] | Sequence[Any]
"""The base model's own reasons: a column, a function of the rows, or one entry a row."""


@dataclass(frozen=True)
class Notice:
    """One person who is declined.

    >>> print(Notice(3, "base model", ("R1", "R7")))
    declined by the base model: R1; R7
    """

    row: int
    decided_by: Literal["base model", "patch"]
    reasons: tuple[str, ...]
    held_back_by: tuple[str, ...] = ()
    """Columns in which the patch takes points, without which it would approve this person."""

    def __str__(self) -> str:
        text = f"declined by the {self.decided_by}: {'; '.join(self.reasons)}"
        return text + (
            f"; held back by {', '.join(self.held_back_by)}" if self.held_back_by else ""
        )


def notices(model: PatchedModel, X: Any, base_reasons: BaseReasons) -> list[Notice]:
    """A notice for everybody whom the patched model declines.

    Parameters
    ----------
    model : PatchedModel
        f with its patch.
    X : frame or array
        Rows as f takes them.
    base_reasons : str, callable or sequence
        The base model's reasons for declining each row: the name of a column of X, a function of
        X, or one entry a row. An entry is a text, or several.

    Returns
    -------
    list of Notice
        In the order of the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpatch.inputs.base import BaseModel
    >>> from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight
    >>> part = RangesWeight(column="income", ranges=[Range(below=20, weight=60)])
    >>> patch = Patch(
    ...     columns=[Column(name="income", kind="number")],
    ...     concepts=[Concept(name="income", weight=1, intercept=0, ranges=[part])],
    ...     card=CardScale(approve_at=50), direction="promote_only")
    >>> X = pd.DataFrame({"income": [15, 30], "score": [0.4, 0.4], "why": ["R1", "R2"]})
    >>> for notice in notices(PatchedModel(BaseModel("score"), patch), X, "why"):
    ...     print(notice.row, notice)
    1 declined by the base model: R2
    """
    f = model.logits(X)
    before, after = f > 0, model.patch.decide(X, f)
    own = _of_base(X, base_reasons, len(f))
    by_patch = {
        reason.row: reason.names
        for reason in reasons(model, X, rows=np.flatnonzero(before & ~after).tolist())
    }
    held, less = held_back(model.patch, X, f), taken(model.patch, X)
    called = {column.name: column.words or column.name for column in model.patch.columns}
    return [
        Notice(row, "patch", by_patch[row]) if row in by_patch
        else Notice(row, "base model", own[row], tuple(
            called[name] for name, points in less.items() if held[row] and points[row] < 0
        ))
        for row in np.flatnonzero(~after).tolist()
    ]  # fmt: skip


def _of_base(X: Any, given: BaseReasons, rows: int) -> list[tuple[str, ...]]:
    """Everybody's reasons as texts."""
    if isinstance(given, str):
        given = Columns.of(X).values(Column(name=given, kind="category")).tolist()
    entries = list(given(X)) if callable(given) else list(given)
    if len(entries) != rows:
        raise ValueError(f"base_reasons must have one entry for each of {rows} rows; got "
                         f"{len(entries)}")  # fmt: skip
    return [
        (entry,) if isinstance(entry, str) else tuple(map(str, entry)) if entry is not None else ()
        for entry in entries
    ]
