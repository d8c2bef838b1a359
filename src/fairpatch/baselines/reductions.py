"""fairlearn's reductions behind our interface: what retraining with a constraint would give."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from sklearn.linear_model import LogisticRegression

from fairpatch._arrays import Floats, Ints
from fairpatch._extras import need
from fairpatch.baselines.baseline import Baseline
from fairpatch.measure.fairness import Fairness


class Reductions(Baseline):
    """fairlearn's ExponentiatedGradient: a random mixture of reweighted logistic regressions."""

    post_processing: ClassVar[bool] = False
    dial: ClassVar[str] = "bound"
    values: ClassVar[Sequence[float]] = (0.3, 0.2, 0.15, 0.1, 0.05, 0.02)

    def __init__(
        self,
        bound: float = 0.1,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.bound = bound
        self.fairness = fairness
        self.random_state = random_state

    def _fit_one(self, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        reductions = need("fairlearn.reductions", extra="bench")
        kind = (
            reductions.EqualizedOdds
            if self.fairness == "equalized_odds"
            else reductions.DemographicParity
        )
        self.model_ = reductions.ExponentiatedGradient(
            LogisticRegression(), kind(difference_bound=self.bound)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # FutureWarnings of its own use of pandas
            self.model_.fit(Z, y, sensitive_features=s)

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        return self.model_.predict(Z, random_state=self.random_state) == 1
