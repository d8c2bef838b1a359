"""A push said by few columns in few bins, by least squares; then in whole points.

    minimise  sum_i w_i (h_i - c - sum_j p_j(piece of i))^2      p_j(reference) = 0

Along the levels of a field's pieces, from those f likes least to those it likes best, p never
falls: p is a sum of steps that are at least 0. Scaling h scales p, so one solution serves every
weight of f's confidence; rounding to whole points comes after.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import lsq_linear

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.card.bins import CardOptions, Field
from fairpatch.card.confidence import Levels
from fairpatch.choose.learner import HUNDRED
from fairpatch.measure.cells import Direction
from fairpatch.patch.model import weights_of
from fairpatch.patch.parts import (
    CategoricalWeight,
    CategoryWeight,
    Concept,
    Range,
    RangesWeight,
    moved_by,
)

PRIOR = 0.002
"""The share of the rows added to every piece with nothing to say, so that rare ones wait."""
MOST = 20_000
"""Rows that are solved for, at most: a scorecard has few numbers."""
SPARE = 2
"""Columns that are tried beyond those allowed, before the least of them are left out."""
NOTHING = 1e-6
"""Of the push: scores that vary by less say nothing."""
BEYOND = 2.0
"""Standard errors within which a category's score is noise."""
HARDLY = 0.005
"""Of what a card says of the push: a column that says less is left out."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Unrounded points of the pieces of some fields; together they vary by one."""

    values: dict[int, Floats]
    """By field: of each piece, the one after the last included."""
    constant: float

    def times(self, factors: Mapping[int, Floats]) -> "Scores":
        """Every piece's score by a factor of its own; of fields without one as it is."""
        values = {j: v * factors.get(j, np.ones(1)) for j, v in self.values.items()}
        return Scores(values, self.constant)

    def of(self, pieces: Sequence[Ints]) -> Floats:
        """The sum for every row."""
        total = np.full(len(pieces[0]) if len(pieces) else 0, self.constant)
        for j, points in self.values.items():
            total += points[pieces[j]]
        return total


@dataclass(frozen=True, eq=False)
class Rules:
    """Which way each field's points may go."""

    levels: tuple[Levels, ...]
    """By field: pieces along which points never fall, codes and gaps among them, so that nobody
    gains by leaving a field empty; empty where they are free."""
    signs: tuple[int, ...]
    """By field: 1 where no piece takes points away, -1 where none gives any."""

    @classmethod
    def of(cls, fields: Sequence[Field], orders: Sequence[Levels], options: CardOptions) -> "Rules":
        """What people said overrides f's own order."""
        levels: list[Levels] = []
        for field, order in zip(fields, orders, strict=True):
            way = options.monotonic.get(field.column.name, 0)
            if way and field.in_order:
                levels.append(tuple((k,) for k in range(field.bins))[::way])
            elif field.column.name in options.free:
                levels.append(())
            elif options.keep_order == "all" or (options.keep_order and field.in_order):
                levels.append(order)
            else:
                levels.append(())
        signs = tuple(options.signs.get(field.column.name, 0) for field in fields)
        return cls(tuple(levels), signs)


