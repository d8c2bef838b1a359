"""Rows as the learner of a scorecard takes them: columns in pieces, f's order, locks and strata."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.base import NO_SCORE, with_scores
from fairpatch.card.confidence import full_confidence
from fairpatch.card.crossfit import PushProblem
from fairpatch.card.fields import Field, fields_of
from fairpatch.card.left_out import left_out
from fairpatch.card.options import CardOptions
from fairpatch.card.order import orders_of
from fairpatch.card.scorecard import Rules
from fairpatch.card.sense import of_no_group
from fairpatch.choose.learner import Ask, Task
from fairpatch.data.rows import Rows, layers_of
from fairpatch.inputs.roles import PLAIN, Roles
from fairpatch.measure.comparisons import Comparisons
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.locks import locked_rows
from fairpatch.patch.parts import Lock


def push_problem(
    rows: Rows,
    encoder: Encoder,
    options: CardOptions,
    *,
    weight: Floats | None = None,
    ask: Ask | None = None,
    locked: Sequence[Lock] = (),
    comparisons: Comparisons | None = None,
    roles: Roles = PLAIN,
) -> tuple[PushProblem, dict[str, str]]:
    """The rows as the learner of a scorecard takes them, and the columns it does not take."""
    held, f_logit = Columns.of(rows.X), with_scores(rows.f)
    columns = list({f.column.name: f.column for f in encoder.features}.values())
    options.check_columns([column.name for column in columns])
    why = left_out(held, columns, f_logit, roles)
    why |= {lock.column: "it locks decisions" for lock in locked}
    fields = fields_of(held, [c for c in columns if c.name not in why], options, roles)
    fields, stand = of_no_group(
        fields,
        [field.read(held) for field in fields],
        rows.s.comparable().codes,
        rows.person,
        meant=set(roles.reasons) & set(rows.s.features),  # the group itself, where the law allows
    )
    why |= stand
    if not fields:
        named = "; ".join(f"{name}, {reason}" for name, reason in why.items())
        raise ValueError(
            f"no column is left for a scorecard of {held.rows:,} people: all are alike, or have "
            f"too few people for two bins{', or ' * bool(why)}{named}"
        )
    pieces = tuple(field.read(held) for field in fields)
    orders = orders_of(ask, rows.X, f_logit, fields, pieces)
    problem = PushProblem(
        _encoded(encoder.only([field.column.name for field in fields]), fields, rows.X),
        fields,
        tuple(orders),
        Rules.of(fields, orders, options),
        pieces,
        rows.s.comparable().codes,
        rows.y,
        f_logit,
        np.abs(f_logit) / full_confidence(f_logit),
        np.ones(len(rows)) if weight is None else weight,
        locked_rows(locked, rows.X) | (rows.f == NO_SCORE),
        layers_of(rows, comparisons),
    )
    return problem, why


def _encoded(encoder: Encoder, fields: Sequence[Field], X: Any) -> Floats:
    """The encoded columns; a code is a column of its own, and of its number no value."""
    Z, held = encoder.transform(X), Columns.of(X)
    coded = {field.column.name: field for field in fields if field.codes}
    more = []
    for j, feature in enumerate(encoder.features):
        field = coded.get(feature.column.name)
        if field is None or feature.what != "value":
            continue
        values = np.asarray(held.values(feature.column), np.float64)
        codes = [code for code, _ in field.codes]
        known = np.isfinite(values) & ~np.isin(values, codes)
        spread = float(values[known].std()) or 1.0
        Z[:, j] = np.where(known, (values - values[known].mean()) / spread, 0.0)
        for code in codes:
            here = (values == code).astype(np.float64)
            more.append((here - here.mean()) / (float(here.std()) or 1.0))
    return np.column_stack([Z, *more]) if more else Z


def remembered(
    rows: Rows, weight: Floats | None, task: Task, options: CardOptions
) -> tuple[PushProblem, dict[str, str]]:
    """The problem of these rows; where only wishes changed, f is not asked again."""
    if "problem" not in task.memory:
        task.memory["problem"] = push_problem(
            rows, task.encoder, options, weight=weight, ask=task.ask, locked=task.target.locks,
            comparisons=task.target.comparisons, roles=task.roles,
        )  # fmt: skip
    problem, why = task.memory["problem"]
    return ordered(problem, options), why


def ordered(problem: PushProblem, options: CardOptions) -> PushProblem:
    """The same with the order that is to be kept."""
    return replace(problem, rules=Rules.of(problem.fields, problem.orders, options))
