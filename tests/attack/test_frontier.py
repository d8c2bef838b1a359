"""What a run's frontier file tells of a small group: tens of people, never the last one.

To the last digit, P-Rule and rate difference gave a group of 24 its exact share.
"""

import json
import os

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Target
from fairpatch.choose.frontier_file import save_frontier

MANY = bool(os.environ.get("FAIRPATCH_ATTACK"))


def frontier_of(seed):
    """A fit among whose groups one has ten to forty people, on the selection rows about half."""
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
def test_nobody_of_a_small_group_is_told(seed, tmp_path):
    """Even to somebody who knows every other group's rate and how many there are of each."""
    frontier = frontier_of(seed)
    path = save_frontier(frontier, tmp_path / "frontier.json")
    saved = json.loads(path.read_text())
    groups = [str(v) for (v,) in frontier.counts.by("s").known().groups]
    third = sorted(groups).index("third")
    looked = 0
    for record in saved["records"]:
        dial = frontier.dials[record["model"]]["s"]
        k = int(dial.at(record["strength"]))
        size = dial.size.sum(1)
        told = record["metrics"]["s"]["p_rule"]
        if size[third] < 10:
            assert told is None or len(groups) > 2
            continue
        rates = dial.positive[k].sum(1) / size
        others = np.delete(rates, third)
        low, high = told
        fits = [
            n
            for n in range(int(size[third]) + 1)
            for mine in [n / size[third]]
            if low <= min(mine, *others) / max(mine, *others) <= high
        ]
        assert len(fits) >= 9
        looked += 1
    assert looked
    assert set(saved["records"][0]["metrics"]["s"]) == {"p_rule"}
