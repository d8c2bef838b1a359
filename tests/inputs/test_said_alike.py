"""What is said of columns means the same in memory and in an engine, and odd cells are refused."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from fairpatch import Decision, FairPatch, Roles, Target, audit
from fairpatch.datasets import Population
from fairpatch.inputs.base import NO_SCORE
from fairpatch.patch.batch import filled
from fairpatch.patch.row_scorer import RowScorer

TWO = {"a": (0.6, 0.0), "b": (0.4, 1.0)}


def people(n=3_000, seed=0):
    found = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=TWO).sample(n, seed=seed)
    table, r = found.to_pandas(), np.random.default_rng([seed, 1])
    return table.assign(
        job=np.repeat(np.arange(n // 30), 30), bar=np.where(table["id"] % 6 == 0, "yes", "no"),
        city=r.choice(["NYC", "Rome"], n),
    )  # fmt: skip


def groups_of(found, feature):
    return {g["group"]: g["people"].low for g in found.comparisons[feature].groups}


@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        ([True, False], ["True"]),
        ([1, 2, 3], [3]),
        ([1, 2, 3], ["3.0"]),
        ([1.0, 2.0, 2.5], [2.5]),
        (["1", "2", "keine Angabe"], ["keine Angabe"]),
    ],
)
def test_unknown_values_are_the_same_in_an_engine(values, unknown):
    r = np.random.default_rng(0)
    table = rows = pd.DataFrame(  # noqa: F841 DuckDB finds it by its name
        {"g": r.choice(values, 900), "score": r.random(900)}
    )
    about = {
        "sensitive_features": ["g"], "estimator": "score", "roles": Roles(unknown={"g": unknown})
    }  # fmt: skip
    one, other = audit(table, **about), audit(duckdb.sql("SELECT * FROM rows"), **about)
    assert groups_of(one, "g") == groups_of(other, "g")


def test_a_code_is_whose_it_is():
    with pytest.raises(ValueError, match="say whose code it is|Say whose code it is"):
        Roles(unknown=[3, 4])
    assert Roles(unknown="not known").unknown_of("any") == ("not known",)
    with pytest.raises(ValueError, match="'x' in two groups"):
        Roles(spellings={"sex": {"a": ["x"], "b": ["x"]}})


def test_codes_keep_all_their_digits():
    said = Roles(special={"a": {12_345_678: "x", 12_345_679: "y", -0.1234567: "z"}})
    assert list(said.special["a"]) == ["12345678", "12345679", "-0.1234567"]
    with pytest.raises(ValueError, match="must be numbers"):
        Roles(special={"a": [float("nan")]})


def test_ages_that_stand_apart_are_asked_about_before_they_are_banded():
    r = np.random.default_rng(0)
    table = rows = pd.DataFrame(  # noqa: F841 DuckDB finds it by its name
        {"age": np.where(r.random(2_000) < 0.05, -99, r.integers(18, 80, 2_000)),
         "score": r.random(2_000)}
    )  # fmt: skip
    about = {"sensitive_features": ["age"], "estimator": "score"}
    for given in (table, duckdb.sql("SELECT * FROM rows")):
        with pytest.raises(ValueError, match="'age' has -99, far from all its other numbers"):
            audit(given, roles=Roles(bands={"age": [40]}), **about)
        known = Roles(bands={"age": [40]}, unknown={"age": [-99]})
        young = (table["age"] < 40) & (table["age"] > 0)
        assert groups_of(audit(given, roles=known, **about), "age")["below 40"] == young.sum()


def test_a_missing_text_key_is_one_person_in_an_engine_too():
    table = people(900)
    table["who"] = ["c" + str(i // 2) for i in range(900)]
    table.loc[0, "who"] = None
    rows = table  # noqa: F841 DuckDB finds it by its name
    about = {
        "sensitive_features": ["group"], "estimator": "score", "roles": Roles(person="who")
    }  # fmt: skip
    one, other = audit(table, **about), audit(duckdb.sql("SELECT * FROM rows"), **about)
    assert one.counts.people == other.counts.people == 451


def test_a_person_whose_group_differs_between_rows_is_one_person():
    table = pd.DataFrame(
        {"who": np.repeat(np.arange(300), 4), "sex": np.tile(list("fmff"), 300),
         "score": np.random.default_rng(0).random(1_200)}
    )  # fmt: skip
    found = audit(table, sensitive_features=["sex"], estimator="score", roles=Roles(person="who"))
    assert "1,200 rows of 300 people" in str(found)


def dated(values):
    """The same table with a date, in memory and in an engine, and what an audit is told."""
    table = people(900).assign(when=np.random.default_rng(0).choice(values, 900))
    about = {
        "sensitive_features": ["group"], "estimator": "score", "roles": Roles(date="when")
    }  # fmt: skip
    return (table, duckdb.from_df(table)), about


@pytest.mark.parametrize("made", [["2024-Q1", "2024-Q4"], ["2024Q1", "2024Q4"]])
def test_quarters_are_dates(made):
    tables, about = dated(made)
    for given in tables:
        assert "2024-01 " in " ".join(audit(given, **about).remarks)


@pytest.mark.parametrize("odd", [["2024-1-5", "2024-2-5"], [202401, 20240115], [1.7e9, 1.8e9]])
def test_odd_dates_are_refused_in_a_sentence(odd):
    tables, about = dated(odd)
    for given in tables:
        with pytest.raises(ValueError, match="date names column 'when', whose"):
            audit(given, **about)


def test_decisions_that_are_turned_round_are_refused():
    table = people(900)
    table["made"] = np.where(table["score"] > 0.5, "Approved", "Denied")
    about = {"sensitive_features": ["group"], "estimator": "score"}
    with pytest.raises(ValueError, match="the opposite of the score's"):
        audit(table, roles=Roles(decided={"made": "Denied"}), **about)
    table["made"] = np.where(table["score"] > 0.5, "Loan originated", "Application denied")
    found = audit(table, roles=Roles(decided="made"), **about)
    assert "are those of the score" in found.remarks[0]


def batched(target, decision=None):
    table = people()
    if decision is not None:
        table.loc[table["id"] % 7 == 0, "score"] = np.nan
    g = FairPatch("score", target, decision=decision or Decision(), roles=Roles(key="id"))
    return table, g.fit(table, "y", sensitive_features=["group"])


@pytest.mark.parametrize("number", [1, 10, 28])
@pytest.mark.parametrize("kind", ["locked", "where", "no score"])
def test_places_of_batches_leave_alone_who_is_not_theirs_to_decide(kind, number):
    wishes = {
        "locked": {"locked": {"bar": "yes"}}, "where": {"where": {"city": "NYC"}}, "no score": {}
    }[kind]  # fmt: skip
    decision = Decision(no_score="denied") if kind == "no score" else None
    table, g = batched(Target(p_rule=0.62, approvals={"by": "job"}, **wishes), decision)
    alone = {
        "locked": table["bar"] == "yes", "where": table["city"] == "Rome",
        "no score": table["score"].isna(),
    }[kind].to_numpy()  # fmt: skip
    rows = table  # noqa: F841 DuckDB finds it by its name
    for given in (table, duckdb.sql("SELECT * FROM rows")):
        made = g.patched_.apply(
            given, approvals={"by": "job", "number": number}, key="id", if_unlike="ignore"
        )
        made = made.df() if hasattr(made, "df") else made
        decided = made.sort_values("id")["fairpatch_decision"].to_numpy(bool)
        before = (table.sort_values("id")["score"] > 0.5).to_numpy()
        of = alone[np.argsort(table["id"].to_numpy(), kind="stable")]
        assert (decided[of] == before[of]).all()
    f = np.where(table["score"].isna(), NO_SCORE, g.patched_.logits(table))
    after = filled(g.patch_, table, f, table["job"].to_numpy(), np.full(len(table), number))
    assert (after[alone] == (table["score"] > 0.5).to_numpy()[alone]).all()


@pytest.mark.parametrize("odd", [np.nan, -1.0, 2.5, np.inf])
def test_odd_numbers_of_places_are_refused_everywhere(odd):
    table, g = batched(Target(p_rule=0.62, approvals={"by": "job"}))
    table["places"] = np.where(table["job"] == 0, odd, 2.0)
    rows = table  # noqa: F841 DuckDB finds it by its name
    for given in (table, duckdb.sql("SELECT * FROM rows")):
        with pytest.raises(ValueError, match="whole numbers of places"):
            g.patched_.apply(given, approvals={"by": "job", "number": "places"}, key="id")
    table["places"] = np.arange(len(table)) % 3
    with pytest.raises(ValueError, match="several numbers of places"):
        g.patched_.apply(table, approvals={"by": "job", "number": "places"}, key="id")
    with pytest.raises(KeyError, match="'plces'"):
        g.patched_.apply(table, approvals={"by": "job", "number": "plces"}, key="id")


def test_a_patch_that_changes_nobody_fills_places_too():
    table, g = batched(Target(p_rule=0.45, approvals={"by": "job"}))
    assert not g.patch_.strength
    made = g.patched_.apply(table, approvals={"by": "job"}, key="id", if_unlike="ignore")
    assert (made["fairpatch_decision"] == (table["score"] > 0.5)).all()


@pytest.mark.parametrize("none", [None, float("nan"), float("inf"), pd.NA])
def test_a_knock_out_is_denied_one_at_a_time(none):
    _, g = batched(Target(p_rule=0.62), Decision(no_score="denied"))
    row = people(30).iloc[0].to_dict()
    assert RowScorer(g.patch_).decide(row, none).decision is False


def test_a_categorical_column_with_gaps_can_be_a_scope():
    table = people()
    table["city"] = table["city"].where(table["id"] % 9 > 0).astype("category")
    g = FairPatch("score", Target(p_rule=0.7, where={"city": "NYC"}), roles=Roles(key="id"))
    g.fit(table, "y", sensitive_features=["group"])
    made = g.patched_.apply(table)
    assert (made["fairpatch_decision"] == g.patched_.decide(table)).all()
