"""P(cell | x): in which group somebody is, or in which group with which outcome.

A sparse logistic regression, one cell against the others; convex, so the same every time. S is used
to learn, never to decide, as the paper's adversary uses it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

from fairpatch._arrays import Floats, Ints

INVERSE_PENALTY = 0.3
SPARSE: dict[str, Any] = (
    {"l1_ratio": 1.0}
    if parse_version(sklearn.__version__) >= parse_version("1.8")
    else {"penalty": "l1"}
)
"""The L1 penalty, as the scikit-learn at hand calls it."""
MOST = 8_000
"""Rows that it learns from, at most: its weights are few."""


@dataclass(frozen=True, eq=False)
class CellModel:
    """P(cell | z) for every cell that was seen."""

    models: tuple[Any, ...]
    cells: int

    @classmethod
    def fit(cls, Z: Floats, cell: Ints, weight: Floats, cells: int) -> "CellModel":
        """Learn from rows whose cell is known (not -1); ``cells`` are there in all."""
        rows = np.flatnonzero((cell >= 0) & (weight > 0))
        if len(rows) > MOST:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST, replace=False))
        Z, cell, weight = Z[rows], cell[rows], weight[rows] / weight[rows].mean()
        wanted = [1] if cells == 2 else range(cells)  # of two cells one says all
        return cls(tuple(_one(Z, cell == c, weight) for c in wanted), cells)

    def probabilities(self, Z: Floats) -> Floats:
        """(rows, cells), summing to 1."""
        each = np.column_stack([_chance(model, Z) for model in self.models])
        if self.cells == 2:
            return np.column_stack([1 - each[:, 0], each[:, 0]])
        return np.asarray(each / np.maximum(each.sum(1, keepdims=True), 1e-12))


def _chance(model: Any, Z: Floats) -> Floats:
    if isinstance(model, float):
        return np.full(len(Z), model)
    return np.asarray(model.predict_proba(Z)[:, 1])


def _one(Z: Floats, inside: Any, weight: Floats) -> Any:
    """One cell against the others; its share where everybody or nobody is in it."""
    if inside.all() or not inside.any() or not Z.shape[1]:
        return float(np.average(inside, weights=weight))
    model = LogisticRegression(
        C=INVERSE_PENALTY, solver="liblinear", tol=1e-3, max_iter=300, random_state=0, **SPARSE
    )
    return model.fit(Z, inside, sample_weight=weight)
