"""Codes, protected names and reasons on a learned card."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Roles, Target
from fairpatch.card.bins import bin_edges
from fairpatch.card.scorecard import _few
from fairpatch.patch.apply import apply

N = 6_000


def lenders(seed=0):
    """People with no file (-1), more of them in the group that f is hard on."""
    r = np.random.default_rng(seed)
    group = r.choice(["a", "b"], N, p=[0.65, 0.35])
    none = r.random(N) < np.where(group == "b", 0.4, 0.08)
    q = r.normal(0, 1, N)
    util = np.where(none, -1, np.clip(np.round(50 - 15 * q + r.normal(0, 15, N)), 0, 120))
    z = 0.9 * q - 1.2 * none + r.normal(0, 0.4, N)
    frame = pd.DataFrame(
        {
            "util": util, "age": r.integers(20, 70, N) + 8 * (group == "a"), "group": group,
            "trades": r.integers(0, 12, N), "score": 1 / (1 + np.exp(-z)),
        }
    )  # fmt: skip
    return frame.assign(paid=(r.random(N) < 1 / (1 + np.exp(-q))).astype(int))


TABLE = lenders()


def fitted(roles=None, **target):
    g = FairPatch("score", Target(p_rule=0.75, **target), roles=roles)
    return g.fit(TABLE, "paid", sensitive_features=["group"])


@pytest.mark.parametrize("said", [None, {"util": {-1: "no file"}}])
def test_a_code_has_a_line_and_the_others_no_part_in_it(said):
    g = fitted(None if said is None else Roles(special=said))
    line = "util is -1 (no file)" if said else "util is -1"
    named = {own.name: own.points for own in g.patch_.lines}
    assert named[line] > 0
    others = [points for name, points in named.items() if name.startswith("util") and name != line]
    assert all(points < named[line] for points in others)  # not those of the bin beside it
    made = apply(g.patch_, TABLE, "score", with_reason=True)
    own = made[(made["util"] == -1) & made["fairpatch_changed"]]
    assert len(own) > 50
    assert own["fairpatch_reason"].str.contains(line, regex=False).all()
    others = made[(made["util"] != -1) & made["fairpatch_changed"]]
    assert not others["fairpatch_reason"].str.contains("is -1", regex=False).any()


def test_where_somebody_says_that_there_are_no_codes_a_number_is_a_quantity():
    g = fitted(Roles(special={"util": {}}))
    assert not any("is -1" in line.name for line in g.patch_.lines)


def test_a_protected_column_is_not_read_without_a_reason():
    g = fitted()
    assert "age" not in {column.name for column in g.patch_.columns}
    assert "to use it, give a reason" in g.choice_.left_out["age"]
    allowed = fitted(Roles(reasons={"age": "actuarial table 7"}))
    assert "age" not in allowed.choice_.left_out


def test_nobody_loses_an_approval_without_a_reason():
    g = FairPatch("score", Target(p_rule=0.8, approvals="keep"))
    g.fit(TABLE, "paid", sensitive_features=["group"])
    made = apply(g.patch_, TABLE, "score", with_reason=True)
    changed = made[made["fairpatch_changed"]]
    assert (changed["fairpatch_decision"] == 0).sum() > 30
    assert changed["fairpatch_reason"].notna().all()
    assert (changed["fairpatch_reason"] != "").all()


def test_no_bin_is_of_a_few_people_not_the_last_one_either():
    values = np.repeat([0.0, 1.0, 2.0, 3.0], [50, 9, 50, 5])
    edges = bin_edges(values, 6)
    sizes = np.diff([0, *(int((values < e).sum()) for e in edges), len(values)])
    assert (sizes >= 10).all()


def test_of_two_near_numbers_the_one_that_more_people_have_is_kept():
    points = np.array([0.0, 20.0, 25.0, 60.0])
    assert _few(points, np.array([9.0, 30, 3, 9]), 3, 0).tolist() == [0, 20, 20, 60]
    assert _few(points, np.array([9.0, 3, 30, 9]), 3, 0).tolist() == [0, 25, 25, 60]
    assert _few(points, np.array([9.0, 3, 30, 9]), 3, 1).tolist() == [0, 20, 20, 60]
