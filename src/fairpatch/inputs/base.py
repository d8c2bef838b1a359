"""f, the base model that somebody already validated: scores in, log-odds against the threshold out.

    f_logit = clip(logit(p), ±CLIP) - logit(t)        (METHOD section 1)

Its sign is the decision: p > t, or p >= t where that is the rule. A score of exactly t has a sign
too, of the smallest number there is: it is the closest call. Where that decision is a harm
(``Decision(favourable=0)``) it is turned: f_logit > 0 is the favourable decision in any case. f is
never refitted: ``BaseModel`` has no ``fit`` and survives ``sklearn.base.clone`` as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import narwhals as nw
import numpy as np
from scipy.special import expit, logit

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.hints import did_you_mean, hint, in_percent
from fairpatch.decision import LARGEST_SCORE, PLAIN, Decision, text_of
from fairpatch.inputs.past_decisions import (
    denied_if_none,
    given_score,
    has_decision_expr,
    of_labels,
    score_column,
    threshold_expr,
    told_apart,
)
from fairpatch.inputs.roles import PLAIN as ROWS
from fairpatch.inputs.roles import Roles, with_moved
from fairpatch.inputs.vocabulary import columns_for

Estimator = Any
"""A fitted classifier with ``predict_proba``, a callable X -> probabilities, or a column's name."""

CLIP = float(logit(1 - 1e-6))
"""Log-odds are kept within ±CLIP, so that probabilities of exactly 0 and 1 stay finite."""
AT_THRESHOLD = float(np.finfo(float).tiny)
"""Log-odds of a score exactly at the threshold, on the side that it is decided: nearer to it than
any other score."""
NO_SCORE = -64.0625
"""Log-odds of somebody who was denied without a score: far from any that a score gives."""
BESIDE, POINTS_BESIDE = 1e-9, 1e-6
"""How far from the threshold a patched score is whose base score was the threshold itself."""

# Where the margin *is* the log-odds, it is taken instead of the probability: float32 probabilities
# (boosted trees) lose the tail, and a ratio multiplies the loss.
_SKLEARN_LOG_ODDS = {
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
}


