"""The Bayes-optimal patch (METHOD section 7): the yardstick of how few changes could do it blind.

    change  iff  mu delta h(x) > lambda_ratio + delta (1 - 2 eta(x))

Two classifiers, P(S|x) and P(y|x), and a threshold. Neither readable nor free of a proxy of S, so a
baseline and not a patch.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression

from fairpatch._arrays import Floats, Ints
from fairpatch.base import Estimator
from fairpatch.baselines.baseline import Baseline
from fairpatch.baselines.lpp import solve
from fairpatch.choose.frontier import cross_fit
from fairpatch.measure.blind import bayes_multiplier, helpfulness
from fairpatch.measure.fairness import Fairness


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
