"""Where a concept is active, in conditions, and how likely a change is inside and outside."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.explain.change_tree import ChangeTree, Leaf
from fairpatch.explain.concepts import push
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import share
from fairpatch.patch import Patch

ACTIVE = 0.25
"""A concept is most active for this share of the people."""


@dataclass(frozen=True)
class Segment:
    """People for whom a concept is most active, on one of its sides."""

    concept: str
    towards_change: bool
    """Whether the concept pushes towards a change here, or holds decisions in place."""
    leaf: Leaf
    """The conditions: who meets them, and how they read."""
    people: int
    others: int
    inside: Estimate
    """P(change) for the people who meet the conditions."""
    outside: Estimate

    @property
    def who(self) -> str:
        """The conditions, in words."""
        return str(self.leaf)

    def __str__(self) -> str:
        side = "towards a change" if self.towards_change else "against one"
        return (
            f"{self.concept}, {side}: {self.who}; {self.people} people, P(change) "
            f"{self.inside.value:.2f} inside, {self.outside.value:.2f} outside"
        )


def segments(
    patch: Patch, X: Any, changed: Bools, f_logit: Floats | None = None, *, max_depth: int = 2
) -> list[Segment]:
    """Two segments a concept: where it pushes hardest, and where it holds hardest.

    The conditions are those of a small tree on the concept's own columns; P(change) is counted for
    the people who meet the conditions, not for those who made them.

    Parameters
    ----------
    patch : Patch
        The patch.
    X : frame or array
        Rows with the patch's columns.
    changed : array of bool
        Which rows change.
    f_logit : array, optional
        Log-odds of the base model, which a card needs.
    max_depth : int
        Conditions of a segment, at most.

    Returns
    -------
    list of Segment
    """
    segments_found = []
    for concept, pushed in zip(patch.concepts, push(patch, X, f_logit), strict=True):
        for towards in (True, False):
            strength = -pushed if towards else pushed
            active = strength > np.quantile(strength, 1 - ACTIVE)
            if active.all() or not active.any():
                continue
            tree = ChangeTree.fit(X, active, max_depth=max_depth, columns=concept.columns)
            leaf = max(tree.leaves, key=lambda leaf: (leaf.says_changed, leaf.changed))
            inside = leaf.holds(X)
            segments_found.append(
                Segment(
                    concept.name,
                    towards,
                    leaf,
                    int(inside.sum()),
                    int((~inside).sum()),
                    share(changed[inside].sum(), inside.sum(), "nobody is here"),
                    share(changed[~inside].sum(), (~inside).sum(), "nobody is here"),
                )
            )
    return segments_found
