"""P(cell | x): in which group somebody is, or in which group with which outcome.

A sparse logistic regression, one cell against the others; convex, so the same every time. S is used
to learn, never to decide, as the paper's adversary uses it.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fairpatch._arrays import Floats, Ints


class Teacher(NamedTuple):
    """How the cells are learned."""

    inverse_penalty: float = 0.3
    """How freely columns are used: little penalty fits best, more changes less with the rows."""
    factored: bool = False
    """P(y | f's score) P(group | x, y), where cells are groups with outcomes: f knows y best."""


TEACHERS = (Teacher(0.3), Teacher(0.02), Teacher(0.02, factored=True))
MOST = 8_000
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
        if len(rows) > MOST:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))
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
