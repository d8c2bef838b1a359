"""The decision rule, once: when a patch changes what f decides (METHOD section 1).

    approved by f  (f_logit > 0)   changes where r <= 0, if approvals may be withdrawn
    declined by f  (f_logit <= 0)  changes where r < 0, if approvals may be given

A score of exactly the threshold is on the side that f decides (``base.AT_THRESHOLD``): the closest
call of all.

It is f's decision, reversed: no logarithm and no product, so no rounding. The rule is written for
anything that compares and combines: arrays, one person's numbers, columns of an engine.
``tests/patch/test_decide.py`` has the table of cases that SQL and ONNX are held to.
"""

from typing import Any

import numpy as np

from fairpatch._tools.arrays import Bools, Floats
from fairpatch.measure.cells import Direction, may_demote, may_promote


def changes(approved: Any, declined: Any, ratio: Any, direction: Direction) -> Any:
    """Whether the decision changes, given whether f approves or declines.

    >>> changes(True, False, 0.0, "both"), changes(False, True, 0.0, "both")
    (True, False)
    >>> changes(True, False, -1.0, "promote_only")
    False
    """
    withdrawn, given = approved & (ratio <= 0.0), declined & (ratio < 0.0)
    if not may_demote(direction):
        return given
    return withdrawn | given if may_promote(direction) else withdrawn


def decide(f_logit: Floats, ratio: Floats, direction: Direction) -> Bools:
    """Whether each person is approved: f's decision, reversed where the ratio says so.

    >>> decide(np.array([1.0, -1.0, 0.0]), np.array([-1.0, -1.0, -1.0]), "both")
    array([False,  True,  True])
    """
    approved = f_logit > 0
    return np.asarray(approved ^ changes(approved, ~approved, ratio, direction))
