"""What a decision of 1 is worth in each cell (METHOD section 7), and who is in which cell.

With gamma_c(x) = P(c | x) / P(c), a rate of cell c is E[decision gamma_c]: linear in the decisions.
So the fewest changes that meet all limits are a linear program over the rows, and its multipliers
say how much each cell's rate has to rise or fall:

    h(x) = sum_c alpha_c gamma_c(x)        a promotion brings h, a demotion -h

Two groups and a P-Rule tau give alpha = 1 for the disadvantaged and -tau for the other, the h of
METHOD section 6; more groups, more features and equalized odds are the same program, only longer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.metric import Metric

# P(cell | x): in which group somebody is, or in which group with which outcome.
#
# A sparse logistic regression, one cell against the others; convex, so the same every time. S is
# used to learn, never to decide, as the paper's adversary uses it.


class CellModelOptions(NamedTuple):
    """How the cells are learned."""

    inverse_penalty: float = 0.3
    """How freely columns are used: little penalty fits best, more changes less with the rows."""
    factored: bool = False
    """P(y | f's score) P(group | x, y), where cells are groups with outcomes: f knows y best."""


TEACHERS = (CellModelOptions(0.3), CellModelOptions(0.02), CellModelOptions(0.02, factored=True))
MOST_ROUNDS = 8_000
"""Rows that it learns from, at most: its weights are few."""


@dataclass(frozen=True, eq=False)
class CellModel:
    """P(cell | z) for every cell that was seen."""

    models: tuple[Any, ...]
    cells: int

    @classmethod
    def fit(
        cls, Z: Floats, cell: Ints, weight: Floats, cells: int, inverse_penalty: float = 0.3
    ) -> "CellModel":
        """Learn from rows whose cell is known (not -1); ``cells`` are there in all."""
        rows = np.flatnonzero((cell >= 0) & (weight > 0))
        if len(rows) > MOST_ROUNDS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROUNDS, replace=False))
        Z, cell, weight = Z[rows], cell[rows], weight[rows] / weight[rows].mean()
        wanted = [1] if cells == 2 else range(cells)  # of two cells one says all
        return cls(tuple(_one(Z, cell == c, weight, inverse_penalty) for c in wanted), cells)

    def probabilities(self, Z: Floats, _: Floats | None = None) -> Floats:
        """(rows, cells), summing to 1; f's log-odds make no difference."""
        each = np.column_stack([_chance(model, Z) for model in self.models])
        if self.cells == 2:
            return np.column_stack([1 - each[:, 0], each[:, 0]])
        return np.asarray(each / np.maximum(each.sum(1, keepdims=True), 1e-12))


@dataclass(frozen=True, eq=False)
class FactoredModel:
    """P(group, y | x) = P(y | f) P(group | x, y): f's score, calibrated, and who has y."""

    outcome: Any
    group: CellModel

    @classmethod
    def fit(
        cls, Z: Floats, f_logit: Floats, group: Ints, y: Ints, weight: Floats, groups: int,
        inverse_penalty: float,
    ) -> "FactoredModel":  # fmt: skip
        """Learn from rows with a group (not -1) and an outcome."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 two seconds to import

        outcome = LogisticRegression().fit(f_logit[:, None], y, sample_weight=weight)
        with_y = np.column_stack([Z, 2.0 * y - 1.0])
        return cls(outcome, CellModel.fit(with_y, group, weight, groups, inverse_penalty))

    def probabilities(self, Z: Floats, f_logit: Floats) -> Floats:
        """(rows, cells): of each group the cell without and the cell with the outcome."""
        p = self.outcome.predict_proba(f_logit[:, None])
        each = [
            p[:, [y]] * self.group.probabilities(np.column_stack([Z, np.full(len(Z), 2.0 * y - 1)]))
            for y in (0, 1)
        ]
        return np.asarray(np.stack(each, axis=2).reshape(len(Z), -1))


def _chance(model: Any, Z: Floats) -> Floats:
    if isinstance(model, float):
        return np.full(len(Z), model)
    return np.asarray(model.predict_proba(Z)[:, 1])


@cache
def _sparse() -> dict[str, Any]:
    """The L1 penalty, as the scikit-learn at hand calls it."""
    import sklearn  # noqa: PLC0415 two seconds to import
    from sklearn.utils.fixes import parse_version  # noqa: PLC0415 two seconds to import

    new = parse_version(sklearn.__version__) >= parse_version("1.8")
    return {"l1_ratio": 1.0} if new else {"penalty": "l1"}


def _one(Z: Floats, inside: Any, weight: Floats, inverse_penalty: float) -> Any:
    """One cell against the others; its share where everybody or nobody is in it."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 two seconds to import

    if inside.all() or not inside.any() or not Z.shape[1]:
        return float(np.average(inside, weights=weight))
    model = LogisticRegression(
        C=inverse_penalty, solver="liblinear", tol=1e-3, max_iter=300, random_state=0, **_sparse()
    )
    return model.fit(Z, inside, sample_weight=weight)


