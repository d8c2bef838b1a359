"""Commod as users meet it: scikit-learn, raw frames of every kind, every base model."""

import pickle
from dataclasses import replace
from inspect import signature

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from lightgbm import LGBMClassifier
from packaging.version import parse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from xgboost import XGBClassifier

import fairpatch
from fairpatch import BaseModel, Card, Decision, FairPatch, Roles, Target
from fairpatch.card.confidence import ASKED
from fairpatch.commod import Commod, Training
from fairpatch.datasets import Population
from fairpatch.measure import Counts, p_rule
from fairpatch.patch import load, save

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "minibatches: a repeated row is drawn "
    "at other steps than one of double weight, as in SGDClassifier",
}


@parametrize_with_checks(
    [Commod(lambda_fair=0, training=Training(n_steps=60))],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


class WithGroups(FairPatch):
    """A FairPatch that knows groups: scikit-learn's checks have none to give."""

    def fit(self, X, y, sample_weight=None):
        groups = np.arange(np.shape(X)[0]) % 2
        return super().fit(X, y, sensitive_features=groups, sample_weight=sample_weight)


TOO_FEW = "a scorecard of 10 to 21 people is refused, whatever they are"
CARD_FAILURES = {
    "check_estimators_overwrite_params": TOO_FEW,
    "check_estimators_fit_returns_self": TOO_FEW,
    "check_readonly_memmap_input": TOO_FEW,
    "check_n_features_in_after_fitting": TOO_FEW,
    "check_sample_weights_pandas_series": TOO_FEW,
    "check_sample_weights_not_an_array": TOO_FEW,
    "check_sample_weights_shape": TOO_FEW,
    "check_sample_weights_not_overwritten": TOO_FEW,
    "check_sample_weight_equivalence_on_dense_data": TOO_FEW,
    "check_classifier_data_not_an_array": TOO_FEW,
    "check_classifiers_one_label_sample_weights": TOO_FEW,
    "check_fit2d_1feature": TOO_FEW,
    "check_parameters_default_constructible": "learner is a frozen Card, which never changes",
    "check_requires_y_none": "there may be no outcomes at all: fit(X, None) is a fit to rates",
}


@parametrize_with_checks(
    [WithGroups(None, Target(p_rule=0.01), splits=(0.5, 0.5, 0))],
    expected_failed_checks=lambda _: CARD_FAILURES,
)
def test_scikit_learns_own_checks_of_the_front_door(estimator, check):
    check(estimator)


def test_everything_that_can_be_set_can_be_asked_for(quick_fit):
    g, *_ = quick_fit
    params = clone(g).get_params()
    assert (params["learner__max_bins"], params["target__p_rule"]) == (5, g.target.p_rule)
    assert clone(g).set_params(learner__max_bins=3).learner.max_bins == 3
    assert "learner__max_bins" not in g.get_params(deep=False)


def test_the_decision_function_is_above_0_where_the_second_class_is_predicted(quick_fit):
    g, X, *_ = quick_fit
    assert ((g.decision_function(X) > 0) == (g.predict(X) == g.classes_[1])).all()
    harm = FairPatch("score", g.target, decision=Decision(favourable=0))
    harm.fit(X, quick_fit[2], sensitive_features=quick_fit[3])
    assert ((harm.decision_function(X) > 0) == (harm.predict(X) == harm.classes_[1])).all()


def test_a_fit_prints_its_verdict_and_what_it_costs(quick_fit):
    g = quick_fit[0]
    said = str(g).splitlines()[-1]
    assert said.startswith(f"Certificate at 95%: {g.certificate_.verdict}; ")
    assert "of decisions change, the approval rate goes from" in said
    assert "Certificate" not in str(clone(g))


def test_skops_stores_a_fit_without_any_row(quick_fit):
    skops = pytest.importorskip("skops.io")
    g, X, *_ = quick_fit
    assert "certified" in str(g)  # what was shown before is not stored
    stored = skops.dumps(g)
    types = skops.get_untrusted_types(data=stored)
    assert all(name.startswith("fairpatch.") for name in types)
    again = skops.loads(stored, trusted=types)
    assert np.array_equal(again.predict(X), g.predict(X))
    assert again.certificate_ == g.certificate_
    assert len(pickle.dumps(g)) < 100_000  # it was 25 MB, with a score for every row


@pytest.fixture(scope="module")
def people():
    table = Population(p_rule=0.5, accuracy=0.8, proxy=2.0).sample(6_000, seed=0).to_pandas()
    return table.astype({c: "str" for c in table if c.startswith(("cat", "group"))})


@pytest.fixture(scope="module")
def numbers(people):
    return people[[c for c in people if c.startswith("num")]].fillna(0.0)


FAST = {"training": Training(n_steps=100), "lambda_fair": 3.0, "lambda_ratio": 0.3}


def fitted(people, **options):
    X = people.drop(columns=["id", "group", "y"])
    g = Commod("score", **FAST | options)
    return X, g.fit(X, people["y"], sensitive_features=people["group"])


def rule(people, decision):
    return float(p_rule(Counts.from_arrays(decision=decision, sensitive_features=people["group"])))


def test_a_score_column_is_all_that_is_needed_of_f(people):
    big = people[people["group"].isin(["A", "B"])]
    X, g = fitted(big, training=Training(n_steps=300), lambda_fair=10.0)
    assert rule(big, big["score"] > 0.5) < 0.55
    assert rule(big, g.predict(X)) > 0.75
    assert "score" not in {c.name for c in g.patch_.columns}


def test_the_file_predicts_as_the_estimator_does(people, tmp_path):
    X, g = fitted(people)
    patch = load(save(g.patch_, tmp_path / "patch.json"))
    f_logit = g.base_.logits(X)
    p = 1 / (1 + np.exp(-patch.logits(X, f_logit)))
    assert np.abs(p - g.predict_proba(X)[:, 1]).max() < 1e-12
    assert np.array_equal(patch.decide(X, f_logit), g.predict(X) == 1)
    assert np.array_equal(patch.ratio(X), g.predict_ratio(X))


def test_the_patch_holds_no_row_and_no_value_of_s(people):
    _, g = fitted(people.assign(group=people["group"].map("group-{}".format)))
    text = g.patch_.model_dump_json()
    assert "group-" not in text
    assert g.patch_.provenance.sensitive_features == ("group",)
    assert len(g.patch_.provenance.base_scores_sha256) == 64
    assert g.patch_.provenance.settings["lambda_fair"] == 3.0


def test_every_kind_of_frame_gives_the_same_numbers(people):
    X = people.drop(columns=["id", "group", "y"])
    table = pa.Table.from_pandas(X, preserve_index=False)
    found = [
        Commod("score", **FAST).fit(frame, people["y"], sensitive_features=people["group"])
        .predict_proba(frame)
        for frame in (X, pl.from_pandas(X), table)
    ]  # fmt: skip
    assert np.allclose(found[0], found[1], atol=1e-12)
    assert np.allclose(found[0], found[2], atol=1e-12)


def test_an_array_gives_the_numbers_of_its_frame(people, numbers):
    f = LogisticRegression(max_iter=1000).fit(numbers.to_numpy(), people["y"])
    s = people["group"].to_numpy()
    array = Commod(f, **FAST).fit(numbers.to_numpy(), people["y"], sensitive_features=s)
    same = Commod(lambda X: f.predict_proba(np.asarray(X)), **FAST)
    frame = same.fit(numbers, people["y"], sensitive_features=s)
    assert np.allclose(
        array.predict_proba(numbers.to_numpy()), frame.predict_proba(numbers), atol=1e-9
    )


@pytest.mark.parametrize("name", ["logistic", "forest", "xgboost", "lightgbm", "pipeline"])
def test_base_models(name, people, numbers):
    X, y, s = numbers, people["y"], people["group"]
    model = {
        "logistic": LogisticRegression(max_iter=5000),
        "forest": RandomForestClassifier(30, min_samples_leaf=20, random_state=0),
        "xgboost": XGBClassifier(n_estimators=30, max_depth=3, n_jobs=1),
        "lightgbm": LGBMClassifier(n_estimators=30, verbose=-1, n_jobs=1),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    }[name].fit(X, y)
    g = Commod(model, **FAST | {"lambda_ratio": 0.1}).fit(X, y, sensitive_features=s)
    big = people["group"].isin(["A", "B"])
    before, after = (rule(people[big], m.predict(X)[big]) for m in (model, g))
    assert after > before + 0.1
    assert np.array_equal(g.base_.decisions(X), model.predict_proba(X)[:, 1] > 0.5)
    untouched = Commod(model, training=Training(n_steps=5), lambda_fair=0).fit(X, y)
    assert np.array_equal(untouched.predict(X), model.predict(X))


def test_f_stays_fitted_through_clone_and_is_never_refitted(people, numbers):
    f = LogisticRegression(max_iter=5000).fit(numbers, people["y"])
    coefficients = f.coef_.copy()
    g = clone(Commod(f, **FAST))
    assert g.estimator is f
    g.fit(numbers, 1 - people["y"], sensitive_features=people["group"])
    assert np.array_equal(f.coef_, coefficients)
    again = clone(g)
    assert not hasattr(again, "patch_")
    assert again.get_params()["lambda_fair"] == 3.0


def test_grid_search_and_cross_validation_split_s_too(people, numbers):
    f = LogisticRegression(max_iter=5000).fit(numbers, people["y"])
    search = GridSearchCV(
        Commod(f, training=Training(n_steps=20)), {"lambda_fair": [0.1, 1.0]}, cv=2
    )
    search.fit(numbers, people["y"], sensitive_features=people["group"])
    assert search.best_params_["lambda_fair"] in (0.1, 1.0)


def test_metadata_routing_through_a_pipeline(people):
    X = people[["num_0", "num_2", "cat_0"]]
    with sklearn.config_context(enable_metadata_routing=True):
        g = Commod(None, training=Training(n_steps=20)).set_fit_request(
            sensitive_features=True, sample_weight=True
        )
        g = g.set_score_request(sample_weight=True)
        prepare = make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["cat_0"]), remainder="passthrough"
        ).set_output(transform="pandas")
        pipeline = make_pipeline(prepare, g)
        weight = np.ones(len(X))
        pipeline.fit(X, people["y"], sensitive_features=people["group"], sample_weight=weight)
        assert set(pipeline.predict(X)) <= {0, 1}
        given = {"sensitive_features": people["group"], "sample_weight": weight}
        if parse(sklearn.__version__) < parse("1.8"):  # whose pipelines hand no weight to score
            given.pop("sample_weight")
        scores = cross_validate(clone(pipeline), X, people["y"], cv=2, params=given)
        assert len(scores["test_score"]) == 2


