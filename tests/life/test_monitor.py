"""Months counted, noted and judged: in memory and in engines, with labels late and S in part."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

from conftest import TARGET, month
from fairpatch import BaseModel, PatchedModel
from fairpatch.identity.compare import OtherModelError
from fairpatch.life import History, monitor, watch
from fairpatch.life.history import Period, period_name
from fairpatch.life.history_page import history_page
from fairpatch.report.signed import patch_hash

OWN = {"sensitive_features": ["group"], "target": TARGET}


def look(patched, history, rows, name, y="y", **more):
    return monitor(patched, rows, y, period=name, history=history, **OWN, **more)


def test_a_year_of_months_holds_and_a_broken_one_is_known(patched, tmp_path):
    history = History(tmp_path / "history.jsonl")
    for t in range(10):
        found = look(patched, history, month(100 + t, 4_000), f"2026-{t + 1:02}")
    assert found.verdict == "certified"
    assert [p.verdict for p in found.guarantees] == ["certified", "certified"]
    bad = month(200, 4_000)
    bad.loc[bad["group"] == "b", "score"] *= 0.5
    found = look(patched, history, bad, "2026-11")
    assert found.verdict == "shown not to hold"
    assert found.guarantees[0].refuted_in == "2026-11"
    assert [c.verdict for c in found.checks][:1] == ["shown not to hold"]
    found = look(patched, history, month(300), "2026-12")
    assert found.verdict == "shown not to hold"  # what is broken stays so
    assert "shown not to hold since 2026-11" in str(found)


def test_an_engine_counts_as_memory_does(patched, tmp_path):
    rows = month(1)
    relation = duckdb.connect().from_df(rows)
    one, two = (History(tmp_path / name) for name in ("a.jsonl", "b.jsonl"))
    look(patched, one, rows, "2026-01")
    look(patched, two, relation, "2026-01")
    (a,), (b,) = one, two
    assert a.counts == b.counts
    assert a.shown == b.shown
    after = patched.decide(rows)
    for group, told in a.shown["rates"]["group"].items():
        here = (rows["group"] == group).to_numpy()
        assert told["before"]["value"] == pytest.approx((rows["score"] > 0.5)[here].mean())
        assert told["after"]["value"] == pytest.approx(after[here].mean())


def test_labels_come_late_and_are_added_once(patched, tmp_path):
    history = History(tmp_path / "history.jsonl")
    rows = month(2)
    found = look(patched, history, rows.drop(columns="y"), "2026-01", y=None)
    assert found.guarantees[1].periods == ()
    assert "no labels yet" in str(found)
    with pytest.raises(ValueError, match="proves nothing"):
        look(patched, history, month(9).drop(columns="y"), "2026-01", y=None)
    look(patched, history, month(3).drop(columns="y"), "2026-02", y=None)
    found = look(patched, history, rows, "2026-01")
    assert found.guarantees[1].periods == ("2026-01",)
    assert found.guarantees[0].periods == ("2026-01", "2026-02")
    assert not look(patched, history, rows, "2026-01").added
    with pytest.raises(ValueError, match="history.jsonl already"):
        look(patched, history, month(9), "2026-01")
    with pytest.raises(ValueError, match="no period 2026-07"):
        look(patched, history, rows, "2026-07", replace=True)
    found = look(patched, history, month(4), "2026-01", replace=True)
    assert history.of(patch_hash(patched.patch))[0].replaces
    assert len(found.periods) == 2


def test_few_labels_wait_and_those_of_a_sample_do_not(patched, tmp_path):
    rows = month(5, 4_000)
    rows["y"] = rows["y"].astype(object).where(np.arange(len(rows)) % 3 == 0, None)
    for labels, periods in (("all", ()), ("sample", ("2026-01",))):
        history = History(tmp_path / f"{labels}.jsonl")
        found = look(patched, history, rows, "2026-01", labels=labels)
        assert found.guarantees[1].periods == periods


def test_labels_of_the_approved_alone_tell_nothing(patched, tmp_path):
    rows = month(6, 4_000)
    rows["y"] = rows["y"].astype(object).where(patched.decide(rows), None)
    found = look(patched, History(tmp_path / "h.jsonl"), rows, "2026-01", labels="sample")
    assert list(found.guarantees[1].refused) == ["2026-01"]
    assert "hardly anybody's label is known" in str(found)
    assert found.guarantees[1].verdict == "inconclusive"


def test_another_model_is_seen(patched, tmp_path):
    rows = month(7)
    # of people who are alike in a column that the patch reads, it thinks otherwise
    rows["score"] = np.where(rows["num_0"].rank(pct=True) > 0.5, 0.97, 0.03)
    history = History(tmp_path / "h.jsonl")
    with pytest.raises(OtherModelError):  # apply would refuse these rows: nobody was decided so
        look(patched, history, rows, "2026-01")
    assert not list(history)
    found = look(patched, history, rows, "2026-01", if_unlike="ignore")
    assert any(f.severity == "refuse" for f in found.latest.findings)
    assert "another model" in [c.verdict for c in found.checks]


def test_the_history_holds_counts_and_the_page_no_small_ones(patched, tmp_path):
    history = History(tmp_path / "history.jsonl")
    rows = month(8)
    rows.loc[rows.index[:3], "group"] = "rare"
    look(patched, history, rows, "2026-01")
    assert (tmp_path / "history.jsonl").stat().st_mode & 0o077 == 0
    line = json.loads((tmp_path / "history.jsonl").read_text())
    assert sum(map(sum, line["n"])) == 2_000
    page = history_page(history, TARGET)
    assert "rare" not in page
    assert "group" in page
    assert "2026-01" in page


def test_the_page_escapes_what_comes_from_data(patched, tmp_path):
    history = History(tmp_path / "history.jsonl")
    for t in range(3):
        rows = month(30 + t).replace({"group": {"b": "<script>alert(1)</script>"}})
        found = look(patched, history, rows, f"2026-0{t + 1}")
    assert "<script>alert" not in history_page(history, TARGET, watched=found)


def test_a_line_that_was_cut_short_goes_and_one_that_was_spoilt_is_refused(patched, tmp_path):
    path = tmp_path / "history.jsonl"
    history = History(path)
    look(patched, history, month(10), "2026-01")
    path.write_bytes(path.read_bytes() + b'{"format": "fairpatch.per')
    assert len(list(history)) == 1
    look(patched, history, month(11), "2026-02")
    assert len(list(history)) == 2
    path.write_bytes(path.read_bytes().replace(b'"2026-01"', b'"then"'))
    with pytest.raises(ValueError, match="no period"):
        list(history)


def test_periods_have_names_that_sort(patched):
    for name in ("2026", "2026-11", "2026-Q4", "2026-W46", "2026-11-15"):
        assert period_name(name) == name
    for name in ("11-2026", "2026/11", "", "2026-11-15; drop", "2026-99", "２０２６-11"):
        with pytest.raises(ValueError, match="expected a month"):
            period_name(name)
    counts = patched.count(month(12), "y", sensitive_features=["group"])
    period = Period.of(counts, period="2026-01", at="now", patch="0")
    assert period.counts == counts
    with pytest.raises(ValueError, match="no period of this patch"):
        watch([period], TARGET, patch="1")
    assert watch([period], TARGET, patch="0").verdict == "inconclusive"


def test_decisions_that_were_made_are_counted_and_tried(patched, tmp_path):
    rows = month(13)
    applied = patched.apply(rows)
    one, two, three = (History(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    look(patched, one, rows, "2026-01")
    for history, table in ((two, applied), (three, duckdb.connect().from_df(applied))):
        found = look(patched, history, table, "2026-01", decided="fairpatch_decision")
        assert found.last.counts == next(iter(one)).counts
        assert not found.last.findings
    other = applied.assign(fairpatch_decision=applied["score"] > 0.5)
    found = look(patched, one, other, "2026-02", decided="fairpatch_decision")
    assert found.last.shown["changed"]["value"] == 0
    assert "not this patch's" in str(found)
    assert any(f.severity == "refuse" for f in found.latest.findings)
    few = applied.assign(fairpatch_decision=applied["fairpatch_decision"].to_numpy())
    flipped = few.index[:: len(few) // 50][:50]  # fifty decisions are somebody else's
    few.loc[flipped, "fairpatch_decision"] = ~few.loc[flipped, "fairpatch_decision"].astype(bool)
    found = look(patched, one, few, "2026-03", decided="fairpatch_decision")
    (finding,) = [f for f in found.latest.findings if f.figure == "decision"]
    assert 40 / len(few) <= finding.value <= 50 / len(few) + 1e-9  # of counts, so at least
    assert f"at least {finding.value:.1%} of the decisions" in finding.text


@pytest.mark.parametrize("negative", [None, 0])
def test_decisions_that_were_made_are_counted_in_an_engine_too(patched, negative):
    """Whether or not the patch knows the other label, as one that was written by hand does not."""
    decision = patched.patch.decision.replace(negative=negative)
    by_hand = patched.patch.model_copy(update={"decision": decision})
    model = PatchedModel(BaseModel("score"), by_hand)
    rows = month(17).assign(made=lambda people: people["score"] > 0.5)
    there = duckdb.connect().from_df(rows)
    for table in (rows, there):
        counts = model.count(table, "y", sensitive_features=["group"], decided="made")
        assert counts.along("before", "after")[[0, 1], [1, 0]].sum() == 0  # nobody is changed


def test_a_label_that_nobody_knows_is_refused_in_an_engine(patched, tmp_path):
    rows = month(14)
    rows["y"] = rows["y"].astype(float)
    rows.loc[rows.index[:5], "y"] = 2.0
    with pytest.raises(ValueError, match="y has the values? 2; fit has seen 0"):
        look(patched, History(tmp_path / "h.jsonl"), duckdb.connect().from_df(rows), "2026-01")
    rows.loc[rows.index[:5], "y"] = np.nan
    found = look(patched, History(tmp_path / "h.jsonl"), duckdb.connect().from_df(rows), "2026-01")
    assert found.last.counts.along("label")[2] == 5


def test_earlier_people_let_the_first_month_count_and_are_kept(patched, tmp_path):
    history = History(tmp_path / "history.jsonl")
    past = patched.count(month(15, 6_000), "y", sensitive_features=["group"])
    bad = month(16, 4_000)
    bad.loc[bad["group"] == "b", "score"] *= 0.4
    assert look(patched, history, bad, "2026-01", before=past).verdict == "shown not to hold"
    found = look(patched, history, month(17), "2026-02")
    assert found.guarantees[0].refuted_in == "2026-01"
    assert [p.period for p in found.periods] == ["2026-01", "2026-02"]
    with pytest.raises(ValueError, match="said before the first"):
        look(patched, history, month(18), "2026-03", before=past)
    assert "2026-02" in history_page(history, TARGET)


def test_the_same_people_do_not_count_twice_under_another_name(patched, tmp_path):
    history = History(tmp_path / "h.jsonl")
    rows = month(19)
    look(patched, history, rows, "2026-01")
    with pytest.raises(ValueError, match="is it the same table"):
        look(patched, history, rows, "2026-02")
    with pytest.raises(ValueError, match="counts by month, and 2026-Q1 is a quarter"):
        look(patched, history, month(20), "2026-Q1")
    with pytest.raises(ValueError, match="nobody in the table"):
        look(patched, history, rows.iloc[:0], "2026-02")
    assert len(list(history)) == 1


def test_a_correction_takes_back_wrong_labels_too(patched, tmp_path):
    history = History(tmp_path / "h.jsonl")
    wrong, right = month(21), month(22)
    look(patched, history, wrong, "2026-01")
    look(patched, history, right.drop(columns="y"), "2026-01", y=None, replace=True)
    assert history.of(patch_hash(patched.patch), labelled=True) == []
    found = look(patched, history, right, "2026-01")
    (own,) = history.of(patch_hash(patched.patch), labelled=True)
    assert own.counts == patched.count(right, "y", sensitive_features=["group"])
    assert watch(list(history), TARGET, patch=own.patch).guarantees[0].stands.against.tolist() == (
        found.guarantees[0].stands.against.tolist()
    )


def test_few_people_tell_no_more_than_tens(patched, tmp_path):
    history = History(tmp_path / "h.jsonl")
    for t in range(4):
        rows = month(50 + t)
        rows.loc[rows.index[:4], "group"] = None
        found = look(patched, history, rows, f"2026-0{t + 1}")
    assert found.last.shown["group_unknown"] is None
    ends = found.guarantees[0].ends
    assert all(abs(20 * end - round(20 * end)) < 1e-9 for end in ends)


def test_a_group_that_was_not_there_before_is_said(patched, tmp_path):
    history = History(tmp_path / "h.jsonl")
    look(patched, history, month(23), "2026-01")
    rows = month(24)
    rows.loc[rows.index[:40], "group"] = "new"
    rows.loc[rows.index[40:43], "group"] = "rare"
    found = look(patched, history, rows, "2026-02")
    assert "'new' is a group of 'group' that was not there before" in str(found)
    assert "rare" not in str(found)


def test_two_small_months_may_be_alike(patched, tmp_path):
    """Twenty people, all denied: the next month can be the same by chance."""
    history = History(tmp_path / "h.jsonl")
    twenty = month(5, 400)
    twenty = twenty[twenty["score"] < 0.3].head(20)
    look(patched, history, twenty, "2026-01")
    look(patched, history, twenty, "2026-02")
    assert len(list(history)) == 2


def test_one_small_month_keeps_all_of_a_guarantee_coarse(patched, tmp_path):
    history = History(tmp_path / "h.jsonl")
    found = look(patched, history, month(61, 40_000), "2026-01")
    assert not any(g.small for g in found.guarantees)
    small = month(62)
    few = small[small["group"] == "b"].head(4)
    small = pd.concat([small[small["group"] == "a"], few])
    found = look(patched, history, small, "2026-02")
    assert all(g.small for g in found.guarantees if g.feature == "group")
