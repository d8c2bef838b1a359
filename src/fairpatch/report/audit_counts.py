"""What an audit counts, of a table that stays in its engine, and whether that can be right."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._checks import spark_names
from fairpatch._hints import did_you_mean, hint
from fairpatch.base import BaseModel, Estimator
from fairpatch.decision import Decision
from fairpatch.floor import MIN_PEOPLE
from fairpatch.inputs.roles import PLAIN, Outcomes, Roles
from fairpatch.inputs.sensitive import sensitive_table
from fairpatch.measure.counts import Counts
from fairpatch.measure.labels import label_expr


def count_whole_table(
    X: Any,
    y: Any,
    sensitive_features: Any,
    f: Estimator,
    decision: Decision,
    roles: Roles = PLAIN,
    outcomes: Outcomes | None = None,
) -> tuple[Counts, Decision]:
    """Counts of a table in an engine, and the contract with the labels that it has."""
    label, y = None, _name(y, "y")
    spark_names(nw.from_native(X), [y, f if isinstance(f, str) else None])
    if y is not None:
        classes, label = label_expr(X, y, decision.replace(favourable=1))
        decision = decision.named(classes)
    names = [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
    columns = [*nw.from_native(X).collect_schema().names(), *roles.probable]
    if not isinstance(names, Sequence) or not all(isinstance(n, str) for n in names):
        raise ValueError(
            "for a table in an engine, sensitive_features must be names of its columns; "
            f"got {sensitive_features!r}"
        )
    for name in (*names, *(c for c in (roles.weight, roles.person) if c)):
        if name not in columns:
            raise ValueError(
                f"for a table in an engine, sensitive_features must be names of its columns; there "
                f"is no {name!r}" + did_you_mean(name, columns)
            )
    counts = Counts.from_frame(
        sensitive_table(X, roles, names),
        decision=BaseModel(f, decision=decision).decision_expr(),
        y=label,
        sensitive_features=names,
        sample_weight=roles.weight,
        outcomes=outcomes,
        person=roles.person,
    )
    return counts, decision


def read_by(f: Estimator) -> list[str] | None:
    """The columns that a model reads, where it says so."""
    return BaseModel(f).columns


def check_points_right(counts: Counts, decision: Decision) -> None:
    """Refuse a model that decides 1 far more often for the negative label than for the positive."""
    n = counts.along("label", "before").astype(float)
    if n[:2].sum(1).min() < MIN_PEOPLE:
        return
    rate = n[:2, 1] / n[:2].sum(1)
    error = float(np.sqrt((rate * (1 - rate) / n[:2].sum(1)).sum()))
    if rate[1] - rate[0] > -max(0.1, 5 * error):
        return
    negative, positive = decision.outcomes
    raise ValueError(
        f"the score points against its label: {rate[1]:.0%} of those with {positive} are above the "
        f"threshold, and {rate[0]:.0%} of those with {negative}. Is it the probability of "
        f"{negative}? Then say so: "
        + hint(f"Decision(positive={decision.negative!r})", f"--positive {decision.negative}")
    )


def _name(column: Any, argument: str) -> str | None:
    if column is not None and not isinstance(column, str):
        raise ValueError(
            f"for a table in an engine, {argument} must be the name of one of its columns; "
            f"got {type(column).__name__}"
        )
    return column
