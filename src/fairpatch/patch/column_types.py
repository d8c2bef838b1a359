"""A patch for the types that a table's columns have: categories that cannot occur are left out.

Python finds that 1 is no "1" by itself; engines differ in whether they compare the two, refuse to,
or turn one into the other.
"""

from collections.abc import Mapping
from math import nan
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._tools.extras import row_of
from fairpatch.decision import Cut, Cuts
from fairpatch.patch.columns import check_category_type, check_number_type, holds
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import (
    CategoricalWeight,
    Category,
    CategoryWeight,
    Lock,
    NumberWeight,
    RangesWeight,
)


def typed(patch: Patch, schema: Mapping[str, Any]) -> Patch:
    """The same patch with every category's categories in the type of its column."""
    check_types(patch, schema)
    concepts = [
        concept.model_copy(
            update={
                "categories": tuple(_typed(c, schema.get(c.column)) for c in concept.categories)
            }
        )
        for concept in patch.concepts
    ]
    changes: dict[str, Any] = {"concepts": tuple(concepts)}
    if patch.card is not None and patch.card.locked:
        locked = [typed_lock(lock, schema.get(lock.column)) for lock in patch.card.locked]
        changes["card"] = patch.card.model_copy(update={"locked": tuple(locked)})
    cuts = patch.decision.cuts
    if cuts is not None and cuts.by in schema:
        decision = patch.decision.model_copy(
            update={"threshold": typed_cuts(cuts, schema[cuts.by])}
        )
        changes["decision"] = decision
    return patch.model_copy(update=changes)


def typed_cuts(cuts: Cuts, kind: Any) -> Cuts:
    """Thresholds by values that the column can have; refused where it can have none of them."""
    found = [(_as(cut.value, kind), cut.threshold) for cut in cuts.at]
    kept = tuple(
        Cut.model_construct(value=value, threshold=t) for value, t in found if value is not None
    )
    if not kept:
        raise TypeError(
            f"thresholds are by {cuts.by!r}, as {cuts.at[0].value!r}, and that column is {kind}: "
            "its values could be none of them. Convert the column, or name its own values"
        )
    return cuts.model_copy(update={"at": kept})


def check_types(patch: Patch, schema: Mapping[str, Any]) -> None:
    """Refuse a column whose type means nothing to the patch, before an engine tries it.

    A lock is looked at as a line is: one that nobody could judge would unlock everybody.
    """
    if patch.pilot is not None and patch.pilot.key in schema:
        kind = schema[patch.pilot.key]
        if not kind.is_numeric():
            raise TypeError(
                f"a pilot is drawn by whole numbers, and column {patch.pilot.key!r} is {kind}: "
                "name a key of whole numbers"
            )
    for part in _parts(patch):
        if part.column in schema:
            check_part(part, schema[part.column])


def check_part(part: CategoricalWeight | NumberWeight | RangesWeight, kind: Any) -> None:
    """Refuse a column of a type in which one part of the patch means nothing."""
    if isinstance(part, CategoricalWeight):
        held = holds(entry.category for entry in part.categories)
        check_category_type(part.column, kind, held)
    else:
        check_number_type(part.column, kind)


def with_gaps(patch: Patch, frame: Any) -> Any:
    """The frame with a gap in every row of a column that holds nothing, whatever its type is.

    A file whose column is empty this month has it as text, as numbers, or as no type at all. It is
    looked at only where its type would be refused.
    """
    schema, empty = frame.collect_schema(), {}
    for part in _parts(patch):
        kind = schema.get(part.column)
        if kind is None or part.column in empty:
            continue
        try:
            check_part(part, kind)
        except TypeError:
            if _is_empty(frame, part.column, kind):
                text = isinstance(part, CategoricalWeight) and (
                    holds(entry.category for entry in part.categories) == "text"
                )
                empty[part.column] = nw.String if text else nw.Float64
    if not empty:
        return frame
    if not isinstance(frame, nw.DataFrame):
        return frame.with_columns(nw.lit(None, kind).alias(n) for n, kind in empty.items())
    backend, rows = frame.implementation, len(frame)
    return frame.with_columns(
        nw.new_series(name, [None if kind == nw.String else nan] * rows, kind, backend=backend)
        for name, kind in empty.items()
    )


def _is_empty(frame: Any, name: str, kind: Any) -> bool:
    held = nw.col(name)
    known = ~held.is_null()
    if kind in (nw.Float32, nw.Float64):
        known = known & ~held.is_nan()
    return not row_of(frame.lazy().filter(known).select(n=nw.len()))["n"]


def _parts(patch: Patch) -> list[CategoricalWeight | NumberWeight | RangesWeight]:
    """Whatever reads a column: lines, and locks."""
    locked = () if patch.card is None else patch.card.locked
    return [
        *(part for c in patch.concepts for part in c.numbers),
        *(part for c in patch.concepts for part in c.ranges),
        *(part for c in patch.concepts for part in c.categories),
        *(lock.part for lock in locked),
    ]


def typed_lock(lock: Lock, kind: Any) -> Lock:
    """A lock by values that the column can have; one that nobody could judge is refused."""
    if kind is None:
        return lock
    check_part(lock.part, kind)
    values = [_as(value, kind) for value in lock.values]
    kept = tuple(dict.fromkeys(value for value in values if value is not None))
    return lock.model_copy(update={"values": kept})


def _typed(part: CategoricalWeight, kind: Any) -> CategoricalWeight:
    if kind is None:
        return part
    weights: dict[Category, float] = {}
    for entry in part.categories:
        category = _as(entry.category, kind)
        if category is not None:
            weights.setdefault(category, entry.weight)
    categories = tuple(
        CategoryWeight.model_construct(category=k, weight=v) for k, v in weights.items()
    )
    return part.model_copy(update={"categories": categories})


def _as(category: Category, kind: Any) -> Category | None:
    """A category as a column of this type would have it; None where it cannot."""
    if kind == nw.String:
        return category if isinstance(category, str) else None
    if kind == nw.Boolean:
        return bool(category) if not isinstance(category, str) and category in (0, 1) else None
    if kind.is_numeric():
        return _as_number(category, kind)
    return None if kind.is_temporal() else category


def _as_number(category: Category, kind: Any) -> Category | None:
    if isinstance(category, str):
        return None
    if kind.is_unsigned_integer() and category < 0:
        return None
    if kind == nw.Float32 and float(np.float32(category)) != category:
        return None  # 0.1 is none of its numbers: an engine that rounds it would find one
    return category + 0  # True is 1
