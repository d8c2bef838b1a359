"""ROC, the reject option (Kamiran, Karim and Zhang 2012): near the threshold, S decides."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.baselines.baseline import Baseline
from fairpatch.inputs.base import Estimator
from fairpatch.measure.metric import Fairness


class Roc(Baseline):
    """Within a band around the threshold the disadvantaged group gets 1 and the others 0.

    It reads S at prediction: an oracle.
    """

    needs_sensitive_features: ClassVar[bool] = True
    dial: ClassVar[str] = "band"
    values: ClassVar[Sequence[float]] = tuple(np.linspace(0, 0.35, 29))

    def __init__(
        self,
        estimator: Estimator = None,
        band: float = 0.1,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.band = band
        self.fairness = fairness
        self.random_state = random_state

    def _fit_one(self, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        keep = np.ones(len(y), bool) if self.fairness == "demographic_parity" else y == 1
        rates = [np.mean(f_logit[keep & (s == g)] > 0) for g in range(int(s.max()) + 1)]
        self.disadvantaged_ = int(np.argmin(rates))

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        near = np.abs(expit(f_logit) - 0.5) < self.band
        return np.where(near, s == self.disadvantaged_, f_logit > 0)
