"""What training is given and what it gives: arrays, a grid of models, settings, ratios."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.measure.direction import Direction
from fairpatch.measure.fairness import Fairness


@dataclass(frozen=True, eq=False)
class Problem:
    """The training rows. f_logit is relative to the cut-off; ``offset`` is the cut-off's logit."""

    Z: Floats
    """Encoded features, standardised, (rows, columns)."""
    f_logit: Floats
    y: Floats
    s: Ints
    """Codes of the sensitive features, (rows, features); -1 where missing."""
    weight: Floats
    ratio_weight: Floats
    """What a change of r costs in each row, 1 on average (see ``losses.ratio_loss``)."""
    offset: float = 0.0

    @property
    def s_weight(self) -> Floats:
        """Weights of the rows in L_S, (features, rows); 0 where S is missing.

        A group counts by the square root of its share: the P-Rule compares groups whatever their
        size, and a group of 4 % would hardly be heard by its share.
        """
        weights = np.zeros(self.s.T.shape)
        for weight, s in zip(weights, self.s.T, strict=True):
            known = s >= 0
            share = np.bincount(s[known], self.weight[known]) / self.weight[known].sum()
            weight[known] = self.weight[known] / np.sqrt(np.maximum(share[s[known]], 1e-12))
        return weights

    @property
    def n_values(self) -> list[int]:
        """How many values each sensitive feature has."""
        return [int(column.max(initial=-1)) + 1 for column in self.s.T]


@dataclass(frozen=True)
class Grid:
    """M models: their lambdas and seeds, one entry a model."""

    fair: Sequence[float]
    ratio: Sequence[float]
    concepts: Sequence[float]
    seeds: Sequence[int]

    @classmethod
    def of(
        cls,
        fair: Iterable[float] = tuple(np.geomspace(0.1, 100, 20)),
        ratio: Iterable[float] = (0.3, 1.0, 2.0),
        concepts: Iterable[float] = (0.01, 0.03),
        seeds: Iterable[int] = (0,),
    ) -> "Grid":
        """Every combination. The defaults, 120 models, reach from no change to parity."""
        columns = zip(*product(fair, ratio, concepts, seeds), strict=True)
        return cls(*(tuple(column) for column in columns))

    def __len__(self) -> int:
        return len(self.seeds)

    def __getitem__(self, models: slice) -> "Grid":
        """Some of the models."""
        return Grid(
            self.fair[models], self.ratio[models], self.concepts[models], self.seeds[models]
        )


@dataclass(frozen=True)
class Settings:
    """How every model of a stack is trained. The defaults serve all ten data sets."""

    fairness: Fairness = "demographic_parity"
    direction: Direction = "both"
    n_concepts: int = 3
    n_steps: int = 400
    """Minibatch steps, not epochs: the cost does not grow with the rows."""
    warm_up: int = 10
    """Steps in which only the adversary learns."""
    concepts_from: float = 0.2
    """Gate: the share of the steps after which sparsity and diversity count."""
    batch_size: int = 256
    rate: float = 1e-2
    """Learning rate; that of the ratio falls to 0 along a cosine, so that the models settle."""
    adversary_rate: float = 2e-2
    """The adversary learns faster than the ratio, and its rate stays: it has to keep up."""
    hidden: int = 16
    random_state: int = 0
    """Order of the minibatches, shared by all models of the stack."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """M trained ratios as arrays: r = 1 + a + v . W z, concepts of unit variance."""

    W: Floats
    v: Floats
    a: Floats


@dataclass(frozen=True)
class Step:
    """What a callback sees: the step, and each model's losses."""

    step: int
    of: int
    losses: dict[str, Any]


Callback = Callable[[Step], Any]
