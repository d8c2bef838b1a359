"""Commod: a base model f in, a patched model g out. A scikit-learn classifier."""

from collections.abc import Collection, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from fairpatch._arrays import Floats
from fairpatch.base import BaseModel, Estimator
from fairpatch.choose.candidates import RatioLoss
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.fit import Fitted, Learner, fit_lambdas, fit_target
from fairpatch.choose.parameters import (
    check_memory_fit,
    check_parameters,
    check_table_fit,
    seed_of,
)
from fairpatch.choose.target import Target
from fairpatch.data.engine_splits import EngineSplits, is_engine_table
from fairpatch.data.features import read_features
from fairpatch.data.labels import read_labels
from fairpatch.data.prepare import prepare
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Splits, in_memory
from fairpatch.learn.problem import Fairness, Grid
from fairpatch.learn.progress import ProgressBar
from fairpatch.learn.train import Callback
from fairpatch.measure.direction import Direction
from fairpatch.patched import PatchedModel
from fairpatch.report.review import Review, review

FOUND = ("frontier_", "choice_", "preferred_", "certificate_")
"""What a fit to a target shows beside the patch."""


class Commod(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Make a base model fairer by changing few of its decisions, and readably.

    ``fit`` learns a patch r and never touches f: g_logit = r(x) * f_logit. The sensitive features
    are used in ``fit`` only, never to predict.

    Parameters
    ----------
    estimator : fitted classifier, callable, str or None
        The base model f: anything with ``predict_proba``, a callable X -> probabilities, or the
        name of a score column of X. It is never refitted and survives ``clone``. None fits a
        logistic regression on the same columns first, for trying things out.
    cutoff : float
        f decides 1 where its probability is above this.
    target : Target or None
        What must hold: a whole frontier is trained, the patch with the fewest changes that meets
        the target is chosen, and certified on rows that nothing else has seen. It takes the place
        of ``fairness``, the lambdas and ``direction``.
    splits : three shares
        With a target: of the rows, how many to learn from, to choose on, and to certify on. With 0
        for the last nothing is certified in ``fit``; use ``certify`` on rows of your own.
    grid : Grid or None
        With a target: the models to train, 80 by default, for each direction that it allows.
    fairness : {"demographic_parity", "equalized_odds"}: decisions independent of S, or given y.
    lambda_fair, lambda_ratio, lambda_concepts : float
        How much fairness counts, in units of what f's score tells of S (0.1 changes little, 10 goes
        for parity, 0 needs no S); staying near f; few columns and different concepts.
    direction : {"both", "promote_only", "demote_only"}
        Which decisions may change: promote_only never takes a decision of 1 away.
    n_concepts, n_steps : int
        Concepts the ratio is made of, at most; training steps.
    ratio_loss : {"uniform", "fisher"}
        Whether every row's change of r counts alike, or by how far it moves the probability.
    exclude : collection of str
        Columns that the patch must not read, beside those with a sensitive feature's name.
    max_rows : int or None
        Learn from a random sample of at most so many rows: a patch has few parameters.
    random_state, callbacks, progress
        Same seed, same patch; called after each step with a ``Step``; show a progress bar.

    Attributes
    ----------
    patch_ : Patch
        What was learned: readable, storable, applicable anywhere.
    patched_ : PatchedModel
        f with the patch: what explanations, reviews and exports take. ``base_`` is f alone.
    frontier_, choice_, preferred_, certificate_ : with a target
        All candidates; the chosen one with what it reaches and the bounds; the one preferred on the
        selection rows, which differs where only one with more room was certified; the verdicts.
    fitted_ : everything that the fit found, with the people who certified it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> random = np.random.default_rng(0)
    >>> s = random.integers(0, 2, 2000)
    >>> X = random.normal(size=(2000, 3)) + s[:, None] * [1.0, 2.0, 0.0]
    >>> y = (X[:, 0] + random.normal(size=2000) > 0.5).astype(int)
    >>> f = LogisticRegression().fit(X, y)
    >>> g = Commod(f, lambda_fair=3.0, direction="promote_only").fit(X, y, sensitive_features=s)
    >>> rates = lambda model: [round(float(model.predict(X[s == v]).mean()), 1) for v in (0, 1)]
    >>> rates(f), rates(g)
    ([0.3, 0.7], [0.7, 0.8])
    """

    def __init__(
        self,
        estimator: Estimator = None,
        *,
        cutoff: float = 0.5,
        fairness: Fairness = "demographic_parity",
        lambda_fair: float = 1.0,
        lambda_ratio: float = 1.0,
        lambda_concepts: float = 0.01,
        n_concepts: int = 3,
        ratio_loss: RatioLoss = "uniform",
        direction: Direction = "both",
        exclude: Collection[str] = (),
        max_rows: int | None = 100_000,
        n_steps: int = 400,
        random_state: Any = 0,
        callbacks: Sequence[Callback] = (),
        progress: bool = False,
        target: Target | None = None,
        splits: tuple[float, float, float] = (0.5, 0.25, 0.25),
        grid: Grid | None = None,
    ) -> None:
        self.estimator = estimator
        self.cutoff = cutoff
        self.fairness = fairness
        self.lambda_fair = lambda_fair
        self.lambda_ratio = lambda_ratio
        self.lambda_concepts = lambda_concepts
        self.n_concepts = n_concepts
        self.ratio_loss = ratio_loss
        self.direction = direction
        self.exclude = exclude
        self.max_rows = max_rows
        self.n_steps = n_steps
        self.random_state = random_state
        self.callbacks = callbacks
        self.progress = progress
        self.target = target
        self.splits = splits
        self.grid = grid

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the target as ``target__p_rule``, so that a search can."""
        names = [name for name in params if name.startswith("target__")]
        limits = {name.removeprefix("target__"): params.pop(name) for name in names}
        super().set_params(**params)
        if not limits:
            return self
        if self.target is None:
            raise ValueError(f"{names[0]} sets a limit of the target, and there is none: give one")
        self.target = self.target.but(**limits)  # it never changes: others may hold the same one
        return self

    def __sklearn_clone__(self) -> Self:
        """Clone everything but f: what was validated stays fitted."""
        params = self.get_params(deep=False)
        kept = {"estimator", "callbacks", "target", "grid"}
        fresh = {k: v if k in kept else clone(v, safe=False) for k, v in params.items()}
        copy = type(self)(**fresh)
        copy.__dict__ |= {k: v for k, v in vars(self).items() if k == "_metadata_request"}
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        change_cost: Any = None,
        key: str | None = None,
    ) -> Self:
        """Learn the patch.

        Parameters
        ----------
        X : frame or array, or a table in an engine
            Raw columns: numbers, booleans, strings; gaps are fine. A DuckDB relation, a PySpark or
            Ibis table stays where it is: y, sensitive_features and key are names of its columns, f
            is one of them too, and only counts and a sample of ``max_rows`` rows are fetched.
        y : labels of two classes.
        sensitive_features : frame, series, dict or array
            Any number of features of any number of values; gaps are fine. Needed where
            ``lambda_fair`` is above 0.
        sample_weight, change_cost : numbers, optional
            For learning: how much each row counts, and how dear a changed decision is in it.
            Choosing and certifying count people, each of them once.
        key : str, for a table in an engine
            A column of whole numbers that tells rows apart: by its hash they are split and
            sampled, the same rows on every engine.
        """
        check_parameters(self)
        for name in ("patch_", "patched_", "base_", "fitted_", *FOUND):  # of an earlier fit
            self.__dict__.pop(name, None)
        seed, extra = seed_of(self.random_state), (sample_weight, change_cost)
        if is_engine_table(X):
            check_table_fit(*extra)
            own = (X, y, sensitive_features, key, self.estimator, self.cutoff, self.splits, seed)
            return self._fit_table(EngineSplits.of(*own), seed)
        X = read_features(self, X, reset=True)
        self.classes_, labels = read_labels(y, getattr(self.estimator, "classes_", None))
        check_memory_fit(self, sensitive_features, key)
        rows = Rows.of(X, labels, sensitive_features, None, *extra)
        if self.target is None:
            return self._fit_lambdas(rows.sample(self.max_rows, seed), seed)
        splits = in_memory(rows, self.splits, self.max_rows, seed)
        return self._fit_target(self.target, splits, seed)

    def _fit_table(self, table: EngineSplits, seed: int) -> Self:
        """Fit to a table that stays in its engine."""
        self.classes_ = np.array([0, 1])
        if self.target is None:
            rows = table.learning_rows(self.max_rows)
            read_features(self, rows.X, reset=True)
            return self._fit_lambdas(rows, seed)
        splits = table.splits(self.max_rows)
        read_features(self, splits.learn.X, reset=True)
        return self._fit_target(self.target, splits, seed)

    def _fit_lambdas(self, rows: Rows, seed: int) -> Self:
        """Learn one patch, for the lambdas that are given."""
        encoder, base = prepare(rows, self.estimator, self.cutoff, self.exclude)
        grid = Grid.of((self.lambda_fair,), (self.lambda_ratio,), (self.lambda_concepts,), (seed,))
        own = (encoder, self.cutoff, self.fairness, self.direction, self._learner(grid, seed))
        return self._keep(base, fit_lambdas(rows.scored(base), *own))

    def _fit_target(self, target: Target, splits: Splits, seed: int) -> Self:
        """Train a frontier, choose on other rows, certify on rows that nothing has seen."""
        exclude = (*self.exclude, *target.exclude)
        encoder, base = prepare(splits.learn, self.estimator, self.cutoff, exclude)
        learner = self._learner(self.grid or Grid.of(ratio=(0.3, 1.0), seeds=(seed,)), seed)
        own = (encoder, self.cutoff, target, learner)
        return self._keep(base, fit_target(splits.scored(base), *own))

    def _learner(self, grid: Grid, seed: int) -> Learner:
        bar: list[Callback] = [ProgressBar()] if self.progress else []
        own = (self.n_concepts, self.n_steps, seed, self.ratio_loss, [*self.callbacks, *bar])
        return Learner(grid, *own)

    def _keep(self, base: BaseModel, fitted: Fitted) -> Self:
        """Show what was found under scikit-learn's names."""
        self.fitted_, self.base_, self.patch_ = fitted, base, fitted.patch
        self.patched_ = PatchedModel(base, fitted.patch, self.classes_)
        for name in FOUND if fitted.target is not None else ():
            setattr(self, name, getattr(fitted, name.rstrip("_")))
        return self

    def certify(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Target | None = None
    ) -> Certificate:
        """Judge the fitted patch against a target on rows that it has not seen.

        A table in an engine is counted there: y and sensitive_features are names of its columns.
        """
        target = self.target if target is None else target
        if target is None:
            raise ValueError("there is no target: certify(..., target=Target(p_rule=0.8))")
        check_is_fitted(self, "patched_")
        X = X if is_engine_table(X) else self._checked(X)
        return self.patched_.certify(X, y, sensitive_features=sensitive_features, target=target)

    def review(self, X: Any, y: Any, *, sensitive_features: Any, **options: Any) -> Review:
        """Review the patch on rows that it has not seen; options as of ``report.review.review``.

        Its ``to_html``, ``to_json`` and ``to_model_card`` write what a validator needs.
        """
        X = self._checked(X)
        options = {"fitted": self.fitted_, "exclude": self.exclude, **options}
        return review(self.patched_, X, y, sensitive_features=sensitive_features, **options)

    def predict(self, X: Any) -> NDArray[Any]:
        """The patched decision, as a label."""
        X = self._checked(X)
        return self.patched_.predict(X)

    def predict_proba(self, X: Any) -> Floats:
        """Patched probabilities; the cut-off still holds."""
        X = self._checked(X)
        return self.patched_.predict_proba(X)

    def predict_ratio(self, X: Any) -> Floats:
        """r(x): 1 leaves a person's score as it is, below 0 reverses the decision."""
        X = self._checked(X)
        return self.patched_.ratio(X)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "patched_")
        return read_features(self, X, reset=False)
