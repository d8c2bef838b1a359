"""How well a number tells the groups apart: AUC, 0.5 for not at all and 1 for certainly."""

from collections.abc import Callable

import numpy as np

from fairpatch._arrays import Bools, Floats, Ints

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
        one = auc_of(group == g)
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