def test_exclude_and_the_names_of_s_are_never_read(people):
    X = people.drop(columns=["id", "y"])  # the group itself is a column of X
    g = Commod("score", exclude=["num_0"], **FAST)
    g.fit(X, people["y"], sensitive_features=people[["group"]])
    read = {c.name for c in g.patch_.columns}
    assert read
    assert not read & {"num_0", "group", "score"}


def test_rows_without_a_label_count_in_every_rate(people):
    """Labels that are too young are no reason to leave anybody out."""
    X, s = people.drop(columns=["id", "group", "y"]), people["group"]
    y = people["y"].astype(float).where(np.arange(len(people)) < 3_000)
    every = FairPatch("score", Target(p_rule=0.6)).fit(X, people["y"], sensitive_features=s)
    some = FairPatch("score", Target(p_rule=0.6)).fit(X, y, sensitive_features=s)
    (one,), (two,) = every.certificate_.results, some.certificate_.results
    assert two.people == pytest.approx(one.people, rel=0.01)
    assert (some.classes_ == [0, 1]).all()
    judged = (s.map(s.value_counts()) >= 10).sum()  # of fewer nobody can say anything
    bare = replace(some.patched_, used=None)  # who does not know which rows learned
    judging = {"sensitive_features": s, "target": Target(p_rule=0.6)}
    assert bare.certify(X, y, **judging).results[0].people == judged
    gap = Target(equal_opportunity_difference=0.3)  # of those who have one
    judged = bare.certify(X, y, sensitive_features=s, target=gap).results[0]
    alone = bare.certify(X[:3_000], y[:3_000], sensitive_features=s[:3_000], target=gap)
    assert judged.estimate == alone.results[0].estimate


