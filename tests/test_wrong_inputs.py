"""Ten wrong tables at apply time: each is noticed with its message, or does no harm."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from fairpatch import BaseModel, Decision, FairPatch, PatchedModel, Target
from fairpatch.commod import Commod
from fairpatch.datasets import Population
from fairpatch.identity.compare import OtherModelError, OtherModelWarning, compare

NUMBERS = ["num_0", "num_1", "num_3"]
GROUPS = {"a": (0.65, 0.0), "b": (0.35, 1.0)}
POPULATION = Population(p_rule=0.55, accuracy=0.8, proxy=2.0, groups=GROUPS)


def sample(n, seed):
    people = POPULATION.sample(n, seed=seed).to_pandas()
    people = people.astype(dict.fromkeys(("cat_0", "cat_1", "cat_2", "group"), str))
    return people.assign(**people[NUMBERS].fillna(people[NUMBERS].median()))


@pytest.fixture(scope="module")
def column():
    """A patch on a score column, and new people."""
    people = sample(6_000, 0).drop(columns="id")
    g = FairPatch("score", Target(p_rule=0.75))
    g.fit(people, "y", sensitive_features=["group"])
    return g.patched_, sample(4_000, 1)


@pytest.fixture(scope="module")
def model():
    """A patch on a model, the model, and people."""
    people = sample(6_000, 0)
    f = LogisticRegression(max_iter=500).fit(people[NUMBERS], people["y"])
    g = FairPatch(f, Target(p_rule=0.7))
    g.fit(people.drop(columns=["id", "score"]), "y", sensitive_features=["group"])
    return g.patched_, people


def plain(applied):
    return applied["fairpatch_decision"].to_numpy()


def quietly(patched, table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return patched.apply(table, **options)


def test_people_like_those_of_the_fit_are_let_through(column):
    patched, people = column
    assert len(quietly(patched, people)) == len(people)


def test_a_turned_score_is_refused(column):
    patched, people = column
    with pytest.raises(OtherModelError, match="is reversed"):
        patched.apply(people.assign(score=1 - people["score"]))


def test_another_model_is_noticed_by_its_scores_alone(column):
    patched, people = column
    other = np.random.default_rng(0).permutation(people["score"])
    with pytest.raises(OtherModelError, match="similar people score differently"):
        patched.apply(people.assign(score=other))
    with pytest.warns(OtherModelWarning, match="score differently than when"):
        patched.apply(people.assign(score=other), if_unlike="warn")
    assert len(quietly(patched, people.assign(score=other), if_unlike="ignore"))


def test_a_retrained_model_is_noticed_by_made_up_people(model):
    patched, people = model
    retrained = LogisticRegression(max_iter=500).fit(people[NUMBERS][:900], people["y"][:900])
    again = PatchedModel(BaseModel(retrained), patched.patch)
    with pytest.warns(OtherModelWarning, match="another model .* differ by up to 0.0"):
        again.apply(people)
    forest = GradientBoostingClassifier().fit(people[NUMBERS], people["y"])
    with pytest.raises(OtherModelError, match="another model than the one"):
        PatchedModel(BaseModel(forest), patched.patch).apply(people)
    assert len(quietly(patched, people))


def test_two_percent_of_people_with_a_new_category_are_noticed(column):
    patched, people = column
    read = next(c.name for c in patched.patch.columns if c.kind == "category")
    odd = people.copy()
    odd.loc[odd.index[:80], read] = "never seen"
    with pytest.warns(
        OtherModelWarning, match=f"have a category of '{read}' that it does not know"
    ):
        patched.apply(odd)


def test_a_few_people_are_never_unlike(column):
    """Row by row, and in small batches, people with rare values are let through."""
    patched, people = column
    read = next(c.name for c in patched.patch.columns if c.kind == "category")
    for n in (1, 5, 20):
        odd = people[:n].assign(**{read: "never seen"})
        assert len(quietly(patched, odd)) == n


def test_a_missing_column_is_named(column):
    patched, people = column
    read = patched.patch.columns[0].name
    renamed = people.rename(columns={read: f"{read}_"})
    with pytest.raises(ValueError, match=f"no column '{read}'.*Did you mean '{read}_'"):
        patched.apply(renamed)


def test_other_units_are_refused(column):
    patched, people = column
    read = next(c.name for c in patched.patch.columns if c.kind == "number")
    with pytest.raises(OtherModelError, match=f"'{read}' is not distributed as.*other units"):
        patched.apply(people.assign(**{read: people[read] / 1000}))


def test_other_order_does_no_harm(column, model):
    patched, people = column
    shuffled = people[list(people.columns)[::-1]].sample(frac=1.0, random_state=0)
    expected = pd.Series(plain(patched.apply(people)), people.index)[shuffled.index]
    assert (plain(quietly(patched, shuffled)) == expected.to_numpy()).all()
    patched, people = model
    turned = people[list(people.columns)[::-1]]
    assert (plain(quietly(patched, turned)) == plain(patched.apply(people))).all()


def test_people_who_are_there_twice_do_no_harm(column):
    patched, people = column
    twice = pd.concat([people, people])
    once = plain(patched.apply(people))
    assert (plain(quietly(patched, twice)) == np.concatenate([once, once])).all()


def test_a_column_that_is_there_twice_is_named(column):
    patched, people = column
    read = patched.patch.columns[0].name
    with pytest.raises(ValueError, match=f"{read}"):
        patched.apply(pd.concat([people, people[[read]]], axis=1))


def test_another_cut_off_is_refused(column):
    patched, _ = column
    with pytest.raises(ValueError, match="decides above 0.4, the patch was learned for"):
        PatchedModel(BaseModel("score", Decision(threshold=0.4)), patched.patch)


def test_many_gaps_are_noticed_and_a_score_without_a_value_has_no_decision(column):
    patched, people = column
    read = next(c.name for c in patched.patch.columns if c.kind == "number")
    gaps = people[read].where(np.arange(len(people)) % 5 > 0)
    with pytest.warns(OtherModelWarning, match=f"more people have no '{read}'"):
        patched.apply(people.assign(**{read: gaps}))
    no_score = people.assign(score=people["score"].where(people.index != 3))
    with pytest.raises(ValueError, match="1 of 4000 values are missing"):
        patched.apply(no_score)


def test_an_empty_table_stays_empty(column):
    patched, people = column
    assert len(quietly(patched, people[:0])) == 0


def test_an_engine_compares_alike(column):
    import duckdb

    patched, people = column
    turned = people.assign(score=1 - people["score"])
    for table in (people, turned):
        here, there = (compare(patched.patch, t, "score") for t in (table, duckdb.from_df(table)))
        assert [str(f) for f in here.findings] == [str(f) for f in there.findings]
    from fairpatch.engines.sql import check_sql

    text = check_sql(patched.patch, "score", table="turned")
    assert duckdb.sql(text).df()["verdict"].tolist() == ["refuse"]
    text = check_sql(patched.patch, "score", table="people")
    assert duckdb.sql(text).df()["verdict"].tolist() == ["alike"]


def test_days_written_as_text_are_no_levels():
    people = pd.DataFrame({"day": [f"2026-01-{1 + i % 28:02}" for i in range(400)]})
    people["score"] = np.linspace(0.05, 0.95, 400)
    y, s = (people["score"] > 0.5).astype(int), np.arange(400) % 2
    with pytest.raises(TypeError, match="'day' is a date or time .*exclude="):
        FairPatch("score", Target(p_rule=0.8)).fit(people, y, sensitive_features=s)


def test_what_other_libraries_call_a_metric_is_known():
    with pytest.raises(TypeError, match="Here it is disparate_mistreatment"):
        Target(equalized_odds_difference=0.1)


def test_the_papers_learner_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(ImportError, match=r"fairpatch\[adversarial\]"):
        Commod(None, lambda_fair=1.0).fit(X, X[:, 0] > 0, sensitive_features=X[:, 1] > 0)
