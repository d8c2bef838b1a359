"""Patches by linear programs and by Bayes' rule: LPP, and the fewest changes made blind.

    change  iff  mu delta h(x) > lambda_ratio + delta (1 - 2 eta(x))

Two classifiers, P(S|x) and P(y|x), and a threshold. Neither readable nor free of a proxy of S, so a
baseline and not a patch.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.baselines.baseline import Baseline
from fairpatch.choose.frontier import cross_fit
from fairpatch.inputs.base import Estimator
from fairpatch.measure.bounds import bayes_multiplier, helpfulness
from fairpatch.measure.metric import Fairness

# LPP (Xian and Zhao, arXiv 2405.04025): the post-processing that a linear program finds.
#
# With gamma_c(x) = P(a | x) / P(a) (given y: P(a, y | x) / P(a, y)) the rates of all groups are
# linear in the decisions, so the least risk with all rates within alpha is a linear program over
# the rows of a held-out half; only its dual weights are kept, and they decide about new rows.

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


# The Bayes-optimal patch (METHOD section 7): the yardstick of how few changes could do it blind.


class BayesRule(Baseline):
    """The fewest changes, or the best accuracy, at a fairness that is asked for.

    Parameters
    ----------
    estimator : fitted classifier, callable or str
        The base model f.
    fairness_level : float
        The P-Rule to reach; for equalized odds 1 less the gap allowed in each rate.
    lambda_ratio : float
        What a change costs in units of a wrong decision: 0 is the most accurate rule, large values
        the one with the fewest changes.
    fairness : {"demographic_parity", "equalized_odds"}
        What is made equal.
    random_state : int
        Of the folds.
    """

    dial: ClassVar[str] = "fairness_level"
    values: ClassVar[Sequence[float]] = tuple(np.linspace(0.3, 1.0, 29))

    def __init__(
        self,
        estimator: Estimator = None,
        fairness_level: float = 0.8,
        *,
        lambda_ratio: float = 0.3,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.fairness_level = fairness_level
        self.lambda_ratio = lambda_ratio
        self.fairness = fairness
        self.random_state = random_state

    def _fit(self, models: Any, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        given_y = self.fairness == "equalized_odds"
        if not given_y and s.max() != 1:
            raise ValueError("BayesRule takes a sensitive feature of two values")
        cell = 2 * s + y if given_y else s
        labels = LogisticRegression(max_iter=1_000).fit(Z, y)
        cells = LogisticRegression(max_iter=1_000).fit(Z, cell)
        share = np.bincount(cell) / len(y)
        nothing = np.empty((0, Z.shape[1])), np.empty(0, np.int64)
        eta = cross_fit(Z, y, *nothing)
        q = None if given_y else cross_fit(Z, s, *nothing)
        for model in models:
            model.labels_, model.cells_, model.share_ = labels, cells, share
            if q is None:
                gamma = cells.predict_proba(Z) / share
                cost = model._cost(eta, f_logit)
                model.dual_ = solve(cost, gamma, 1 - model.fairness_level, 2)
            else:
                decided = f_logit > 0
                model.mean_q_ = float(q.mean())
                rates = [float((p * decided).sum() / p.sum()) for p in (1 - q, q)]
                model.disadvantaged_ = int(rates[1] < rates[0])
                model.mu_ = bayes_multiplier(
                    q, eta, decided, model.fairness_level, lambda_ratio=model.lambda_ratio
                )

    def _cost(self, eta: Floats, f_logit: Floats) -> Floats:
        """Cost of decision 1 less that of decision 0: the label's and the change's."""
        return 1 - 2 * eta + self.lambda_ratio * np.where(f_logit > 0, -1, 1)

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        eta = self.labels_.predict_proba(Z)[:, 1]
        chances = self.cells_.predict_proba(Z)
        if self.fairness == "equalized_odds":
            return self._cost(eta, f_logit) - chances / self.share_ @ self.dual_ < 0
        decided = f_logit > 0
        h = helpfulness(
            chances[:, 1],
            decided,
            self.fairness_level,
            shares=(1 - self.mean_q_, self.mean_q_),
            disadvantaged=self.disadvantaged_,
        )
        delta = np.where(decided, -1.0, 1.0)
        if np.isinf(self.mu_):  # out of reach: whoever helps
            return decided ^ (delta * h > 0)
        changed = self.mu_ * delta * h > self.lambda_ratio + delta * (1 - 2 * eta)
        return decided ^ changed


class FewBayes(BayesRule):
    """The same where a change costs as much as two wrong decisions: nearly the fewest changes."""

    def __init__(
        self,
        estimator: Estimator = None,
        fairness_level: float = 0.8,
        *,
        lambda_ratio: float = 2.0,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            fairness_level,
            lambda_ratio=lambda_ratio,
            fairness=fairness,
            random_state=random_state,
        )