def test_promote_only_never_takes_an_approval_away(people):
    X = people.drop(columns=["id", "group", "y"])
    g = FairPatch("score", Target(p_rule=0.6, direction="promote_only"))
    g.fit(X, people["y"], sensitive_features=people["group"])
    before = (people["score"] > 0.5).to_numpy()
    assert (g.predict(X)[before] == 1).all()
    assert (g.predict(X)[~before] == 1).any()


def test_labels_keep_their_names_and_the_cut_off_holds(people):
    X = people.drop(columns=["id", "group", "y"])
    y = np.where(people["y"] == 1, "yes", "no")
    g = Commod("score", decision=Decision(threshold=0.3), **FAST).fit(
        X, y, sensitive_features=people["group"]
    )
    assert g.classes_.tolist() == ["no", "yes"]
    assert np.array_equal(g.predict(X) == "yes", g.predict_proba(X)[:, 1] > 0.3)
    assert g.patch_.threshold == 0.3


def test_missing_values_many_groups_and_missing_s(people):
    assert people["num_1"].isna().any()
    s = people["group"].where(people.index % 5 > 0, None)
    X, y = people.drop(columns=["id", "group", "y"]), people["y"]
    g = Commod("score", **FAST).fit(X, y, sensitive_features=s)
    assert np.isfinite(g.predict_ratio(X)).all()


