"""Commod: a base model f in, a patched model g out. A scikit-learn classifier."""

from collections.abc import Collection, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from fairpatch._arrays import Floats
from fairpatch._progress import showing
from fairpatch.base import Estimator
from fairpatch.choose.candidates import RatioLoss
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.fit_model import fit_model
from fairpatch.choose.parameters import (
    LearnerName,
)
from fairpatch.choose.target import Target
from fairpatch.data.engine_splits import is_engine_table
from fairpatch.data.features import read_features, some_columns
from fairpatch.decision import Decision
from fairpatch.learn.adversarial.problem import Callback, Grid
from fairpatch.learn.push.rules import CardRules
from fairpatch.measure.direction import Direction
from fairpatch.measure.fairness import Fairness
from fairpatch.patch.compare import IfUnlike
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
        name of a score column of X. It is never refitted. None fits a logistic regression first.
    cutoff, decision : float, Decision or None
        f decides 1 where its probability is above the cut-off. Or all of it: which label the score
        is about, whether that is good for a person, weights, and what people call this.
    target : Target or None
        What must hold: of a whole frontier the patch that meets it with the fewest changes and
        errors is chosen, and certified on rows that nothing else has seen. It takes the place of
        ``fairness``, ``direction`` and the lambdas, which the paper's learner takes.
    learner : {"push", "adversarial"}
        With a target: a card of points, learned without a game; or the paper's adversary, which
        needs ``fairpatch[adversarial]``.
    card : CardRules or None
        For "push": how many lines, which way a column may count, what people call things.
    splits : three shares
        With a target: of the rows, how many to learn from, to choose on (a card does both on the
        two together), and to certify on; with 0 use ``certify``.
    grid : Grid or None
        For "adversarial": the models to train, 80 by default, for each direction that it allows.
    fairness, direction : as ``Target`` has them, without a target
    lambda_fair, lambda_ratio, lambda_concepts : float
        How much fairness counts (0.1 changes little, 10 goes for parity, 0 needs no S); staying
        near f; few columns and different concepts.
    n_concepts, n_steps, ratio_loss : of the paper's learner
        Concepts at most; training steps; "fisher" weighs a change of r by what it moves.
    exclude : collection of str
        Columns that the patch must not read, beside those with a sensitive feature's name.
    categories : collection of str, columns of numbers that are codes
    max_rows : int or None, rows to learn from at most, drawn at random
    random_state, callbacks, progress : same seed, same patch; of training's steps; a bar.

    Attributes
    ----------
    patch_ : Patch
        What was learned: readable, storable, applicable anywhere.
    patched_ : PatchedModel
        f with the patch: what explanations, reviews and exports take. ``base_`` is f alone.
    frontier_, choice_, preferred_, certificate_ : with a target
        All candidates; the chosen one and what to expect; the one preferred before certifying,
        which may differ; the verdicts. ``fitted_`` has it all.

    Examples
    --------
    >>> from fairpatch.datasets import Population
    >>> groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    >>> people = Population(p_rule=0.6, groups=groups).sample(8000).to_pandas()
    >>> X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people["group"]
    >>> g = Commod("score", target=Target(p_rule=0.8)).fit(X, y, sensitive_features=s)
    >>> g.choice_.metrics["group"]["p_rule"] >= 0.8, len(g.patch_.lines) <= 10
    (True, True)
    """

    def __init__(
        self,
        estimator: Estimator = None,
        *,
        cutoff: float = 0.5,
        decision: Decision | None = None,
        fairness: Fairness = "demographic_parity",
        lambda_fair: float = 1.0,
        lambda_ratio: float = 1.0,
        lambda_concepts: float = 0.01,
        n_concepts: int = 3,
        ratio_loss: RatioLoss = "uniform",
        direction: Direction = "both",
        exclude: Collection[str] = (),
        categories: Collection[str] = (),
        max_rows: int | None = 100_000,
        n_steps: int = 400,
        random_state: Any = 0,
        callbacks: Sequence[Callback] = (),
        progress: bool = False,
        target: Target | None = None,
        learner: LearnerName = "push",
        card: CardRules | None = None,
        splits: tuple[float, float, float] = (0.3, 0.2, 0.5),
        grid: Grid | None = None,
    ) -> None:
        self.estimator = estimator
        self.cutoff = cutoff
        self.decision = decision
        self.fairness = fairness
        self.lambda_fair = lambda_fair
        self.lambda_ratio = lambda_ratio
        self.lambda_concepts = lambda_concepts
        self.n_concepts = n_concepts
        self.ratio_loss = ratio_loss
        self.direction = direction
        self.exclude = exclude
        self.categories = categories
        self.max_rows = max_rows
        self.n_steps = n_steps
        self.random_state = random_state
        self.callbacks = callbacks
        self.progress = progress
        self.target = target
        self.learner = learner
        self.card = card
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
        kept = {"estimator", "callbacks", "target", "grid", "card", "decision"}
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
        f_trained_on: Any = None,
        key: str | None = None,
        yesterday: PatchedModel | None = None,
    ) -> Self:
        """Learn the patch.

        Parameters
        ----------
        X : frame or array, or a table in an engine
            Raw columns: numbers, booleans, strings; gaps are fine. A DuckDB relation, a PySpark or
            Ibis table stays where it is: f is one of its columns, as are y, sensitive_features and
            key, and only counts and a sample of ``max_rows`` rows are fetched.
        y : labels of two classes, or the name of their column.
        sensitive_features : frame, series, dict, array, or names of columns
            Any number of features and values; gaps are fine. Needed with ``lambda_fair`` above 0.
        sample_weight, change_cost : numbers, optional
            For learning alone: what each row weighs, and what a changed decision costs in it. The
            decision's ``weight`` counts everywhere.
        f_trained_on : booleans, optional
            Rows that f was trained on: nothing is chosen or certified on them.
        key : str, for a table in an engine
            Its column of whole numbers, by which rows are split alike on every engine.
        yesterday : PatchedModel, optional
            The model in force until now: of patches that serve equally well, the one whose
            decisions differ least from its own (``Target.price_per_churn``, ``max_churn``).
        """
        for name in ("patch_", "patched_", "base_", "fitted_", "named_", *FOUND):  # of an earlier
            self.__dict__.pop(name, None)
        own = (sample_weight, change_cost, f_trained_on, key)
        with showing(self.progress):
            found = fit_model(self, X, y, sensitive_features, *own, yesterday)
        self.fitted_, self.base_, self.patch_ = found.fitted, found.base, found.fitted.patch
        self.classes_, self.named_ = np.sort(found.classes), found.named
        self.patched_ = PatchedModel(found.base, self.patch_, found.classes)
        for name in FOUND if found.fitted.target is not None else ():
            setattr(self, name, getattr(found.fitted, name.rstrip("_")))
        return self

    def certify(
        self, X: Any, y: Any, *, sensitive_features: Any, target: Target | None = None,
        f_trained_on: Any = None, if_unlike: IfUnlike = "refuse",
    ) -> Certificate:  # fmt: skip
        """Judge the fitted patch on rows that it has not seen; as ``PatchedModel.certify``."""
        target = self.target if target is None else target
        if target is None:
            raise ValueError("there is no target: certify(..., target=Target(p_rule=0.8))")
        check_is_fitted(self, "patched_")
        X = X if is_engine_table(X) or self.named_ else self._checked(X)
        own = {"sensitive_features": sensitive_features, "target": target, "if_unlike": if_unlike}
        return self.patched_.certify(X, y, **own, f_trained_on=f_trained_on)

    def review(self, X: Any, y: Any, *, sensitive_features: Any, **options: Any) -> Review:
        """Review the patch on rows that it has not seen; options as of ``report.review.review``."""
        X = X if self.named_ else self._checked(X)
        options = {"fitted": self.fitted_, "exclude": self.exclude, **options}
        return review(self.patched_, X, y, sensitive_features=sensitive_features, **options)

    def predict(self, X: Any) -> NDArray[Any]:
        """The patched decision, as a label."""
        X = self._checked(X)
        return self.patched_.predict(X)

    def predict_proba(self, X: Any) -> Floats:
        """Patched probabilities, of ``classes_`` in their order; the cut-off still holds."""
        X = self._checked(X)
        found = self.patched_.predict_proba(X)
        return found if (self.classes_ == self.patched_.classes).all() else found[:, ::-1]

    def predict_ratio(self, X: Any) -> Floats:
        """r(x): 1 leaves a person's score as it is, below 0 reverses the decision."""
        X = self._checked(X)
        return self.patched_.ratio(X)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "fitted_")
        own = some_columns(X, self._columns) if self.named_ else X
        return read_features(self, own, reset=False)
