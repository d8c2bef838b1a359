"""A patch for the types that a table's columns have: categories that cannot occur are left out.

Python finds that 1 is no "1" by itself; engines differ in whether they compare the two, refuse to,
or turn one into the other.
"""

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from fairpatch.decision import Cut, Cuts
from fairpatch.patch.columns import check_category_type, check_number_type, holds
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import CategoricalWeight, Category, CategoryWeight, Lock


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
    """Refuse a column whose type means nothing to the patch, before an engine tries it."""
    if patch.pilot is not None and patch.pilot.key in schema:
        kind = schema[patch.pilot.key]
        if not kind.is_numeric():
            raise TypeError(
                f"a pilot is drawn by whole numbers, and column {patch.pilot.key!r} is {kind}: "
                "name a key of whole numbers"
            )
    for concept in patch.concepts:
        for name in [*(n.column for n in concept.numbers), *(r.column for r in concept.ranges)]:
            if name in schema:
                check_number_type(name, schema[name])
        for part in concept.categories:
            if part.column in schema:
                held = holds(entry.category for entry in part.categories)
                check_category_type(part.column, schema[part.column], held)


def typed_lock(lock: Lock, kind: Any) -> Lock:
    """A lock by values that the column can have; one that nobody could judge is refused."""
    if kind is None or not lock.values:
        return lock
    values = [_as(value, kind) for value in lock.values]
    kept = tuple(dict.fromkeys(value for value in values if value is not None))
    if not kept:
        raise TypeError(
            f"rows are locked by {lock}, and column {lock.column!r} is {kind} here, which can have "
            "no such value: everybody would be unlocked. Convert the column, or name its own values"
        )
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
        return None if isinstance(category, str) else category + 0  # True is 1
    return None if kind.is_temporal() else category