def test_same_seed_same_patch(people):
    _, one = fitted(people)
    _, two = fitted(people)
    _, other = fitted(people, random_state=1)
    assert one.patch_ == two.patch_
    assert one.patch_.concepts != other.patch_.concepts


def test_max_rows_samples(people):
    X, y = people.drop(columns=["id", "group", "y"]), people["y"]
    g = FairPatch("score", Target(p_rule=0.5), max_rows=1_000, splits=(0.6, 0.2, 0.2))
    g.fit(X, y, sensitive_features=people["group"])
    assert g.patch_.provenance.training_rows == pytest.approx(1_000 + 1_200, abs=10)


def test_a_fitted_model_can_be_pickled(people):
    X, g = fitted(people)
    assert np.array_equal(pickle.loads(pickle.dumps(g)).predict(X), g.predict(X))


def test_progress_and_callbacks(people, capsys):
    seen = []
    fitted(people, training=Training(n_steps=20, callbacks=[seen.append]), progress=True)
    assert len(seen) == 30
    assert "learning" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fairness": "parity"}, "fairness must be one of demographic_parity, equalized_odds"),
        ({"lambda_ratio": -1}, "lambda_ratio must be a number, at least 0; got -1"),
        ({"exclude": "num_0"}, "exclude must be a list"),
        ({"exclude": ["nothing"]}, "columns that X does not have"),
    ],
)
def test_wrong_parameters_say_what_was_expected(people, options, message):
    with pytest.raises(ValueError, match=message):
        fitted(people, **options)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Training(n_concepts=0), "n_concepts must be a whole number"),
        (lambda: Training(ratio_loss="square"), "ratio_loss must be one of uniform, fisher"),
        (lambda: Decision(threshold=2.0), "threshold must be a probability"),
        (lambda: Target(p_rule=0.8, direction="up"), "direction must be one of both, promote_only"),
    ],
)
def test_wrong_options_are_refused_where_they_are_given(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_wrong_data_says_what_to_do(people, numbers):
    y = people["y"]
    with pytest.raises(ValueError, match="sensitive_features must be given"):
        Commod().fit(numbers, y)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        Commod().fit(numbers, y, sensitive_features=np.zeros(len(y)))
    with pytest.raises(ValueError, match="has 3 rows, X has 6000"):
        Commod().fit(numbers, y, sensitive_features=["a", "b", "a"])
    with pytest.raises(ValueError, match="into bands"):
        Commod().fit(numbers, y, sensitive_features=np.arange(len(y)))
    with pytest.raises(ValueError, match="change_cost must be 6000 finite numbers"):
        Commod().fit(numbers, y, sensitive_features=people["group"], change_cost=[1.0])
    f = LogisticRegression(max_iter=5000).fit(numbers, y)
    with pytest.raises(ValueError, match="the estimator was fitted on"):
        Commod(f).fit(numbers, y + 1, sensitive_features=people["group"])


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"target": {"p_rule": 0.8}}, {}, "target must be a Target, as Target"),
        ({"target": None}, {}, "a target is needed: FairPatch"),
        ({"learner": "card"}, {}, "learner must be an object such as Card"),
        ({"learner": Card}, {}, "learner must be an object such as Card"),
        ({"splits": "half"}, {}, "splits must be three shares"),
        ({"max_rows": 0}, {}, "max_rows must be a whole number, at least 1"),
        ({"exclude": "num_0"}, {}, "exclude must be a list of columns"),
        ({"decision": {"favourable": 0}}, {}, "decision must be a Decision"),
        ({}, {"sensitive_features": None}, "must be given to fit"),
        ({"roles": Roles(weight="num_0")}, {"sample_weight": [1.0]}, "give one of them"),
    ],
)
def test_a_wrong_parameter_is_refused(people, options, fit, message):
    X, y = people.drop(columns=["id", "group", "y"]), people["y"]
    options = {"target": Target(p_rule=0.8)} | options
    with pytest.raises((ValueError, TypeError), match=message):
        FairPatch("score", **options).fit(X, y, **{"sensitive_features": people["group"]} | fit)


