"""Commod: a base model f in, a patched model g out. A scikit-learn classifier."""

import importlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from fairpatch.base import BaseModel, Estimator
from fairpatch.choose.candidates import Candidates, RatioLoss, train_candidates
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.certificate import certify as judge
from fairpatch.choose.choice import certify_choice, choose
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.parts import Parts, in_memory
from fairpatch.choose.rows import Rows
from fairpatch.choose.table_parts import TableParts, count_patches
from fairpatch.choose.target import Target
from fairpatch.learn.problem import Direction, Fairness, Grid, Settings
from fairpatch.learn.progress import ProgressBar
from fairpatch.learn.train import Callback
from fairpatch.measure.counts import Counts
from fairpatch.measure.sensitive import named_columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.table import Table, is_engine_table

Floats = NDArray[np.float64]


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
    fairness : {"demographic_parity", "equalized_odds"}
        What the patch works towards: decisions independent of S, or so given y.
    lambda_fair : float
        How much fairness counts, in units of what f's score tells of S: 0.1 changes little, 10 goes
        for parity. With 0, no sensitive features are needed.
    lambda_ratio : float
        How much staying near f counts.
    lambda_concepts : float
        How much few columns and different concepts count.
    n_concepts : int
        Concepts the ratio is made of, at most.
    ratio_loss : {"uniform", "fisher"}
        Whether every row's change of r counts alike, or by how far it moves the probability.
    direction : {"both", "promote_only", "demote_only"}
        Which decisions may change: promote_only never takes a decision of 1 away.
    exclude : collection of str
        Columns that the patch must not read. Columns of X that have a sensitive feature's name are
        excluded in any case.
    max_rows : int or None
        Learn from a random sample of at most so many rows: a patch has few parameters.
    n_steps : int
        Training steps.
    random_state : int, RandomState or None
        Same value, same patch.
    callbacks : sequence of callable
        Called after each step with a ``fairpatch.learn.train.Step``.
    progress : bool
        Show a progress bar.
    target : Target or None
        What must hold instead of lambdas: a whole frontier is trained, the patch with the fewest
        changes that meets the target is chosen, and certified on rows that nothing else has seen.
        Replaces ``fairness``, the lambdas and ``direction``.
    splits : three shares
        With a target: of the rows, how many to learn from, to choose on, and to certify on. With 0
        for the last nothing is certified in ``fit``; use ``certify`` on rows of your own.
    grid : Grid or None
        With a target: the models to train, 80 by default; where changes both ways are allowed,
        the grid is also trained for promotions only and for demotions only.

    Attributes
    ----------
    frontier_, choice_, certificate_ : with a target
        All candidates; the chosen one with what it reaches and the bounds; and the verdicts.
    fewest_ : with a target
        The one that meets the target with the fewest changes on the selection rows; the chosen one
        has more room where only that could be certified.
    patch_ : Patch
        What was learned: readable, storable, applicable anywhere.
    base_ : BaseModel
        f with its cut-off.
    encoder_, wide_encoder_ : Encoder
        How the columns that the patch may read are encoded for learning; all of them, where
        ``max_columns`` left only some.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> random = np.random.default_rng(0)
    >>> s = random.integers(0, 2, 2000)
    >>> X = random.normal(size=(2000, 3)) + s[:, None] * [1.0, 2.0, 0.0]
    >>> y = (X[:, 0] + random.normal(size=2000) > 0.5).astype(int)
    >>> f = LogisticRegression().fit(X, y)
    >>> g = Commod(f, lambda_fair=3.0, direction="promote_only")
    >>> g = g.fit(X, y, sensitive_features=s)
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

    def __sklearn_clone__(self) -> Self:
        """Clone everything but f: what was validated stays fitted."""
        params = self.get_params(deep=False)
        kept = {"estimator", "callbacks", "target", "grid"}
        fresh = {k: v if k in kept else clone(v, safe=False) for k, v in params.items()}
        copy = type(self)(**fresh)
        if hasattr(self, "_metadata_request"):
            copy._metadata_request = self._metadata_request
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
        sample_weight : weights, optional
            For learning. Choosing and certifying count people, each of them once.
        change_cost : numbers, optional
            How dear a changed decision is in each row, relative to the others.
        key : str, for a table in an engine
            A column of whole numbers that tells rows apart: by its hash they are parted and
            sampled, the same rows on every engine.
        """
        _check(self)
        for name in (
            "patch_",
            "frontier_",
            "choice_",
            "fewest_",
            "certificate_",
        ):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        if is_engine_table(X):
            return self._fit_table(X, y, sensitive_features, key)
        X = _read(self, X, reset=True)
        labels = self._encode_labels(y)
        n = Table.of(X).rows
        if len(labels) != n:
            raise ValueError(f"X has {n} rows, y has {len(labels)}")
        if sensitive_features is None and (self.lambda_fair > 0 or self.target is not None):
            raise ValueError(
                "lambda_fair is above 0, so sensitive_features must be given to fit; "
                "set lambda_fair=0 to learn without them"
                if self.target is None
                else "a target compares groups, so sensitive_features must be given to fit"
            )
        rows = Rows(X, labels, sensitive_features, sample_weight, change_cost)
        seed = _seed(self.random_state)
        if self.target is None:
            return self._fit_lambdas(rows.sample(self.max_rows, seed), seed)
        parts = in_memory(rows, self._base_logits, self.splits, self.max_rows, seed)
        return self._fit_target(self.target, parts, seed)

    def _fit_table(self, table: Any, y: Any, sensitive_features: Any, key: str | None) -> Self:
        """Fit to a table that stays in its engine."""
        features = [sensitive_features] if isinstance(sensitive_features, str) else (
            sensitive_features
        )  # fmt: skip
        names = [y, key, *(features or [None])]
        if not isinstance(self.estimator, str) or not all(isinstance(n, str) for n in names):
            raise TypeError(
                "for a table in an engine, the estimator, y, key and sensitive_features must be "
                "names of its columns: Commod('score').fit(table, 'y', sensitive_features=['sex'], "
                "key='id'). A model is turned into a score column by fairpatch.engines.scoring"
            )
        seed = _seed(self.random_state)
        base = BaseModel(self.estimator, self.cutoff)
        rows = TableParts(table, str(key), y, tuple(features), base, self.splits, seed)
        self.classes_ = np.array([0, 1])
        if self.target is not None:
            parts = rows.parts(self.max_rows)
            _read(self, parts.learn.X, reset=True)
            return self._fit_target(self.target, parts, seed)
        (learn,) = replace(rows, shares=(1.0, 0.0, 0.0)).samples((0,), self.max_rows)
        _read(self, learn.X, reset=True)
        return self._fit_lambdas(learn, seed)

    def _fit_lambdas(self, rows: Rows, seed: int) -> Self:
        """Learn one patch, for the lambdas that are given."""
        grid = Grid.of((self.lambda_fair,), (self.lambda_ratio,), (self.lambda_concepts,), (seed,))
        encoder = self._prepare(rows, self.exclude)
        candidates = self._train(rows, encoder, grid, self.fairness, self.direction, seed)
        self.patch_ = candidates.patch(0)
        return self

    def _fit_target(self, target: Target, parts: Parts, seed: int) -> Self:
        """Train a frontier, choose on other rows, certify on rows that nothing has seen."""
        learn, select = parts.learn, parts.select
        grid = self.grid or Grid.of(ratio=(0.3, 1.0), seeds=(seed,))
        encoder = self._prepare(learn, (*self.exclude, *target.exclude))
        if target.max_columns is not None:  # learn with all, keep the strongest, learn again
            first = self._train(learn, encoder, grid, target.fairness, target.direction, seed)
            strongest = sorted(first.importance().items(), key=lambda item: -item[1])
            encoder = encoder.only([name for name, _ in strongest[: target.max_columns]])
            self.encoder_ = encoder
        # Who allows changes both ways allows one way too, and that is often the cheaper one.
        directions = get_args(Direction) if target.direction == "both" else (target.direction,)
        candidates = Candidates.join(
            [self._train(learn, encoder, grid, target.fairness, d, seed) for d in directions]
        )
        self.frontier_ = Frontier.trace(
            candidates, select, self.base_.logits(select.X), learn, parts.selected
        )
        ladder = choose(self.frontier_, target)
        self.choice_ = self.fewest_ = ladder[-1]
        self.certificate_ = None
        if parts.certify is not None:
            self.choice_, self.certificate_ = certify_choice(
                ladder, candidates, target, parts.certify
            )
        self.patch_ = candidates.patch(self.choice_.model).with_strength(self.choice_.strength)
        return self

    def _prepare(self, rows: Rows, exclude: Collection[str]) -> Encoder:
        """Set f, and encode what the patch may read: never f's score, never S by its name."""
        hidden = {self.estimator} if isinstance(self.estimator, str) else set()
        if rows.sensitive_features is not None:
            hidden |= set(named_columns(rows.sensitive_features))
        names = set(Table.of(rows.X).names)
        encoder = Encoder.fit(rows.X, exclude={*exclude, *(hidden & names)})
        self.base_ = self._base(encoder, rows)
        self.encoder_ = self.wide_encoder_ = encoder
        return encoder

    def _train(
        self,
        rows: Rows,
        encoder: Encoder,
        grid: Grid,
        fairness: Fairness,
        direction: Direction,
        seed: int,
    ) -> Candidates:
        settings = Settings(
            fairness=fairness,
            direction=direction,
            n_concepts=self.n_concepts,
            n_steps=self.n_steps,
            random_state=seed,
        )
        return train_candidates(
            rows,
            self.base_.logits(rows.X),
            grid,
            settings,
            encoder=encoder,
            cutoff=self.cutoff,
            ratio_loss=self.ratio_loss,
            callbacks=[*self.callbacks, ProgressBar()] if self.progress else self.callbacks,
        )

    def certify(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Any = None
    ) -> Certificate:
        """Judge the fitted patch against a target on rows that it has not seen.

        A table in an engine is counted there: y and sensitive_features are names of its columns.
        """
        target = target or self.target
        if target is None:
            raise ValueError(
                "there is no target: give one, certify(..., target=Target(p_rule=0.8))"
            )
        check_is_fitted(self, "patch_")
        if is_engine_table(X):
            (counts,) = count_patches(
                X, [self.patch_], self.base_, y=y, sensitive_features=sensitive_features
            )
            return judge(counts, target)
        X = self._checked(X)
        labels = self.labels_of(y)
        f_logit = self.base_.logits(X)
        counts = Counts.from_arrays(
            decision=f_logit > 0,
            new_decision=self.patch_.decide(X, f_logit),
            y=labels,
            sensitive_features=sensitive_features,
        )
        return judge(counts, target)

    def review(self, X: Any, y: Any, *, sensitive_features: Any, **options: Any) -> Any:
        """Review the patch on rows that it has not seen: a ``fairpatch.report.review.Review``.

        Its ``to_html``, ``to_json`` and ``to_model_card`` write what a validator needs.
        """
        # The report stands above the estimator (docs/decisions/0002-layers.md): this one method
        # calls up, at run time, so that nobody has to know where it is.
        report = importlib.import_module("fairpatch.report.review")
        return report.review(
            self, self._checked(X), y, sensitive_features=sensitive_features, **options
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """The patched decision, as a label."""
        X = self._checked(X)
        decided = self.patch_.decide(X, self.base_.logits(X))
        return np.asarray(self.classes_[decided.astype(int)])

    def predict_proba(self, X: Any) -> Floats:
        """Patched probabilities; the cut-off still holds."""
        X = self._checked(X)
        p = expit(self.patch_.logits(X, self.base_.logits(X)) + logit(self.cutoff))
        return np.column_stack([1 - p, p])

    def predict_ratio(self, X: Any) -> Floats:
        """r(x): 1 leaves a person's score as it is, below 0 reverses the decision."""
        return self.patch_.ratio(self._checked(X))

    def labels_of(self, y: Any) -> NDArray[np.int64]:
        """Labels as 0 and 1; one that was not there in fit is refused, and so is a gap."""
        values = np.asarray(y)
        strange = sorted({str(v) for v in values[~np.isin(values, self.classes_)]})
        if strange:
            raise ValueError(
                f"y has the values {', '.join(strange[:5])}; fit has seen "
                f"{', '.join(map(str, self.classes_))}. Give labels as in fit, and leave out rows "
                "without one"
            )
        return np.asarray(values == self.classes_[1], np.int64)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "patch_")
        return _read(self, X, reset=False)

    def _encode_labels(self, y: Any) -> NDArray[np.int64]:
        if y is None:
            raise ValueError("Commod requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_, target = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                "Only binary classification is supported: fairpatch needs labels of 2 classes, "
                f"y has {len(self.classes_)} class{'es' * (len(self.classes_) != 1)}"
            )
        known = getattr(self.estimator, "classes_", None)
        if known is not None and list(known) != list(self.classes_):
            raise ValueError(
                f"y has the labels {list(self.classes_)}, the estimator was fitted on {list(known)}"
            )
        return np.asarray(target, np.int64)

    def _base_logits(self, X: Any) -> Floats:
        """f_logit by the base model as it is when asked: it may be fitted on the first part."""
        return self.base_.logits(X)

    def _base(self, encoder: Encoder, rows: Rows) -> BaseModel:
        if self.estimator is not None:
            return BaseModel(self.estimator, self.cutoff)
        model = LogisticRegression()
        model.fit(encoder.transform(rows.X), rows.y, sample_weight=rows.sample_weight)
        return BaseModel(_OnEncoded(encoder, model), self.cutoff)


