"""f and its patch together: used, counted, judged, and applied to tables."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from fairpatch import BaseModel, Decision, PatchedModel, Target, review
from fairpatch.measure import Counts
from fairpatch.patch import Column, Concept, NumberWeight, Patch
from fairpatch.patch.apply import CHANGED, DECISION, RATIO, REASON, SCORE, apply

OWN = [RATIO, SCORE, DECISION, CHANGED, REASON]


def patch_on(direction="both", threshold=0.5):
    """r = 1 - a, with b as a second reason."""
    return Patch(
        columns=[Column(name="a", kind="number"), Column(name="b", kind="number")],
        concepts=[
            Concept(name=name, weight=1.0, intercept=0.0,
                    numbers=[NumberWeight(column=column, coefficient=slope, missing=0.0)])
            for name, column, slope in (("much a", "a", -1.0), ("much b", "b", -0.25))
        ],
        threshold=threshold, direction=direction,
    )  # fmt: skip


@pytest.fixture
def people():
    """An index that is out of order and has the same label twice."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(0.5, 1, 300), "b": random.normal(0, 2, 300)})
    frame.index = random.permutation(np.arange(300) // 2 * 7)
    return frame


@pytest.fixture
def f(people):
    random = np.random.default_rng(1)
    y = (people["a"] - people["b"] + random.normal(size=300) > 0).astype(int)
    return LogisticRegression().fit(people, y)


@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
@pytest.mark.parametrize("threshold", [0.5, 0.27])
def test_a_model_and_its_score_column_give_the_same_columns(people, f, direction, threshold):
    patch = patch_on(direction, threshold)
    model = PatchedModel(BaseModel(f, Decision(threshold=threshold)), patch)
    by_model = model.apply(people, with_reason=True)
    scored = people.assign(p=f.predict_proba(people)[:, 1])
    by_column = PatchedModel(BaseModel("p", Decision(threshold=threshold)), patch).apply(
        scored, with_reason=True
    )
    assert by_model.index.equals(people.index)
    for name in OWN:
        one, two = by_model[name].to_numpy(), by_column[name].to_numpy()
        if name in (RATIO, SCORE):
            assert np.allclose(one, two)
        else:
            assert [str(v) for v in one] == [str(v) for v in two], name
    assert np.array_equal(by_model[DECISION], model.decide(people))
    assert np.allclose(by_model[SCORE], model.predict_proba(people)[:, 1])
    assert np.allclose(by_model[RATIO], model.ratio(people))
    assert np.array_equal(by_model[CHANGED], model.decide(people) != (model.logits(people) > 0))
    assert 0 < by_model[CHANGED].sum() < 300
    if direction == "promote_only":
        assert by_model.loc[by_model[CHANGED], DECISION].all()


def test_columns_can_be_left_out(people, f):
    model = PatchedModel(BaseModel(f), patch_on())
    assert set(model.apply(people).columns) - set(people) == set(OWN) - {REASON}
    few = model.apply(people, with_score=False)
    assert set(few.columns) - set(people) == {RATIO, DECISION, CHANGED}
    scored = people.assign(p=f.predict_proba(people)[:, 1])
    assert list(apply(patch_on(), scored, "p", with_score=False)) == [
        *people,
        "p",
        *few.columns[2:],
    ]


def test_the_reason_is_the_concept_that_pushed_hardest_for_those_who_change(people, f):
    found = PatchedModel(BaseModel(f), patch_on()).apply(people, with_reason=True)
    changed = found[CHANGED].to_numpy()
    assert found.loc[~changed, REASON].isna().all()
    push = np.stack([-found["a"], -0.25 * found["b"]])[:, changed]
    expected = np.where(push[0] <= push[1], "much a", "much b")
    expected = np.where(push.min(0) < 0, expected, None)
    said = [None if pd.isna(v) else v for v in found[REASON].to_numpy()[changed]]
    assert said == list(expected)
    assert {"much a", "much b"} <= set(expected)


def test_a_table_in_an_engine_stays_there(people, f):
    scored = pl.from_pandas(people.assign(p=f.predict_proba(people)[:, 1]))
    connection = duckdb.connect()
    connection.register("people", scored.to_arrow())
    model = PatchedModel(BaseModel("p"), patch_on())
    relation = model.apply(connection.sql("SELECT * FROM people"))
    assert isinstance(relation, duckdb.DuckDBPyRelation)
    in_memory = model.apply(scored)
    assert relation.pl()[DECISION].to_list() == in_memory[DECISION].to_list()


def test_what_is_missing_or_taken_is_said(people, f):
    model = PatchedModel(BaseModel(f), patch_on())
    with pytest.raises(ValueError, match="already has a column 'fairpatch_ratio'"):
        PatchedModel(BaseModel(lambda X: np.full(len(X), 0.3)), patch_on()).apply(
            people.assign(fairpatch_ratio=1.0)
        )
    with pytest.raises(ValueError, match="has no column 'b', 'p', which the patch needs"):
        apply(patch_on(), people[["a"]], "p")
    with pytest.raises(TypeError, match="target must be a Target, as Target"):
        model.certify(people, np.zeros(300), sensitive_features=np.zeros(300), target={})
    with pytest.raises(
        ValueError, match="decides above 0.4, the patch was learned for a model that"
    ):
        PatchedModel(BaseModel(f, Decision(threshold=0.4)), patch_on())


def test_labels_keep_their_names(people, f):
    model = PatchedModel(BaseModel(f), patch_on(), np.array(["no", "yes"]))
    assert np.array_equal(model.predict(people) == "yes", model.decide(people))
    assert model.labels_of(["yes", "no"]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="y has the values maybe; fit has seen no, yes"):
        model.labels_of(["yes", "maybe"])


def test_counts_are_those_of_the_decisions(people, f):
    model = PatchedModel(BaseModel(f), patch_on())
    s, y = np.arange(300) % 3, np.arange(300) % 2
    counts = model.count(people, y, sensitive_features=s)
    assert counts == Counts.from_arrays(
        decision=f.predict(people), new_decision=model.decide(people), y=y, sensitive_features=s
    )
    verdict = model.certify(people, y, sensitive_features=s, target=Target(p_rule=0.5))
    assert verdict.results[0].people == 300


def test_a_review_without_the_fit_reads_no_s_and_learns_nothing_again(people, f):
    model = PatchedModel(
        BaseModel(lambda X: f.predict_proba(X[["a", "b"]])), patch_on(), ["n", "y"]
    )
    s = (np.arange(300) % 2).astype(float)
    y = np.where(np.arange(300) % 3 > 0, "y", "n")
    named = pd.DataFrame({"s": s}, index=people.index)
    blind = [
        review(model, X, y, sensitive_features=named).to_dict()["effect"]["bound_blind"]
        for X in (people, people.assign(s=s))  # the sensitive column is in X, and is not read
    ]
    assert blind[0] == blind[1]
    with pytest.raises(TypeError, match="model must be a PatchedModel, as FairPatch"):
        review(f, people, y, sensitive_features=s)
    with pytest.raises(TypeError, match="base must be a BaseModel"):
        PatchedModel(f, patch_on())


def test_where_no_concept_pushed_there_is_no_reason(people, f):
    """Everybody is turned round by the offset alone."""
    turned = patch_on().model_copy(update={"offset": -2.0, "concepts": (
        Concept(name="none", weight=1.0, intercept=0.5, numbers=[]),
    )})  # fmt: skip
    found = PatchedModel(BaseModel(f), turned).apply(people, with_reason=True)
    assert found[CHANGED].all()
    assert found[REASON].isna().all()


@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
@pytest.mark.parametrize("threshold", [0.5, 0.27])
def test_probabilities_decide_as_the_patch_does(people, f, direction, threshold):
    model = PatchedModel(BaseModel(f), patch_on(direction, threshold))
    p = model.predict_proba(people)
    assert ((p[:, 1] > threshold) == model.decide(people)).all()
    kept = model.decide(people) == (f.predict_proba(people)[:, 1] > threshold)
    assert kept.any()
    assert not kept.all()
