"""What every baseline is: fitted with S, asked with or without it, and turned by one dial."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.extras import need
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.inputs.values import Value
from fairpatch.measure.groups import Groups
from fairpatch.measure.metric import Fairness
from fairpatch.patch.encoding import Encoder


class Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method that makes decisions fairer for one sensitive feature.

    A subclass sets the class attributes, stores its parameters, and fills ``_fit`` and ``_decide``.

    Attributes
    ----------
    needs_sensitive_features : whether S is read at prediction.
    notions : the notions of fairness that it can work towards.
    post_processing : whether it starts from a base model (``estimator``).
    dial : the parameter that trades fairness for the rest; ``values`` to sweep, ``f`` first.
    """

    needs_sensitive_features: ClassVar[bool] = False
    notions: ClassVar[tuple[Fairness, ...]] = get_args(Fairness)
    post_processing: ClassVar[bool] = True
    dial: ClassVar[str]
    values: ClassVar[Sequence[float]]
    estimator: Estimator
    fairness: Fairness
    random_state: int

    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Learn from raw columns, labels of two classes and one sensitive feature."""
        return self.sweep([getattr(self, self.dial)], X, y, sensitive_features=sensitive_features)[
            0
        ]

    def sweep(
        self, values: Sequence[float], X: Any, y: Any, *, sensitive_features: Any
    ) -> list[Self]:
        """Fit one model for each value of the dial; the first of them is this object itself."""
        check.one_of("fairness", self.fairness, self.notions)
        groups = Groups.of(sensitive_features).comparable()
        s = groups.codes
        if len(groups.features) != 1 or (s < 0).any():
            raise ValueError(f"{type(self).__name__} takes one sensitive feature without gaps")
        (name,), (self.groups_,) = groups.features, groups.values
        self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"y must have two classes, it has {len(self.classes_)}")
        self.encoder_ = Encoder.fit(X, exclude=[c for c in (name,) if _has(X, c)])
        Z = self.encoder_.transform(X)
        f_logit = BaseModel(self.estimator).logits(X) if self.post_processing else np.zeros(len(Z))
        models = [self]
        for _ in values[1:]:
            other = type(self)(**self.get_params(deep=False))
            other.__dict__.update({k: v for k, v in vars(self).items() if k.endswith("_")})
            models.append(other)
        for model, value in zip(models, values, strict=True):
            setattr(model, self.dial, value)
        self._fit(models, Z, f_logit, labels.astype(np.int64), s[:, 0])
        return models

    def predict(self, X: Any, *, sensitive_features: Any = None) -> NDArray[Any]:
        """Labels; a baseline that needs S says so where it is missing."""
        return np.asarray(self.classes_[self.decide(X, sensitive_features).astype(int)])

    def decide(self, X: Any, sensitive_features: Any = None) -> Bools:
        """Decisions."""
        s = np.zeros(0, np.int64)
        if self.needs_sensitive_features:
            if sensitive_features is None:
                raise ValueError(f"{type(self).__name__} needs sensitive_features to predict")
            s = _codes(Groups.of(sensitive_features), self.groups_)
            if (s < 0).any():
                raise ValueError("sensitive_features has values that were not there in fit")
        Z = self.encoder_.transform(X)
        f_logit = BaseModel(self.estimator).logits(X) if self.post_processing else np.zeros(len(Z))
        return self.decide_encoded(Z, f_logit, s)

    def decide_encoded(self, Z: Floats, f_logit: Floats, s: Ints) -> Bools:
        """Decisions on rows that are encoded already: a sweep's models share their encoder."""
        return np.asarray(self._decide(Z, f_logit, s), bool)

    def _fit(self, models: list[Self], Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        """Fit all models of a sweep; by default one after the other."""
        for model in models:
            model._fit_one(Z, f_logit, y, s)

    def _fit_one(self, Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        raise NotImplementedError

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        raise NotImplementedError


def _has(X: Any, name: str) -> bool:
    return name in list(getattr(X, "columns", ()))


def _codes(groups: Groups, known: tuple[Value, ...]) -> Ints:
    """Places among the values that were there in fit; -1 for any other."""
    place = {value: i for i, value in enumerate(known)}
    here = np.array([*(place.get(value, -1) for value in groups.values[0]), -1])
    return np.asarray(here[groups.codes[:, 0]], np.int64)


# fairlearn's reductions behind our interface: what retraining with a constraint would give.


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
