"""The few lines that say a push best: one after the other, all weights refitted each time.

A line is a slope of a number, a range of it, or up to eight categories. Each step takes
the line that removes most of what the lines so far leave unsaid, sum(w r)² / sum(w) over its
people, as boosting does; then least squares find all weights together. The lines of one column are
disjoint.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from fairpatch._arrays import Floats, Ints
from fairpatch.card.fields import Field
from fairpatch.card.options import CardOptions
from fairpatch.floor import MIN_PEOPLE
from fairpatch.patch.lines import MOST_CATEGORIES

SHARE = 0.005
"""Of the people, at least, for whom a line holds, and for whom it does not."""
LEAST = 1e-4
"""Of the push's variance, what a line must say to be taken."""
ALIKE = 1 - 1e-9
"""Gains that differ by less are the same, as those of a category and of all others: the line that
names fewer is taken, whatever the order of the rows has done to the last digits."""
UNLIMITED = 60
PRIOR = 0.002
"""The share of the rows added to every category with nothing to say, so that rare ones wait."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The rows as the fields see them."""

    pieces: tuple[Ints, ...]
    away: tuple[Floats | None, ...]

    def take(self, rows: Ints) -> "Seen":
        """Some of the rows."""
        return Seen(
            tuple(p[rows] for p in self.pieces),
            tuple(None if a is None else a[rows] for a in self.away),
        )

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.pieces[0]) if self.pieces else 0


@dataclass(frozen=True)
class Chosen:
    """A line: a field's slope (``members`` empty), or some of its pieces."""

    field: int
    members: tuple[int, ...] = ()

    def of(self, seen: Seen) -> Floats:
        """Its value for every row: 0 or 1, or of a slope the distance from the middle."""
        away = seen.away[self.field]
        if not self.members and away is not None:
            return away
        return np.isin(seen.pieces[self.field], self.members).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Selection:
    """Lines with their weights, and what everybody has."""

    lines: tuple[Chosen, ...]
    weights: Floats
    constant: float


def select(
    fields: Sequence[Field], seen: Seen, push: Floats, weight: Floats, options: CardOptions
) -> Selection:
    """The lines for a push, at most so many as the rules allow."""
    lines: list[Chosen] = []
    values = [np.ones(len(push))]
    weights = np.array([np.average(push, weights=weight)])
    left = weight * (push - weights[0])
    total = float((left * (push - weights[0])).sum())
    squares, products = weight.sum().reshape(1, 1), np.array([weight @ push])
    for _ in range(UNLIMITED if options.max_lines is None else options.max_lines):
        best = max(_options(fields, seen, left, weight, lines, options), default=(0.0, 0, None),
                   key=lambda o: o[:2])  # fmt: skip
        if best[2] is None or best[0] < LEAST * total:
            break
        lines.append(best[2])
        values.append(best[2].of(seen))
        weighed = weight * values[-1]
        crossed = np.array([weighed @ other for other in values])
        squares = np.block([[squares, crossed[:-1, None]], [crossed]])
        products = np.append(products, weighed @ push)
        weights = _refit(squares, products, [_way(fields, line, options) for line in lines])
        left = weight * (push - sum(v * x for v, x in zip(values, weights, strict=True)))
    return Selection(tuple(lines), weights[1:], float(weights[0]))


def _options(
    fields: Sequence[Field], seen: Seen, left: Floats, weight: Floats, lines: list[Chosen],
    options: CardOptions,
) -> Iterator[tuple[float, int, Chosen]]:  # fmt: skip
    """The best line of every field: what it would say, minus its place, and itself."""
    for j, field in enumerate(fields):
        of_field = [line for line in lines if line.field == j]
        once = field.column.name in options.monotonic
        if any(not line.members for line in of_field) or (once and of_field):
            continue  # a slope, or a line that must rise or fall, stands alone
        taken = {piece for line in of_field for piece in line.members}
        gains = [
            (gain, line)
            for gain, line, sign in (
                *_slope(j, seen, left, weight, bare=not of_field),
                *_pieces(j, field, seen, left, weight, taken),
            )
            if _allowed(sign, field, line, options)
        ]
        if gains:
            most = max(gain for gain, _ in gains) * ALIKE
            gain, line = min((o for o in gains if o[0] >= most), key=lambda o: len(o[1].members))
            yield gain, -j, line


Option = tuple[float, Chosen, float]
"""What a line would say, itself, and the sign of its points."""


def _slope(j: int, seen: Seen, left: Floats, weight: Floats, *, bare: bool) -> list[Option]:
    away = seen.away[j]
    if away is None or not bare:
        return []
    spread = float((weight * (away - np.average(away, weights=weight)) ** 2).sum())
    pull = float((left * away).sum())
    return [(pull**2 / spread, Chosen(j), float(np.sign(pull)))] if spread > 0 else []


