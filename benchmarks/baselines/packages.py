"""Post-processing by other packages, behind our interface: fairlearn and OxonFair."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.extras import need
from fairpatch.baselines.baseline import Baseline
from fairpatch.inputs.base import Estimator
from fairpatch.measure.metric import Fairness


class _Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The base model's probabilities as a fitted classifier of one column."""

    classes_ = np.array([0, 1])

    def fit(self, Z: Any, y: Any) -> "_Scores":
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, Z: Any) -> Floats:
        p = np.asarray(Z, np.float64)[:, 0]
        return np.column_stack([1 - p, p])

    def predict(self, Z: Any) -> Any:
        return (np.asarray(Z)[:, 0] > 0.5).astype(int)


class EqualizedThresholds(Baseline):
    """fairlearn's ThresholdOptimizer (Hardt et al. 2016): a threshold a group. Reads S: an oracle.

    ``tol`` is how far apart the groups' rates may stay; at 0, as published, they are equal.
    """

    needs_sensitive_features: ClassVar[bool] = True
    dial: ClassVar[str] = "tol"
    values: ClassVar[Sequence[float]] = (0.0,)

    def __init__(
        self,
        estimator: Estimator = None,
        tol: float = 0.0,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.tol = tol
        self.fairness = fairness
        self.random_state = random_state

    def _fit_one(self, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        postprocessing = need("fairlearn.postprocessing", extra="bench")
        self.model_ = postprocessing.ThresholdOptimizer(
            estimator=_Scores(),
            constraints=self.fairness,
            prefit=True,
            predict_method="predict_proba",
            tol=self.tol or None,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model_.fit(expit(f_logit)[:, None], y, sensitive_features=s)

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        return (
            self.model_.predict(
                expit(f_logit)[:, None], sensitive_features=s, random_state=self.random_state
            )
            == 1
        )


class Oxon(Baseline):
    """OxonFair (Delaney et al. 2024): thresholds by groups that are guessed from x."""

    dial: ClassVar[str] = "gap"
    values: ClassVar[Sequence[float]] = (0.3, 0.2, 0.15, 0.1, 0.05, 0.02)

    def __init__(
        self,
        estimator: Estimator = None,
        gap: float = 0.1,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.gap = gap
        self.fairness = fairness
        self.random_state = random_state

    def _fit(self, models: Any, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        oxonfair = need("oxonfair", extra="bench")
        metrics = oxonfair.group_metrics
        gap = (
            metrics.equalized_odds
            if self.fairness == "equalized_odds"
            else metrics.demographic_parity
        )
        groups = LogisticRegression(max_iter=1_000).fit(Z, s)
        data = np.column_stack([expit(f_logit), groups.predict_proba(Z)])
        for model in models:
            model.guess_ = groups
            model.model_ = oxonfair.FairPredictor(
                _first, {"data": data, "target": y, "groups": s}, inferred_groups=_others
            )
            model.model_.fit(metrics.accuracy, gap, model.gap)

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        data = np.column_stack([expit(f_logit), self.guess_.predict_proba(Z)])
        return np.asarray(self.model_.predict({"data": data})).ravel() == 1


def _first(data: Any) -> Floats:
    p = np.asarray(data)[:, 0]
    return np.column_stack([1 - p, p])


def _others(data: Any) -> Floats:
    return np.asarray(data)[:, 1:]
