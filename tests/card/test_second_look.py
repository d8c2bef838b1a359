"""A second look: people are referred to a person, and nothing changes before that."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from cli.test_cli import POPULATION, fairpatch
from fairpatch import FairPatch, Patch, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.choose.certificate import certify
from fairpatch.engines.onnx import patch_graph
from fairpatch.engines.sql import sql
from fairpatch.life.history import History
from fairpatch.life.monitor import monitor
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE
from fairpatch.patch import load, save
from fairpatch.patch.batch import apply_to_capacity, apply_to_places
from fairpatch.patch.edit import difference
from fairpatch.patch.row_scorer import RowScorer

TARGET = Target(p_rule=0.75, action="refer", max_changes=0.2)


def taken_apart(frame):
    return frame.drop(columns=["id", "y", "group"]), frame["y"], frame[["group"]]


@pytest.fixture(scope="module")
def fitted():
    X, y, s = taken_apart(POPULATION.sample(10_000, seed=0).to_pandas())
    return FairPatch("score", TARGET).fit(X, y, sensitive_features=s)


@pytest.fixture(scope="module")
def month():
    return POPULATION.sample(6_000, seed=5).to_pandas()


def test_no_decision_changes_before_a_person_has_looked(fitted, month):
    X, _, _ = taken_apart(month)
    before = (month["score"] > 0.5).to_numpy()
    assert ((fitted.predict(X) == 1) == before).all()
    assert fitted.predict_proba(X)[:, 1] == pytest.approx(month["score"], abs=1e-5)
    referred = fitted.patched_.refer(X)
    assert 0.01 < referred.mean() <= 0.22
    assert not referred[before].any()
    assert "is referred for a second look at" in str(fitted.patch_)
    plain = FairPatch("score", Target(p_rule=0.7)).fit(*taken_apart(month)[:2],
                      sensitive_features=month[["group"]])  # fmt: skip
    with pytest.raises(ValueError, match="refers nobody"):
        plain.patched_.refer(X)


def test_the_same_list_everywhere(fitted, month, spark, tmp_path):
    X, _, _ = taken_apart(month)
    referred = fitted.patched_.refer(X)
    patch = load(save(fitted.patch_, tmp_path / "patch.json"))
    assert patch == fitted.patch_
    con = duckdb.connect()
    con.register("people", month)
    tables = {
        "memory": fitted.patched_.apply(month, with_reason=True),
        "duckdb": fitted.patched_.apply(duckdb.from_df(month), with_reason=True).df(),
        "spark": fitted.patched_.apply(spark.createDataFrame(month), with_reason=True).toPandas(),
        "sql": con.execute(sql(patch, "score", keep=("id",), with_reason=True)).df(),
    }
    for frame in tables.values():
        own = frame.assign(id=frame["id"].astype(int)).sort_values("id")
        at = np.argsort(month["id"].to_numpy(), kind="stable")
        assert (own["fairpatch_referred"].astype(bool).to_numpy() == referred[at]).all()
        assert not own["fairpatch_changed"].astype(bool).any()
        decided = (month["score"] > 0.5).to_numpy()[at]
        assert (own["fairpatch_decision"].astype(bool).to_numpy() == decided).all()
        assert own["fairpatch_reason"].notna().to_numpy().tolist() == referred[at].tolist()
        assert "fairpatch_score" not in own
    one = RowScorer(patch)
    for i in (*np.flatnonzero(referred)[:3], *np.flatnonzero(~referred)[:3]):
        found = one.decide(month.iloc[i].to_dict(), float(month["score"].iloc[i]))
        assert (found.referred, found.changed) == (referred[i], False)
    with pytest.raises(ValueError, match="refers people to a person"):
        patch_graph(patch)


def test_a_day_has_so_much_capacity(fitted, month):
    options = {"referrals": 50, "key": "id"}
    memory = apply_to_capacity(fitted.patch_, month, "score", **options)
    assert memory["fairpatch_referred"].sum() == 50
    there = apply_to_capacity(
        fitted.patch_, duckdb.from_df(month), "score", with_reason=True, **options
    ).df()
    assert set(there["id"][there["fairpatch_referred"].astype(bool)]) == set(
        memory["id"][memory["fairpatch_referred"]]
    )
    assert there["fairpatch_reason"].notna().sum() == 50
    everybody = fitted.patched_.refer(taken_apart(month)[0])
    points = memory["fairpatch_points"]
    assert points[memory["fairpatch_referred"]].mean() > points[everybody].mean()
    with pytest.raises(ValueError, match="give referrals"):
        apply_to_places(fitted.patch_, month, "score", approvals=5, key="id")
    twice = month.assign(id=month["id"] // 2)
    with pytest.raises(ValueError, match="does not tell people apart"):
        apply_to_capacity(fitted.patch_, twice, "score", **options)


def test_the_least_share_is_that_of_simulated_reviewers(fitted):
    """With that share approved the target holds in the population; a good deal below, it fails."""
    least = fitted.certificate_.least_approved
    assert 0.1 < least <= 1.0
    truth = POPULATION.sample(300_000, seed=77).to_pandas()
    X, y, s = taken_apart(truth)
    referred, before = fitted.patched_.refer(X), (truth["score"] > 0.5).to_numpy()
    random = np.random.default_rng(0)

    def reached(share):
        after = before | (referred & (random.random(len(truth)) < share))
        counts = Counts.from_arrays(decision=after, y=y, sensitive_features=s)
        return P_RULE.of(counts).value

    assert reached(least) >= 0.75
    assert reached(max(least - 0.35, 0.0)) < 0.75
    assert f"{least:.0%} of them are" in str(fitted.certificate_)


def test_the_least_share_by_hand():
    """a: 500 of 1,000 by f. b: 300, and 250 are referred: 0.8 needs 100 of them, and some more."""
    before = np.repeat([True, False, True, False], [5_000, 5_000, 3_000, 7_000])
    s = np.repeat(["a", "b"], 10_000)
    after = before.copy()
    after[13_000:15_500] = True
    counts = Counts.from_arrays(decision=before, new_decision=after, sensitive_features=s)
    found = certify(counts, Target(p_rule=0.8, action="refer")).least_approved
    assert 0.40 < found < 0.48  # 1,000 of 2,500, and the margin of a test
    none = certify(counts, Target(p_rule=0.999, action="refer"))
    assert none.least_approved is None or none.verdict is Verdict.CERTIFIED


def test_a_month_is_judged_by_what_people_decided(fitted, month, tmp_path):
    X, y, s = taken_apart(month)
    referred, before = fitted.patched_.refer(X), (month["score"] > 0.5).to_numpy()
    about = {"sensitive_features": s, "target": TARGET, "period": "2026-10"}
    with pytest.raises(ValueError, match="decisions that were made"):
        monitor(fitted.patched_, X, y, history=History(tmp_path / "x"), **about)
    after = before | (referred & (np.arange(len(month)) % 4 > 0))
    seen = monitor(fitted.patched_, X.assign(made=after), y, decided="made",
                   history=History(tmp_path / "h"), **about)  # fmt: skip
    assert seen.last.shown["referred_approved"] == pytest.approx(0.75, abs=0.06)
    assert "of those referred, approved in 2026-10" in str(seen)


def test_the_review_says_referred(fitted, month):
    X, y, s = taken_apart(month)
    page = fitted.review(X, y, sensitive_features=s, refits=0).html()
    assert "are referred to a person for a second look" in page
    assert "is certified if at least" in page


def test_what_cannot_be_is_refused(fitted):
    with pytest.raises(ValueError, match="takes nothing away"):
        Target(p_rule=0.8, action="refer", direction="demote_only")
    with pytest.raises(ValueError, match="promote_only"):
        Patch(columns=[], concepts=[], action="refer")
    decides = fitted.patch_.model_copy(update={"action": "decide"})
    assert [row[0] for row in difference(fitted.patch_, decides)] == ["refers"]


def test_on_the_command_line(tmp_path):
    POPULATION.sample(6_000, seed=1).to_pandas().to_parquet(tmp_path / "people.parquet")
    (tmp_path / "fairpatch.yaml").write_text(
        "data: people.parquet\nlabel: y\nfavourable: 1\nscore: score\nsensitive: [group]\nkey: id\n"
        "target: {p_rule: 0.75, action: refer}\n"
    )
    done = fairpatch("fit", "--config", "fairpatch.yaml", "--out", "run", cwd=tmp_path,
                     code=(0, 3, 4, 5))  # fmt: skip
    assert "second look" in done.stdout + done.stderr
    done = fairpatch("apply", "run", "people.parquet", "day.csv", "--referrals", "20", "--reasons",
                     cwd=tmp_path)  # fmt: skip
    assert "20 people are referred" in done.stdout + done.stderr
    day = pd.read_csv(tmp_path / "day.csv")
    assert day["fairpatch_referred"].sum() == 20
    assert day["fairpatch_reason"].notna().sum() == 20
    people = pd.read_parquet(tmp_path / "people.parquet")
    people["final"] = (people["score"] > 0.5) | (day["fairpatch_referred"] & (day.index % 2 == 0))
    people.to_parquet(tmp_path / "2026-10.parquet")
    done = fairpatch("monitor", "run", "2026-10.parquet", cwd=tmp_path, code=(1, 2))
    assert "--decided COLUMN" in done.stderr
    fairpatch("monitor", "run", "2026-10.parquet", "--decided", "final", cwd=tmp_path,
              code=(0, 3, 4, 5))  # fmt: skip


def test_as_many_must_be_approved_as_the_worst_of_several_features_needs():
    """Of 2,000 in each group 1,000 are approved, of the others fewer: all the rest are referred."""
    hard = np.repeat(["a", "b"], 2_000)
    f = np.concatenate([np.arange(2_000) < 1_000, np.arange(2_000) < 600])
    g = np.concatenate([np.arange(2_000) < 1_000, np.arange(2_000) < 1_000])
    easy = np.where(np.arange(4_000) % 2, "a", "b")
    target = Target(p_rule=0.8, action="refer")
    both = Counts.from_arrays(
        decision=f, new_decision=g, sensitive_features={"easy": easy, "hard": hard}
    )
    alone = {name: certify(both.by(name), target).least_approved for name in ("easy", "hard")}
    assert alone["easy"] == 0.0
    assert 0.5 < alone["hard"] < 1.0
    assert certify(both, target).least_approved == alone["hard"]