def _pieces(
    j: int, field: Field, seen: Seen, left: Floats, weight: Floats, taken: set[int]
) -> list[Option]:
    """Lines that name pieces, the two or four best: the most and the least points of each kind."""
    piece, k = seen.pieces[j], field.pieces + 1
    n, g = (np.asarray(np.bincount(piece, v, k), np.float64) for v in (weight, left))
    many = np.bincount(piece, minlength=k).astype(np.float64)
    total = float(weight.sum())
    free = np.array([p for p in range(field.pieces) if p not in taken], np.int64)
    options: list[Option] = []
    if field.number:
        a, b = _stretches(field.pieces, taken)
        sums = [np.append(0.0, v[: field.pieces].cumsum()) for v in (g, n, many)]
        G, N, M = (total_to[b] - total_to[a] for total_to in sums)
        options += _best(j, lambda i: range(a[i], b[i]), G, N, M, total)
        if field.gaps and field.pieces not in taken:
            options += _best(j, lambda _: [field.pieces], g[-1:], n[-1:], many[-1:], total)
        return options
    order = free[np.argsort(-g[free] / (n[free] + PRIOR * total), kind="stable")]
    for ranked in (order[:MOST_CATEGORIES], order[::-1][:MOST_CATEGORIES]):
        G, N, M = (v[ranked].cumsum() for v in (g, n, many))
        options += _best(j, partial(_first, ranked), G, N, M, total)
    return options


def _first(ranked: Ints, i: int) -> Ints:
    return ranked[: i + 1]


@lru_cache
def _pairs(n: int) -> tuple[Ints, Ints]:
    a, b = np.triu_indices(n, 1)
    return np.asarray(a, np.int64), np.asarray(b, np.int64)


def _stretches(pieces: int, taken: set[int]) -> tuple[Ints, Ints]:
    """Ranges side by side that no line has yet: from piece a to before piece b; not all of them."""
    a, b = _pairs(pieces + 1)
    used = np.append(0, np.cumsum([p in taken for p in range(pieces)]))
    kept = (used[a] == used[b]) & (b - a < pieces)
    return a[kept], b[kept]


def _best(
    j: int, members: Callable[[int], Any], g: Floats, n: Floats, many: Floats, total: float
) -> list[Option]:
    """Of some lines the one that says most with points, and the one that says most without."""
    enough = (np.minimum(n, total - n) >= SHARE * total) & (many >= MIN_PEOPLE)
    gain = np.where(enough, g**2 / np.maximum(n * (1 - n / total), 1e-12), 0.0)
    options: list[Option] = []
    for sign in (1.0, -1.0):
        gains = np.where(np.sign(g) == sign, gain, 0.0)
        if len(gains) and gains.max() > 0:
            i = int((gains >= gains.max() * ALIKE).argmax())
            options.append((float(gains[i]), Chosen(j, tuple(int(m) for m in members(i))), sign))
    return options


def _allowed(sign: float, field: Field, line: Chosen, options: CardOptions) -> bool:
    """Whether a line with points of this sign keeps the options."""
    way = _way([field], Chosen(0, line.members), options)
    rising = options.monotonic.get(field.column.name)
    if rising and line.members:
        # one line of the column: everything from an edge on, or everything below one
        first, last = min(line.members), max(line.members)
        if last >= field.pieces or (first > 0 and last < field.pieces - 1):
            return False
    return way in (0, sign)


def _way(fields: Sequence[Field], line: Chosen, options: CardOptions) -> int:
    """1 where a line may only give points, -1 where it may only take them, 0 where both."""
    field = fields[line.field]
    rising = options.monotonic.get(field.column.name, 0)
    if rising and line.members and min(line.members) == 0:
        rising = -rising  # below an edge
    sign = options.signs.get(field.column.name, 0)
    return rising or sign


def _refit(squares: Floats, products: Floats, ways: Sequence[int]) -> Floats:
    """All weights together, by least squares; where the rules bind, within their bounds.

    From V'WV and V'Wh, which are as small as the card: with V'WV = QDQ', the same weights are least
    for A = sqrt(D) Q' and b = sqrt(D)^-1 Q' V'Wh, which have a row a line instead of one a person.
    """
    size = np.sqrt(squares.diagonal())  # a slope and a rare category on one scale
    D, Q = np.linalg.eigh(squares / np.outer(size, size))
    kept = len(D) * D[-1] * np.finfo(np.float64).eps < D
    root = np.sqrt(D[kept])
    A = root[:, None] * Q[:, kept].T * size
    b = Q[:, kept].T @ (products / size) / root
    if not any(ways):
        return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0])
    low = [-np.inf, *(0.0 if way > 0 else -np.inf for way in ways)]
    high = [np.inf, *(0.0 if way < 0 else np.inf for way in ways)]
    return np.asarray(lsq_linear(A, b, bounds=(low, high)).x)
