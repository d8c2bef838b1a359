"""Would the same people change if we learned again? Refits on bootstraps with other seeds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch.choose.candidates import train_candidates
from fairpatch.choose.rows import Rows, codes
from fairpatch.commod import Commod
from fairpatch.learn.problem import Grid, Settings
from fairpatch.patch.model import untouched

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stability:
    """How often each person changes over refits with the same settings."""

    refits: int
    share: Floats
    """Of the refits, in how many a row changes."""
    changed: NDArray[np.bool_]
    """Which rows the patch itself changes."""

    @property
    def of_changed(self) -> float:
        """Of the patch's changes, the share that a refit makes too, on average."""
        return float(self.share[self.changed].mean()) if self.changed.any() else 1.0

    @property
    def firm(self) -> float:
        """Of the patch's changes, the share that at least 4 of 5 refits make too."""
        return float(np.mean(self.share[self.changed] >= 0.8)) if self.changed.any() else 1.0


def stability(
    model: Commod, X: Any, y: Any, *, sensitive_features: Any, refits: int = 10
) -> Stability:
    """Learn the patch again on bootstraps of these rows, with its own lambdas.

    Each refit is turned to as many changes as the patch makes: the question is who, not how many.
    """
    labels = model.labels_of(y)
    rows = Rows(X, labels, sensitive_features)
    f_logit, patch = model.base_.logits(X), model.patch_
    own = patch.provenance.settings
    fair, ratio, concepts = (
        (float(own[k]),) for k in ("lambda_fair", "lambda_ratio", "lambda_concepts")
    )
    changed = patch.decide(X, f_logit) != (f_logit > 0)
    share = np.zeros(len(labels))
    _, s = codes(sensitive_features, len(labels))
    _, stratum = np.unique(s, axis=0, return_inverse=True)
    strata = [np.flatnonzero(stratum == v) for v in np.unique(stratum)]  # every group stays
    for k in range(refits):
        random = np.random.default_rng(k)
        drawn = np.concatenate([random.choice(rows_of, len(rows_of)) for rows_of in strata])
        candidates = train_candidates(
            rows.take(drawn),
            f_logit[drawn],
            Grid.of(fair, ratio, concepts, seeds=(k,)),
            Settings(
                fairness=own["fairness"],
                direction=patch.direction,
                n_concepts=own["n_concepts"],
                n_steps=own["n_steps"],
                random_state=k,
            ),
            encoder=model.encoder_,
            cutoff=patch.cutoff,
            ratio_loss=own.get("ratio_loss", "uniform"),
        )
        may = (f_logit != 0) & ~untouched(patch.direction, f_logit)
        first = np.argsort(np.where(may, candidates.ratio(X)[0], np.inf), kind="stable")
        share[first[: changed.sum()]] += 1 / refits  # the lowest ratios change first
    return Stability(refits, share, changed)
