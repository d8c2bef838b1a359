"""Scores: how far they move, how well they tell groups apart, and who is close to a threshold."""

from collections.abc import Callable
from math import floor, log, log10

import numpy as np
from scipy.special import expit, logit

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch.decision import Decision


def displacement(before: Floats, after: Floats, weight: Floats | None = None) -> float:
    """Mean distance of the new from the old probabilities."""
    return float(np.average(np.abs(after - before), weights=weight))


def rank_inversions(before: Floats, after: Floats) -> float:
    """Share of pairs of people whose order is reversed: (1 - Kendall's tau) / 2.

    >>> rank_inversions(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.1, 0.3]))
    0.333...
    """
    from scipy.stats import kendalltau  # noqa: PLC0415 a second to import, and rarely asked

    tau = kendalltau(before, after).statistic
    return 0.0 if np.isnan(tau) else float((1 - tau) / 2)


# How well a number tells the groups apart: AUC, 0.5 for not at all and 1 for certainly.

COPY = 0.98
"""A rank correlation with the score above this is a copy of it."""


def group_auc(score: Floats, group: Ints) -> float:
    """The largest AUC of one group against the others, whichever way round; gaps are left out.

    >>> group_auc(np.array([1.0, 2.0, 3.0, np.nan]), np.array([0, 0, 1, 1]))
    1.0
    """
    known = (group >= 0) & ~np.isnan(score)
    score, group = score[known], group[known]
    return told_best(group, lambda inside: mann_whitney(score, inside))[0]


def told_best(group: Ints, auc_of: Callable[[Bools], float]) -> tuple[float, int]:
    """The largest AUC of one group against the others, whichever way round; and which group."""
    best, which = 0.5, 0
    for g in range(int(group.max(initial=0)) + 1):
        inside = group == g
        if not inside.any() or inside.all():
            continue
        one = auc_of(inside)
        if max(one, 1 - one) > best:
            best, which = max(one, 1 - one), g
    return best, which


def ranks(values: Floats) -> Floats:
    """Ranks from 1, those who are equal share the mean of theirs.

    As ``scipy.stats.rankdata``, which takes longer to import than most commands run.

    >>> ranks(np.array([0.5, 0.1, 0.5, 0.9])).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    _, place, people = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(people) - (people - 1) / 2)[place])


def is_copy(values: Floats, scores: Floats) -> bool:
    """Whether numbers order people as the scores do, or the other way round."""
    return abs(float(np.corrcoef(ranks(values), ranks(scores))[0, 1])) > COPY


def mann_whitney(score: Floats, inside: Bools) -> float:
    """The share of pairs, one inside and one outside, in which the one inside has more."""
    n, m = int(inside.sum()), int((~inside).sum())
    if not n or not m:
        return 0.5
    return float((ranks(score)[inside].sum() - n * (n + 1) / 2) / (n * m))


# Close calls: the scores of people whom the base model nearly decided the other way.

Between = tuple[float, float]
ANY: Between = (0.0, 1.0)
"""Every score."""
WHOLE = 5.0
"""Where so many points double the odds, bands end at whole points."""
CLOSE, CLOSER = 19.0, 9.0
"""A call is close where the odds are at most so many times those of the threshold."""


def close_calls(decision: Decision, odds: float = CLOSER) -> Between:
    """Between which scores a call is close.

    >>> close_calls(Decision()), close_calls(Decision(threshold=0.2), CLOSE)
    ((0.1, 0.9), (0.013, 0.83))
    """
    low, high = (away(decision, far) for far in (-log(odds), log(odds)))
    return low, high


def away(decision: Decision, far: float) -> float:
    """The score so many log-odds from the threshold, round; of several thresholds the distance.

    >>> away(Decision(threshold=0.8), -0.5)
    0.71
    >>> away(Decision(score_unit="points", threshold=640,
    ...               points={"base": 600, "odds": 30, "double": 20}), -0.5)
    626.0
    """
    if decision.in_points:
        points = far / decision.scale.unit
        whole = decision.scale.double >= WHOLE  # as people read them
        digits = 0 if whole or not points else max(0, 1 - floor(log10(abs(points))))
        return float(decision.cut + round(points, digits))
    if decision.cuts is None:
        return two_digits(float(expit(logit(decision.cut) + far)))
    middle = sorted(decision.thresholds)[len(decision.thresholds) // 2]
    distance = float(expit(logit(middle) + far)) - middle
    return round(distance, 1 - floor(log10(abs(distance)))) if distance else 0.0


def two_digits(score: float) -> float:
    """A score to two digits of its distance from 0 or 1.

    >>> two_digits(0.4378), two_digits(0.01234), two_digits(0.98766)
    (0.44, 0.012, 0.988)
    """
    far = min(score, 1 - score)
    digits = 1 - floor(log10(far)) if far > 0 else 6
    return round(score, digits)
