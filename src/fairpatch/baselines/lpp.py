"""LPP (Xian and Zhao, arXiv 2405.04025): the post-processing that a linear program finds.

With gamma_c(x) = P(a | x) / P(a) (given y: P(a, y | x) / P(a, y)) the rates of all groups are
linear in the decisions, so the least risk with all rates within alpha is a linear program over the
rows of a held-out half; only its dual weights are kept, and they decide about new rows.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairpatch._arrays import Floats, Ints
from fairpatch.base import Estimator
from fairpatch.baselines.baseline import Baseline
from fairpatch.measure.fairness import Fairness

JITTER = 1e-4
"""Noise on the risks, in units of their mean: breaks ties that would need random decisions."""


class Lpp(Baseline):
    """Blind: P(S|x) is estimated on one half of the rows, the program solved on the other."""

    dial: ClassVar[str] = "alpha"
    values: ClassVar[Sequence[float]] = tuple(np.geomspace(0.24, 0.001, 20))

    def __init__(
        self,
        estimator: Estimator = None,
        alpha: float = 0.1,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.fairness = fairness
        self.random_state = random_state

    def _fit(self, models: Any, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        """The halves and the estimates are shared; each alpha is a program of its own."""
        random = np.random.default_rng(self.random_state)
        half = random.permutation(len(y)) < len(y) // 2
        given_y = self.fairness == "equalized_odds"
        cell = 2 * s + y if given_y else s
        self._learn(Z[half], cell[half])
        chances = self._cells(Z[~half], f_logit[~half], s[~half])
        share = np.maximum(chances.mean(0), 1e-12)  # P(a) by the estimate, as its authors do
        gamma = chances / share
        cost = self._cost(f_logit[~half])
        cost = cost + JITTER * np.abs(cost).mean() * random.normal(size=len(cost))
        for model in models:
            model.share_, model.cells_ = share, getattr(self, "cells_", None)
            model.dual_ = solve(cost, gamma, model.alpha, 2 if given_y else 1)

    def _learn(self, Z: Floats, cell: Ints) -> None:
        self.cells_ = LogisticRegression(max_iter=1_000).fit(Z, cell)

    def _cells(self, Z: Floats, f_logit: Floats, s: Ints) -> Floats:
        """P(a | x), or P(a, y | x): (rows, cells)."""
        return np.asarray(self.cells_.predict_proba(Z))

    def _cost(self, f_logit: Floats) -> Floats:
        """Risk of decision 1 less that of decision 0: 1 - 2 P(y = 1 | x), f's own probability."""
        return np.asarray(1 - 2 * expit(f_logit))

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        gamma = self._cells(Z, f_logit, s) / self.share_
        return self._cost(f_logit) - gamma @ self.dual_ < 0


class AwareLpp(Lpp):
    """With S at prediction: P(S|x) is known."""

    needs_sensitive_features: ClassVar[bool] = True

    def _learn(self, Z: Floats, cell: Ints) -> None:
        pass

    def _cells(self, Z: Floats, f_logit: Floats, s: Ints) -> Floats:
        one_hot = np.eye(len(self.groups_))[s]
        if self.fairness != "equalized_odds":
            return one_hot
        p = expit(f_logit)
        return np.stack([one_hot * (1 - p)[:, None], one_hot * p[:, None]], 2).reshape(
            len(one_hot), -1
        )


def solve(cost: Floats, gamma: Floats, alpha: float, labels: int) -> Floats:
    """Least mean cost of decisions in 0 to 1 with rates within alpha; the dual weight of each cell.

    Cells are ordered by group, then label; cells of one label are compared with each other. For
    decisions of two classes the constraints on decision 0 say the same, so they are left out.
    """
    n, cells = gamma.shape
    # |mean(gamma_c decision) - rate_label| <= alpha / 2, with the common rate free
    rows = np.repeat(np.arange(cells), n)
    columns = np.tile(np.arange(n), cells)
    label = np.arange(cells) % labels
    upper: Any = coo_array(
        (
            np.concatenate([gamma.T.ravel() / n, -np.ones(cells)]),
            (np.concatenate([rows, np.arange(cells)]), np.concatenate([columns, n + label])),
        ),
        shape=(cells, n + labels),
    )
    solution = linprog(
        np.concatenate([cost / n, np.zeros(labels)]),
        A_ub=cast(Any, vstack([upper, -upper])),
        b_ub=np.full(2 * cells, alpha / 2),
        bounds=(0, 1),
        method="highs",
    )
    marginals = solution.ineqlin.marginals
    return np.asarray(marginals[:cells] - marginals[cells:])
