"""Commod: the paper's estimator. One choice of lambdas, one patch, no target."""

from collections.abc import Collection
from typing import Any, ClassVar, Self, get_args

import narwhals as nw
import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.progress import showing
from fairpatch.choose.fit import Fitted, with_fingerprint
from fairpatch.commod.adversarial import Adversarial, train_candidates
from fairpatch.commod.problem import Grid, Training
from fairpatch.data.engine import is_engine_table
from fairpatch.data.features import read_given
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.estimator import PatchEstimator, seed_of
from fairpatch.identity.fingerprint import with_probe
from fairpatch.inputs.base import BaseModel, Estimator
from fairpatch.inputs.roles import Roles
from fairpatch.measure.metric import Fairness

# r(x, f_logit), the paper's appendix C.1: f's log-odds as one more column that r may read.
#
# An ordinary column of an ordinary patch, so it is read, explained and deployed as any other is:
# wherever the patch is applied, its table has a column with f's log-odds.

COLUMN = "f_logit"


class WithScore:
    """f, and X with f's own log-odds beside the other columns.

    Parameters
    ----------
    estimator : fitted classifier or callable
        The base model f.
    column : str
        The name of the new column.

    Examples
    --------
    >>> import pandas as pd
    >>> f = WithScore(lambda X: X["income"] / 10)
    >>> X = f.add(pd.DataFrame({"income": [2, 5, 9]}))
    >>> X["f_logit"].round(2).tolist()
    [-1.39, -0.0, 2.2]
    >>> BaseModel(f).scores(X)
    array([0.2, 0.5, 0.9])

    Then ``Commod(f, ...).fit(X, y, ...)`` learns r(x, f_logit).
    """

    def __init__(self, estimator: Estimator, column: str = COLUMN) -> None:
        self.estimator = estimator
        self.column = column

    def add(self, X: Any) -> Any:
        """X with the log-odds of every row."""
        frame = nw.from_native(X, eager_only=True)
        if self.column in frame.columns:
            raise ValueError(
                f"X has a column {self.column!r} already: give another name, "
                "WithScore(f, column=...)"
            )
        logits = BaseModel(self.estimator).logits(X)
        if frame.implementation.is_pandas():  # by position, whatever the index is
            return X.assign(**{self.column: logits})
        values = nw.new_series(self.column, logits, backend=frame.implementation)
        return frame.with_columns(values).to_native()

    def __call__(self, X: Any) -> Any:
        """f's probabilities; it never sees its own log-odds."""
        rest = nw.from_native(X, eager_only=True).drop(self.column, strict=False).to_native()
        return BaseModel(self.estimator).scores(rest)


# Commod: the paper's estimator. One choice of lambdas, one patch, no target.


