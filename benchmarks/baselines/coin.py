"""A coin: of the group that is worse off, as many of the denied are approved as a coin says.

The floor of every comparison. It reads S and nothing else, so it has nearly the fewest changes that
are possible; whom it approves is chance. A method has to be better than that in what follows from
its changes.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.baselines.baseline import Baseline
from fairpatch.inputs.base import Estimator
from fairpatch.measure.metric import Fairness


class Coin(Baseline):
    """Reads S: an oracle. Of the denied of the group that is worse off, a share is approved."""

    needs_sensitive_features: ClassVar[bool] = True
    notions: ClassVar[tuple[Fairness, ...]] = ("demographic_parity",)
    dial: ClassVar[str] = "share"
    values: ClassVar[Sequence[float]] = tuple(np.linspace(0, 1, 41))

    def __init__(
        self,
        estimator: Estimator = None,
        share: float = 0.3,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.share = share
        self.fairness = fairness
        self.random_state = random_state

    def _fit_one(self, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        rates = [np.mean(f_logit[s == g] > 0) for g in range(int(s.max()) + 1)]
        self.disadvantaged_ = int(np.argmin(rates))

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        tossed = np.random.default_rng(self.random_state).random(len(s)) < self.share
        return (f_logit > 0) | ((s == self.disadvantaged_) & tossed)
