"""Would the same people change if we learned again? Refits on bootstraps with other seeds."""

from dataclasses import dataclass

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.choose.candidates import train_candidates
from fairpatch.data.rows import Rows
from fairpatch.learn.problem import Grid, Settings
from fairpatch.measure.direction import untouched
from fairpatch.patch.encoding import Encoder
from fairpatch.patched import PatchedModel


@dataclass(frozen=True, eq=False)
class Stability:
    """How often each person changes over refits with the same settings."""

    refits: int
    share: Floats
    """Of the refits, in how many a row changes."""
    changed: Bools
    """Which rows the patch itself changes."""

    @property
    def of_changed(self) -> float:
        """Of the patch's changes, the share that a refit makes too, on average."""
        return float(self.share[self.changed].mean()) if self.changed.any() else 1.0

    @property
    def firm(self) -> float:
        """Of the patch's changes, the share that at least 4 of 5 refits make too."""
        return float(np.mean(self.share[self.changed] >= 0.8)) if self.changed.any() else 1.0


def stability(model: PatchedModel, rows: Rows, encoder: Encoder, *, refits: int = 10) -> Stability:
    """Learn the patch again on bootstraps of these rows, with its own lambdas.

    Each refit is turned to as many changes as the patch makes: the question is who, not how many.
    ``encoder`` has the columns that the patch may read (``Commod.fitted_.encoder``).
    """
    patch, f_logit = model.patch, rows.f
    own = patch.provenance.settings
    fair, ratio, concepts = (
        (float(own[k]),) for k in ("lambda_fair", "lambda_ratio", "lambda_concepts")
    )
    approved = f_logit > 0
    changed = patch.decide(rows.X, f_logit) != approved
    share = np.zeros(len(rows))
    strata = [np.flatnonzero(rows.s.strata == v) for v in np.unique(rows.s.strata)]
    for k in range(refits):
        random = np.random.default_rng(k)
        # by strata, so that every group stays
        drawn = np.concatenate([random.choice(rows_of, len(rows_of)) for rows_of in strata])
        candidates = train_candidates(
            rows.take(drawn),
            Grid.of(fair, ratio, concepts, seeds=(k,)),
            Settings(
                fairness=own["fairness"],
                direction=patch.direction,
                n_concepts=own["n_concepts"],
                n_steps=own["n_steps"],
                random_state=k,
            ),
            encoder=encoder,
            cutoff=patch.cutoff,
            ratio_loss=own.get("ratio_loss", "uniform"),
        )
        may = (f_logit != 0) & ~untouched(patch.direction, approved)
        first = np.argsort(np.where(may, candidates.ratio(rows.X)[0], np.inf), kind="stable")
        share[first[: changed.sum()]] += 1 / refits  # the lowest ratios change first
    return Stability(refits, share, changed)
