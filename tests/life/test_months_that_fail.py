"""A month that comes twice, and one from which a group has vanished."""

import pytest

from fairpatch import FairPatch, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.datasets import Population
from fairpatch.life.history import History
from fairpatch.life.monitor import monitor

TARGET = Target(p_rule=0.7)


def people(n, seed):
    return Population(p_rule=0.6, accuracy=0.8).sample(n, seed=seed).to_pandas()


@pytest.fixture(scope="module")
def model():
    table = people(3_000, 0)
    X = table.drop(columns=["id", "y", "group"])
    g = FairPatch("score", TARGET).fit(X, table["y"], sensitive_features=table["group"])
    return g.patched_


def month(model, table, period, history, **options):
    X = table.drop(columns=["id", "y", "group"])
    return monitor(
        model, X, table["y"], sensitive_features={"group": table["group"]}, target=TARGET,
        period=period, history=history, **options,
    )  # fmt: skip


def test_the_same_month_again_changes_nothing(model, tmp_path):
    """A scheduler that tries again must not fail; other people in its place are refused."""
    history = History(tmp_path / "h.jsonl")
    first = month(model, people(1_000, 5), "2026-10", history)
    written = history.path.read_bytes()
    again = month(model, people(1_000, 5), "2026-10", history)
    assert history.path.read_bytes() == written
    assert (first.added, again.added) == (True, False)
    assert again.verdict == first.verdict
    assert "in the history already, as it is: nothing was added" in str(again)
    with pytest.raises(ValueError, match="2026-10 of this patch is in .* already"):
        month(model, people(1_000, 6), "2026-10", history)


def test_a_group_that_vanishes_is_a_finding_and_no_certificate(model, tmp_path):
    history = History(tmp_path / "h.jsonl")
    month(model, people(2_000, 5), "2026-10", history)
    november = people(2_000, 6)
    gone = november["group"].value_counts().index[1]
    without = november[november["group"] != gone]
    watched = month(model, without, "2026-11", history)
    assert watched.verdict is Verdict.GROUP_GONE
    assert Verdict.GROUP_GONE.exit_code == 8
    assert f"of {gone!r} (group)" in str(watched)
    assert "there is nobody now" in str(watched)
    assert {c.verdict for c in watched.checks} >= {Verdict.GROUP_GONE}


def test_also_in_the_first_month_where_it_is_known_who_there_was(model, tmp_path):
    table = people(2_000, 6)
    shares = table["group"].value_counts(normalize=True).to_dict()
    gone = table["group"].value_counts().index[1]
    few = table.drop(table.index[table["group"] == gone][5:])
    watched = month(
        model, few, "2026-11", History(tmp_path / "h.jsonl"), expected={"group": shares}
    )
    assert watched.verdict is Verdict.GROUP_GONE
    assert "there is fewer than ten people now" in str(watched)


def test_a_month_like_any_other_is_none(model, tmp_path):
    for seed in range(20):
        history = History(tmp_path / f"{seed}.jsonl")
        month(model, people(400, 2 * seed), "2026-10", history)
        watched = month(model, people(300, 2 * seed + 1), "2026-11", history)
        assert watched.verdict is not Verdict.GROUP_GONE
