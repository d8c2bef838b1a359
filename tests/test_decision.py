"""The contract: labels of every kind, harm and good, weights, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from fairpatch import (
    BaseModel,
    Decision,
    FairPatch,
    Patch,
    PatchedModel,
    Roles,
    Target,
    TargetNotReachedError,
    audit,
)
from fairpatch.choose.certificate import certify
from fairpatch.datasets import Population
from fairpatch.measure.cells import DIRECTIONS
from fairpatch.patch import CardScale, Column, Concept, Range, RangesWeight, ScoreBand, load, save
from fairpatch.patch.apply import apply

BANDS = (
    ScoreBand(below=0.1, points=60), ScoreBand(at_least=0.1, below=0.3, points=20),
    ScoreBand(at_least=0.7, below=0.9, points=20), ScoreBand(at_least=0.9, points=60),
)  # fmt: skip
GROUPS = {"a": (0.65, 0.0), "b": (0.35, 1.0)}


@pytest.fixture(scope="module")
def people():
    found = Population(p_rule=0.55, accuracy=0.8, proxy=2.0, groups=GROUPS).sample(4_000, seed=0)
    found = found.to_pandas().drop(columns="id")
    numbers = ["num_0", "num_1", "num_3"]  # some models take no gaps
    return found.assign(**found[numbers].fillna(found[numbers].median()))


def card(direction, decision):
    ranges = [Range(below=40, weight=60), Range(at_least=60, weight=-50)]
    concept = Concept(
        name="age", weight=1, intercept=0, ranges=[RangesWeight(column="age", ranges=ranges)]
    )
    return Patch(
        columns=[Column(name="age", kind="number")], concepts=[concept], direction=direction,
        card=CardScale(approve_at=30, confidence=BANDS), decision=decision,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    threshold=st.sampled_from([0.5, 0.25, 0.75]), direction=st.sampled_from(DIRECTIONS),
    eighths=st.lists(st.integers(0, 64), min_size=1, max_size=40), seed=st.integers(0, 9),
)  # fmt: skip
def test_harm_is_the_mirror_image_of_good(threshold, direction, eighths, seed):
    """P(harm) = 1 - p with threshold 1 - t decides as p with t, but for people exactly at t."""
    p = np.array([*eighths, *[64 * threshold] * 4]) / 64  # some exactly at the threshold
    age = np.random.default_rng(seed).integers(18, 80, len(p)).astype(float)
    good = card(direction, Decision(threshold=threshold))
    harm = card(direction, Decision(threshold=1 - threshold, favourable=0))
    one = apply(good, pd.DataFrame({"age": age, "p": p}), "p")
    two = apply(harm, pd.DataFrame({"age": age, "p": 1 - p}), "p")
    away = p != threshold
    assert (one["fairpatch_decision"] != two["fairpatch_decision"])[away].all()
    assert np.allclose(one["fairpatch_score"], 1 - two["fairpatch_score"])
    # at the threshold f decides 0: harm is not predicted, so the person is approved to begin with
    at = two[~away]
    assert (~at["fairpatch_decision"] | at["fairpatch_changed"]).all()
    # and numpy as the expressions
    for patch, score in ((good, p), (harm, 1 - p)):
        frame = pd.DataFrame({"age": age, "p": score})
        g = PatchedModel(BaseModel("p", decision=patch.decision), patch)
        assert (g.decide(frame) == apply(patch, frame, "p")["fairpatch_decision"]).all()


def test_a_model_of_harm_is_patched_for_being_accepted(people):
    harm = people.assign(y=np.where(people["y"] == 1, "no", "yes"))
    X = harm[["num_0", "num_1", "num_3"]]
    f = LogisticRegression(max_iter=500).fit(X, harm["y"])
    said = Decision(positive="yes", favourable=0)
    g = FairPatch(f, Target(p_rule=0.7, direction="promote_only"), decision=said)
    g.fit(harm.drop(columns="score"), "y", sensitive_features=["group"])
    assert list(g.classes_) == ["no", "yes"]
    before, after = f.predict(X), g.predict(harm)
    assert ((before == "no") <= (after == "no")).all()  # nobody loses
    assert ((before == "yes") & (after == "no")).any()
    assert g.choice_.metrics["group"]["p_rule"] >= 0.7
    assert g.predict_proba(harm).shape == (len(harm), 2)
    assert ((g.predict_proba(harm)[:, 1] > 0.5) == (after == "yes")).mean() > 0.999
    # the positive label may also be the model's first: the score is then that of paying back
    paid = FairPatch(f, Target(p_rule=0.7, direction="promote_only"),
                  decision=Decision(positive="no"))  # fmt: skip
    paid.fit(harm.drop(columns="score"), "y", sensitive_features=["group"])
    assert list(paid.classes_) == ["no", "yes"]  # sorted, as scikit-learn's scorers expect
    assert list(paid.patched_.classes) == ["yes", "no"]
    assert roc_auc_score(harm["y"] == "yes", paid.predict_proba(harm)[:, 1]) > 0.6
    assert (paid.predict(harm) == after).mean() > 0.99


def test_a_score_that_points_against_its_label_is_reported(people):
    turned = people.assign(score=1 - people["score"])
    with pytest.raises(ValueError, match="points against its label.*Decision"):
        FairPatch("score", Target(p_rule=0.7)).fit(turned, "y", sensitive_features=["group"])
    with pytest.raises(ValueError, match="points against its label"):
        audit(turned, "y", sensitive_features=["group"], estimator="score")
    right = Decision(positive=0, favourable=0)
    assert audit(turned, "y", sensitive_features=["group"], estimator="score", decision=right)


def test_a_label_that_nobody_has_is_refused_with_those_there_are(people):
    text = people.assign(y=np.where(people["y"] == 1, "yes", "no"))
    own = {"sensitive_features": ["group"]}
    for table in (text, __import__("duckdb").from_df(text)):
        with pytest.raises(ValueError, match="no row has the label 'YES'.*'no', 'yes'"):
            audit(table, "y", estimator="score", decision=Decision(positive="YES"), **own)
    with pytest.raises(ValueError, match="no row has the label 'YES'.*Did you mean 'yes'"):
        FairPatch("score", Target(p_rule=0.7), decision=Decision(positive="YES")).fit(
            text, "y", **own
        )
    three = text.assign(y=text["y"].where(text.index % 7 > 0, "perhaps"))
    with pytest.raises(ValueError, match="one other label.*'perhaps'"):
        audit(three, "y", estimator="score", decision=Decision(positive="yes"), **own)


def test_people_do_not_get_each_others_values(people):
    X, y, s = people.drop(columns=["y", "group"]), people["y"], people["group"]
    mixed = s.sample(frac=1.0, random_state=0)
    g = FairPatch("score", Target(p_rule=0.7))
    with pytest.raises(ValueError, match="X and sensitive_features have different indexes"):
        g.fit(X, y, sensitive_features=mixed)
    with pytest.raises(ValueError, match="X and y have different indexes"):
        g.fit(X, y.sample(frac=1.0, random_state=0), sensitive_features=s)
    with pytest.raises(ValueError, match="different indexes"):
        audit(X, y, sensitive_features=mixed, estimator="score")
    g.fit(X, y, sensitive_features=mixed.loc[X.index])


def test_weights_count_in_everything_that_is_counted(people):
    """A row of weight 3 is as three rows, for rates and metrics."""
    w = np.random.default_rng(0).integers(1, 4, len(people))
    heavy, often = people.assign(w=w), people.loc[people.index.repeat(w)].reset_index(drop=True)
    said = Roles(weight="w")
    own = {"sensitive_features": ["group"], "estimator": "score"}
    one, two = audit(heavy, "y", roles=said, **own), audit(often, "y", **own)
    for metric in ("p_rule", "tpr_gap"):
        a, b = (found.comparisons["group"].metrics[metric].value for found in (one, two))
        assert a == pytest.approx(b)
    g = FairPatch("score", Target(p_rule=0.7), roles=said)
    g.fit(heavy, "y", sensitive_features=["group"])
    assert "w" not in {c.name for c in g.patch_.columns}
    plain = PatchedModel(BaseModel("score"), g.patch_.model_copy(update={"roles": Roles()}))
    a, b = (  # of all rows, whoever learned; and copies are meant here
        certify(m.count(t, "y", sensitive_features=["group"]), Target(p_rule=0.7))
        for m, t in ((g.patched_, heavy), (plain, often))
    )
    assert float(a.results[0].estimate) == pytest.approx(float(b.results[0].estimate))
    width = [v.results[0].estimate.high - v.results[0].estimate.low for v in (a, b)]
    assert width[0] > width[1]  # fewer people than rows that were copied


def test_the_contract_is_in_the_patch_and_comes_back(people, tmp_path):
    said = Decision(positive=1, threshold=0.4, approved="hired", denied="turned down",
                    positive_words="stayed", negative_words="left")  # fmt: skip
    g = FairPatch("score", Target(p_rule=0.7), decision=said)
    g.fit(people, "y", sensitive_features=["group"])
    found = load(save(g.patch_, tmp_path / "patch.json"))
    assert found.decision == said.replace(negative=0)
    assert "hired" in str(found)
    page = g.review(people, "y", sensitive_features=["group"], refits=0).html()
    assert "Rate: share of hired" in page
    assert "share with stayed" in page
    assert "people who were turned down are now hired" in page


def test_a_decision_knows_what_was_said():
    assert Decision(threshold=0.5).has_threshold
    assert not Decision(favourable=0).named(["a", "b"]).replace(approved="yes").has_threshold
    with pytest.raises(ValueError, match="favourable"):
        Decision(favourable=2)


def test_roles_that_were_said_in_the_decision_answer_for_a_release(people, tmp_path):
    heavy = people.assign(w=1.0 + people.index % 2)
    with pytest.warns(DeprecationWarning, match=r"Roles\(weight=...\), not Decision"):
        old = Decision(weight="w", threshold=0.4)
    own = {"sensitive_features": ["group"], "estimator": "score"}
    new = {"decision": Decision(threshold=0.4), "roles": Roles(weight="w")}
    assert audit(heavy, "y", decision=old, **own).counts == audit(heavy, "y", **new, **own).counts
    g = FairPatch("score", Target(p_rule=0.7), decision=old)
    g.fit(heavy, "y", sensitive_features=["group"])
    assert g.patch_.roles.weight == "w"
    with pytest.raises(ValueError, match="in the decision and in the roles"):
        FairPatch("score", Target(p_rule=0.7), decision=old, roles=Roles(weight="v")).fit(
            heavy, "y", sensitive_features=["group"]
        )
    with pytest.raises(ValueError, match="there is no role 'weigth'.*Did you mean 'weight'"):
        Roles(weigth="w")
    # and in files of that time
    data = json.loads(save(g.patch_, tmp_path / "patch.json").read_text())
    roles = data.pop("roles")
    data |= {"version": 1, "decision": {**data["decision"], "weight": roles["weight"], "bands": {}}}
    (tmp_path / "old.json").write_text(json.dumps(data))
    assert load(tmp_path / "old.json").model_dump() == g.patch_.model_dump()


def test_a_sensitive_column_that_f_reads_is_given_to_f_and_never_to_the_patch(people):
    coded = people.assign(group=(people["group"] == "b").astype(int))
    columns = ["num_0", "num_1", "num_3", "group"]
    f = LogisticRegression(max_iter=500).fit(coded[columns], coded["y"])
    g = FairPatch(f, Target(p_rule=0.7))
    g.fit(coded.drop(columns="score"), "y", sensitive_features=["group"])
    assert "group" not in {c.name for c in g.patch_.columns}
    assert len(g.predict(coded)) == len(coded)


def test_a_label_that_is_no_number_is_a_gap_in_every_engine(people):
    import duckdb
    import polars as pl

    gaps = people.assign(y=people["y"].astype(float).where(people.index % 10 > 0))
    nan = pl.from_pandas(gaps, nan_to_null=False).lazy()
    own = {"sensitive_features": ["group"], "estimator": "score"}
    found = [audit(t, "y", **own).counts for t in (gaps, duckdb.from_df(gaps), nan)]
    assert found[0].along("label")[2] == (people.index % 10 == 0).sum()
    assert found[0] == found[1] == found[2]


def test_parameters_of_another_type_are_refused(people):
    g = FairPatch("score", Target(p_rule=0.7), decision={"favourable": 0})
    with pytest.raises(TypeError, match="decision must be a Decision, as Decision"):
        g.fit(people, "y", sensitive_features=["group"])
    g = FairPatch("score", Target(p_rule=0.7), categories="cat_0")
    with pytest.raises(ValueError, match="categories must be a list"):
        g.fit(people, "y", sensitive_features=["group"])


def test_a_weight_is_read_or_refused_never_left_out(people):
    heavy = people.assign(w=np.where(people["num_1"] < 20_000, 20.0, 1.0))
    X, y, s = heavy.drop(columns=["y", "group"]), heavy["y"], heavy["group"]
    target = Target(p_rule=0.6)
    g = FairPatch("score", target, roles=Roles(weight="w"))
    with pytest.raises(KeyError, match="'w_'"):
        FairPatch("score", target, roles=Roles(weight="w_")).fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="give one of them"):
        g.fit(X, y, sensitive_features=s, sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match="finite numbers"):
        g.fit(X.assign(w=-1.0), y, sensitive_features=s)
    g.fit(X, y, sensitive_features=s)
    assert len(g.predict(X)) == len(X)
    assert g.certify(
        X, y, sensitive_features=s
    ).verdict  # the fit's own people are no other model's
    assert g.choice_.bound is None  # it counts people, and not what they weigh


def test_names_that_are_not_there_are_not_taken_for_values(people):
    with pytest.raises(KeyError, match="no column 'Group' in X. Did you mean 'group'"):
        audit(people, "y", sensitive_features=["Group"], estimator="score")
    one_hot = people.assign(a=people["group"] == "a", b=people["group"] == "b")
    values = people["group"].tolist()  # as many as rows: values, though they are names too
    found = audit(one_hot, one_hot["y"], sensitive_features=values, estimator="score")
    assert list(found.comparisons) == ["sensitive"]
    shuffled = people["group"].sample(frac=1.0, random_state=0)
    with pytest.raises(ValueError, match="different indexes"):
        audit(people, people["y"], sensitive_features={"g": shuffled}, estimator="score")


def test_labels_among_objects_and_models_that_know_them_otherwise(people):
    X = people[["num_0", "num_1", "num_3"]]
    f = LogisticRegression(max_iter=500).fit(X, people["y"] == 1)  # fitted on truths
    own = {"sensitive_features": people["group"], "estimator": f}
    plain = audit(X, people["y"], **own).to_dict()
    for y in (people["y"].astype(object), (people["y"] == 1).astype(object),
              (people["y"] == 1).astype(str)):  # fmt: skip
        assert audit(X, y, **own).to_dict()["sensitive_features"] == plain["sensitive_features"]
        g = FairPatch(f, Target(p_rule=0.6), decision=Decision(positive=y.iloc[0]))
        assert g.fit(X, y, sensitive_features=people["group"])
    turned = audit(X, (people["y"] == 1).astype(str), **own,
                   decision=Decision(positive="False", favourable=0))  # fmt: skip
    assert turned.to_dict()["accuracy"] == plain["accuracy"]


def test_of_two_texts_the_later_one_is_positive_in_whatever_order_they_come():
    for labels in (["denied", "approved"], ["approved", "denied"]):
        assert Decision().classes_of(labels) == ("approved", "denied")
        assert Decision(positive="approved").classes_of(labels) == ("denied", "approved")


def test_probabilities_are_in_the_order_of_the_classes(people):
    """The positive label sorts first: its probability is in the first column."""
    X, y = people.drop(columns=["y", "group"]), np.where(people["y"] == 1, "approved", "denied")
    g = FairPatch("score", Target(p_rule=0.7), decision=Decision(positive="approved"))
    g.fit(X, y, sensitive_features=people["group"])
    assert g.classes_.tolist() == ["approved", "denied"]
    likelier = g.classes_[g.predict_proba(X).argmax(1)]
    assert (likelier == g.predict(X)).mean() > 0.999


def test_a_fit_that_fails_leaves_no_patch_behind(people):
    X, y = people.drop(columns=["y", "group"]), people["y"]
    g = FairPatch("score", Target(p_rule=0.7)).fit(X, y, sensitive_features=people["group"])
    assert hasattr(g, "patch_")
    g.set_params(target=Target(p_rule=0.999, max_changes=0.0001))
    with pytest.raises(TargetNotReachedError):
        g.fit(X, y, sensitive_features=people["group"])
    assert not hasattr(g, "patch_")
    assert not hasattr(g, "certificate_")
