"""What every rival is: fitted with S, asked with or without it, and turned by one dial."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from fairpatch.base import BaseModel, Estimator
from fairpatch.choose.rows import codes
from fairpatch.learn.problem import Fairness
from fairpatch.measure.sensitive import factorize, named_columns
from fairpatch.patch.encoding import Encoder

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Rival(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method that makes decisions fairer for one sensitive feature.

    A subclass sets the class attributes, stores its parameters, and fills ``_fit`` and ``_decide``.

    Attributes
    ----------
    needs_sensitive_features : whether S is read at prediction.
    post_processing : whether it starts from a base model (``estimator``).
    dial : the parameter that trades fairness for the rest; ``values`` to sweep, ``f`` first.
    """

    needs_sensitive_features: ClassVar[bool] = False
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
        name, column = _one(sensitive_features)
        names, s = codes(sensitive_features, len(column))
        if len(names) != 1 or (s < 0).any():
            raise ValueError(f"{type(self).__name__} takes one sensitive feature without gaps")
        self.feature_ = name
        self.groups_ = _values(column)
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
        """Labels; a rival that needs S says so where it is missing."""
        return np.asarray(self.classes_[self.decide(X, sensitive_features).astype(int)])

    def decide(self, X: Any, sensitive_features: Any = None) -> Bools:
        """Decisions."""
        s = np.zeros(0, np.int64)
        if self.needs_sensitive_features:
            if sensitive_features is None:
                raise ValueError(f"{type(self).__name__} needs sensitive_features to predict")
            _, column = _one(sensitive_features)
            place = {v: i for i, v in enumerate(self.groups_)}
            s = np.array([place.get(v, -1) for v in _plain(column)], np.int64)
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


def _one(sensitive_features: Any) -> tuple[str, Any]:
    columns = named_columns(sensitive_features)
    return next(iter(columns.items()))


def _has(X: Any, name: str) -> bool:
    return name in list(getattr(X, "columns", ()))


def _plain(column: Any) -> list[Any]:
    values, inverse = factorize(column)
    return [values[i] for i in inverse]


def _values(column: Any) -> list[Any]:
    """The feature's values in the order of their codes."""
    return sorted((v for v in factorize(column)[0] if v is not None), key=str)
