"""Groups too small to judge, and handfuls that decide for everybody."""

import warnings

import duckdb
import numpy as np
import pytest

from fairpatch import FairPatch, Roles, Target
from fairpatch._tools.verdict import FitWarning, Verdict
from fairpatch.choose.small_groups import enough_for_ratio, said_of_handful
from fairpatch.datasets import Population
from fairpatch.engines.target_query import target_sql
from fairpatch.life.guarantees import watch
from fairpatch.life.history import Period
from fairpatch.measure.counts import Counts
from fairpatch.measure.metric import P_RULE

TWO = {"a": (0.6, 0.0), "b": (0.4, 1.0)}


def people(small, lower=1.5, n=6_000, seed=1):
    """Two groups, and ``small`` people of a third whose scores are lower."""
    found = Population(p_rule=0.8, accuracy=0.8, groups=TWO).sample(n, seed=seed)
    table = found.to_pandas().astype({"group": object})
    some = np.random.default_rng(seed).choice(n, small, replace=False)
    score = table.loc[some, "score"]
    table.loc[some, "score"] = 1 / (1 + np.exp(lower) * (1 - score) / score)
    table.loc[some, "group"] = "c"
    return table


def fit(table, target):
    g = FairPatch("score", target, roles=Roles(key="id"))
    return g.fit(table, "y", sensitive_features=["group"])


def test_a_group_of_which_nothing_can_be_shown_ends_the_fit_or_is_left_out_by_name():
    frame = people(60)
    for given in (frame, duckdb.sql("SELECT * FROM frame")):
        with pytest.raises(
            ValueError, match="'c' .group.: about [56][0-9] people, 140 needed"
        ) as caught:
            fit(given, Target(p_rule=0.8))
        assert "Target(..., not_compared={'group': ['c']})" in str(caught.value)
        g = fit(given, Target(p_rule=0.8, not_compared={"group": ["c"]}))
        assert g.choice_.change_rate < 0.1
        assert g.certificate_.verdict is Verdict.CERTIFIED
        assert "so nothing is shown of: c (group)" in str(g.certificate_)
    with pytest.raises(ValueError, match="names 'grp', which is no sensitive feature.*'group'"):
        fit(frame, Target(p_rule=0.8, not_compared={"grp": ["c"]}))


def test_rows_that_f_was_trained_on_make_no_group_smaller():
    """A third of the rows are fresh to f: half of those certify, and nine in a hundred are c."""
    table = people(500, lower=0.5, n=6_000)
    X, y, s = table.drop(columns=["id", "y", "group"]), table["y"], table[["group"]]
    known = np.arange(len(table)) < 4_000
    g = FairPatch("score", Target(p_rule=0.8))
    g.fit(X, y, sensitive_features=s, seen_by_base=known)
    assert (s["group"] == "c")[~known].sum() > 2 * enough_for_ratio(0.45, 0.8, 0.95)


def test_who_is_left_out_is_left_out_of_every_later_judgement():
    table = people(60, lower=4.0)
    target = Target(p_rule=0.7, not_compared={"group": "c"})
    assert str(target) == "P-Rule at least 0.7, without c (group)"
    g = fit(table, target)
    others = people(60, lower=4.0, seed=2)
    judged = g.certify(others, "y", sensitive_features=["group"])
    assert judged.verdict is Verdict.CERTIFIED
    everybody = g.certify(others, "y", sensitive_features=["group"], target=Target(p_rule=0.7))
    assert everybody.verdict is Verdict.REFUTED
    counts = g.patched_.count(others, "y", sensitive_features=["group"])
    month = Period.of(counts, period="2026-01", at="2026-02-01T00:00:00+00:00", patch="0" * 64)
    assert watch([month], target, patch="0" * 64).verdict is Verdict.INCONCLUSIVE
    assert watch([month], Target(p_rule=0.7), patch="0" * 64).verdict is Verdict.WATCH


def test_the_query_for_dbt_leaves_them_out():
    rows = duckdb.sql(
        "SELECT g AS \"group\", i % 10 < n AS fairpatch_decision FROM range(1000) t(i), "
        "(VALUES ('a', 5), ('b', 5), ('c', 0)) groups(g, n)"
    )  # fmt: skip
    patched = fit(people(60), Target(p_rule=0.8, not_compared={"group": ["c"]}))
    own = {"sensitive": ["group"], "table": "rows", "dialect": "duckdb", "groups": 3}
    decision, roles = patched.patch_.decision, patched.patch_.roles
    for target, broken in (
        (Target(p_rule=0.8), 2),
        (Target(p_rule=0.8, not_compared={"group": ["c"]}), 0),
    ):
        query = target_sql(target, decision, roles=roles, label=None, **own)
        assert len(rows.query("rows", query).fetchall()) == broken


@pytest.mark.parametrize("given", [["c"], {"group": []}, {"group": 3}, "c"])
def test_what_is_left_out_is_named_by_feature(given):
    with pytest.raises(ValueError, match="must name groups by their sensitive feature"):
        Target(p_rule=0.8, not_compared=given)


@pytest.mark.parametrize(("p", "limit"), [(0.45, 0.8), (0.3, 0.9), (0.7, 0.8)])
def test_of_fewer_people_nothing_is_shown_and_of_more_something_is(p, limit):
    """Of a group beside one of very many, both decided alike."""
    random, shares = np.random.default_rng(0), []
    for times in (0.95, 3):
        sizes, shown = [round(times * enough_for_ratio(p, limit, 0.95)), 100_000], 0
        for _ in range(200):
            decided = np.concatenate([random.random(size) < p for size in sizes])
            groups = np.repeat(["small", "large"], sizes)
            counts = Counts.from_arrays(decision=decided, sensitive_features={"g": groups})
            shown += P_RULE.judge(counts, limit, 0.95).verdict is Verdict.CERTIFIED
        shares.append(shown / 200)
    assert shares[0] < 0.15
    assert shares[1] > 0.6


def test_a_handful_that_decides_is_said():
    g = fit(people(290, lower=1.2), Target(p_rule=0.8))
    assert g.choice_.handful is not None
    assert "'c' (group), 4." in str(g.choice_)
    assert "decides for everybody: if it were not compared" in str(g.choice_)
    assert said_of_handful("s", "c", 0.01, 0.05, 0.046) is None
    assert said_of_handful("s", "c", 0.01, 0.004, 0.001) is None


def test_a_fit_that_somebody_should_look_at_warns():
    """One class of warnings: no certificate, a handful that decides, what a review would stop."""
    few = people(0, n=600)
    with pytest.warns(FitWarning, match=r"the patch is not certified \((inconclusive|not met)\)"):
        fit(few, Target(p_rule=0.9))
    with pytest.warns(FitWarning, match="decides for everybody"):
        fit(people(290, lower=1.2), Target(p_rule=0.8))
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitWarning)
        fit(people(0, n=12_000), Target(p_rule=0.75))
