"""A patch for the types that a table's columns have: levels that cannot occur are left out.

Python finds that 1 is no "1" by itself; engines differ in whether they compare the two, refuse to,
or turn one into the other.
"""

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from fairpatch.patch.model import Patch
from fairpatch.patch.parts import CategoryWeight, Level, LevelWeight


def typed(patch: Patch, schema: Mapping[str, Any]) -> Patch:
    """The same patch with every category's levels in the type of its column."""
    concepts = [
        concept.model_copy(
            update={
                "categories": tuple(_typed(c, schema.get(c.column)) for c in concept.categories)
            }
        )
        for concept in patch.concepts
    ]
    return patch.model_copy(update={"concepts": tuple(concepts)})


def _typed(part: CategoryWeight, kind: Any) -> CategoryWeight:
    if kind is None:
        return part
    found: dict[Level, float] = {}
    for entry in part.levels:
        level = _as(entry.level, kind)
        if level is not None:
            found.setdefault(level, entry.weight)
    levels = tuple(LevelWeight.model_construct(level=k, weight=v) for k, v in found.items())
    return part.model_copy(update={"levels": levels})


def _as(level: Level, kind: Any) -> Level | None:
    """A level as a column of this type would have it; None where it cannot."""
    if kind == nw.String:
        return level if isinstance(level, str) else None
    if kind == nw.Boolean:
        return bool(level) if not isinstance(level, str) and level in (0, 1) else None
    if kind.is_numeric():
        return None if isinstance(level, str) else level + 0  # True is 1
    return None if kind.is_temporal() else level
