"""FairBayes-DDP+ (Zeng, Cheng and Dobriban, arXiv 2403.18216): thresholds by group, with an offset.

    decide 1  iff  eta_a(x) > 1/2 + sign_a t / (2 p_a)

sign_a is 1 in the group that is favoured and -1 in the other, p_a a group's share, and t the least
that brings the rates within delta. Near its threshold a group is decided at random, so that the
rates meet delta exactly; the offset is the width of that strip. The paper estimates eta_a by local
polynomials of few columns; here it is f's own score, made to fit each group by a logistic
regression: so that only what fairness needs is changed.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.baselines.baseline import Baseline
from fairpatch.inputs.base import Estimator
from fairpatch.measure.metric import Fairness

OFFSET, SMOOTHNESS = 0.1, 3
"""Of the paper's experiment on Adult: l_a = 0.1 n_a^(-3/7), for an eta of one column."""
FINEST = 1e-5


class FairBayes(Baseline):
    """Reads S: an oracle. For two groups and demographic parity, by a difference delta."""

    needs_sensitive_features: ClassVar[bool] = True
    notions: ClassVar[tuple[Fairness, ...]] = ("demographic_parity",)
    dial: ClassVar[str] = "delta"
    values: ClassVar[Sequence[float]] = (*np.geomspace(0.5, 0.002, 28), 0.0)

    def __init__(
        self,
        estimator: Estimator = None,
        delta: float = 0.05,
        *,
        fairness: Fairness = "demographic_parity",
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.delta = delta
        self.fairness = fairness
        self.random_state = random_state

    def _fit(self, models: Any, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        if s.max() != 1:
            raise ValueError("FairBayes takes a sensitive feature of two values")
        self.eta_ = [
            LogisticRegression(C=np.inf).fit(f_logit[s == a, None], y[s == a]) for a in (0, 1)
        ]
        eta = self._eta(f_logit, s)
        own = [eta[s == a] for a in (0, 1)]
        share = np.array([len(p) for p in own]) / len(y)
        rates = [np.mean(p > 0.5) for p in own]
        sign = np.array([1.0, -1.0]) if rates[0] > rates[1] else np.array([-1.0, 1.0])
        strip = OFFSET * np.array([len(p) for p in own]) ** (-SMOOTHNESS / (2 * SMOOTHNESS + 1))
        for model in models:
            model.eta_ = self.eta_
            model.strip_ = strip
            model.bar_ = 0.5 + sign * _steady(own, share, sign, model.delta) / (2 * share)
            model.chance_ = _chances(own, model.bar_, strip, sign, model.delta)

    def _eta(self, f_logit: Floats, s: Ints) -> Floats:
        """P(y = 1 | f's score, group)."""
        each = [model.predict_proba(f_logit[:, None])[:, 1] for model in self.eta_]
        return np.asarray(np.where(s == 1, each[1], each[0]), np.float64)

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        above = self._eta(f_logit, s) - self.bar_[s]
        lucky = np.random.default_rng(self.random_state).random(len(s)) < self.chance_[s]
        return (above > self.strip_[s]) | ((above > -self.strip_[s]) & lucky)


def _gap(own: list[Floats], bar: Floats, sign: Floats) -> float:
    """The favoured group's rate less the other's."""
    return float(sum(g * np.mean(p > b) for p, b, g in zip(own, bar, sign, strict=True)))


def _least(own: list[Floats], share: Floats, sign: Floats, delta: float) -> float:
    """The least t with a gap within delta: the gap falls with t, so halve."""
    low, high = 0.0, float(share.min())
    if _gap(own, np.full(2, 0.5), sign) <= delta:
        return 0.0
    while high - low > FINEST:
        t = (low + high) / 2
        if _gap(own, 0.5 + sign * t / (2 * share), sign) > delta:
            low = t
        else:
            high = t
    return high


def _steady(own: list[Floats], share: Floats, sign: Floats, delta: float) -> float:
    """t, or its neighbour where a slightly other delta would give nearly the same one."""
    n = sum(len(p) for p in own)
    near, wide = 0.1 / np.log(n), 0.1 / np.log(np.log(n))
    less, t, more = (_least(own, share, sign, d) for d in (delta + wide, delta, delta - wide))
    if t - less <= near:
        return less
    return more if more - t <= near else t


def _chances(own: list[Floats], bar: Floats, strip: Floats, sign: Floats, delta: float) -> Floats:
    """What share of each group's strip gets a 1, so that the rates are delta apart."""
    certain = [np.mean(p > b + w) for p, b, w in zip(own, bar, strip, strict=True)]
    inside = [np.mean((p > b - w) & (p <= b + w)) for p, b, w in zip(own, bar, strip, strict=True)]
    allowed = delta if _gap(own, 0.5 + sign * strip, sign) > delta else 0.0
    apart = certain[0] - certain[1]
    missing = [sign[0] * allowed - apart, apart - sign[0] * allowed]
    return np.array(
        [np.clip(m / i, 0, 1) if i > 0 else 0.0 for m, i in zip(missing, inside, strict=True)]
    )
