"""What training is given and what it gives: arrays, a grid of models, settings, ratios."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from typing import Any, Literal, get_args

import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Floats, Ints
from fairpatch.measure.cells import Direction
from fairpatch.measure.metric import Fairness

RatioLoss = Literal["uniform", "fisher"]


@dataclass(frozen=True, eq=False)
class Problem:
    """The training rows. f_logit is relative to the threshold, whose logit is ``offset``."""

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
    fairness: Fairness = "demographic_parity"
    direction: Direction = "both"
    seed: int = 0
    """Order of the minibatches."""

    def s_weight(self, *, by_root: bool = True) -> Floats:
        """Weights of the rows in L_S, (features, rows); 0 where S is missing.

        A group counts by the square root of its share: the P-Rule compares groups whatever their
        size, and a group of 4 % would hardly be heard by its share. As printed, it counts by that.
        """
        weights = np.zeros(self.s.T.shape)
        for weight, s in zip(weights, self.s.T, strict=True):
            known = s >= 0
            share = np.bincount(s[known], self.weight[known]) / self.weight[known].sum()
            root = np.sqrt(np.maximum(share[s[known]], 1e-12)) if by_root else 1.0
            weight[known] = self.weight[known] / root
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
class Departures:
    """Where training departs from the paper's, each for a reason.

    docs/paper.md says what each is worth.

    >>> Training(departures=Departures.none(start_at_one=True)).departures.exact_zeros
    False

    Parameters
    ----------
    start_at_one : bool
        r starts at 1, the patch that changes nothing; as printed it starts at random.
    unit_variance : bool
        Concepts have variance 1: a small W with a large v would cheat the L1 penalty.
    exact_zeros : bool
        L1 as a proximal step, which ends in exact zeros; as printed it is a term of the loss.
    squared_cosine : bool
        Diversity as cos^2 over pairs; the cosine distance, as printed, is least for equal concepts.
    fair_by_gain : bool
        lambda_fair in units of what an adversary can gain on f, so that one grid serves all data.
    falling_rate : bool
        r's learning rate falls to 0 along a cosine; as printed it is constant.
    groups_by_root : bool
        A group counts in L_S by the root of its share; as printed by its share.
    score_by_its_size : bool
        h sees g on its own scale: shrinking all scores would hide S and change no decision.
    concepts_late : bool
        Sparsity and diversity count after ``concepts_from`` of the steps.
    both_at_once : bool
        One backward pass serves both players; as printed h is updated first, on the g before.
    h_without_guess : bool
        h starts with wide hidden units and no guess; as printed as small networks usually start.
    one_order : bool
        All models of a stack see the same minibatches; as printed each seed draws its own.
    """

    start_at_one: bool = True
    unit_variance: bool = True
    exact_zeros: bool = True
    squared_cosine: bool = True
    fair_by_gain: bool = True
    falling_rate: bool = True
    groups_by_root: bool = True
    score_by_its_size: bool = True
    concepts_late: bool = True
    both_at_once: bool = True
    h_without_guess: bool = True
    one_order: bool = True

    @classmethod
    def none(cls, **but: bool) -> "Departures":
        """The paper as printed, but for some.

        >>> Departures.none(start_at_one=True).unit_variance
        False
        """
        return cls(**{**dict.fromkeys((f.name for f in fields(cls)), False), **but})


@dataclass(frozen=True)
class Training:
    """How the models of a stack are trained. The defaults serve all ten data sets.

    Parameters
    ----------
    n_concepts : int
        Concepts at most.
    n_steps : int
        Minibatch steps, not epochs: the cost does not grow with the rows.
    ratio_loss : {"uniform", "fisher"}
        What a change of r costs: the same in every row, or by what it moves the score.
    warm_up : int
        Steps in which only the adversary learns.
    concepts_from : float
        The share of the steps after which sparsity and diversity count.
    batch_size : int
        Rows in a minibatch.
    rate : float
        Learning rate of the ratio; it falls to 0 along a cosine, so that the models settle.
    adversary_rate : float
        The adversary learns faster than the ratio, and its rate stays: it has to keep up.
    hidden : int
        Hidden units of the adversary.
    diversity : float
        What diversity counts beside sparsity, within ``lambda_concepts``.
    departures : Departures
        Where it departs from the paper; ``Training.as_printed()`` does nowhere.
    callbacks : sequence of callables
        Each is called with a ``Step`` after every minibatch.
    """

    n_concepts: int = 3
    n_steps: int = 400
    ratio_loss: RatioLoss = "uniform"
    warm_up: int = 10
    concepts_from: float = 0.2
    batch_size: int = 256
    rate: float = 1e-2
    adversary_rate: float = 2e-2
    hidden: int = 16
    diversity: float = 1.0
    departures: Departures = Departures()
    callbacks: Sequence["Callback"] = ()

    def __post_init__(self) -> None:
        for name in ("n_concepts", "n_steps", "batch_size", "hidden"):
            check.whole(name, getattr(self, name), 1)
        check.one_of("ratio_loss", self.ratio_loss, get_args(RatioLoss))
        check.number("diversity", self.diversity, 0)
        check.a("departures", self.departures, Departures, "Departures.none()")

    @classmethod
    def as_printed(cls, **options: Any) -> "Training":
        """Algorithm 1 with the printed losses and raw lambdas; other settings as given.

        Where ``concepts_from`` is given, it is Algorithm 1's gate.

        >>> Training.as_printed(n_concepts=2).departures == Departures.none()
        True
        >>> Training.as_printed(concepts_from=0.5).departures.concepts_late
        True
        """
        departures = Departures.none(concepts_late="concepts_from" in options)
        return cls(**{"departures": departures, "adversary_rate": cls.rate, **options})

    @property
    def settings(self) -> dict[str, Any]:
        """What a patch's provenance says of it."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "callbacks"}
        return {**plain, "departures": asdict(self.departures)}


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