# What a decision of 1 is worth in each cell: the multipliers of the target (METHOD section 7).

MOST = 3_000
"""Rows of the program: its multipliers are few."""


@dataclass(frozen=True)
class Cells:
    """The cells of one sensitive feature: its groups, or each group with each outcome."""

    groups: int
    by_label: bool
    strata: int = 1
    blocks: tuple[tuple[int, ...], ...] = ()
    """Which groups are compared with each other, stratum * groups + group; none: all of them."""

    @property
    def n(self) -> int:
        """How many cells."""
        return self.groups * self.strata * (2 if self.by_label else 1)

    @property
    def compared(self) -> Sequence[Sequence[int]]:
        """Numbers of the groups that are compared with each other."""
        return self.blocks or [range(self.groups)]

    def code(self, group: Any, y: Any) -> Any:
        """Each person's cell; -1 where the group is missing, or the outcome that it is by."""
        if not self.by_label:
            return group
        return np.where((group < 0) | (y == UNKNOWN), -1, 2 * group + y)

    def rate(self, label: int | None, group: int) -> Floats:
        """Which cells a group's rate is over: all of the group's, or those of one outcome."""
        chosen = np.zeros(self.n)
        if not self.by_label:
            chosen[group] = 1.0
        else:
            chosen[[2 * group, 2 * group + 1] if label is None else [2 * group + label]] = 1.0
        return chosen


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit of the target."""

    metric: Metric
    value: float

    @property
    def labels(self) -> list[int | None]:
        """Of each of its rates: the outcome that it is given, if any."""
        labels: list[int | None] = []
        for rate in self.metric.rates:
            without, given = (bool(rate("g").labels[label]) for label in (0, 1))
            labels.append(None if without and given else int(given))
        return labels


@dataclass
class _Program:
    """The linear program in the making: rates of groups, and limits on them."""

    rates: list[tuple[int, Floats]] = field(default_factory=list)
    """Of each rate: the feature, and the alpha that makes it one group's rate."""
    rows: list[tuple[dict[int, float], dict[int, float]]] = field(default_factory=list)
    """Of each limit: its coefficients on the rates, and on the ends that gaps lie between."""
    upper: list[float] = field(default_factory=list)
    ends: int = 0

    def limit(self, by_rate: dict[int, float], by_end: dict[int, float], upper: float) -> None:
        """One more row: so much of these is at most ``upper``."""
        self.rows.append((by_rate, by_end))
        self.upper.append(upper)

    def add(self, k: int, cells: Cells, limit: Limit, shares: Floats) -> None:
        """A limit of the target for one feature, whose cells have these shares."""
        for groups in cells.compared:
            self._add(k, cells, limit, shares, groups)

    def _add(
        self, k: int, cells: Cells, limit: Limit, shares: Floats, groups: Sequence[int]
    ) -> None:
        gap: dict[int, float] = {}
        for label in limit.labels:
            chosen = [cells.rate(label, g) for g in groups]
            here = range(len(self.rates), len(self.rates) + len(groups))
            self.rates += [(k, c / max(float(c @ shares), 1e-9)) for c in chosen]
            if limit.metric.how == "ratio":
                for low, high in permutations(here, 2):  # tau high <= low
                    self.limit({high: limit.value, low: -1.0}, {}, 0.0)
                continue
            top, bottom = self.ends, self.ends + 1
            self.ends += 2
            gap |= {top: 1.0, bottom: -1.0}
            for r in here:  # bottom <= rate <= top
                self.limit({r: 1.0}, {top: -1.0}, 0.0)
                self.limit({r: -1.0}, {bottom: 1.0}, 0.0)
        if gap:
            self.limit({}, gap, limit.value)

    def table(self, part: int, columns: int) -> Floats:
        """The coefficients on the rates (0) or the ends (1) as a matrix."""
        matrix = np.zeros((len(self.rows), columns))
        for i, row in enumerate(self.rows):
            for j, value in row[part].items():
                matrix[i, j] = value
        return matrix