def test_the_papers_estimator_takes_one_weight_too(people):
    X, y = people.drop(columns=["id", "group", "y"]), people["y"]
    g = Commod("score", roles=Roles(weight="num_0"))
    with pytest.raises(ValueError, match="give one of them"):
        g.fit(X, y, sensitive_features=people["group"], sample_weight=[1.0])


@pytest.mark.parametrize("kind", [FairPatch, Commod])
def test_the_front_door_is_narrow(kind):
    moved_to_roles = {"exclude", "categories"}  # they answer for one release more
    assert len(signature(kind).parameters.keys() - moved_to_roles) <= 10


def test_nobody_else_takes_a_target():
    for option in ("target", "learner", "splits", "grid", "card", "direction"):
        with pytest.raises(TypeError, match=option):
            Commod("score", **{option: None})
    with pytest.raises(TypeError, match="lambda_fair"):
        FairPatch("score", Target(p_rule=0.8), lambda_fair=1.0)
    with pytest.raises(TypeError, match="target"):
        FairPatch("score")


@pytest.mark.slow
def test_a_grid_search_can_move_the_target(people):
    big = people[people["group"].isin(["A", "B"])]
    X = big.drop(columns=["id", "group", "y"])
    target = Target(p_rule=0.6)
    g = FairPatch("score", target)
    search = GridSearchCV(g, {"target__p_rule": [0.5, 0.7]}, cv=2)
    search.fit(X, big["y"], sensitive_features=big["group"].astype(str))
    assert search.best_estimator_.target == Target(p_rule=search.best_params_["target__p_rule"])
    assert g.target is target  # never changed in place: another estimator may hold it
    assert g.get_params()["target__p_rule"] == 0.6
    with pytest.raises(ValueError, match="there is none: give one"):
        Commod().set_params(target__p_rule=0.8)
    with pytest.raises(TypeError, match="Did you mean 'p_rule'"):
        g.set_params(target__p_rul=0.8)


def test_s_is_parsed_once_and_f_asked_about_everybody_once(people, monkeypatch):
    parsed, asked = [], []
    ranked = fairpatch.measure.groups._ranked
    monkeypatch.setattr(
        "fairpatch.measure.groups._ranked", lambda *a: parsed.append(1) or ranked(*a)
    )
    f = BaseModel("score")

    def score(X):
        asked.append(len(X))
        return f.scores(X)

    big = people[people["group"].isin(["A", "B"])]
    X = big.drop(columns=["id", "group", "y"])
    g = FairPatch(score, Target(p_rule=0.6), exclude=["score"])
    g.fit(X, big["y"], sensitive_features=big["group"])
    assert len(parsed) == 1
    made_up = len(g.patch_.fingerprint.probe_scores)
    about_order = [n for n in asked if n % ASKED == 0]  # some people with each of some values
    assert sum(asked) - sum(about_order) == len(X) + made_up
    assert len(about_order) <= X.shape[1]
    fresh = g.fitted_.fresh_rows()
    assert len(fresh) == g.certificate_.results[0].people


