"""Would the same people change if we learned again? Refits on bootstraps with other seeds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.choose.candidates import train_candidates
from fairpatch.choose.cards import aims_of, push_problem
from fairpatch.choose.fit import Fitted
from fairpatch.choose.learners import Push
from fairpatch.data.rows import Rows
from fairpatch.learn.adversarial.problem import Grid, Settings
from fairpatch.learn.push.card import learn_points
from fairpatch.measure.direction import untouched
from fairpatch.patch import Patch
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

    Each refit is turned to as many changes as the patch makes: the question is who, not how many.
    """
    patch, f_logit = model.patch, rows.f
    approved = f_logit > 0
    changed = patch.decide(rows.X, f_logit) != approved
    sets = np.zeros((refits, len(rows)), bool)
    strata = [np.flatnonzero(rows.s.strata == v) for v in np.unique(rows.s.strata)]
    again = _card(patch, rows, fitted) if patch.card else partial(_game, patch, rows, fitted)
    for k in range(refits):
        random = np.random.default_rng(k)
        # by strata, so that every group stays
        drawn = np.concatenate([random.choice(rows_of, len(rows_of)) for rows_of in strata])
        ratio = again(drawn, k)
        may = (f_logit != 0) & ~untouched(patch.direction, approved)
        first = np.argsort(np.where(may, ratio, np.inf), kind="stable")
        sets[k, first[: changed.sum()]] = True  # the lowest ratios change first
    return Stability(refits, sets.mean(0), changed, sets)


def _card(patch: Patch, rows: Rows, fitted: Fitted) -> Callable[[Ints, int], Floats]:
    """Learns a card from some of the rows; gives the ratios of all of them."""
    if not isinstance(fitted.learner, Push) or fitted.target is None:
        raise ValueError("a card is learned again from the fit that made it: review with refits=0")
    rules = fitted.learner.rules
    target, problem = fitted.target, push_problem(rows, fitted.encoder, patch.decision, rules)
    each, rest = patch.effect(rows.f)

    def again(drawn: Ints, _: int) -> Floats:
        some = problem.take(drawn)
        aims = aims_of(some, target)
        which = min(int(patch.provenance.settings.get("aim", 0)), len(aims) - 1)
        points = learn_points(some, aims[which], rules).of(problem.seen)
        return np.asarray(each * points + rest)

    return again


def _game(patch: Patch, rows: Rows, fitted: Fitted, drawn: Ints, seed: int) -> Floats:
    """The same by the paper's learner, with the patch's own lambdas."""
    own = patch.provenance.settings
    fair, ratio, concepts = (
        (float(own[k]),) for k in ("lambda_fair", "lambda_ratio", "lambda_concepts")
    )
    candidates = train_candidates(
        rows.take(drawn),
        Grid.of(fair, ratio, concepts, seeds=(seed,)),
        Settings(
            fairness=own["fairness"],
            direction=patch.direction,
            n_concepts=own["n_concepts"],
            n_steps=own["n_steps"],
            random_state=seed,
        ),
        encoder=fitted.encoder,
        decision=patch.decision,
        ratio_loss=own.get("ratio_loss", "uniform"),
    )
    return np.asarray(candidates.ratio(rows.X)[0])