class _OnEncoded:
    """The stand-in for f where none is given: a logistic regression on the encoded columns."""

    def __init__(self, encoder: Encoder, model: LogisticRegression) -> None:
        self.encoder = encoder
        self.model = model

    def predict_proba(self, X: Any) -> Floats:
        return np.asarray(self.model.predict_proba(self.encoder.transform(X)))


def _read(estimator: Commod, X: Any, *, reset: bool) -> Any:
    """Frames stay frames, everything else becomes a checked array of numbers."""
    if _is_frame(X):
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    return validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")


def _is_frame(X: Any) -> bool:
    """Whether X has columns with names; numbers are positions, as in scikit-learn."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    return len(names) > 0 and all(isinstance(name, str) for name in names)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _check(estimator: Commod) -> None:
    """Say what is wrong with a parameter: name, expected, got."""
    choices = {
        "fairness": ("demographic_parity", "equalized_odds"),
        "ratio_loss": ("uniform", "fisher"),
        "direction": ("both", "promote_only", "demote_only"),
    }
    for name, allowed in choices.items():
        value = getattr(estimator, name)
        if value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
    for name in ("lambda_fair", "lambda_ratio", "lambda_concepts"):
        value = getattr(estimator, name)
        if not (isinstance(value, int | float | np.number) and 0 <= value < np.inf):
            raise ValueError(f"{name} must be a number, at least 0; got {value!r}")
    for name in ("n_concepts", "n_steps"):
        value = getattr(estimator, name)
        if not (isinstance(value, int | np.integer) and value >= 1):
            raise ValueError(f"{name} must be a whole number, at least 1; got {value!r}")
    if isinstance(estimator.exclude, str):
        raise ValueError(f"exclude must be a list of columns; got the string {estimator.exclude!r}")
