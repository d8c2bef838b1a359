"""The cells of the table of counts: label, decision of f, decision of g; and who may change.

Sets of cells are what every rate is made of; nothing else knows their shape.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools

UNKNOWN = 2
"""Index of a missing label on its axis: 0, 1, unknown."""
CELLS = (3, 2, 2)
"""Labels, decisions of f, decisions of g."""


def cells(label: int | None = None, before: int | None = None, after: int | None = None) -> Bools:
    """The cells (label, decision of f, decision of g) with some coordinates; all of them with none.

    >>> int(cells().sum()), int(cells(label=1).sum()), int(cells(before=0, after=1).sum())
    (12, 4, 3)
    """
    mask = np.ones(CELLS, bool)
    for value, index in zip((label, before, after), np.ogrid[:3, :2, :2], strict=True):
        if value is not None:
            mask &= index == value
    return mask


def coordinates() -> tuple[NDArray[np.int_], NDArray[np.int_], NDArray[np.int_]]:
    """Label, decision of f and decision of g of every cell, to compare with."""
    label, before, after = np.ogrid[:3, :2, :2]
    return label, before, after


def atoms(masks: NDArray[Any]) -> list[Bools]:
    """Sets of cells that no mask tells apart."""
    member = masks.reshape(len(masks), -1).T
    return [
        np.asarray((member == signature).all(1).reshape(CELLS))
        for signature in np.unique(member, axis=0)
    ]


# Who may change in which direction: the one place that says what the three words mean.

Direction = Literal["both", "promote_only", "demote_only"]
DIRECTIONS: tuple[Direction, ...] = ("both", "promote_only", "demote_only")


def may_promote(direction: Direction) -> bool:
    """Whether a denial may become an approval."""
    return direction != "demote_only"


def may_demote(direction: Direction) -> bool:
    """Whether an approval may be taken away."""
    return direction != "promote_only"


def untouched(direction: Direction, approved: Bools) -> Bools:
    """Whom a direction leaves alone, given whom f approves.

    >>> untouched("promote_only", np.array([True, False]))
    array([ True, False])
    """
    return np.where(approved, not may_demote(direction), not may_promote(direction))