@dataclass(frozen=True)
class BaseModel:
    """The base model f and what it decides.

    Parameters
    ----------
    estimator : fitted classifier, callable or str
        Anything with ``predict_proba``; a callable that takes X and returns one probability a row
        (or two columns, the second being the positive class); or the name of a score column of X.
    decision : Decision, optional
        What f decides, its threshold among it. Unless it names one, a model that has a threshold
        of its own, as scikit-learn's ``FixedThresholdClassifier`` has, keeps that.
    roles : Roles, optional
        What is to be known of the columns of its tables.

    Examples
    --------
    >>> import numpy as np
    >>> f = BaseModel(lambda X: X[:, 0], Decision(threshold=0.7))
    >>> X = np.array([[0.0], [0.7], [0.9], [1.0]])
    >>> f.decisions(X)
    array([False, False,  True,  True])
    >>> f.logits(X).round(2)
    array([-14.66,  -0.  ,   1.35,  12.97])
    """

    estimator: Estimator
    decision: Decision = PLAIN
    roles: Roles = ROWS

    def __post_init__(self) -> None:
        f = self.estimator
        object.__setattr__(self, "roles", with_moved(self.roles, self.decision))
        if isinstance(f, type):
            raise TypeError(f"estimator is the class {f.__name__}: give a fitted object of it")
        if not (isinstance(f, str) or callable(f) or hasattr(f, "predict_proba")):
            raise TypeError(
                "estimator must be a fitted classifier with predict_proba, a callable that returns "
                "probabilities, or the name of a score column; "
                f"got {type(f).__name__}. A model that only has predict() can be given as a "
                "callable that returns its scores as probabilities."
            )
        _check_binary(f)
        threshold = own_threshold(f)
        if threshold is not None and not self.decision.has_threshold:
            object.__setattr__(self, "decision", self.decision.replace(threshold=threshold))
        elif threshold is not None and threshold != self.decision.threshold:
            raise ValueError(
                f"the base model decides at its own threshold, {threshold:g}, and the decision "
                f"names {self.decision.above}: leave it out, or give the model inside the wrapper"
            )
        _check_label(f, self.decision.positive)
        if self.decision.score_unit != "probability" and not isinstance(f, str):
            raise ValueError(
                "score_unit is about a score column, and here a model gives the probabilities: "
                "leave it out, or name the column"
            )

    @property
    def threshold(self) -> float:
        """The policy threshold, where there is one for everybody."""
        return self.decision.cut

    def thresholds(self, X: Any) -> Any:
        """The policy threshold t: f decides 1 where its score is above t. One, or one a row."""
        return thresholds_of(self.decision, X)

    def __sklearn_clone__(self) -> Self:
        """Return itself: what was validated stays what it is."""
        return self

    @property
    def score_column(self) -> str | None:
        """The column of X that holds f's score, where f is a column."""
        return self.estimator if isinstance(self.estimator, str) else None

    @property
    def needed_score(self) -> str | None:
        """The score column without which a row does not count; None where each row counts."""
        return self.score_column if self.decision.no_score == "left_out" else None

    @property
    def columns(self) -> list[str] | None:
        """The columns that f reads, in its order, where it says so."""
        if isinstance(self.estimator, str):
            return [self.estimator]
        for name in ("feature_names_in_", "feature_names_", "feature_name_"):
            names = getattr(self.estimator, name, None)
            if names is not None and len(names):
                return [str(v) for v in names]
        return None

    def logits(self, X: Any) -> Floats:
        """f_logit: log-odds relative to the threshold, positive where f favours a person."""
        margin = _margin(self.estimator)
        if margin is None:
            return self.logits_of(self._scores(X), self.thresholds(X))
        log_odds = _floats(margin(self._asked(X)))
        values = _relative(-log_odds if self.of_first_class else log_odds, self.thresholds(X))
        return self._favour(np.where(values == 0, self._side_of_equal, values))

    def logits_of(self, scores: Floats, thresholds: Any) -> Floats:
        """f_logit of scores that are already at hand."""
        if self.decision.in_points:
            unit = self.decision.scale.unit
            values = told_apart(scores, lambda s: np.asarray((s - thresholds) * unit))
        else:
            values = _decided(scores, thresholds)
        f_logit = self._favour(np.where(scores == thresholds, self._side_of_equal, values))
        if not self.decision.knocks_out:
            return f_logit
        return np.where(np.isnan(scores), NO_SCORE, f_logit)

    @property
    def _side_of_equal(self) -> float:
        """Log-odds of decision 1 of a score that is exactly the threshold."""
        return AT_THRESHOLD if self.decision.at_least else -AT_THRESHOLD

    def _favour(self, values: Floats) -> Floats:
        """Log-odds of decision 1 as those of the favourable one."""
        return values if self.decision.favourable else -values

    @property
    def of_first_class(self) -> bool:
        """Whether f's score is that of the first of its two classes."""
        classes, positive = getattr(self.estimator, "classes_", None), self.decision.positive
        if classes is None or positive is None:
            return False
        return text_of(classes[0]) == text_of(positive)

    def _asked(self, X: Any) -> Any:
        """The columns of a frame that f reads, in its order: others beside them are fine."""
        wanted = self.columns
        if wanted is None or isinstance(self.estimator, str):
            return X
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return X
        have = list(map(str, frame.columns))
        meant = columns_for(wanted, have)
        missing = [name for name in wanted if name not in meant]
        if missing:
            if len(missing) == len(wanted):  # fitted on an array: the names are not its own
                return X
            raise ValueError(
                f"the base model reads column {missing[0]!r}, which the table does not have"
                + did_you_mean(missing[0], have)
            )
        if have == wanted:
            return X
        chosen = frame.select(list(meant.values()))
        return chosen.rename({c: name for name, c in meant.items() if c != name}).to_native()

    def renamed(self, columns: Sequence[str]) -> dict[str, str]:
        """Of the names that f reads by, those that a table writes otherwise: f's and the table's.

        >>> BaseModel(lambda X: X).renamed(["a b"])
        {}
        """
        wanted = self.columns
        if wanted is None or isinstance(self.estimator, str):
            return {}
        return {f: own for f, own in columns_for(wanted, list(columns)).items() if f != own}

    def scores(self, X: Any) -> Floats:
        """f(x), one score a row: a probability, or points."""
        margin = _margin(self.estimator)
        if margin is None:
            return self._scores(X)
        log_odds = _floats(margin(self._asked(X)))
        return np.asarray(expit(-log_odds if self.of_first_class else log_odds))

    @property
    def decides_for_itself(self) -> bool:
        """Whether the threshold is the model's own."""
        return own_threshold(self.estimator) is not None

    def predicted(self, X: Any) -> Bools:
        """Whether the model's own ``predict`` gives the positive label."""
        labels = np.asarray(self.estimator.predict(self._asked(X))).ravel()
        classes = getattr(self.estimator, "classes_", None)
        positive = 1 if classes is None else classes[0 if self.of_first_class else 1]
        return np.asarray([text_of(label) == text_of(positive) for label in labels], bool)

    def decisions(self, X: Any) -> Bools:
        """Whether f decides 1: its score is above the threshold, or at least as high."""
        if self.decision.in_points:  # whatever odds points stand for
            scores = self._scores(X)
            decided = self.decision.decides(scores, self.thresholds(X))
            return np.where(np.isnan(scores), not self.decision.favourable, decided)
        return np.asarray((self.logits(X) > 0) == bool(self.decision.favourable))

    def favour_expr(self) -> nw.Expr:
        """Whether f's decision is the favourable one, as an expression; null where p is."""
        decided = self.decision_expr()
        return decided if self.decision.favourable else ~decided

    def decision_expr(self) -> nw.Expr:
        """The decision as an expression over a table that has the score column; null where p is."""
        if self.score_column is None:
            raise TypeError(
                "a table in an engine needs f as the name of its score column, "
                f"got {type(self.estimator).__name__}: score the table first, see "
                "fairpatch.engines.streams"
            )
        score = given_score(self.decision, self.score_column)
        # Engines order NaN above every number, so that NaN > t would be an approval.
        decided = self.decision.decides(score, threshold_expr(self.decision))
        return nw.when(has_decision_expr(self.decision, score)).then(
            denied_if_none(self.decision, score, decided)
        )

    def at_threshold_expr(self) -> nw.Expr:
        """Whose score is exactly the threshold, in a table that has the score column."""
        score = given_score(self.decision, str(self.score_column))
        here: nw.Expr = score == threshold_expr(self.decision)
        return here

    def _scores(self, X: Any) -> Floats:
        f = self.estimator
        if isinstance(f, str):
            values, what = self.decision.compared(score_column(X, f)), f"score column {f!r}"
        elif hasattr(f, "predict_proba"):
            values, what = f.predict_proba(self._asked(X)), f"{type(f).__name__}.predict_proba"
        else:
            values, what = of_labels(f(self._asked(X)), self.decision), "the base model"
        p = _floats(values, first=self.of_first_class)
        if callable(f) and hasattr(X, "__len__") and len(p) != len(X):
            raise ValueError(f"{what} must give one probability a row: {len(X)} rows, {len(p)}")
        none = np.isnan(p) if self.decision.knocks_out else np.zeros(len(p), bool)
        if self.decision.in_points:
            bad = int(np.sum(~(none | (np.abs(p) < LARGEST_SCORE))))
            if bad:
                raise ValueError(
                    f"{what} must give points, but {bad} of {p.size} values are missing or no "
                    f"number that a score has. {_if_knocked_out(p)}"
                )
            return p
        bad = int(np.sum(~(none | ((p >= 0.0) & (p <= 1.0)))))
        if bad:
            raise ValueError(
                f"{what} must give probabilities from 0 to 1, but {bad} of {p.size} values are "
                f"missing or outside. {_if_knocked_out(p)}"
                + in_percent(np.nanmin(p, initial=np.inf), np.nanmax(p, initial=-np.inf))
            )
        return p


