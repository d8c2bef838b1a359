"""Rows that weigh differently: judged over time, tested by queries, deployed."""

import duckdb
import numpy as np
import pytest

from cli.test_cli import POPULATION, fairpatch
from fairpatch import Decision, FairPatch, Roles, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.engines.target_query import target_sql
from fairpatch.life.history import History
from fairpatch.life.monitor import monitor
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE, RATE_DIFFERENCE
from fairpatch.measure.over_time import over_time

WEIGHED = Roles(weight="w", key="id")


def people(n, seed, *, heavy=0.1):
    """Approved people of b weigh five times as much more often: by weights they are better off."""
    frame = POPULATION.sample(n, seed=seed).to_pandas()
    often = np.where((frame["score"] > 0.5) & (frame["group"] == "b"), 2 * heavy, heavy)
    frame["w"] = np.where(np.random.default_rng(seed).random(n) < often, 5.0, 1.0)
    return frame


@pytest.fixture(scope="module")
def fitted():
    frame = people(8_000, 0)
    X, y, s = frame.drop(columns=["y", "group"]), frame["y"], frame[["group"]]
    g = FairPatch("score", Target(p_rule=0.75), roles=WEIGHED)
    return g.fit(X, y, sensitive_features=s)


def test_a_draw_by_weights_is_the_population_they_stand_for(fitted):
    frame = people(40_000, 5)
    X, y, s = frame.drop(columns=["y", "group"]), frame["y"], frame[["group"]]
    weighed = fitted.patched_.count(X, y, sensitive_features=s)
    drawn = fitted.patched_.count(X, y, sensitive_features=s, thinned=True)
    again = fitted.patched_.count(X, y, sensitive_features=s, thinned=True)
    assert drawn == again
    assert not drawn.weighted
    assert drawn.total == pytest.approx(frame["w"].sum() / 5, rel=0.05)
    for model in ("f", "g"):
        assert P_RULE.of(drawn, model=model).value == pytest.approx(
            P_RULE.of(weighed, model=model).value, abs=0.03
        )
    there = fitted.patched_.count(
        duckdb.from_df(frame), "y", sensitive_features=["group"], thinned=True
    )
    assert P_RULE.of(there).value == pytest.approx(P_RULE.of(weighed).value, abs=0.03)
    assert there.total == pytest.approx(drawn.total, rel=0.05)


def test_months_with_weights_come_to_a_verdict(fitted, tmp_path):
    history = History(tmp_path / "h.jsonl")
    for month in range(1, 5):
        frame = people(20_000, 20 + month)
        table = duckdb.from_df(frame)
        watch = monitor(
            fitted.patched_, table, "y", sensitive_features=["group"], target=Target(p_rule=0.6),
            period=f"2026-{month:02d}", history=history,
        )  # fmt: skip
    assert watch.verdict is Verdict.CERTIFIED
    assert all(not p.refused for p in watch.guarantees)
    last = list(history)[-1]
    assert sum(map(sum, last.thinned)) < sum(map(sum, last.n))
    strict = monitor(
        fitted.patched_, duckdb.from_df(people(20_000, 99)), "y", sensitive_features=["group"],
        target=Target(p_rule=0.99), period="2026-05", history=history,
    )  # fmt: skip
    assert strict.verdict is Verdict.REFUTED


def test_what_holds_is_rarely_refuted():
    """Equal weighted rates, very unequal plain ones: refuted in at most one of twenty streams."""
    wrong = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        periods = []
        for _ in range(4):
            s = random.integers(0, 2, 800)
            # of b 20 % are approved, and weigh 4: by weights as many as of a
            d = random.random(800) < np.where(s == 1, 0.2, 0.5)
            w = np.where((s == 1) & d, 4.0, 1.0)
            kept = random.random(800) < w / 4
            periods.append(Counts.from_arrays(decision=d[kept], sensitive_features=s[kept]))
        stands = over_time(periods, RATE_DIFFERENCE, 0.02)
        wrong += stands.verdict() is Verdict.REFUTED
    assert wrong <= 0.05 * 200


def test_a_query_with_weights_judges_as_the_certificate(fitted):
    frame = people(6_000, 7)
    X, y, s = frame.drop(columns=["y", "group"]), frame["y"], frame[["group"]]
    con = duckdb.connect()
    con.register("decided", frame.assign(fairpatch_decision=fitted.predict(X) == 1))
    for limit in np.linspace(0.6, 1.0, 9):
        target = Target(p_rule=float(limit))
        judged = fitted.certify(X, y, sensitive_features=s, target=target)
        query = target_sql(target, Decision(), WEIGHED, sensitive=["group"])
        found = con.execute(query).fetchall()
        assert bool(found) == (judged.verdict is Verdict.REFUTED)


def test_a_pack_of_a_weighted_run_has_audit_test_and_monitoring(tmp_path):
    people(6_000, 1).to_parquet(tmp_path / "people.parquet")
    (tmp_path / "fairpatch.yaml").write_text(
        "data: people.parquet\nlabel: y\nfavourable: 1\nscore: score\nsensitive: [group]\n"
        "weight: w\nkey: id\ntarget: {p_rule: 0.7}\n"
    )
    done = fairpatch("fit", "--config", "fairpatch.yaml", "--out", "run", cwd=tmp_path,
                     code=(0, 3, 4, 5))  # fmt: skip
    assert "Rows weigh differently" in done.stdout + done.stderr
    done = fairpatch("deploy", "run", "pack", "--key", "id", "--table", "people", cwd=tmp_path)
    assert "there is no audit" not in done.stdout + done.stderr
    con, pack = duckdb.connect(), tmp_path / "pack"
    con.execute(f"create table people as select * from '{tmp_path / 'people.parquet'}'")
    for name in ("decided.sql", "audit.sql"):
        con.execute((pack / name).read_text())
    counted = con.execute((pack / "monitor.sql").read_text()).df()
    audit = con.execute("select * from decided_audit").df()
    for _, row in counted.iterrows():
        own = audit[audit["group"] == row["group"]]
        expected = np.average(own["fairpatch_decision"].astype(bool), weights=own["w"])
        assert row["weighted_rate"] == pytest.approx(expected, abs=0.006)
    assert con.execute((pack / "test_target.sql").read_text()).fetchall() == []
