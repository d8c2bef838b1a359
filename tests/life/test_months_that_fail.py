"""A month that comes twice, and one from which a group has vanished."""

from html import unescape

import numpy as np
import pytest

from fairpatch import FairPatch, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.datasets import Population
from fairpatch.life.guarantees import watch
from fairpatch.life.history import History, Period
from fairpatch.life.history_page import history_page
from fairpatch.life.monitor import monitor, shown
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE
from fairpatch.measure.over_time import missed_lately

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


def counted(name, ratio, seed, n=500):
    """A month of two groups of which half and ``ratio`` halves are approved."""
    random = np.random.default_rng(seed)
    decided = np.concatenate([random.random(n) < 0.5 * ratio, random.random(n) < 0.5])
    counts = Counts.from_arrays(
        decision=decided, new_decision=decided, sensitive_features={"sex": ["f"] * n + ["m"] * n}
    )
    own = shown(counts, FOUR_FIFTHS)
    return Period.of(counts, period=name, at="2026-01-01T00:00:00+00:00", patch="0" * 64, shown=own)


FOUR_FIFTHS = Target(p_rule=0.8)
YEAR = [f"2026-{m:02}" for m in range(1, 13)]


def test_months_that_drift_are_watched_before_all_periods_show_it():
    ratios = [0.86] * 7 + [0.82, 0.76, 0.72, 0.70, 0.68]
    pairs = zip(YEAR, ratios, strict=True)
    months = [counted(name, r, 10 + k, 1_500) for k, (name, r) in enumerate(pairs)]
    verdicts = [
        watch(months[: t + 1], FOUR_FIFTHS, patch="0" * 64).verdict for t in range(len(months))
    ]
    assert Verdict.WATCH not in verdicts[:8]
    assert verdicts[10:] == [Verdict.WATCH, Verdict.REFUTED]
    now = watch(months[:11], FOUR_FIFTHS, patch="0" * 64)
    assert "Watch P-Rule at least 0.8 (sex): 2026-09 to 2026-11, by themselves, miss it" in str(now)


def test_a_guarantee_at_its_limit_is_rarely_watched():
    """The rate that the note tells, 0.1 in five years, each period asking anew."""
    every = 0
    for seed in range(25):
        tables = [counted(YEAR[0], 0.8, 1_000 * seed + t).counts.by("sex") for t in range(60)]
        every += any(missed_lately(tables[: t + 1], P_RULE, 0.8) for t in range(60))
    assert every / 25 <= 0.28


def test_the_page_tells_the_last_month_and_every_groups_rates(tmp_path):
    history = History(tmp_path / "h.jsonl")
    ratios = [0.82] * 5 + [0.78, 0.72, 0.7, 0.7]
    for k, (name, ratio) in enumerate(zip(YEAR[:9], ratios, strict=True)):
        history.append(counted(name, ratio, k, 700))
    text = unescape(history_page(history, FOUR_FIFTHS))
    assert "2026-07 to 2026-09, by themselves, miss 0.8: look at what changed." in text
    assert "2026-09 by itself: 0.68 (0.60 to 0.77)." in text
    picture = text[text.index("Approved by sex, period by period") :]
    assert picture.count("<polyline") == 2
    for name in ("f", "m"):
        assert f">{name}</text>" in picture


def test_the_correction_of_a_bad_month_is_not_held_against_it(model, tmp_path):
    history = History(tmp_path / "h.jsonl")
    good = people(3_000, 4)
    month(model, people(3_000, 3), "2026-01", history)
    renamed = good.assign(group=good["group"].map({"a": "A", "b": "B"}))
    assert month(model, renamed, "2026-02", history).verdict == "a group is gone"
    corrected = month(model, good, "2026-02", history, replace=True)
    assert corrected.verdict != "a group is gone", str(corrected)


def test_nobody_whose_group_is_known_is_no_green_month_and_may_be_told_later(model, tmp_path):
    history = History(tmp_path / "h.jsonl")
    good = people(3_000, 4)
    month(model, people(3_000, 3), "2026-01", history)
    blank = month(model, good.assign(group=None), "2026-02", history)
    assert blank.verdict == "a group is gone"
    assert "nobody's group is known" in str(blank)
    told = month(model, good, "2026-02", history)  # the register has come: no --replace needed
    assert told.added
    assert told.verdict != "a group is gone", str(told)
