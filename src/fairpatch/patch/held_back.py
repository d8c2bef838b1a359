"""Who is denied only because some lines of a card take points."""

from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.measure.direction import may_promote
from fairpatch.patch.columns import Columns
from fairpatch.patch.model import Patch
from fairpatch.patch.parts import merge
from fairpatch.patch.terms import by_column


def taken(patch: Patch, X: Any) -> dict[str, Floats]:
    """By column, the points that lines take from each person: 0 or below.

    What is commonest has no points on a learned card, so less than none is less than most have.
    """
    merged = merge(patch.concepts, patch.offset)
    by = by_column(merged, patch.columns, Columns.of(X))
    return {column: np.minimum(values, 0.0) for column, values in by.items()}


def held_back(patch: Patch, X: Any, f_logit: Floats) -> Bools:
    """Who is denied, and would be approved if no line took points."""
    denied, after = f_logit <= 0, patch.decide(X, f_logit)
    if patch.card is None or not patch.lines:
        return np.zeros(len(after), bool)
    given = patch.points(X) - np.sum(list(taken(patch, X).values()), axis=0)
    sure = patch.confidence(f_logit, X)
    gains = denied & (given - sure >= patch.card.approve_at) & may_promote(patch.direction)
    stays = ~denied & (given + sure > patch.card.deny_at)
    return np.asarray(~after & (gains | stays))
