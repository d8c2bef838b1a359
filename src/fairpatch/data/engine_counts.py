"""What patches do to everybody in a table that stays in its engine: one GROUP BY.

Patches of a ladder are one card with fewer and fewer points needed. The engine then works out one
whole number for each person, how they stand, and every rung is read off its distribution:

    denied:    points - confidence,   approved by a rung that needs no more
    approved:  points + confidence,   denied by a rung that takes no less away
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import narwhals as nw

from fairpatch import _checks as check
from fairpatch.base import BaseModel
from fairpatch.inputs.made import made_expr, made_in
from fairpatch.inputs.roles import Outcomes
from fairpatch.inputs.sensitive import sensitive_table
from fairpatch.inputs.values import Value
from fairpatch.measure.counts import Counts
from fairpatch.measure.direction import may_demote, may_promote
from fairpatch.measure.labels import known_label, label_expr
from fairpatch.patch import Patch
from fairpatch.patch.apply import POINTS
from fairpatch.patch.expressions import (
    approved_expr,
    confidence_expr,
    favour_expr,
    needed_points_expr,
)
from fairpatch.patch.typed import typed

CONFIDENCE = "fairpatch_confidence"


def count_table(
    table: Any,
    patches: Sequence[Patch],
    base: BaseModel,
    *,
    y: str | None,
    sensitive_features: Sequence[str],
    decided: str | None = None,
    strata: Sequence[str] = (),
    outcomes: Outcomes | None = None,
) -> list[Counts]:
    """Counts of f's and every patch's decisions over a whole table, by one GROUP BY.

    ``decided`` names a column of decisions that were made already: then no patch is worked out.
    ``strata`` are columns that say who is compared with whom.
    """
    label: str | nw.Expr | None = y
    label_of, decision = None, base.decision
    check.spark_names(nw.from_native(table), (y, decided, *strata))
    table = sensitive_table(table, base.roles, sensitive_features)
    if y is not None and decision.negative is None:
        label = label_expr(table, y, decision)[1]
    elif y is not None:
        label_of = partial(known_label, decision=decision)
    made = None
    if decided is not None:
        made = made_expr(table, made_in(decided, base.roles), decision.favourable)
    about = (sensitive_features, label_of, made, strata, outcomes)
    return count_patches(table, patches, base, label, *about)


def count_patches(
    table: Any,
    patches: Sequence[Patch],
    base: BaseModel,
    label: str | nw.Expr | None,
    features: Sequence[str],
    label_of: Callable[[Value], int | None] | None = None,
    made: nw.Expr | None = None,
    strata: Sequence[str] = (),
    outcomes: Outcomes | None = None,
) -> list[Counts]:
    """Counts of f's and every patch's decisions, with the label as an expression or a column."""
    if base.score_column is None:
        raise TypeError("f must be a score column of the table: see fairpatch.engines.scoring")
    options: dict[str, Any] = {
        "decision": base.favour_expr(), "sensitive_features": features, "y": label,
        "sample_weight": base.roles.weight, "label_of": label_of, "strata": strata,
        "outcomes": outcomes, "person": base.roles.person,
    }  # fmt: skip
    if made is not None:
        return Counts.from_frame_each(table, new_decisions=[made], **options)
    table, decisions, is_ladder = _decided(table, patches, base.score_column)
    if not is_ladder:
        return Counts.from_frame_each(table, new_decisions=decisions, **options)
    key, readings = _standing(patches, base.score_column), [partial(_rung, p) for p in patches]
    return Counts.from_frame_by_key(table, key=key, readings=readings, **options)


def _decided(table: Any, patches: Sequence[Patch], score: str) -> tuple[Any, list[nw.Expr], bool]:
    """Every patch's decision over a table that has what they share as columns: worked out once.

    And whether that is everything: cards that differ in the points needed alone.

    Where the score is no probability, f has no decision: that is found by its own null.
    """
    frame = nw.from_native(table)
    schema = frame.collect_schema()
    names: dict[str, str] = {}
    confidences: dict[str, str] = {}
    shared, decisions = {}, []
    for patch in patches:
        lines = "".join(c.model_dump_json() for c in patch.concepts)
        kind = f"{patch.card is None} {patch.direction} {patch.decision} {patch.offset} {lines}"
        name = names.setdefault(kind, f"{POINTS}_{len(names)}")
        own = typed(patch, schema)
        shared[name] = needed_points_expr(own, score)
        bands = "" if own.card is None else f"{own.card.confidence} {own.card.locked} {own.pilot}"
        confidence = confidences.setdefault(bands, f"{CONFIDENCE}_{len(confidences)}")
        shared[confidence] = confidence_expr(own, score)
        decisions.append(favour_expr(patch, score, nw.col(name), nw.col(confidence)))
    is_ladder = len(shared) == 2 and all(p.card is not None and p.strength for p in patches)
    return frame.with_columns(**shared).to_native(), decisions, is_ladder


def _standing(patches: Sequence[Patch], score: str) -> nw.Expr:
    """How a person stands, no farther from the points needed than matters; null: never changed."""
    one = patches[0]
    points, confidence = nw.col(f"{POINTS}_0"), nw.col(f"{CONFIDENCE}_0")
    needed = [(patch.card.approve_at, patch.card.deny_at) for patch in patches if patch.card]
    gain, loss = ([pair[side] for pair in needed] for side in (0, 1))
    favoured = approved_expr(one, score)
    nobody = nw.lit(None).cast(nw.Int64)
    up = _between(points - confidence, min(gain) - 1, max(gain))
    down = _between(points + confidence, min(loss), max(loss) + 1)
    return nw.when(~favoured).then(up if may_promote(one.direction) else nobody).otherwise(
        nw.when(favoured).then(down if may_demote(one.direction) else nobody).otherwise(nobody)
    )  # fmt: skip


def _between(value: nw.Expr, low: int, high: int) -> nw.Expr:
    above = nw.when(value > high).then(nw.lit(high)).otherwise(value)
    return nw.when(value < low).then(nw.lit(low)).otherwise(above).cast(nw.Int64)


def _rung(patch: Patch, f: Value, standing: Value) -> Value:
    """The patched decision of people of whom f's is known, and how they stand."""
    if f is None or standing is None or patch.card is None:
        return f
    at = int(standing)
    changed = at <= patch.card.deny_at if f else at >= patch.card.approve_at
    return int(bool(f) != changed)