@dataclass(frozen=True, eq=False)
class Fit:
    """The normal equations of all pieces, from which any choice of columns is solved."""

    fields: Sequence[Field]
    rules: Rules
    starts: Ints
    squares: Floats
    """Z'WZ of all pieces, the constant first."""
    products: Floats
    """Z'Wh."""

    @classmethod
    def of(
        cls, fields: Sequence[Field], rules: Rules, pieces: Sequence[Ints], push: Floats,
        weight: Floats, used: Sequence[int],
    ) -> "Fit":  # fmt: skip
        """Of some fields of some rows; of many rows a sample."""
        rows = np.arange(len(push))
        if len(rows) > MOST:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))
        w = weight[rows] / weight[rows].sum()
        sizes = [fields[j].pieces + 1 for j in used]
        starts = np.cumsum([1, *sizes])
        Z = np.zeros((len(rows), int(starts[-1])))
        Z[:, 0] = 1.0
        for start, j in zip(starts, used, strict=False):
            Z[np.arange(len(rows)), start + pieces[j][rows]] = 1.0
        weighed = Z * w[:, None]
        return cls(
            [fields[j] for j in used],
            Rules(
                tuple(rules.levels[j] for j in used),
                tuple(rules.signs[j] for j in used),
            ),
            starts,
            weighed.T @ Z,
            weighed.T @ push[rows],
        )

    def solve(self, which: Sequence[int]) -> tuple[dict[int, Floats], float, float]:
        """Points of some of the fields, the constant, and how much of the push they say."""
        columns, low, high, blocks = [np.eye(len(self.products))[:, :1]], [-np.inf], [np.inf], {}
        for j in which:
            T, least, most = self._ways(j)
            block = np.zeros((len(self.products), T.shape[1]))
            block[self.starts[j] : self.starts[j + 1]] = T
            blocks[j] = (sum(c.shape[1] for c in columns), T)
            columns.append(block)
            low += least
            high += most
        V = np.hstack(columns)
        prior = V.T @ np.diag(np.where(np.arange(len(V)) > 0, PRIOR, 1e-12)) @ V
        H, b = V.T @ self.squares @ V + prior, V.T @ self.products
        L = np.linalg.cholesky(H + 1e-12 * np.eye(len(H)))
        target = solve_triangular(L, b, lower=True)
        if np.isinf(low).all() and np.isinf(high).all():
            x = solve_triangular(L.T, target)
        else:
            x = lsq_linear(L.T, target, bounds=(low, high), method="bvls").x
        values = {j: T @ x[at : at + T.shape[1]] for j, (at, T) in blocks.items()}
        said = float(2 * b @ x - x @ (H - prior) @ x) - float(self.products[0]) ** 2
        return values, float(x[0]), said

    def _ways(self, j: int) -> tuple[Floats, list[float], list[float]]:
        """How a field's points follow from free numbers: a matrix, and their bounds."""
        field, along, sign = self.fields[j], self.rules.levels[j], self.rules.signs[j]
        size = field.pieces + 1
        low, high = (0.0 if sign > 0 else -np.inf), (0.0 if sign < 0 else np.inf)
        ways: list[Floats] = []
        bounds: list[tuple[float, float]] = []
        free = [k for k in range(field.pieces) if k != field.reference]
        if along:
            at = next(i for i, level in enumerate(along) if field.reference in level)
            for i in range(len(along) - 1):
                step = np.zeros(size)
                if i >= at and sign >= 0:  # what f likes better than the reference
                    step[[k for level in along[i + 1 :] for k in level]] = 1.0
                elif i < at and sign <= 0:
                    step[[k for level in along[: i + 1] for k in level]] = -1.0
                else:
                    continue
                ways.append(step)
                bounds.append((0.0, np.inf))
            free = [k for k in free if k not in {k for level in along for k in level}]
        if field.gaps and not any(field.pieces in level for level in along):
            free.append(field.pieces)
        for k in free:
            ways.append(np.eye(size)[k])
            bounds.append((low, high))
        T = np.array(ways).T if ways else np.zeros((size, 0))
        return T, [b[0] for b in bounds], [b[1] for b in bounds]


def choose_columns(
    fields: Sequence[Field], rules: Rules, pieces: Sequence[Ints], push: Floats, weight: Floats,
    most: int, among: Collection[int] | None = None,
) -> list[int]:  # fmt: skip
    """The few columns that say a push best: one after the other, then the least left out again.

    ``among`` are those that may be chosen; all, if not given.
    """
    chosen: list[int] = []
    left = push - np.average(push, weights=weight)
    able = range(len(fields)) if among is None else sorted(among)
    while len(chosen) < min(most + SPARE, len(able)):
        gains = {
            j: _gain(fields[j], rules, j, pieces[j], left, weight) for j in able if j not in chosen
        }
        best = max(gains, key=lambda j: (gains[j], -j))
        if gains[best] <= 0:
            break
        chosen.append(best)
        scores = _solved(fields, rules, pieces, push, weight, chosen)
        left = push - scores.of(pieces)
    fit = Fit.of(fields, rules, pieces, push, weight, chosen)
    kept = list(range(len(chosen)))
    said = fit.solve(kept)[2] if kept else 0.0
    while kept:
        without = {k: fit.solve([i for i in kept if i != k])[2] for k in kept}
        least = max(without, key=lambda k: (without[k], k))
        if len(kept) <= most and said - without[least] >= HARDLY * said:
            break
        kept.remove(least)
        said = without[least]
    return [chosen[k] for k in kept]


