"""f's confidence as a table of score bands with whole points (METHOD section 18).

A hundred points are the log-odds that one person in ten exceeds, so that points mean the same for
a model of few and of many columns. Bands end at scores that people use.
"""

from collections.abc import Sequence
from math import inf

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.learner import FARTHEST
from fairpatch.decision import Decision
from fairpatch.measure.close_calls import Between, away
from fairpatch.measure.direction import Direction, may_demote, may_promote
from fairpatch.patch import Patch
from fairpatch.patch.model import weights_of
from fairpatch.patch.parts import ScoreBand

STEPS = (*range(6, 60, 6), 66, 78, 90, 102, 116, FARTHEST)
"""Points of the bands, from the threshold outwards; nearest to it they are 0.

Sixes, where columns have points in fives: as on a vernier, the points needed can then be set by
ones, and each step changes the decisions of few. With fives, one step moved a P-Rule by a tenth.
"""
FINE = (*range(1, 60), *STEPS[9:])
"""The same of a card of so few columns that its points leave gaps: bands that decide alike are then
one, so that it reads no longer."""
FEW = 2
"""Columns of such a card, at most."""
QUANTILE = 0.9


def full_confidence(f_logit: Floats) -> float:
    """The log-odds that are worth a hundred points."""
    return float(np.quantile(np.abs(f_logit), QUANTILE)) or 1.0


def bands_of(
    f_logit: Floats,
    decision: Decision,
    direction: Direction,
    only: Between | None = None,
    steps: Sequence[int] = STEPS,
) -> tuple[ScoreBand, ...]:
    """The bands of the scores of whom a decision may change, from the lowest score."""
    hundred = full_confidence(f_logit)
    t, favourable = decision.cut, bool(decision.favourable)
    bands: list[ScoreBand] = []
    for denied in (True, False):
        if not (may_promote if denied else may_demote)(direction):
            continue
        below = denied == favourable  # the side of the threshold
        sign = -1 if below else 1
        edges = _edges(
            [away(decision, sign * hundred * s / 100) for s in steps], decision, sign, steps
        )
        bands += _side(t, edges, below=below, only=only)
    return tuple(sorted(bands, key=lambda b: -inf if b.at_least is None else b.at_least))


def _edges(
    scores: list[float], decision: Decision, sign: int, steps: Sequence[int]
) -> list[tuple[float, int]]:
    """Each band's end nearer to the threshold, rounded, and its points.

    Those that fall together are one band, of more points.
    """
    low, high = (-inf, inf) if decision.in_points or decision.cuts else (0.0, 1.0)
    kept = {
        edge: points
        for edge, points in zip(scores, steps, strict=True)
        if sign * (edge - decision.cut) > 0 and low < edge < high
    }
    return sorted(kept.items(), key=lambda e: sign * e[0])


def _side(
    t: float, edges: list[tuple[float, int]], *, below: bool, only: Between | None
) -> list[ScoreBand]:
    """The bands of one side of the threshold; beyond ``only`` no decision changes."""
    ends: list[tuple[float, int | None]] = [(t, 0), *edges]
    if only is not None:
        limit = only[0] if below else only[1]
        ends = [e for e in ends if (e[0] > limit if below else e[0] < limit)] + [(limit, None)]
    bands = []
    for (near, points), beyond in zip(ends, [*[e for e, _ in ends[1:]], None], strict=True):
        low, high = (beyond, near) if below else (near, beyond)
        bands.append(ScoreBand(at_least=low, below=high, points=points))
    return bands


def opened(patch: Patch, f_logit: Floats, only: Between | None = None) -> Patch:
    """A card of few columns with bands as fine as those it was learned with.

    Merged at its own points needed, it would decide alike at nearly all others.
    """
    if patch.card is None or len(patch.concepts) > FEW:
        return patch
    bands = bands_of(f_logit, patch.decision, patch.direction, only, FINE)
    return patch.model_copy(update={"card": patch.card.model_copy(update={"confidence": bands})})


def closed(patch: Patch) -> Patch:
    """The same, where neighbouring bands that decide alike whatever points somebody has are one."""
    card, cut = patch.card, patch.decision.cut
    if card is None or len(patch.concepts) > FEW or not patch.strength:
        return patch
    totals = np.full(1, patch.offset)
    for concept in patch.concepts:
        points = np.unique([0.0, *weights_of(concept)]) + concept.intercept
        totals = np.unique(np.add.outer(totals, points))
    favourable = bool(patch.decision.favourable)

    def side(band: ScoreBand) -> bool:
        """Whether it lies below the threshold where low scores are denied, above it where not."""
        below = band.below is not None and band.below <= cut
        return below == favourable

    def deciding(band: ScoreBand) -> int:
        """How many totals change a decision there."""
        if band.points is None:
            return 0
        if side(band):
            return int(np.sum(totals - band.points >= card.approve_at))
        return int(np.sum(totals + band.points <= card.deny_at))

    kept: list[ScoreBand] = []
    for band in card.confidence:
        many = deciding(band)
        own = band if many else band.model_copy(update={"points": None})
        if kept and side(kept[-1]) == side(band) and deciding(kept[-1]) == many:
            nearer = own if side(band) == favourable else kept[-1]  # next to the threshold
            kept[-1] = nearer.model_copy(
                update={"at_least": kept[-1].at_least, "below": band.below}
            )
        else:
            kept.append(own)
    return patch.model_copy(update={"card": card.model_copy(update={"confidence": tuple(kept)})})
