"""What ``Commod.fit`` does: read what was given, find f and what the patch may read, and learn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Ints
from fairpatch._checks import same_people
from fairpatch.base import BaseModel
from fairpatch.choose.fit import Fitted, fit_lambdas, fit_target
from fairpatch.choose.learners import Push, game_of, learner_of
from fairpatch.choose.parameters import (
    check_memory_fit,
    check_parameters,
    check_table_fit,
    known_rows,
    seed_of,
)
from fairpatch.data.engine_splits import EngineSplits, is_engine_table
from fairpatch.data.features import read_features, read_given
from fairpatch.data.prepare import prepare
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Splits, in_memory
from fairpatch.decision import Decision, decision_of
from fairpatch.learn.adversarial.problem import Grid
from fairpatch.patch import Patch
from fairpatch.patch.probe import with_probe


class Yesterday(Protocol):
    """The patched model that is in force until now."""

    @property
    def patch(self) -> Patch:
        """Its patch."""

    @property
    def score_columns(self) -> tuple[str, ...]:
        """Columns that it alone reads."""

    def decisions(self, X: Any) -> Ints:
        """1 for the favourable one, 0 for the other, -1 where it has none."""


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fit and what it is of."""

    base: BaseModel
    fitted: Fitted
    classes: NDArray[Any]
    named: bool
    """Whether labels or S were columns of X."""


def fit_model(
    model: Any,
    X: Any,
    y: Any,
    sensitive_features: Any,
    sample_weight: Any,
    change_cost: Any,
    f_trained_on: Any,
    key: str | None,
    yesterday: Yesterday | None = None,
) -> FittedModel:
    """Fit with an estimator's parameters."""
    check_parameters(model)
    decision, seed = decision_of(model.decision, cutoff=model.cutoff), seed_of(model.random_state)
    if is_engine_table(X):
        check_table_fit(sample_weight, change_cost, f_trained_on)
        if yesterday is not None:
            raise ValueError("yesterday is for rows in memory: fetch a sample of the table")
        decision = decision if key is None else decision.but(key=key)
        own = (X, y, sensitive_features, model.estimator, decision, model.splits, seed)
        return _fit_table(model, EngineSplits.of(*own), seed)
    given, classes = read_given(model, X, y, sensitive_features, decision)
    check_memory_fit(model, given.sensitive, key, change_cost, f_trained_on)
    same_people(X=X, f_trained_on=f_trained_on)
    if given.weight is not None and sample_weight is not None:
        raise ValueError(
            f"the decision has a weight, {decision.weight!r}, which counts everywhere, and "
            "sample_weight is for learning alone: give one of them"
        )
    weight = given.weight if sample_weight is None else sample_weight
    rows = Rows.of(given.X, given.y, given.sensitive, None, weight, change_cost)
    hidden = given.hidden
    if yesterday is not None:
        if model.target is None or model.learner != "push":
            raise ValueError("yesterday is for a card that is learned for a target")
        rows = replace(rows, yesterday=yesterday.decisions(given.X))
        hidden = (*hidden, *yesterday.score_columns)
    contract = decision.named(classes)
    data: Rows | Splits
    if model.target is None:
        data = rows.sample(model.max_rows, seed)
    else:
        known, for_all = known_rows(f_trained_on, len(rows)), sample_weight is None
        data = in_memory(rows, model.splits, model.max_rows, seed, known, for_all=for_all)
    return _learned(
        model, data, contract, classes, seed, hidden, named=given.named,
        nearest_to=None if yesterday is None else yesterday.patch,
    )  # fmt: skip


def _fit_table(model: Any, table: EngineSplits, seed: int) -> FittedModel:
    most, classes = model.max_rows, np.array(table.classes)
    data = table.learning_rows(most) if model.target is None else table.splits(most)
    read_features(model, _rows(data).X, reset=True)
    decision = table.base.decision.named(table.classes)
    return _learned(model, data, decision, classes, seed, (), named=True)


def _learned(
    model: Any,
    data: Rows | Splits,
    decision: Decision,
    classes: NDArray[Any],
    seed: int,
    hidden: Sequence[str],
    *,
    named: bool,
    nearest_to: Patch | None = None,
) -> FittedModel:
    """One patch from rows; or from splits a frontier, of which the target chooses."""
    target, rows = model.target, _rows(data)
    exclude = (*model.exclude, *hidden, *(target.exclude if target else ()))
    encoder, base = prepare(rows, model.estimator, decision, exclude, model.categories)
    if isinstance(data, Splits):
        learner = learner_of(model, seed)
        if isinstance(learner, Push):
            learner = replace(learner, nearest_to=nearest_to)
        own = (encoder, decision, target, learner)
        fitted = fit_target(data.scored(base), *own)
    else:
        lambdas = ((model.lambda_fair,), (model.lambda_ratio,), (model.lambda_concepts,), (seed,))
        game = (model.fairness, model.direction, game_of(model, Grid.of(*lambdas), seed))
        fitted = fit_lambdas(rows.scored(base), encoder, decision, *game)
    fitted = replace(fitted, patch=with_probe(fitted.patch, base, rows.X))
    return FittedModel(base, fitted, classes, named)


def _rows(data: Rows | Splits) -> Rows:
    """Those to learn from."""
    return data if isinstance(data, Rows) else data.learn
