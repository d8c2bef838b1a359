"""What FairPatch and Commod have in common: scikit-learn classifiers around a patched model."""

from collections.abc import Collection
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fairpatch._tools.arrays import Floats
from fairpatch.choose.fit import Fitted
from fairpatch.data.engine import is_engine_table
from fairpatch.data.features import prepare, read_features, some_columns
from fairpatch.data.rows import Rows
from fairpatch.decision import PLAIN, Decision
from fairpatch.identity.fingerprint import check_agreement
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.inputs.roles import Roles, with_moved
from fairpatch.inputs.sensitive import Given
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patched import PatchedModel
from fairpatch.report.page import fitted_html, fitted_line, fitted_text
from fairpatch.report.review import Review, review


class PatchEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is a base model and the patch it has learned."""

    _kept: ClassVar[frozenset[str]] = frozenset({"estimator", "decision"})
    """Parameters that a clone shares: what was validated stays fitted."""
    estimator: Estimator
    decision: Decision | None
    roles: Roles | None
    exclude: Collection[str]
    random_state: Any

    def __sklearn_clone__(self) -> Self:
        """Clone everything but f: what was validated stays fitted."""
        params = self.get_params(deep=False)
        fresh = {k: v if k in self._kept else clone(v, safe=False) for k, v in params.items()}
        copy = type(self)(**fresh)
        copy.__dict__ |= {k: v for k, v in vars(self).items() if k == "_metadata_request"}
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """In a notebook: what was learned, once it was; scikit-learn's diagram before."""
        if not hasattr(self, "fitted_"):
            return super()._repr_mimebundle_(**options)  # type: ignore[no-any-return]
        return {"text/plain": fitted_text(self.fitted_), "text/html": fitted_html(self.fitted_)}

    def __str__(self) -> str:
        """As scikit-learn writes it; once it is fitted, with the verdict and what it costs."""
        fitted = getattr(self, "fitted_", None)
        return repr(self) if fitted is None else f"{self!r}\n{fitted_line(fitted)}"

    @property
    def _decision(self) -> Decision:
        """What f decides, as it was given."""
        return PLAIN if self.decision is None else self.decision

    @property
    def _roles(self) -> Roles:
        """What is to be known of the columns, however it was said."""
        roles = with_moved(self.roles, self._decision)
        more = {
            name: (*getattr(roles, name), *getattr(self, name, ()))
            for name in ("exclude", "categories")
        }
        return roles.model_copy(update=more)

    def _weight(self, given: Given, sample_weight: Any) -> Any:
        """The roles' weights, which count everywhere, or those for learning; never both."""
        if given.weight is not None and sample_weight is not None:
            raise ValueError(
                f"the roles have a weight, {self._roles.weight!r}, which counts everywhere, and "
                "sample_weight is for learning alone: give one of them"
            )
        return given.weight if sample_weight is None else sample_weight

    def _prepared(
        self, rows: Rows, decision: Decision, hidden: Collection[str], codes: Collection[str] = (),
        *, reads_groups: bool = False,
    ) -> tuple[Encoder, BaseModel]:  # fmt: skip
        """What the patch may use, and f, which decides what its score says.

        What is hidden may be out of the rows already, and excluded once more for good measure.
        """
        gone = set(hidden) - set(Columns.of(rows.X).names)
        exclude = {*self._roles.exclude, *hidden} - gone
        encoder, base = prepare(
            rows, self.estimator, decision, self._roles, exclude, codes, reads_groups=reads_groups
        )
        check_agreement(base, rows.X)
        return encoder, base

    def _forget(self) -> None:
        """Drop what an earlier fit has left: a fit that fails must not look like it succeeded."""
        learned = [k for k in vars(self) if k.endswith("_") and not k.startswith("_")]
        for name in learned:
            if name not in ("n_features_in_", "feature_names_in_"):
                delattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        """Without the frontier, which has a score for every row: a stored model holds nobody."""
        return {k: v for k, v in super().__getstate__().items() if k != "frontier_"}

    def _keep(self, fitted: Fitted, base: BaseModel, classes: NDArray[Any], named: bool) -> None:
        """Remember a fit."""
        self.fitted_, self.base_, self.patch_ = fitted, base, fitted.patch
        self.classes_, self.named_ = np.sort(classes), named
        self.patched_ = PatchedModel(base, fitted.patch, classes)
        used = fitted.used(self.patched_.score_columns)
        self.patched_ = PatchedModel(base, fitted.patch, classes, used)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the patched decision of each row.

        Parameters
        ----------
        X : frame or array
            Columns as in ``fit``; S is not needed.

        Returns
        -------
        array of labels
        """
        X = self._checked(X)
        return self.patched_.predict(X)

    def predict_proba(self, X: Any) -> Floats:
        """Predict patched probabilities; the threshold still holds.

        Parameters
        ----------
        X : frame or array
            Columns as in ``fit``.

        Returns
        -------
        array of shape (rows, 2)
            Of ``classes_`` in their order.
        """
        X = self._checked(X)
        p = self.patched_.predict_proba(X)
        return p if (self.classes_ == self.patched_.classes).all() else p[:, ::-1]

    def decision_function(self, X: Any) -> Floats:
        """Give the patched log-odds against the threshold: above 0, the second class is predicted.

        Parameters
        ----------
        X : frame or array
            Columns as in ``fit``.

        Returns
        -------
        array of one number a row
        """
        X = self._checked(X)
        towards_one = self.patched_.decision_function(X)
        same = (self.classes_ == self.patched_.classes).all()
        return towards_one if same else -towards_one

    def predict_ratio(self, X: Any) -> Floats:
        """Give r(x): 1 leaves a score as it is, below 0 reverses the decision.

        Parameters
        ----------
        X : frame or array
            Columns as in ``fit``.

        Returns
        -------
        array of one number a row
        """
        X = self._checked(X)
        return self.patched_.ratio(X)

    def review(self, X: Any, y: Any, *, sensitive_features: Any, **options: Any) -> Review:
        """Review the patch on rows that it has not seen.

        Parameters
        ----------
        X, y : as in ``fit``
            Rows that neither the base model nor the patch has seen.
        sensitive_features : as in ``fit``
            To compare groups.
        **options
            As of :func:`fairpatch.review`.

        Returns
        -------
        Review
        """
        check_is_fitted(self, "patched_")
        X = self._with_names(X, y)
        options = {"fitted": self.fitted_, "exclude": self._roles.exclude, **options}
        return review(self.patched_, X, y, sensitive_features=sensitive_features, **options)

    def _with_names(self, X: Any, y: Any) -> Any:
        """X to judge, which may have labels and S among its columns."""
        check_is_fitted(self, "patched_")
        as_it_is = is_engine_table(X) or self.named_ or isinstance(y, str)
        return X if as_it_is else self._checked(X)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "fitted_")
        columns = X
        if hasattr(self, "_columns"):  # found by name, in whatever order they come
            columns = some_columns(X, self._columns, no_others=not self.named_)
        return read_features(self, columns, reset=False)


def seed_of(random_state: Any) -> int:
    """One number for everything that is drawn at random."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))