def _if_knocked_out(p: Floats) -> str:
    """Advice where scores are missing, or no scores."""
    if not np.isnan(p).any():
        return "Turn scores into probabilities first."
    return (
        "Whoever was denied before anybody was scored, by a knock-out, counts as denied: "
        + hint("Decision(no_score='denied')", "decision: {no_score: denied}")
        + ". Whoever nobody has decided yet is part of no rate: "
        + hint("Decision(no_score='left_out')", "no_score: left_out")
        + "."
    )


def _relative(log_odds: Floats, threshold: Any) -> Floats:
    return np.asarray(np.clip(log_odds, -CLIP, CLIP) - logit(threshold))


def _decided(p: Floats, t: Any) -> Floats:
    """Log-odds of probabilities relative to the threshold, of decision 1."""
    with np.errstate(divide="ignore", invalid="ignore"):  # p of 0 or 1: infinite, then clipped
        values = told_apart(p, lambda p: _relative(logit(p), t))
    # Rounding must not move anybody over the threshold, to the last bit.
    values = np.where((p > t) & (values <= 0), np.finfo(float).eps, values)
    return np.where((p < t) & (values >= 0), -np.finfo(float).eps, values)


def thresholds_of(decision: Decision, X: Any, *, gaps: bool = False) -> Any:
    """The policy threshold t: one number, or one a row where a column's value tells it.

    Where ``gaps`` are allowed, it is NaN for a value that has none.
    """
    cuts = decision.cuts
    if cuts is None:
        return decision.cut
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or cuts.by not in frame.columns:
        have = list(map(str, getattr(frame, "columns", ())))
        raise ValueError(
            f"thresholds are by column {cuts.by!r}, which the table does not have"
            + did_you_mean(cuts.by, have)
        )
    values = frame[cuts.by].to_list()
    found = cuts.of_values(values)
    lost = np.flatnonzero(np.isnan(found))
    if len(lost) and not gaps:
        raise ValueError(
            f"{len(lost)} of {len(found)} rows have a {cuts.by} without a threshold, such as "
            f"{values[lost[0]]!r}: name one for it, or leave these rows out"
        )
    return found


