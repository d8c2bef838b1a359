"""One person at a time: a row in, the decision and its reason out, in microseconds.

The same sums in the same order as ``terms`` and ``expressions``, without a frame: a service that
answers one request after the other spends its time on f, not here. A test holds it equal to numpy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

from fairpatch._tools.checks import a_patch
from fairpatch.decision import LARGEST_SCORE
from fairpatch.inputs.past_decisions import round_score
from fairpatch.inputs.values import place_of
from fairpatch.patch.columns import category_of, holds, number_of
from fairpatch.patch.decide import changes
from fairpatch.patch.model import HALF, Patch
from fairpatch.patch.parts import (
    NEVER,
    CategoricalWeight,
    Concept,
    NumberWeight,
    Range,
    RangesWeight,
    merge,
)
from fairpatch.patch.terms import LARGEST, SMALLEST
from fairpatch.patch.words import BETWEEN, MISSED, REACHED, lacking_lines, reason_lines

Row = Mapping[str, Any]
Term = Callable[[Row], float]


@dataclass(frozen=True, slots=True)
class Decided:
    """What is decided about one person: 1 or 0 as f's; None where the score is no probability."""

    decision: bool | None
    changed: bool | None
    ratio: float
    points: float
    reason: str | None = None
    """Where the decision changes: the lines of the card that pushed towards it."""
    referred: bool = False
    """Whether a person should look at it, where the patch refers people."""


class RowScorer:
    """A patch made ready for one person at a time.

    >>> from fairpatch.patch import Column
    >>> patch = Patch(columns=[Column(name="a", kind="number")], concepts=[Concept(
    ...     name="c", weight=1.0, intercept=0.0,
    ...     numbers=[NumberWeight(column="a", coefficient=-1.0, missing=0.0)])])
    >>> RowScorer(patch).decide({"a": 2.0}, 0.3).decision
    True
    """

    def __init__(self, patch: Patch) -> None:
        a_patch(patch)
        self.patch = patch
        self._points = _sum(merge(patch.concepts, patch.offset))
        self._bands = _ends(patch.card.bands if patch.card else [])
        lock = patch.card.lock if patch.card else None
        self._lock = _sum(lock) if lock else None
        self._positions = [(c.name, c.position) for c in patch.columns]
        lines = reason_lines(patch) if patch.card is not None else []
        self._lines = [(line.text, _sum(merge([line.part]))) for line in lines]
        self._lacking = [(r.text, _sum(merge([r.part]))) for r in lacking_lines(patch)]
        self._pushes = [] if patch.card else [_sum(merge([c])) for c in patch.concepts]

    def decide(self, row: Row | Sequence[Any], score: float) -> Decided:
        """The decision about a row, a dictionary or an array, of whom f's score is known."""
        if not isinstance(row, Mapping):
            row = self._named(row)
        try:
            points = self._points(row)
            locked = self._lock is not None and self._lock(row) > 0
            locked = locked or self._outside_pilot(row)
        except KeyError as error:
            raise KeyError(
                f"the row has no column {error.args[0]!r}, which the patch reads"
            ) from None
        patch, decision = self.patch, self.patch.decision
        p, t = decision.compared(number_of("score", score)), self._threshold(row)
        low, high = (-LARGEST_SCORE, LARGEST_SCORE) if decision.in_points else (0.0, 1.0)
        if decision.knocks_out and not isfinite(p):
            return Decided(not decision.favourable, False, 1.0, points)
        r = nan if t is None else self._ratio(points, p, t, locked=locked)
        if t is None or not low <= p <= high:  # nor NaN
            return Decided(None, None, r, points)
        above = bool(decision.decides(p, t))
        approved = above == (decision.favourable == 1)
        changed = changes(approved, not approved, r, patch.direction)
        bounded = r if patch.card is None else min(1.0, max(-1.0, r))
        reason = self._reason(row, approved=approved) if changed else None
        if patch.action == "refer":
            return Decided(above, False, bounded, points, reason, referred=changed)
        return Decided(above != changed, changed, bounded, points, reason)

    def _named(self, values: Sequence[Any]) -> Row:
        named = {name: values[place] for name, place in self._positions if place is not None}
        if len(named) < len(self._positions):
            raise TypeError("this patch reads columns by name: give a dictionary, not an array")
        return named

    def _outside_pilot(self, row: Row) -> bool:
        pilot = self.patch.pilot
        if pilot is None:
            return False
        key = number_of(pilot.key, row[pilot.key])
        return not isfinite(key) or place_of(int(key), pilot.seed) >= pilot.below

    def _threshold(self, row: Row) -> float | None:
        """The one threshold, or the row's own; None where it has none."""
        cuts = self.patch.decision.cuts
        if cuts is None:
            return self.patch.decision.cut
        value = row[cuts.by]
        return cuts.by_value.get(value) if isinstance(value, str | int | float) else None

    def _ratio(self, points: float, p: float, t: float, *, locked: bool) -> float:
        patch = self.patch
        if patch.card is None:
            return points * patch.strength + 1.0
        if not patch.strength:
            return 1.0
        approved = patch.decision.decides(p, t) == (patch.decision.favourable == 1)
        gain, loss = patch.needed
        needed = loss if approved else gain
        bands = self._bands
        if patch.decision.cuts is not None:  # ends are so far from each row's own
            bands = [(float(round_score(t + low)), float(round_score(t + high)), w)
                     for low, high, w in bands]  # fmt: skip
        confidence = next((w for low, high, w in bands if low <= p < high), 0.0)
        if locked:
            confidence = NEVER
        short = needed + confidence + (points if approved else -points)
        return (short - HALF) / max(needed, 1)

    def _reason(self, row: Row, *, approved: bool) -> str | None:
        """As ``expressions.reason_expr``."""
        if self.patch.card is None:
            pushes = [push(row) for push in self._pushes]
            least = min(pushes, default=0.0)
            return self.patch.concepts[pushes.index(least)].name if least < 0 else None
        if not self._lines:
            return None
        sign = -1.0 if approved else 1.0
        for lines in (self._lines, self._lacking if approved else []):
            said = [text for text, part in lines if sign * part(row) > 0.0]
            if said:
                return BETWEEN.join(said)
        return MISSED if approved else REACHED