def test_a_failed_fit_leaves_nothing_of_an_earlier_one(people):
    X, g = fitted(people)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        g.fit(X, people["y"], sensitive_features=np.zeros(len(X)))
    with pytest.raises(NotFittedError):
        g.predict(X)
    assert not {"patch_", "base_", "fitted_", "patched_"} & set(vars(g))


def test_a_stored_model_holds_nobody_and_predicts_alike(quick_fit):
    g, X, *_ = quick_fit
    text = pickle.dumps(g)
    again = pickle.loads(text)
    assert np.array_equal(again.predict(X), g.predict(X))
    assert again.fitted_.fresh is None
    with pytest.raises(ValueError, match="saved and loaded, which drops those rows"):
        again.fitted_.fresh_rows()
    assert g.fitted_.fresh is not None


def test_a_target_fit_on_a_table_can_be_stored(two_groups):
    connection = duckdb.connect()
    connection.register("people", two_groups)
    g = FairPatch("score", Target(p_rule=0.7), roles=Roles(key="id"))
    g.fit(connection.sql("SELECT * FROM people"), "y", sensitive_features="group")
    assert pickle.loads(pickle.dumps(g)).patch_ == g.patch_


@pytest.mark.parametrize("rows", [5_500, 6_500])
def test_weights_and_costs_are_one_a_row(people, rows):
    doors = {"sample_weight": FairPatch(None, Target(p_rule=0.8)), "change_cost": Commod()}
    for name, door in doors.items():
        with pytest.raises(ValueError, match=f"{name} must be 6000 finite numbers.*got {rows}"):
            door.fit(
                people[["num_0"]], people["y"], sensitive_features=people["group"],
                **{name: np.ones(rows)},
            )  # fmt: skip


def test_a_subclass_may_have_parameters_of_its_own(people):
    class Cautious(Commod):
        def __init__(self, estimator=None, *, lambda_fair=0.3):
            super().__init__(estimator, lambda_fair=lambda_fair, training=Training(n_steps=20))

    X = people.drop(columns=["id", "group", "y"])
    assert Cautious("score").fit(X, people["y"], sensitive_features=people["group"]).patch_


def test_rows_without_a_score_that_nobody_has_decided_are_in_no_rate(two_groups):
    table = two_groups.assign(score=two_groups["score"].where(two_groups.index % 100 != 7))
    undecided = Decision(no_score="left_out")
    X, rest = table.drop(columns=["id"]), table.dropna(subset="score").drop(columns=["id"])

    def fit(people, decision=None, roles=None):
        g = FairPatch("score", Target(p_rule=0.8), decision=decision, roles=roles)
        return g.fit(people, "y", sensitive_features=["group"])

    g, of_rest = fit(X, undecided), fit(rest)
    assert g.patch_.concepts == of_rest.patch_.concepts
    assert g.certificate_.results == of_rest.certificate_.results
    said = "have no score: they are in no rate."
    assert said in str(g.certificate_)
    assert g.patched_.apply(X)["fairpatch_decision"].isna().sum() == len(X) - len(rest)
    counts = g.patched_.count(X, "y", sensitive_features=["group"])
    assert counts == g.patched_.count(rest, "y", sensitive_features=["group"])
    assert counts == g.patched_.count(
        duckdb.sql("SELECT * FROM X"), "y", sensitive_features=["group"]
    )
    judged = fairpatch.audit(X, "y", sensitive_features=["group"], estimator="score",
                             decision=undecided)  # fmt: skip
    assert str(judged) == str(fairpatch.audit(rest, "y", sensitive_features=["group"],
                                              estimator="score"))  # fmt: skip
    with pytest.raises(ValueError, match=r"Decision\(no_score='left_out'\)"):
        fit(X)
    connection = duckdb.connect()
    connection.register("people", table)
    there = fit(connection.sql("SELECT * FROM people"), undecided, Roles(key="id"))
    assert there.certificate_.results
