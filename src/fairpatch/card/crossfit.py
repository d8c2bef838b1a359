"""A card's points from rows with S: who a change helps, said in a few lines.

The push h(x) is worked out from all columns and then said by the lines that come nearest to it
where it matters: near f's threshold. Saying a worked-out push leaves out the noise of S itself,
which would choose other lines every time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.card.aim import Cells, Limit, multipliers
from fairpatch.card.cells import CellModel
from fairpatch.card.fields import Field
from fairpatch.card.options import CardOptions
from fairpatch.card.points import Points, rounded
from fairpatch.card.select import Seen, select

NEAR = 0.5
"""How fast people count for less as f gets surer: exp(-m / NEAR)."""


@dataclass(frozen=True, eq=False)
class PushProblem:
    """The rows to learn from, as arrays."""

    Z: Floats
    """Encoded features, for the push; ``seen`` is what lines can say of the same rows."""
    fields: Sequence[Field]
    seen: Seen
    groups: Ints
    """Codes of the sensitive features, (rows, features); -1 where missing."""
    y: Ints
    decided: Bools
    sure: Floats
    """m: how sure f is, 0 to 1."""
    weight: Floats
    known: dict[tuple[Cells, ...], list[CellModel]] = field(default_factory=dict, repr=False)
    """Models of the cells that were learned from these rows already."""

    def take(self, rows: Ints) -> "PushProblem":
        """Some of the rows."""
        arrays = {
            name: getattr(self, name)[rows]
            for name in ("Z", "groups", "y", "decided", "sure", "weight")
        }
        return PushProblem(fields=self.fields, seen=self.seen.take(rows), **arrays)


@dataclass(frozen=True, eq=False)
class Aim:
    """What is aimed at: the worth of a decision of 1 in every cell of every feature."""

    cells: tuple[Cells, ...]
    alphas: tuple[Floats, ...]

    @classmethod
    def each(cls, problem: PushProblem, asked: Sequence[Sequence[Limit]]) -> list["Aim"]:
        """The multipliers of each of several sets of limits on these rows."""
        by_label = any(
            label is not None for limits in asked for limit in limits for label in limit.labels
        )
        cells = tuple(Cells(int(s.max(initial=0)) + 1, by_label) for s in problem.groups.T)
        chances = [model.probabilities(problem.Z) for model in _models(problem, cells)]
        rest = (problem.decided, 1 + problem.sure, problem.weight)
        return [cls(cells, tuple(multipliers(chances, cells, limits, *rest))) for limits in asked]

    def push(self, problem: PushProblem) -> Floats:
        """h(x) of the rows, learned from them."""
        total = np.zeros(len(problem.y))
        for alpha, model in zip(self.alphas, _models(problem, self.cells), strict=True):
            if alpha.any():
                total += model.probabilities(problem.Z) @ alpha
        return total


def _models(problem: PushProblem, cells: tuple[Cells, ...]) -> list[CellModel]:
    """P(cell | x) of every feature: the aim and the push ask for the same."""
    if cells not in problem.known:
        problem.known[cells] = [
            CellModel.fit(
                problem.Z, feature_cells.code(s, problem.y), problem.weight, feature_cells.n
            )
            for feature_cells, s in zip(cells, problem.groups.T, strict=True)
        ]
    return problem.known[cells]


def learn_points(problem: PushProblem, aim: Aim, options: CardOptions) -> Points:
    """The lines and points for an aim, from these rows."""
    push = aim.push(problem)
    weight = problem.weight * np.exp(-problem.sure / NEAR)
    chosen = select(problem.fields, problem.seen, push, weight, options)
    return rounded(chosen, problem.fields, problem.seen, push, weight)


def cross_fitted(
    problem: PushProblem,
    aim: Aim,
    options: CardOptions,
    folds: Ints,
    done: Callable[[float], None] = lambda _: None,
) -> Floats:
    """Everybody's points by a card whose rows did not have the person; fold -1 is in all cards.

    ``done`` is told the share of the folds that is learned.
    """
    points, each = np.zeros(len(folds)), np.unique(folds[folds >= 0])
    for k, fold in enumerate(each):
        done(k / len(each))
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        learned = learn_points(problem.take(outside), aim, options)
        points[inside] = learned.of(problem.seen.take(inside))
    return points


def folds_of(strata: Any, n: int, seed: int) -> Ints:
    """Each row's fold, every stratum spread over all of them."""
    random, folds = np.random.default_rng(seed), np.empty(len(strata), np.int64)
    for value in np.unique(strata):
        rows = np.flatnonzero(strata == value)
        folds[random.permutation(rows)] = np.arange(len(rows)) % n
    return folds
