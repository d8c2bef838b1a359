"""Bayes-optimal and blind, several groups (Yang, Huang and Chang, arXiv 2505.00631).

    decide 1  iff  eta(x) > 1/2 - sum_m lambda_m (P(S = m | x) / P(S = m) - tau)

where every group's rate is to be tau times everybody's. The lambdas are searched on the half of
the rows that nothing was estimated on, by the groups as they are: of those that meet tau there, the
most accurate. Group-blind fair classification with finite samples (Hou and Zhang, arXiv 2410.16477)
has the same rule for two groups, and asks for tau with a margin: another place of the same dial.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch.baselines.baseline import Baseline
from fairpatch.inputs.base import Estimator
from fairpatch.measure.metric import Fairness

TRIED = 2_000
"""Lambdas on the grid, about: fine for two groups, coarse for more."""


class PlugIn(Baseline):
    """Blind. For equalized odds, both of the paper's constraints (given y = 1, given y = 0)."""

    dial: ClassVar[str] = "fairness_level"
    values: ClassVar[Sequence[float]] = tuple(np.linspace(0.3, 1.0, 29))

    def __init__(
        self,
        estimator: Estimator = None,
        fairness_level: float = 0.8,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.fairness_level = fairness_level
        self.fairness = fairness
        self.random_state = random_state

    def _fit(self, models: Any, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        """Halves, estimates and grid are shared by all levels."""
        half = np.random.default_rng(self.random_state).permutation(len(y)) < len(y) // 2
        self.cell_ = LogisticRegression(max_iter=1_000).fit(Z[half], (2 * s + y)[half])
        self.share_ = np.bincount(2 * s + y, minlength=2 * int(s.max()) + 2) / len(y)
        rest = ~half
        pull, f, truth, group = self._pull(Z[rest]), expit(f_logit[rest]), y[rest], s[rest]
        given_y = self.fairness == "equalized_odds"
        size = round(TRIED ** (1 / pull.shape[1]))
        values = np.linspace(-1 if given_y else 0, 1, size | 1)  # odd: 0 is among them
        grid = np.array(list(product(values, repeat=pull.shape[1])))
        for model in models:
            model.cell_, model.share_ = self.cell_, self.share_
            tau = 0.0 if given_y else model.fairness_level
            decided = f > 0.5 - grid @ (pull - tau).T
            value = _gap(decided, truth, group) if given_y else _ratio(decided, group)
            good = value >= model.fairness_level
            right = (decided == truth).mean(1)
            best = np.argmax(np.where(good, right, -1.0)) if good.any() else np.argmax(value)
            model.lambdas_ = grid[best]

    def _pull(self, Z: Floats) -> Floats:
        """P(S = m | x) / P(S = m) of each group; given y, how the last group's differs from 1."""
        p = self.cell_.predict_proba(Z)
        if self.fairness != "equalized_odds":
            return np.asarray((p[:, ::2] + p[:, 1::2]) / (self.share_[::2] + self.share_[1::2]))
        if len(self.share_) != 4:
            raise ValueError("PlugIn takes two groups for equalized odds")
        by = p / self.share_
        return np.asarray(by[:, 2:] - by[:, :2])

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        tau = 0.0 if self.fairness == "equalized_odds" else self.fairness_level
        return expit(f_logit) > 0.5 - (self._pull(Z) - tau) @ self.lambdas_


def _ratio(decided: Bools, s: Ints) -> Floats:
    """The lowest rate of a group over everybody's, of each row of decisions."""
    rates = np.stack([decided[:, s == g].mean(1) for g in np.unique(s)])
    return np.asarray(rates.min(0) / np.maximum(decided.mean(1), 1e-12))


def _gap(decided: Bools, y: Ints, s: Ints) -> Floats:
    """1 less the larger of the two gaps, of TPR and of FPR."""
    gaps = []
    for label in (0, 1):
        one, two = (decided[:, (s == g) & (y == label)].mean(1) for g in (0, 1))
        gaps.append(np.abs(one - two))
    return np.asarray(1 - np.maximum(*gaps))
