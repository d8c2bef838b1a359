"""Who may change in which direction: the one place that says what the three words mean."""

from typing import Literal

import numpy as np

from fairpatch._arrays import Bools

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
