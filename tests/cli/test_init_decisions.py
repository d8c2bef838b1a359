"""What decisions that were made tell of a table: the score, the threshold, ties, knock-outs."""

import numpy as np
import pandas as pd
import pytest

from fairpatch.cli.profile import profile


def table(n=3_000, seed=0):
    r = np.random.default_rng(seed)
    score = np.round(r.random(n) * 20) / 20
    return pd.DataFrame(
        {
            "test_score": r.integers(20, 100, n).astype(float),
            "ai_score": score,
            "sex": r.choice(["f", "m"], n),
            "disposition": np.where(score >= 0.6, "Advance", "Reject"),
            "good_hire": (r.random(n) < score).astype(int),
        }
    )


def test_decisions_say_which_column_is_the_score_and_what_is_decided_at_the_threshold():
    found = profile(table(), [])
    assert (found.score, found.decided) == ("ai_score", {"disposition": "Advance"})
    assert (found.threshold, found.at_least) == (0.6, True)
    assert not found.ties
    assert not found.other_scores
    above = table().assign(disposition=lambda t: np.where(t["ai_score"] > 0.6, "Advance", "Reject"))
    found = profile(above, [])
    assert (found.threshold, found.at_least) == (0.6, False)


def test_of_two_scores_the_other_is_named_where_nothing_decides_between_them():
    found = profile(table().drop(columns="disposition"), [])
    assert (found.score, found.other_scores) == ("ai_score", ["test_score"])


def test_decisions_in_points_with_overrules_say_the_threshold():
    r = np.random.default_rng(1)
    points = r.integers(400, 900, 4_000)
    approved = (points >= 640) ^ (r.random(4_000) < 0.02)
    frame = pd.DataFrame(
        {"fico": points, "decision": np.where(approved, "APPROVED", "DECLINED"),
         "race": r.choice(["a", "b"], 4_000), "bad": (r.random(4_000) < 0.1).astype(int)}
    )  # fmt: skip
    found = profile(frame, [])
    assert (found.decided, found.threshold) == ({"decision": "APPROVED"}, 640)


@pytest.mark.parametrize(("approved", "said"), [(False, "denied"), (True, "?")])
def test_who_has_no_score_was_denied_or_it_is_asked(approved, said):
    gone = table()
    gone.loc[:200, "ai_score"] = np.nan
    gone.loc[:200, "disposition"] = "Advance" if approved else "Reject"
    assert profile(gone, []).no_score == said


def test_yes_and_no_are_no_decision_and_a_label_is_none():
    frame = table().drop(columns="disposition")
    frame["owns_car"] = np.where(frame["ai_score"] > 0.5, "yes", "no")
    frame["hired"] = np.where(frame["ai_score"] > 0.5, "hired", "rejected")
    assert not profile(frame, []).decided


def test_codes_of_an_age_make_no_band_and_are_unknown_where_it_is_sensitive():
    r = np.random.default_rng(0)
    ages = np.where(r.random(3_000) < 0.05, -99, r.integers(18, 80, 3_000))
    found = profile(table().assign(age=ages, race_years=ages), [])
    assert min(found.ages["age"]) > 0
    assert "age" not in found.unknown  # which is no sensitive feature unless somebody says so
    assert found.unknown["race_years"] == [-99]
