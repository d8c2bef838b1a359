"""Locks, bands, weights, a reference, strata, costs, chances: alike in memory, DuckDB and Spark.

The columns are named as nobody should name them: a name is quoted or passed by value everywhere.
"""

from dataclasses import replace

import duckdb
import numpy as np
import pytest

from fairpatch import FairPatch, Roles, Target, audit
from fairpatch.datasets import Population
from fairpatch.measure.rates import changed_rate

KEY, WEIGHT, PRODUCT, AGE = 'i"d; --', "we'ight", "pro$duct\\", "a{g}e %s"
CHANCES = {"a": "p\"a'", "b": "p $b"}
BANDS = {AGE: [25, 40]}


@pytest.fixture(scope="module")
def people():
    groups = {"a": (0.6, 0.0), "b": (0.4, 1.0)}
    frame = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=groups)
    frame = frame.sample(8_000, seed=0).to_pandas().rename(columns={"id": KEY})
    random = np.random.default_rng(0)
    frame[WEIGHT] = random.choice([1.0, 2.0], len(frame))
    frame[PRODUCT] = random.choice(["card; DROP", "lo'an"], len(frame))
    older = np.where(frame["group"] == "a", 45, 30)
    frame[AGE] = np.clip(older + random.integers(-15, 15, len(frame)), 18, 70)
    frame[CHANCES["b"]] = np.where(frame["group"] == "b", 0.8, 0.15)
    frame[CHANCES["a"]] = 1 - frame[CHANCES["b"]]
    return frame


def alike(g, target, frame, feature, engines):
    """The same counts and the same verdict, with every figure, wherever the table lies."""
    options = {"sensitive_features": [feature], "comparisons": target.comparisons}
    memory = g.patched_.count(frame, "y", **options)
    bare = replace(g.patched_, used=None)  # which rows learned is not looked at in Spark
    judged = bare.certify(frame, "y", sensitive_features=[feature], target=target)
    assert changed_rate().of(memory).value > 0
    for table in engines:
        assert g.patched_.count(table, "y", **options) == memory
        there = bare.certify(table, "y", sensitive_features=[feature], target=target)
        assert [str(r) for r in there.results] == [str(r) for r in judged.results]


@pytest.mark.slow
def test_alike_in_memory_duckdb_and_spark(people, spark):
    table = people.drop(columns=list(CHANCES.values()))
    engines = duckdb.from_df(table), spark.createDataFrame(table)
    roles = Roles(key=KEY, weight=WEIGHT, bands=BANDS)
    target = Target(
        p_rule=0.7, reference="40 and above", locked={PRODUCT: ["lo'an"]},
        costs={"wrong_approval": 5, "wrong_refusal": 1},
    )  # fmt: skip
    g = FairPatch("score", target, roles=roles, exclude=["group"])
    g.fit(table, "y", sensitive_features=[AGE])
    alike(g, target, table, AGE, engines)
    strata = target.replace(within=PRODUCT, reference=None)
    alike(g, strata, table, AGE, engines)
    after = g.patched_.favoured(table.drop(columns=["y", KEY]))
    locked = (table[PRODUCT] == "lo'an").to_numpy()
    assert (after[locked] == (table["score"] > 0.5).to_numpy()[locked]).all()


def test_groups_that_are_only_probable_too(people, spark):
    table = people.drop(columns=[AGE, "group"])
    roles = Roles(key=KEY, weight=WEIGHT, probable={"group": CHANCES})
    one, two, three = (
        audit(t, "y", sensitive_features=["group"], estimator="score", roles=roles).counts
        for t in (table, duckdb.from_df(table), spark.createDataFrame(table))
    )
    assert one == two == three


@pytest.mark.parametrize(
    ("column", "name"), [("y", "a.b"), ("group", "a`b"), ("score", "a.b"), (WEIGHT, "a.b")]
)
def test_names_that_spark_reads_as_syntax_are_refused_in_one_sentence(people, spark, name, column):
    used = {c: c for c in ("y", "group", "score", WEIGHT, KEY)} | {column: name}
    table = spark.createDataFrame(people[list(used)].rename(columns={column: name}).head(100))
    roles = Roles(key=used[KEY], weight=used[WEIGHT])
    with pytest.raises(ValueError, match="dots and backticks"):
        audit(
            table, used["y"], sensitive_features=[used["group"]], estimator=used["score"],
            roles=roles,
        )  # fmt: skip