def _gain(field: Field, rules: Rules, j: int, piece: Ints, left: Floats, weight: Floats) -> float:
    """How much of what is left unsaid a field alone could say."""
    w = weight / weight.sum()
    n = np.bincount(piece, w, field.pieces + 1)
    mean = np.bincount(piece, w * left, field.pieces + 1) / (n + PRIOR)
    if along := rules.levels[j]:
        from sklearn.isotonic import isotonic_regression  # noqa: PLC0415 two seconds to import

        people = np.array([n[list(level)].sum() + 1e-12 for level in along])
        sums = [float(n[list(level)] @ mean[list(level)]) for level in along]
        steady = isotonic_regression(np.array(sums) / people, sample_weight=people)
        for level, value in zip(along, steady, strict=True):
            mean[list(level)] = value
    if not field.gaps:
        mean[-1] = 0.0
    base = mean[field.reference]
    if rules.signs[j]:
        mean = base + rules.signs[j] * np.maximum(rules.signs[j] * (mean - base), 0.0)
    centre = float(n @ mean)
    return float(2 * n @ (mean * (np.bincount(piece, w * left, field.pieces + 1) / (n + 1e-12)))
                 - n @ mean**2 - 2 * centre * float(w @ left) + centre**2)  # fmt: skip


def _solved(
    fields: Sequence[Field], rules: Rules, pieces: Sequence[Ints], push: Floats, weight: Floats,
    used: Sequence[int],
) -> Scores:  # fmt: skip
    values, constant, _ = Fit.of(fields, rules, pieces, push, weight, used).solve(range(len(used)))
    return Scores({used[k]: v for k, v in values.items()}, constant)


def learn_scores(
    fields: Sequence[Field], rules: Rules, pieces: Sequence[Ints], push: Floats, weight: Floats,
    used: Sequence[int],
) -> Scores:  # fmt: skip
    """Points of these columns for a push, so that they vary by one where it matters."""
    scores = _solved(fields, rules, pieces, push, weight, used)
    total = scores.of(pieces)
    middle = np.average(total, weights=weight)
    spread = float(np.sqrt(np.average((total - middle) ** 2, weights=weight)))
    if spread <= NOTHING * float(np.abs(push).max(initial=0.0)):  # nothing to say, or none may be
        return Scores({}, 0.0)
    return Scores({j: v / spread for j, v in scores.values.items()}, scores.constant / spread)


def steadied(whole: Scores, parts: Sequence[Scores], rules: Rules) -> list[Scores]:
    """Scores and those without a fold each, shrunken towards 0 by what the folds say of them.

    A category's score p has the jackknife's variance v over the folds, and its evidence is what is
    left of it: p max(0, 1 - 4 v / p^2), nothing within two standard errors. What has an order
    stands, as its steps say it together.
    """
    if not parts:
        return [whole]
    n, factors = len(parts), {}
    for j, p in whole.values.items():
        others = np.stack([part.values.get(j, np.zeros_like(p)) for part in parts])
        v = (n - 1) / n * np.sum((others - others.mean(0)) ** 2, axis=0)
        shrunken = np.maximum(0.0, 1 - BEYOND**2 * v / np.maximum(p**2, 1e-12))
        ordered = [k for level in rules.levels[j] for k in level]
        shrunken[ordered] = 1.0
        factors[j] = shrunken
    return [scores.times(factors) for scores in (whole, *parts)]


# Scores as whole points, before anything is chosen or certified: what is signed was tested.


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
    # where nobody's field was empty, an empty one has the fewest points: a blank buys nothing
    missing = float(points[-1] if field.gaps else points[: field.pieces].min())
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
