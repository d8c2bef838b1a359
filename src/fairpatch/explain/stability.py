"""Would the same people change if we learned again? Refits on bootstraps with other seeds."""

from dataclasses import dataclass

import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats
from fairpatch.choose.fit import Fitted
from fairpatch.data.rows import Rows
from fairpatch.patched import PatchedModel


@dataclass(frozen=True, eq=False)
class Stability:
    """How often each person changes over refits with the same settings."""

    refits: int
    share: Floats
    """Of the refits, in how many a row changes."""
    changed: Bools
    """Which rows the patch itself changes."""
    sets: Bools
    """Which rows each refit changes: (refits, rows)."""

    @property
    def of_changed(self) -> float:
        """Of the patch's changes, the share that a refit makes too, on average."""
        return float(self.share[self.changed].mean()) if self.changed.any() else 1.0

    @property
    def firm(self) -> float:
        """Of the patch's changes, the share that at least 4 of 5 refits make too."""
        return float(np.mean(self.share[self.changed] >= 0.8)) if self.changed.any() else 1.0


def stability(model: PatchedModel, rows: Rows, fitted: Fitted, *, refits: int = 10) -> Stability:
    """Learn the patch again on bootstraps of these rows, with its own settings.

    Each refit is turned to as many changes each way as the patch makes: the question is who, not
    how many.

    Parameters
    ----------
    model : PatchedModel
        f with its patch.
    rows : Rows
        Rows that f has scored.
    fitted : Fitted
        The fit, ``fitted_`` of an estimator.
    refits : int
        How many bootstrap refits.

    Returns
    -------
    Stability
    """
    check.whole("refits", refits, 0)
    patch, f_logit = model.patch, rows.f
    approved = f_logit > 0
    changed = patch.decide(rows.X, f_logit) != approved
    sets = np.zeros((refits, len(rows)), bool)
    strata = [np.flatnonzero(rows.s.strata == v) for v in np.unique(rows.s.strata)]
    if fitted.learner is None:
        raise ValueError("a patch is learned again by its learner: review with refits=0")
    ask = None if isinstance(model.base.estimator, str) else model.base.logits
    again = fitted.learner.relearn(patch, rows, fitted.encoder, fitted.target, ask)
    for k in range(refits):
        random = np.random.default_rng(k)
        # by strata, so that every group stays
        drawn = np.concatenate([random.choice(rows_of, len(rows_of)) for rows_of in strata])
        ratio = again(drawn, k)
        for side in (approved, ~approved):
            first = np.argsort(np.where(side & (f_logit != 0), ratio, np.inf), kind="stable")
            sets[k, first[: (changed & side).sum()]] = True  # the lowest ratios change first
    return Stability(refits, sets.mean(0), changed, sets)
