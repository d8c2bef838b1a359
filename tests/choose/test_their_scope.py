"""Who is judged: one place alone, batches, knock-outs, groups above the reference."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.choose.certificate import certify
from fairpatch.datasets import Population
from fairpatch.measure.counts import Counts
from fairpatch.patch.batch import filled

TWO = {"a": (0.6, 0.0), "b": (0.4, 1.0)}


def people(n=8_000, seed=0):
    found = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=TWO).sample(n, seed=seed)
    table, r = found.to_pandas(), np.random.default_rng(seed)
    return table.assign(city=r.choice(["NYC", "Rome", None], n, p=[0.5, 0.4, 0.1]))


PEOPLE = people()
HERE = (PEOPLE["city"] == "NYC").to_numpy()


def p_rule(table, decided):
    rates = pd.Series(np.asarray(decided, float)).groupby(table["group"].to_numpy()).mean()
    return rates.min() / rates.max()


@pytest.mark.parametrize("engine", [False, True])
def test_a_patch_for_one_place_is_learned_judged_and_applied_there_alone(engine):
    target = Target(p_rule=0.75, where={"city": "NYC"})
    given = duckdb.sql("SELECT * FROM PEOPLE") if engine else PEOPLE
    g = FairPatch("score", target, roles=Roles(key="id"))
    g.fit(given, "y", sensitive_features=["group"])
    decided = g.patched_.decide(PEOPLE)
    changed = decided != (PEOPLE["score"] > 0.5)
    assert changed[HERE].any()
    assert not changed[~HERE].any()
    assert g.certificate_.counts.total < HERE.sum()
    assert "Only where city is NYC" in str(g.patch_)
    for rows in (given, PEOPLE):
        counts = g.patched_.count(rows, "y", sensitive_features=["group"])
        assert counts.total == HERE.sum()
        assert counts.along("before", "after")[[0, 1], [1, 0]].sum() == changed.sum()
    others = people(seed=1)
    here, decided = (others["city"] == "NYC").to_numpy(), g.patched_.decide(others)
    again = g.certify(others, "y", sensitive_features=["group"])
    assert float(again.results[0].estimate) == pytest.approx(p_rule(others[here], decided[here]))


def test_a_scope_that_nobody_is_in_is_refused():
    g = FairPatch("score", Target(p_rule=0.75, where={"city": "Oslo"}))
    with pytest.raises(ValueError, match="the target is for nobody, unless city is Oslo"):
        g.fit(PEOPLE, "y", sensitive_features=["group"])


def test_knock_outs_count_as_denials_and_stay_denied():
    r, gone = np.random.default_rng(3), np.zeros(len(PEOPLE), bool)
    gone[r.random(len(PEOPLE)) < np.where(PEOPLE["group"] == "b", 0.3, 0.1)] = True
    table = PEOPLE.assign(score=PEOPLE["score"].where(~gone))
    approved = (PEOPLE["score"] > 0.5) & ~gone
    own = {"sensitive_features": ["group"], "estimator": "score"}
    with pytest.raises(ValueError, match=r"Decision\(no_score='denied'\)"):
        audit(table, "y", **own)
    contract = Decision(no_score="denied")
    over = table  # noqa: F841 DuckDB finds it by its name
    for rows in (table, duckdb.sql("SELECT * FROM over")):
        found = audit(rows, "y", decision=contract, **own)
        assert float(found.comparisons["group"].metrics["p_rule"]) == pytest.approx(
            p_rule(PEOPLE, approved)
        )
        assert "no score: they were denied before" in found.remarks[0]
        alone = p_rule(PEOPLE[~gone], approved[~gone])
        assert f"{alone:.2f} of those who were scored" in found.remarks[1]
    g = FairPatch("score", Target(p_rule=0.6), decision=contract)
    g.fit(table, "y", sensitive_features=["group"])
    assert not g.patched_.decide(table)[gone].any()
    assert any("of those who were scored" in remark for remark in g.certificate_.remarks)


def batches(n=200, seed=0):
    """Applications for n jobs of 30, three places each; one group scores lower."""
    table = people(30 * n, seed).assign(job=np.repeat(np.arange(n), 30), places=3)
    rank = table.groupby("job")["score"].rank(ascending=False, method="first")
    third, fourth = (table["score"].where(rank == k).groupby(table["job"]).transform("max")
                     for k in (3, 4))  # fmt: skip
    z, cut = (np.log(p / (1 - p)) for p in (table["score"], (third + fourth) / 2))
    return table.assign(score=1 / (1 + np.exp(cut - z)))


def test_what_is_certified_is_what_is_left_when_every_batch_has_filled_its_places():
    table = batches()
    target = Target(p_rule=0.7, approvals={"by": "job", "number": "places"})
    g = FairPatch("score", target, roles=Roles(key="id"))
    g.fit(table.drop(columns="city"), "y", sensitive_features=["group"])
    fresh, patch = g.fitted_.fresh_rows(), g.patch_
    left = filled(patch, fresh.X, fresh.f, fresh.batch, fresh.room)
    assert (pd.Series(left).groupby(np.asarray(fresh.batch)).sum() == 3).all()
    group = np.array(fresh.s.values[0], object)[fresh.s.codes[:, 0]]
    truth = p_rule(pd.DataFrame({"group": group}), left)
    assert float(g.certificate_.results[0].estimate) == pytest.approx(truth)
    learned = set(table["job"]) - set(np.asarray(fresh.batch).tolist())
    assert len(learned) + fresh.X["job"].nunique() == table["job"].nunique()
    made = g.patched_.apply(table, approvals=target.approvals, key="id", if_unlike="ignore")
    assert (made.groupby("job")["fairpatch_decision"].sum() == 3).all()


def test_applying_to_places_gives_the_same_in_memory_and_in_an_engine():
    table = rows = batches(60)  # noqa: F841 DuckDB finds it by its name
    g = FairPatch("score", Target(p_rule=0.7, approvals={"by": "job"}), roles=Roles(key="id"))
    g.fit(table, "y", sensitive_features=["group"])
    wanted = filled(g.patch_, table, g.patched_.logits(table), table["job"].to_numpy())
    for given in (table, duckdb.sql("SELECT * FROM rows")):
        made = g.patched_.apply(given, approvals={"by": "job"}, key="id", if_unlike="ignore")
        made = made.df() if hasattr(made, "df") else made
        found = made.sort_values("id")["fairpatch_decision"].to_numpy()
        assert (found == wanted[np.argsort(table["id"].to_numpy(), kind="stable")]).all()


def counted(rates, sizes, strata=None):
    """Counts of groups with these rates of f's decisions; g is f."""
    names = np.repeat(list(rates), list(sizes))
    decided = np.concatenate(
        [np.arange(n) < round(p * n) for p, n in zip(rates.values(), sizes, strict=True)]
    )
    return Counts.from_arrays(
        decision=decided, sensitive_features={"age": names},
        strata=None if strata is None else {"job": strata},
    )  # fmt: skip