def threshold_odds(decision: Decision, X: Any) -> Any:
    """The log-odds of the good outcome at the threshold: one number, or one a row."""
    return decision.sign * decision.log_odds(thresholds_of(decision, X))


def own_threshold(f: Estimator) -> float | None:
    """The threshold that a wrapper such as ``FixedThresholdClassifier`` decides at; None if none.

    Of a probability: a threshold of another response says nothing about that.
    """
    while hasattr(f, "steps"):
        f = f.steps[-1][1]
    f = getattr(f, "best_estimator_", f)  # of a search
    kind = type(f).__name__
    if not type(f).__module__.startswith("sklearn."):
        return None
    if kind == "FixedThresholdClassifier" and f.response_method != "decision_function":
        return 0.5 if f.threshold == "auto" else float(f.threshold)
    if kind == "TunedThresholdClassifierCV" and f.response_method != "decision_function":
        return float(f.best_threshold_)
    return None


def _check_binary(f: Estimator) -> None:
    classes = getattr(f, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise ValueError(
            f"fairpatch works on two classes, {type(f).__name__} has {len(classes)}: "
            f"{list(classes)[:10]}"
        )


def _check_label(f: Estimator, positive: Any) -> None:
    """Where f knows the labels by other names, 0 and 1 are taken for the two of them."""
    classes = getattr(f, "classes_", None)
    if classes is None or positive is None or text_of(positive) in map(text_of, classes):
        return
    if {str(c) for c in classes} not in ({"0", "1"}, {"False", "True"}, {"0.0", "1.0"}):
        raise ValueError(
            f"the estimator was fitted on {list(classes)}, and none of them is the positive label "
            f"{positive!r}"
        )


def scores_of(f_logit: Floats, decision: Decision, thresholds: Any = None) -> Floats:
    """f's scores again, in their own unit, of log-odds towards the favourable decision.

    ``thresholds`` where each row has its own.
    """
    t = decision.cut if thresholds is None else thresholds
    of_one = decision.sign * np.asarray(f_logit, np.float64)
    scores = t + of_one / decision.scale.unit if decision.in_points else expit(of_one + logit(t))
    # nearer to the threshold than the scale can tell: on the side that it is decided
    step, decided = POINTS_BESIDE if decision.in_points else BESIDE, decision.decides(scores, t)
    least, most = (t, t - step) if decision.at_least else (t + step, t)
    scores = np.where((of_one > 0) & ~decided, least, scores)
    return np.asarray(np.where((of_one < 0) & decided, most, scores))


def chances_of(f_logit: Floats, decision: Decision, thresholds: Any = None) -> Floats:
    """The same as probabilities, whatever the unit."""
    scores = scores_of(f_logit, decision, thresholds)
    return np.asarray(expit(decision.scale.log_odds(scores))) if decision.in_points else scores


def with_scores(f_logit: Floats) -> Floats:
    """Log-odds to learn from: who was denied without a score is like the last of the denied."""
    none = f_logit == NO_SCORE
    if not none.any():
        return f_logit
    return np.where(none, f_logit[~none].min(initial=-1.0), f_logit)


def gives_log_odds(f: Estimator) -> bool:
    """Whether f's own margin is taken instead of its probability."""
    return _margin(f) is not None


@runtime_checkable
class BoosterOfAFile(Protocol):
    """A binary classifier that LightGBM wrote as text: whoever reads it gives it these two."""

    booster_: Any

    def raw(self, X: Any) -> Any:
        """Log-odds."""


def _margin(f: Estimator) -> Callable[[Any], Any] | None:
    """The raw margin of f where that is its log-odds, decided by type and not by data."""
    if isinstance(f, str) or not hasattr(f, "predict_proba"):
        return None
    before, final = [], f
    while hasattr(final, "steps"):  # a Pipeline ends in its classifier
        before.append(final[:-1])
        final = final.steps[-1][1]
    kind, package = type(final).__name__, type(final).__module__.partition(".")[0]
    if package == "sklearn" and kind in _SKLEARN_LOG_ODDS:
        margin: Callable[[Any], Any] = f.decision_function
        return margin
    boosted: dict[str, Callable[[Any], Any]] = {
        "XGBClassifier": lambda X: final.predict(X, output_margin=True),
        "LGBMClassifier": lambda X: final.predict_proba(X, raw_score=True),
        "CatBoostClassifier": lambda X: final.predict(X, prediction_type="RawFormulaVal"),
    }
    margin_of = final.raw if isinstance(final, BoosterOfAFile) else boosted.get(kind)
    if margin_of is None or not before:
        return margin_of

    def through(X: Any) -> Any:
        for steps in before:
            X = steps.transform(X) if len(steps) else X
        return margin_of(X)

    return through


def _floats(values: Any, *, first: bool = False) -> Floats:
    """One float64 a row; of two columns (predict_proba), the second, or the first."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"the score must be numbers: {error}. Convert the column first") from None
    except TypeError as error:
        raise TypeError(f"the score must be numbers: {error}. Convert the column first") from None
    if array.ndim == 2 and array.shape[1] == 2:
        array = array[:, 0 if first else 1]
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"expected one score a row, got an array of shape {array.shape}")
    return array
