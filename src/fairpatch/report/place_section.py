"""Where changes lie: the segments of the concepts, and a tree that tells who changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.explain import ChangeTree, ConceptView, Segment, f1_by_depth
from fairpatch.explain.change_tree import Leaf
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.report.figures import figure_data
from fairpatch.report.suppress import hidden


def segment_section(segment: Segment, views: Sequence[ConceptView]) -> dict[str, Any]:
    """Where a concept is most active, and how likely a change is there."""
    names = {view.name: view.plain_name for view in views}
    inside = round((segment.inside.value or 0.0) * segment.people)
    outside = round((segment.outside.value or 0.0) * segment.others)
    hide = any(hidden([inside, outside], [segment.people, segment.others]))
    hide |= segment.people < MIN_PEOPLE
    return {
        "concept": names.get(segment.concept, segment.concept),
        "where": str(segment),
        "towards_change": segment.towards_change,
        "people": None if segment.people < MIN_PEOPLE else segment.people,
        "inside": None if hide else figure_data(segment.inside),
        "outside": None if hide else figure_data(segment.outside),
    }


def tree_section(X: Any, changed: Bools) -> dict[str, Any]:
    """A tree that tells the changes, and its F1 on the half of the rows that it has not seen."""
    half = np.random.default_rng(0).permutation(len(changed)) < len(changed) // 2
    rows = Rows(X, changed.astype(np.int64))
    one, two = rows.take(np.flatnonzero(half)), rows.take(np.flatnonzero(~half))
    f1: dict[int, float] = {}
    if one.y.any() and two.y.any():
        f1 = f1_by_depth(one.X, one.y == 1, two.X, two.y == 1, (1, 2, 3, 4))
    found = ChangeTree.fit(X, changed, max_depth=3).leaves if changed.any() else ()
    return {
        "f1_by_depth": {str(depth): value for depth, value in f1.items()},
        "leaves": leaves(found),
    }


def leaves(found: Sequence[Leaf]) -> list[dict[str, Any]]:
    """Leaves as one table of one total: what is hidden does not follow from the others."""
    hide = hidden([leaf.changed for leaf in found], [leaf.people for leaf in found])
    return [
        {
            "where": str(leaf),
            "people": leaf.people,
            "changed": None if is_hidden else leaf.changed,
            "change_rate": None if is_hidden else leaf.change_rate,
        }
        for leaf, is_hidden in zip(found, hide, strict=True)
    ]