def _sum(concept: Concept) -> Term:
    start = float(concept.intercept)
    terms = [
        *map(_number, concept.numbers),
        *map(_ranges, concept.ranges),
        *map(_category, concept.categories),
    ]

    def total(row: Row) -> float:
        points = start
        for term in terms:
            points += term(row)
        return points

    return total


def _number(part: NumberWeight) -> Term:
    name, times, missing = part.column, part.coefficient, part.missing

    def term(row: Row) -> float:
        x = row[name]
        x = x if type(x) is float else number_of(name, x)
        size = abs(x)
        if size <= LARGEST:
            return times * x if size >= SMALLEST else 0.0
        return missing

    return term


def _ends(ranges: Sequence[Range]) -> list[tuple[float, float, float]]:
    """From where, to before where, and the weight there."""
    return [
        (-inf if r.at_least is None else r.at_least, inf if r.below is None else r.below, r.weight)
        for r in ranges
    ]


def _ranges(part: RangesWeight) -> Term:
    name, missing = part.column, part.missing
    ranges = _ends(part.quantities)
    codes = {r.code: r.weight for r in part.codes}

    def term(row: Row) -> float:
        x = row[name]
        x = x if type(x) is float else number_of(name, x)
        if not abs(x) <= LARGEST:
            return missing
        if x in codes:
            return codes[x]
        return next((weight for low, high, weight in ranges if low <= x < high), 0.0)

    return term


def _category(part: CategoricalWeight) -> Term:
    name, other, missing = part.column, part.other, part.missing
    weights: dict[Any, float] = {entry.category: entry.weight for entry in part.categories}
    held = holds(weights)
    weights[None] = missing
    if part.categories:
        weights.setdefault("", missing)

    def term(row: Row) -> float:
        category = row[name]
        if type(category) is str and category in weights:
            return weights[category]
        category = category_of(name, category, held)
        if isinstance(category, float) and not abs(category) <= LARGEST:
            return missing
        return weights.get(category, other)

    return term
