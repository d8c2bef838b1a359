"""Rows as the learner of a scorecard takes them: columns in pieces, f's order, locks and strata."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.card.confidence import full_confidence
from fairpatch.card.crossfit import PushProblem
from fairpatch.card.fields import fields_of
from fairpatch.card.left_out import left_out
from fairpatch.card.options import CardOptions
from fairpatch.card.order import orders_of
from fairpatch.card.scorecard import Rules
from fairpatch.choose.learner import Ask, Task
from fairpatch.data.rows import Rows, layers_of
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
) -> tuple[PushProblem, dict[str, str]]:
    """The rows as the learner of a scorecard takes them, and the columns it does not take."""
    held = Columns.of(rows.X)
    columns = list({f.column.name: f.column for f in encoder.features}.values())
    options.check_columns([column.name for column in columns])
    why = left_out(held, columns, rows.f)
    why |= {lock.column: "it locks decisions" for lock in locked}
    kept = [column for column in columns if column.name not in why]
    fields = fields_of(held, kept, options)
    if not fields:
        named = "; ".join(f"{name}, {reason}" for name, reason in why.items())
        raise ValueError(
            f"no column is left for a scorecard of {held.rows:,} people: all are alike, or have "
            f"too few people for two bins{', or ' * bool(why)}{named}"
        )
    pieces = tuple(field.read(held) for field in fields)
    orders = orders_of(ask, rows.X, rows.f, fields, pieces)
    problem = PushProblem(
        encoder.only([column.name for column in kept]).transform(rows.X),
        fields,
        tuple(orders),
        Rules.of(fields, orders, options),
        pieces,
        rows.s.comparable().codes,
        rows.y,
        rows.f,
        np.abs(rows.f) / full_confidence(rows.f),
        np.ones(len(rows)) if weight is None else weight,
        locked_rows(locked, rows.X),
        layers_of(rows, comparisons),
    )
    return problem, why


def remembered(
    rows: Rows, weight: Floats | None, task: Task, options: CardOptions
) -> tuple[PushProblem, dict[str, str]]:
    """The problem of these rows; where only wishes changed, f is not asked again."""
    if "problem" not in task.memory:
        task.memory["problem"] = push_problem(
            rows, task.encoder, options, weight=weight, ask=task.ask, locked=task.target.locks,
            comparisons=task.target.comparisons,
        )  # fmt: skip
    problem, why = task.memory["problem"]
    return replace(problem, rules=Rules.of(problem.fields, problem.orders, options)), why