def multipliers(
    chances: Sequence[Floats],
    cells: Sequence[Cells],
    limits: Sequence[Limit],
    decided: Bools,
    cost: Floats,
    weight: Floats,
    locked: Bools | None = None,
    places: tuple[float, float] | None = None,
) -> list[Floats]:
    """alpha of every feature's cells; ``chances`` are P(cell | x), ``cost`` what a change costs.

    Who is ``locked`` counts in the rates and stays as decided. ``places`` are the least and the
    largest share that may be approved.
    """
    program = _Program()
    for k, feature_cells in enumerate(cells):
        for limit in limits:
            program.add(k, feature_cells, limit, np.average(chances[k], axis=0, weights=weight))
    rows = np.arange(len(decided))
    if len(rows) > MOST:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))
    w = weight[rows] / weight[rows].sum()
    gamma = np.array([(chances[k][rows] @ alpha) * w for k, alpha in program.rates])
    on_rates = program.table(0, len(program.rates))
    stays = np.zeros(len(rows), bool) if locked is None else locked[rows]
    ends = np.where(stays[:, None], decided[rows, None], [0.0, 1.0])
    upper: Any = hstack([csr_array(on_rates @ gamma), csr_array(program.table(1, program.ends))])
    most = np.array(program.upper)
    if places is not None:  # low <= approved <= high
        both = csr_array(np.pad(np.stack([-w, w]), ((0, 0), (0, program.ends))))
        upper, most = vstack([upper, both]), np.append(most, [-places[0], places[1]])
    solution: Any = linprog(
        np.concatenate([w * cost[rows] * np.where(decided[rows], -1, 1), np.zeros(program.ends)]),
        A_ub=upper,
        b_ub=most,
        bounds=cast(Any, np.vstack([ends, np.tile([0.0, np.inf], (program.ends, 1))])),
        method="highs",
    )
    alphas = [np.zeros(feature_cells.n) for feature_cells in cells]
    if solution.status == 0:
        # how much each rate has to rise
        pressure = solution.ineqlin.marginals[: len(on_rates)] @ on_rates
        for (k, alpha), much in zip(program.rates, pressure, strict=True):
            alphas[k] += much * alpha
    if not any(alpha.any() for alpha in alphas):  # met already: towards the group that is worst off
        k, alpha = _worst(gamma @ decided[rows], program.rates, limits, cells)
        alphas[k] += alpha
    return alphas


def _worst(
    values: Floats, rates: list[tuple[int, Floats]], limits: Sequence[Limit], cells: Sequence[Cells]
) -> tuple[int, Floats]:
    """The pair of groups that are farthest apart by the first rate of some feature."""
    worst, at = [], 0
    for k, feature_cells in enumerate(cells):
        for limit in limits:
            for groups in [g for g in feature_cells.compared for _ in limit.labels]:
                here = range(at, at + len(groups))
                at += len(groups)
                low, *_, high = sorted(here, key=lambda r: values[r])
                apart = values[high] - values[low]
                worst.append((apart, k, rates[low][1] - rates[high][1]))
    _, k, alpha = max(worst, key=lambda f: f[0])
    return k, alpha
