"""Decisions as made are what a monitor judges; a business metric weighs rows and fills no gap."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Roles, Target
from fairpatch.data.rows import Rows
from fairpatch.datasets import Population
from fairpatch.life import History, monitor
from fairpatch.life.alternatives import Money, _given_up
from fairpatch.life.plan import Need
from fairpatch.patch import Patch

TWO = {"a": (0.6, 0.0), "b": (0.4, 1.0)}


def people(n, seed):
    found = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=TWO).sample(n, seed=seed)
    return found.to_pandas().drop(columns="id")


def test_a_monitor_judges_the_decisions_that_were_made(tmp_path):
    target, roles = Target(p_rule=0.75), Roles(decided={"final": "A"})
    g = FairPatch("score", target, roles=roles)
    g.fit(people(8_000, 0), "y", sensitive_features=["group"])
    month = people(6_000, 1)
    month["final"] = np.where(month["score"] > 0.7, "A", "D")  # a threshold that was moved
    history = History(tmp_path / "history.jsonl")
    watched = monitor(
        g.patched_, month, "y", sensitive_features=["group"], target=target, period="2026-01",
        history=history,
    )  # fmt: skip
    period = watched.last
    approved = period.counts.along("before", "after")[:, 1].sum()
    assert approved == (month["final"] == "A").sum()
    assert any("are not this patch's" in finding.text for finding in period.findings)


# what is given up, by hand: two rows approved before, the third too after; weights 1, 5 and 10
ROWS = Rows.of(
    pd.DataFrame({"x": [0.0, 0, 0, 0]}), np.array([1, 0, 0, 1]), None,
    np.array([1.0, 1, -1, -1]), np.array([1.0, 5, 10, 4]),
)  # fmt: skip
AFTER = np.array([True, True, True, False])
MONEY = Money(np.array([100.0, 100, 50, 10]), np.array([20.0, 20, 20, 20]))


@pytest.mark.parametrize(
    ("metric", "worse"),
    [
        ("accuracy", 10 / 20),  # the third was right, and is not any more
        ("approvals", 1 - 16 / 6),
        ("expected_loss", (500 + 500) / 500 - 1),
        ("profit", ((20 - 500) - (20 - 1_000)) / 480),
        ("auc", 0.0),  # a patch that changes no score
        ("ks", 0.0),
    ],
)
def test_what_is_given_up_is_weighed(metric, worse):
    same = Patch(columns=[], concepts=[])
    found = _given_up(Need(metric=metric), ROWS, same, AFTER, MONEY)
    assert found == pytest.approx(worse)


def test_an_amount_that_is_missing_is_nobodys_zero():
    table = pd.DataFrame({"amount": [100.0, None, 50.0]})
    with pytest.raises(ValueError, match="which has no value in 1 of 3 rows"):
        Money.of(table, Need(metric="expected_loss", amount="amount"))
    with pytest.raises(ValueError, match="profit needs gain"):
        Money.of(table.fillna(0), Need(metric="profit", amount="amount"))
