"""f's confidence as a table of score bands with whole points (METHOD section 18).

A hundred points are the log-odds that one person in ten exceeds, so that points mean the same for
a model of few and of many columns. Bands end at scores that people use.
"""

from math import inf

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.close_calls import Between, away
from fairpatch.choose.pool import FARTHEST
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction, may_demote, may_promote
from fairpatch.patch.parts import ScoreBand

STEPS = (*range(6, 60, 6), 66, 78, 90, 102, 116, FARTHEST)
"""Points of the bands, from the threshold outwards; nearest to it they are 0.

Sixes, where columns have points in fives: as on a vernier, the points needed can then be set by
ones, and each step changes the decisions of few. With fives, one step moved a P-Rule by a tenth.
"""
QUANTILE = 0.9


def full_confidence(f_logit: Floats) -> float:
    """The log-odds that are worth a hundred points."""
    return float(np.quantile(np.abs(f_logit), QUANTILE)) or 1.0


def bands_of(
    f_logit: Floats, decision: Decision, direction: Direction, only: Between | None = None
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
        edges = _edges([away(decision, sign * hundred * s / 100) for s in STEPS], decision, sign)
        bands += _side(t, edges, below=below, only=only)
    return tuple(sorted(bands, key=lambda b: -inf if b.at_least is None else b.at_least))


def _edges(scores: list[float], decision: Decision, sign: int) -> list[tuple[float, int]]:
    """Each band's end nearer to the threshold, rounded, and its points.

    Those that fall together are one band, of more points.
    """
    low, high = (-inf, inf) if decision.in_points or decision.cuts else (0.0, 1.0)
    kept = {
        edge: points
        for edge, points in zip(scores, STEPS, strict=True)
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