def test_a_group_above_the_reference_is_limited_by_nothing_and_named():
    counts = counted({"below 62": 0.4, "62 and above": 0.75, "other": 0.2}, (4_000, 900, 900))
    certificate = certify(counts, Target(p_rule=0.8, reference="below 62"))
    assert [r.feature for r in certificate.results] == ["age: other against below 62"]
    assert "1.88 times as often as below 62, the reference" in certificate.remarks[0]
    both = certify(counts, Target(p_rule=0.8))
    assert len(both.results) == 1  # without a reference all pairs are compared


def test_strata_that_are_not_compared_are_named_and_judged_together():
    big = np.repeat(["big 1", "big 2"], 2_000)
    small = np.repeat([f"small {i:02d}" for i in range(40)], 50)
    job = np.concatenate([big, small])
    r = np.random.default_rng(0)
    sex = np.where(r.random(len(job)) < np.where(np.isin(job, small), 0.3, 0.5), "w", "m")
    rate = np.where(np.isin(job, small) & (sex == "w"), 0.15, 0.5)
    counts = Counts.from_arrays(
        decision=r.random(len(job)) < rate, sensitive_features={"sex": sex}, strata={"job": job}
    )
    certificate = certify(counts, Target(p_rule=0.8, within="job"))
    assert {r.feature for r in certificate.results} == {"sex in big 1", "sex in big 2"}
    said = " ".join(certificate.remarks)
    assert "40 of 42 strata, 33% of the rows (small 00" in said
    assert "All of those together, sex: P-Rule at least 0.8 is shown not to hold" in said


def test_probabilities_count_people_whatever_the_order_of_the_groups():
    r = np.random.default_rng(1)
    P = r.dirichlet([4, 2, 1], 6_000).round(2)
    score = np.clip(0.3 + 0.5 * P[:, 0] + r.normal(0, 0.2, len(P)), 0, 1)
    columns = {"p_x": P[:, 0], "p_y": P[:, 1], "p_z": P[:, 2], "id": np.arange(len(P))}
    table = here = pd.DataFrame({**columns, "score": score})  # noqa: F841 DuckDB finds it
    found = []
    for order in ("xyz", "zyx"):
        roles = Roles(key="id", probable={"race": {g: f"p_{g}" for g in order}})
        for rows in (table, duckdb.sql("SELECT * FROM here")):
            made = audit(rows, sensitive_features=["race"], estimator="score", roles=roles)
            impact = made.adverse_impact("x")[0]
            assert "estimated groups" in impact.feature
            found.append({row.group: row.impact_ratio for row in impact.rows})
    P = P / P.sum(1, keepdims=True)
    rates = P[table["score"] > 0.5].sum(0) / P.sum(0)
    for ratios in found:
        assert ratios["y"] == pytest.approx(rates[1] / rates[0], abs=0.002)
        assert ratios["z"] == pytest.approx(rates[2] / rates[0], abs=0.004)
