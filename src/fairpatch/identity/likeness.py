"""Scores as models are compared by them: whatever their unit, about 0 to 1."""

from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Floats
from fairpatch.base import scores_of
from fairpatch.decision import Decision


def scores_alike(f_logit: Floats, decision: Decision, thresholds: Any) -> Floats:
    """Scores again of log-odds, by which models are compared: without what rounding has added.

    A coarse score lies at the edges that it is compared by.
    """
    scores = np.round(scores_of(f_logit, decision, thresholds), 12)
    return np.asarray(likeness(decision, scores))


def likeness(decision: Decision, score: Any) -> Any:
    """A score, numbers or an expression, by which models are compared: about 0 to 1.

    Points are laid along the middle of a probability, four units of log-odds from end to end.
    """
    if not decision.in_points:
        return score
    along = (score - decision.scale.base) * (decision.scale.unit / 4) + 0.5
    return along.clip(0.0, 1.0) if isinstance(along, nw.Expr) else np.clip(along, 0.0, 1.0)
