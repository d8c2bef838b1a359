"""Explanations: they add up, and what they say would keep a decision keeps it."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from benchmarks.paper import starting_model
from fairpatch import BaseModel, Card, FairPatch, PatchedModel, Target
from fairpatch.commod import Adversarial, Commod, Training
from fairpatch.commod.problem import Grid
from fairpatch.data.rows import Rows
from fairpatch.explain import (
    ChangeTree,
    concepts,
    contributions,
    f1_by_depth,
    proxy_risk,
    reasons,
    segments,
    stability,
)
from fairpatch.explain.segments import Condition, neglected
from fairpatch.explain.stability import Stability
from fairpatch.patch import (
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    NumberWeight,
    Patch,
)

LEARNERS = {
    "card": Card(),
    "adversarial": Adversarial(Grid.of((3.0, 10.0), (0.3,), (0.01,)), Training(n_steps=150)),
}


@pytest.fixture(scope="module", params=LEARNERS)
def people(request):
    random = np.random.default_rng(0)
    n = 3_000
    s = random.choice(["a", "b"], n, p=[0.7, 0.3])
    X = pd.DataFrame(
        {
            "skill": random.normal(size=n) - (s == "b"),
            "street": random.normal(size=n) + 2 * (s == "b"),
            "job": np.where(random.random(n) < 0.3, "x", np.where(s == "b", "y", "z")),
            "children": random.integers(0, 4, n),
        }
    )
    y = (X["skill"] + random.normal(size=n) > 0).astype(int)
    f = LogisticRegression().fit(X[["skill", "children"]], y)
    g = FairPatch(
        lambda rows: f.predict_proba(rows[["skill", "children"]]),
        Target(p_rule=0.8),
        learner=LEARNERS[request.param],
    )
    return X, y.to_numpy(), s, g.fit(X, y, sensitive_features=s)


def decisions(g, X):
    f_logit = g.base_.logits(X)
    return f_logit, f_logit > 0, g.patch_.decide(X, f_logit)


def test_contributions_sum_to_the_ratio_less_one(people):
    X, _, _, g = people
    f = g.base_.logits(X)
    found = contributions(g.patch_, X, f_logit=f)
    if (
        g.patch_.card is not None
    ):  # points count as they are, and confidence points stand beside them
        assert np.abs(np.clip(found.ratio, -1, 1) - g.patch_.ratio(X, f)).max() < 1e-9
        assert found.baseline == 0
        return
    assert np.abs(found.ratio - g.patch_.ratio(X)).max() < 1e-9
    assert np.abs(found.values.mean(0)).max() < 1e-9  # measured from the average person
    other = contributions(g.patch_, X.head(50), reference=X)
    assert np.abs(other.ratio - g.patch_.ratio(X.head(50))).max() < 1e-9
    assert other.baseline == pytest.approx(found.baseline)


def kept(patch, X, f_logit, reason):
    one = X.iloc[[reason.row]].assign(**{d.column: d.instead for d in reason.keeps})
    f = f_logit[[reason.row]]
    return bool(patch.decide(one, f)[0]) == bool(f[0] > 0)


def test_the_difference_named_keeps_the_decision(people):
    X, _, _, g = people
    f_logit, before, after = decisions(g, X)
    found = reasons(g.patched_, X)
    assert [r.row for r in found] == np.flatnonzero(before != after).tolist()
    assert len(found) > 50
    for r in found:
        assert r.baseline + sum(v for _, v in r.contributions) == pytest.approx(r.ratio - 1)
        assert r.keeps, r
        assert kept(g.patch_, X, f_logit, r), r
        assert r.direction == ("demotion" if before[r.row] else "promotion")
    assert "would stand with" in str(found[0])


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["law_school", "compas"])
def test_the_same_on_the_papers_test_sets(name):
    split = starting_model(name)
    g = Commod(split.f, lambda_fair=3.0, lambda_ratio=0.3, training=Training(n_steps=200))
    g.fit(split.X_train, split.y_train, sensitive_features=split.s_train)
    f_logit = g.base_.logits(split.X_test)
    found = reasons(g.patched_, split.X_test)
    assert len(found) > 20
    assert all(kept(g.patch_, split.X_test, f_logit, r) for r in found)
    both = contributions(g.patch_, split.X_test)
    assert np.abs(both.ratio - g.patch_.ratio(split.X_test)).max() < 1e-9


weight = st.floats(-2, 2).map(lambda w: round(w, 2))


@settings(max_examples=60, deadline=None)
@given(weight, weight, weight, st.floats(-3, 1), st.integers(0, 1_000))
def test_reasons_of_any_patch(slope, flag, category, offset, seed):
    """Numbers, flags, categories, gaps: what is said to keep the decision does."""
    patch = Patch(
        columns=[
            Column(name="n", kind="number"),
            Column(name="b", kind="number"),
            Column(name="c", kind="category"),
        ],
        concepts=[
            Concept(
                name="k", weight=1.0, intercept=0.0,
                numbers=[
                    NumberWeight(column="n", coefficient=slope, missing=0.3),
                    NumberWeight(column="b", coefficient=flag, missing=0.0),
                ],
                categories=[
                    CategoricalWeight(
                        column="c", missing=-0.1,
                        categories=[CategoryWeight(category="x", weight=category)],
                    )
                ],
            )
        ],
        offset=offset,
    )  # fmt: skip
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "n": np.where(random.random(60) < 0.1, np.nan, random.normal(size=60)),
            "b": random.integers(0, 2, 60).astype(float),
            "c": random.choice(["x", "y", None], 60),
        }
    )
    f_logit = random.normal(size=60)
    for r in reasons(PatchedModel(BaseModel(lambda _: expit(f_logit)), patch), X):
        if r.keeps:
            assert kept(patch, X, f_logit, r)
        else:  # nothing that occurs would have been enough, and no number can be moved
            assert slope == 0


def test_concepts_say_what_they_are_made_of_and_what_they_drive(people):
    X, _, _, g = people
    f, before, after = decisions(g, X)
    found = concepts(g.patch_, X, before != after, f)
    assert sum(view.share_of_changes for view in found) == pytest.approx(1)
    leading = max(found, key=lambda view: view.share_of_changes)
    assert {i.column for i in leading.ingredients} <= set(X.columns)
    assert leading.ingredients[0].effect >= leading.ingredients[-1].effect
    named = g.patch_.with_names({leading.name: "where one lives"})
    again = concepts(named, X, before != after, f)
    assert "where one lives" in [view.plain_name for view in again]
    with pytest.raises(ValueError, match="there is no concept"):
        g.patch_.with_names({"concept 9": "x"})


def test_segments_count_the_people_who_meet_the_conditions(people):
    X, _, _, g = people
    f, before, after = decisions(g, X)
    changed = before != after
    for segment in segments(g.patch_, X, changed, f):
        inside = segment.leaf.holds(X)
        assert segment.people == inside.sum()
        assert float(segment.inside) == pytest.approx(changed[inside].mean())
        assert float(segment.outside) == pytest.approx(changed[~inside].mean())
        assert segment.inside.low <= float(segment.inside) <= segment.inside.high
    towards = [s for s in segments(g.patch_, X, changed, f) if s.towards_change]
    assert max(float(s.inside) - float(s.outside) for s in towards) > 0


def test_the_change_tree_finds_a_rule_and_says_it():
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": random.uniform(18, 80, 2_000), "job": random.choice(list("xyz"), 2_000)}
    )
    changed = ((X["age"] > 45) & (X["job"] == "y")).to_numpy()
    tree = ChangeTree.fit(X, changed, max_depth=2)
    assert tree.f1(X, changed) > 0.98
    leaf = tree.leaves[0]
    assert (leaf.holds(X) == changed).mean() > 0.99
    assert {(c.column, c.kind) for c in leaf.conditions} == {("age", "above"), ("job", "is")}
    by_depth = f1_by_depth(X, changed, X, changed)
    assert by_depth[1] <= by_depth[2] <= by_depth[6]
    assert all(leaf.people >= 10 for leaf in tree.leaves)


def test_a_condition_reads_as_it_holds():
    X = pd.DataFrame({"age": [20.0, np.nan, 70.0], "job": ["x", "y", None]})
    assert Condition("age", "above", 45.0).holds(X).tolist() == [False, False, True]
    assert Condition("job", "is not", "x").holds(X).tolist() == [False, True, True]
    assert str(Condition("age", "above", 45.0)) == "age > 45"
    assert str(Condition("job", "is", "y")) == "job is 'y'"


def test_who_of_the_lowest_group_is_left_out(people):
    X, y, s, g = people
    _, before, after = decisions(g, X)
    rows = g.patched_.rows(X, y, {"group": s})
    lowest, denied, leaves = neglected(rows, after, "group")
    assert lowest == int(np.argmin([before[s == name].mean() for name in ("a", "b")]))
    assert not before[denied].any()
    average = after[denied].mean()
    assert all(leaf.people >= 10 and leaf.change_rate < average / 2 for leaf in leaves)


def test_proxy_risk_ranks_columns_by_what_they_tell_of_s(people):
    X, _, s, g = people
    _, before, after = decisions(g, X)
    noisy = X.assign(noise=np.random.default_rng(1).choice(list("abcdefghij") * 30, len(X)))
    found = proxy_risk(g.patch_, noisy, before != after, sensitive_features={"group": s})
    auc = {risk.what: risk.auc for risk in found}
    assert auc["street"] > 0.9  # two standard deviations apart
    assert auc["job"] > 0.8
    assert auc["noise"] < 0.56
    assert auc["children"] < 0.56
    assert found[0].auc == max(auc.values())


def test_stability_is_high_where_the_signal_is_clear(people):
    X, y, s, g = people
    found = stability(g.patched_, g.patched_.rows(X, y, s), g.fitted_, refits=3)
    assert found.share.shape == (len(X),)
    assert found.of_changed > 2 * found.changed.mean()  # far above chance
    assert found.share[~found.changed].mean() < found.of_changed / 2
    assert 0 <= found.firm <= 1


def test_what_is_said_of_whole_numbers_is_true():
    X = pd.DataFrame({"year": [2015.0, 2016.0] * 100})
    tree = ChangeTree.fit(X, (X["year"] == 2016).to_numpy(), max_depth=1)
    assert {str(leaf) for leaf in tree.leaves} == {"year <= 2015", "year > 2015"}
    weight = NumberWeight(column="amount", coefficient=0.001, missing=0.0)
    patch = Patch(
        columns=[Column(name="amount", kind="number")],
        concepts=[Concept(name="c", weight=1.0, intercept=-13.3436, numbers=[weight])],
    )
    people = pd.DataFrame({"amount": np.arange(10_000.0, 20_000.0, 7.0)})
    reason = reasons(PatchedModel(BaseModel(lambda X: np.full(len(X), 0.7)), patch), people)[0]
    assert "amount 12344 instead of 10000" in str(reason)


def test_a_concept_without_a_feature_to_ask_about_is_everybody():
    X = pd.DataFrame({"c": [f"category {i}" for i in range(60)]})
    tree = ChangeTree.fit(X, np.arange(60) < 30, columns=["c"])
    assert [str(leaf) for leaf in tree.leaves] == ["everybody"]
    assert tree.predict(X).shape == (60,)


@pytest.mark.parametrize(("rows", "named"), [(9, False), (10, True)])
def test_no_leaf_and_no_level_is_of_fewer_than_ten_people(rows, named):
    X = pd.DataFrame({"job": ["rare"] * rows + ["x"] * 60 + ["y"] * 60})
    changed = (X["job"] == "rare").to_numpy()
    leaves = ChangeTree.fit(X, changed).leaves
    assert any("rare" in str(leaf) for leaf in leaves) == named
    assert min(leaf.people for leaf in leaves) >= 10


def test_four_refits_of_five_are_firm_and_three_are_not():
    sets = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 0, 1]], bool)
    found = Stability(5, sets.mean(0), np.array([True, True, False]), sets)
    assert found.share.tolist() == [0.8, 0.6, 0.8]
    assert found.firm == 0.5


def test_left_out_is_who_changes_half_as_often_as_their_group():
    """Of the denied of b, 30 % are promoted: in town 50 %, in a village 20 %, on a farm 10 %."""
    place = np.repeat(["town", "village", "farm"], [400, 400, 200])
    promoted = np.concatenate([np.arange(n) < k for n, k in ((400, 200), (400, 80), (200, 20))])
    X = pd.DataFrame({"place": [*place, *["town"] * 1_000], "score": [0.1] * 1_000 + [0.9] * 1_000})
    rows = Rows.of(X, np.zeros(2_000, int), {"s": np.repeat(["b", "a"], 1_000)})
    rows = rows.scored(BaseModel("score"))
    after = np.concatenate([promoted, np.ones(1_000, bool)])
    _, here, leaves = neglected(rows, after, "s")
    assert len(here) == 1_000
    assert [round(leaf.change_rate, 2) for leaf in leaves] == [0.1]


def test_every_refit_draws_people_of_its_own(people):
    X, y, s, g = people
    drawn = []

    def again(rows, _):
        drawn.append(rows)
        return np.zeros(len(rows))

    learner = SimpleNamespace(relearn=lambda *_: again)
    stability(g.patched_, g.patched_.rows(X, y, s), replace(g.fitted_, learner=learner), refits=3)
    assert all(len(rows) == len(X) for rows in drawn)
    assert not any((one == other).all() for one, other in combinations(drawn, 2))