class Commod(PatchEstimator):
    """COMMOD (TMLR 2025): train a ratio r against an adversary that guesses S.

    ``fit`` learns a patch r and never touches f: g_logit = r(x) * f_logit. Its strength follows
    from the lambdas; ``FairPatch`` chooses one for a target and certifies it. Needs
    ``fairpatch[adversarial]``.

    Parameters
    ----------
    estimator : fitted classifier, callable, str or None
        The base model f: anything with ``predict_proba``, a callable X -> probabilities, or the
        name of a score column of X. It is never refitted. None fits a logistic regression first.
    lambda_fair : float
        How much fairness counts: 0.1 changes little, 10 goes for parity, 0 needs no S.
    lambda_ratio : float
        How much staying near f counts.
    lambda_concepts : float
        How much few columns and different concepts count.
    fairness : {"demographic_parity", "equalized_odds"}
        Whether the adversary guesses S from the score, or from score and label.
    training : Training, optional
        Concepts, steps, learning rates, callbacks.
    decision : Decision, optional
        What f decides: which label its score is about, which decision is favourable, threshold.
    roles : Roles, optional
        What is to be known of the columns: weights, bands, what the patch must not use.
    exclude : collection of str
        As of ``roles``: columns that the patch must not use, beside those with a sensitive
        feature's name.
    random_state : int, RandomState or None
        Same seed, same patch.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    patch_ : Patch
        What was learned: readable, storable, applicable anywhere.
    patched_ : PatchedModel
        f with the patch: what explanations, reviews and exports take.
    base_ : BaseModel
        f alone.

    Examples
    --------
    >>> from fairpatch.datasets import Population
    >>> people = Population(p_rule=0.6).sample(2000).to_pandas()
    >>> X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people["group"]
    >>> g = Commod("score", lambda_fair=3.0).fit(X, y, sensitive_features=s)
    >>> bool((g.predict_ratio(X) < 0).any())
    True
    """

    _kept: ClassVar[frozenset[str]] = frozenset({"estimator", "decision", "roles", "training"})

    def __init__(
        self,
        estimator: Estimator = None,
        *,
        lambda_fair: float = 1.0,
        lambda_ratio: float = 1.0,
        lambda_concepts: float = 0.01,
        fairness: Fairness = "demographic_parity",
        training: Training | None = None,
        decision: Decision | None = None,
        roles: Roles | None = None,
        exclude: Collection[str] = (),
        random_state: Any = 0,
        progress: bool = False,
    ) -> None:
        self.estimator = estimator
        self.lambda_fair = lambda_fair
        self.lambda_ratio = lambda_ratio
        self.lambda_concepts = lambda_concepts
        self.fairness = fairness
        self.training = training
        self.decision = decision
        self.roles = roles
        self.exclude = exclude
        self.random_state = random_state
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        change_cost: Any = None,
    ) -> Self:
        """Train the patch.

        Parameters
        ----------
        X : frame or array
            Raw columns: numbers, booleans, strings; gaps are fine.
        y : array or str
            Labels of two classes, or the name of their column.
        sensitive_features : frame, series, dict, array, or names of columns
            Any number of features and values; gaps are fine. Needed with ``lambda_fair`` above 0.
        sample_weight : array, optional
            What each row weighs.
        change_cost : array, optional
            What a changed decision costs in each row, relative to the others: the M of the paper's
            norm of r - 1.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._forget()
        if is_engine_table(X):
            raise TypeError("Commod trains on rows in memory: fetch a sample of the table")
        decision, seed = self._decision, seed_of(self.random_state)
        given, classes = read_given(self, X, y, sensitive_features, decision, self._roles)
        if given.sensitive is None and self.lambda_fair > 0:
            raise ValueError(
                "sensitive_features must be given to fit: lambda_fair above 0 compares groups. Set "
                "lambda_fair=0 to learn without them"
            )
        weight = self._weight(given, sample_weight)
        rows = Rows.of(given.X, given.y, given.sensitive, None, weight, change_cost)
        encoder, base = self._prepared(rows, decision.named(classes), given.hidden)
        rows, learner = rows.scored(base), Adversarial(training=self.training or Training())
        lambdas = ((self.lambda_fair,), (self.lambda_ratio,), (self.lambda_concepts,), (seed,))
        with showing(self.progress):
            candidates = train_candidates(
                rows, Grid.of(*lambdas), learner.observed, encoder=encoder, decision=base.decision,
                fairness=self.fairness, seed=seed, roles=base.roles,
            )  # fmt: skip
        patch = with_probe(with_fingerprint(candidates.patch(0), rows), base, rows.X)
        fitted = Fitted(patch, encoder, encoder, people=len(rows), learner=learner)
        self._keep(fitted, base, np.asarray(classes), given.named)
        return self

    def _check_parameters(self) -> None:
        for name in ("lambda_fair", "lambda_ratio", "lambda_concepts"):
            check.number(name, getattr(self, name), 0)
        check.one_of("fairness", self.fairness, get_args(Fairness))
        check.a("training", self.training, Training, "Training(n_steps=200)")
        check.a("decision", self.decision, Decision, "Decision(favourable=0)")
        check.a("roles", self.roles, Roles, "Roles(weight='w')")
        check.names("exclude", self.exclude)
