"""What a refused target's page tells of a small group: tens of people, never the last one.

To the last digit, P-Rule and rate difference gave a group of 24 its exact share.
"""

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Target
from fairpatch.measure.metric import P_RULE
from fairpatch.report.refusal import RoundedShares

MANY = bool(os.environ.get("FAIRPATCH_ATTACK"))


def frontier_of(seed):
    """A fit among whose groups one has a few tens of people, on the selection rows half."""
    random = np.random.default_rng(seed)
    sizes = {"one": 900, "two": 600, "third": int(random.integers(24, 80))}
    s = np.repeat(list(sizes), list(sizes.values()))
    shift = pd.Series(s).map({"one": 0.6, "two": 0.2, "third": -0.8}).to_numpy()
    a = random.normal(size=len(s)) + shift
    p = 1 / (1 + np.exp(-a))
    X = pd.DataFrame({"a": a, "b": random.normal(size=len(s)) + shift, "p": p})
    y = (random.random(len(s)) < p).astype(int)
    g = FairPatch("p", Target(p_rule=0.2), splits=(0.5, 0.5, 0))
    return g.fit(X, y, sensitive_features={"s": s}).frontier_


@pytest.mark.parametrize("seed", range(200 if MANY else 4))
def test_nobody_of_a_small_group_is_told(seed):
    """Even to somebody who knows every other group's rate and how many there are of each."""
    frontier = frontier_of(seed)
    tens = RoundedShares.of(frontier, [P_RULE])
    third = sorted(str(v) for (v,) in frontier.counts.by("s").known().groups).index("third")
    for by_feature in frontier.dials[::7]:
        dial = by_feature["s"]
        size = dial.size.sum(1)
        assert size[third] >= 10
        for k in range(0, len(dial.positive), max(len(dial.positive) // 5, 1)):
            low, high = tens.metric(P_RULE, dial.positive[k], np.asarray(dial.size, float))
            others = np.delete(dial.positive[k].sum(1) / size, third)
            fits = [
                n
                for n in range(int(size[third]) + 1)
                for mine in [n / size[third]]
                if low <= min(mine, *others) / max(mine, *others) <= high
            ]
            assert len(fits) >= 9


def test_groups_below_ten_are_nowhere_in_it():
    """Rows may be chosen anew: who was many when it was fitted is few on others."""
    frontier = frontier_of(0)
    counts = frontier.counts.by("s").known()
    few = np.where([v == ("third",) for v in counts.groups], 9 / counts.sizes, 1.0)
    scaled = counts.n * few.reshape(-1, *[1] * (counts.n.ndim - 1))
    fewer = replace(frontier, counts=replace(counts, n=scaled))
    assert [len(groups) for groups in RoundedShares.of(fewer, [P_RULE]).large.values()] == [2]
