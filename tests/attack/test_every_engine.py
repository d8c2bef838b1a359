"""Hostile rows and names through every engine: the same decision for everybody, or a refusal.

`make attack` adds Spark, a real Postgres and ClickHouse, 20 patches and 50,000 rows each.
"""

import os
from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from attack.engines import EMBEDDED, TEXTS, ClickHouse, Postgres, Spark, in_numpy, plain, rows
from fairpatch.decision import Decision
from fairpatch.engines.onnx import patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.patch import (
    CardScale,
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    Lock,
    NumberWeight,
    Patch,
    ScoreBand,
)
from fairpatch.patch.apply import apply
from fairpatch.patch.parts import Range, RangesWeight

MANY = bool(os.environ.get("FAIRPATCH_ATTACK"))
PATCHES, ROWS = (20, 50_000) if MANY else (6, 3_000)


def a_scale(random):
    """Points needed and bands at random, at scores that people have."""
    ends = [None, *np.sort(random.choice(np.arange(1, 20) / 20, 4, replace=False)).tolist(), None]
    bands = [
        ScoreBand(at_least=low, below=high, points=int(random.integers(0, 8)) or None)
        for low, high in pairwise(ends)
        if random.random() < 0.8
    ]
    gain, loss = int(random.integers(-3, 15)), int(random.integers(-15, 3))
    texts = [str(t) for t in random.choice(TEXTS, 4, replace=False) if t]
    locked = [
        Lock(column="c1", values=texts[:2]),
        Lock(column="i1", values=random.choice(5, 2, replace=False).tolist()),
        Lock(column="n2", at_least=float(random.integers(-2, 1)), below=1.5),
        Lock(column="n3", below=-2.0),
    ]
    some = [lock for lock in locked if random.random() < 0.5]
    return CardScale(approve_at=gain, deny_at=loss, confidence=bands, locked=some)


def a_patch(random, number):
    """A patch at random: the paper's ratio, or a card of points."""

    def tenth():
        return float(random.integers(-12, 13)) / 10

    card = number % 2 == 1
    size = 10.0 if card else 1.0
    columns = [Column(name=n, kind="number") for n in ("n1", "n2", "n3")]
    columns += [Column(name=n, kind="category") for n in ("c1", "c2", "i1")]
    concepts = []
    for j in range(random.integers(1, 4)):
        numbers = [
            NumberWeight(
                column=name,
                coefficient=0.0 if card or random.random() < 0.15 else tenth(),
                missing=tenth() * size,
                around=tenth() if random.random() < 0.5 else 0.0,
            )
            for name in ("n1", "n2", "n3")
            if random.random() < 0.6
        ]
        edges = np.sort(random.choice(np.arange(-30, 31) / 10, 3, replace=False)).tolist()
        bounds = [None, *edges, None]
        ranges = [
            RangesWeight(
                column="n1",
                ranges=[
                    Range(at_least=low, below=high, weight=tenth() * size)
                    for low, high in pairwise(bounds)
                    if random.random() < 0.7
                ],
                missing=tenth() * size,
            )
        ]
        categories = {
            "c1": [t for t in random.choice(TEXTS, 5, replace=False) if t],
            "c2": [t for t in random.choice(TEXTS, 3, replace=False) if t],
            "i1": random.choice(5, 3, replace=False).tolist(),
        }
        categories = [
            CategoricalWeight(
                column=name,
                categories=[
                    CategoryWeight(category=v if name == "i1" else str(v), weight=tenth() * size)
                    for v in own
                ],
                missing=tenth() * size,
                other=tenth() * size if random.random() < 0.3 else 0.0,
            )
            for name, own in categories.items()
            if own and random.random() < 0.7
        ]
        concepts.append(
            Concept(
                name=f"k{j}",
                weight=1.0 if card else tenth() or 1.0,
                intercept=0.0 if card else tenth(),
                numbers=numbers,
                categories=categories,
                ranges=ranges if random.random() < 0.7 else (),
            )
        )
    return Patch(
        columns=columns,
        concepts=concepts,
        card=a_scale(random) if card else None,
        offset=0.0 if card else tenth(),
        strength=1.0 if card else float(random.choice([1.0, 0.5, 0.7, 0.3])),
        decision=Decision(
            threshold=float(random.choice([0.5, 0.5, 0.7, 0.3, 0.1])),
            favourable=int(random.integers(0, 2)),
        ),
        direction=str(random.choice(["both", "both", "promote_only", "demote_only"])),
    )


def problem(number):
    random = np.random.default_rng(1000 + number)
    patch = a_patch(random, number)
    return patch, rows(random, ROWS, patch.threshold)


def different(engine, patch, table):
    """The rows on which an engine does not decide as numpy does."""
    expected = in_numpy(patch, table)
    found = plain(engine(patch, table))
    assert len(found) == len(expected)
    return np.flatnonzero(found != expected).tolist()


def test_the_attack_locks_people():
    locked = [patch.locks(table) for patch, table in map(problem, range(1, PATCHES, 2))]
    assert sum(rows.any() and not rows.all() for rows in locked) >= 2


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_embedded_engine_decides_every_row_alike(name):
    for number in range(PATCHES):
        patch, table = problem(number)
        assert different(EMBEDDED[name], patch, table) == [], number


@pytest.fixture(scope="module")
def servers(request, tmp_path_factory):
    """Spark, Postgres and ClickHouse, stopped by whom they were started."""
    spark = Spark(request.getfixturevalue("spark"), tmp_path_factory.mktemp("spark"))
    postgres = Postgres()
    clickhouse = ClickHouse(tmp_path_factory.mktemp("clickhouse"))
    yield {
        "spark": spark.apply,
        "sql spark": spark.sql,
        "sql postgres": postgres.sql,
        "sql clickhouse": clickhouse.sql,
    }
    postgres.stop()


@pytest.mark.attack
@pytest.mark.parametrize("name", ["spark", "sql spark", "sql postgres", "sql clickhouse"])
def test_every_server_decides_every_row_alike(name, servers):
    for number in range(PATCHES):
        patch, table = problem(number)
        assert different(servers[name], patch, table) == [], number


def number_patch(name="a", coefficient=-1.0, **more):
    concept = Concept(
        name="c",
        weight=1.0,
        intercept=0.0,
        numbers=[NumberWeight(column=name, coefficient=coefficient, missing=0.0)],
    )
    return Patch(columns=[Column(name=name, kind="number")], concepts=[concept], **more)


def test_the_edges_are_defined():
    """Infinities and what no person has are missing; next to nothing is nothing."""
    patch = number_patch(coefficient=-10.0)
    numbers = [np.inf, -np.inf, np.nan, 1e308, -1e308, 1e101, 5e-324, -0.0, 1.0]
    people = pd.DataFrame({"a": numbers, "p": 0.9})
    for found in (patch.ratio(people), apply(patch, people, "p")["fairpatch_ratio"]):
        assert list(found) == [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -9.0]
    nothing = number_patch(coefficient=0.0)
    assert nothing.ratio(people).tolist() == [1.0] * 9


def test_an_empty_text_is_a_gap_everywhere():
    category = CategoricalWeight(
        column="j", categories=[CategoryWeight(category="x", weight=1.0)], missing=-3.0, other=0.5
    )
    patch = Patch(
        columns=[Column(name="j", kind="category")],
        concepts=[Concept(name="c", weight=1.0, intercept=0.0, categories=[category])],
    )
    people = pd.DataFrame({"j": ["", None, "x", "?"], "p": 0.9})
    graph = patch_graph(patch).SerializeToString()
    for found in (
        patch.ratio(people),
        apply(patch, people, "p")["fairpatch_ratio"],
        apply(patch, pl.from_pandas(people), "p")["fairpatch_ratio"],
        apply(patch, duckdb.sql("select * from people"), "p").df()["fairpatch_ratio"],
        run_graph(graph, people, score="p")["fairpatch_ratio"],
    ):
        assert list(found) == [-2.0, -2.0, 2.0, 1.5]


def test_a_score_that_is_no_probability_has_no_decision_in_onnx_either():
    people = pd.DataFrame({"a": [2.0] * 5, "p": [1.5, -0.5, np.nan, 0.9, 0.2]})
    found = run_graph(patch_graph(number_patch()).SerializeToString(), people, score="p")
    assert found["fairpatch_decision"].tolist() == [None, None, None, False, True]
    assert np.isnan(found["fairpatch_score"][:3]).all()


@pytest.mark.parametrize(
    ("columns", "read", "said"),
    [
        (["^num1$", "p"], "^num1$", "taken for a pattern"),
        (["", "p"], "", "for nothing"),
        (["a", "p", "FAIRPATCH_RATIO"], "a", "already has a column 'FAIRPATCH_RATIO'"),
        (["Age", "age", "p"], "age", "'age' and 'Age' differ in their case alone"),
        (["a", "p", "P"], "a", "'p' and 'P' differ in their case alone"),
    ],
)
def test_names_that_engines_take_otherwise_are_refused(columns, read, said):
    people = pd.DataFrame({name: [0.5, 0.6] for name in columns})
    for table in (people, pl.from_pandas(people)):
        with pytest.raises(ValueError, match=said):
            apply(number_patch(read), table, "p")


def test_a_graph_keeps_its_own_names():
    with pytest.raises(ValueError, match="a name of fairpatch's own"):
        patch_graph(number_patch("fairpatch_base_score"))


HOSTILE = ['q"q', "it's", "a.b", "100%", "a`b", "two words", "é", "select", "a;b", "-- c", "x\\y"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names(name):
    patch = number_patch(name)
    people = pd.DataFrame({name: [-2.0, 2.0, 2.0], "p": [0.9, 0.9, 0.1]})
    expected = [True, False, True]
    assert apply(patch, people, "p")["fairpatch_decision"].tolist() == expected
    assert apply(patch, pl.from_pandas(people), "p")["fairpatch_decision"].to_list() == expected
    own = duckdb.connect().from_arrow(pl.from_pandas(people).to_arrow())
    assert [r[-2] for r in apply(patch, own, "p").fetchall()] == expected
    text = sql(patch, "p")
    assert [r[-2] for r in duckdb.sql(text, alias="t").fetchall()] == expected
    found = run_graph(patch_graph(patch).SerializeToString(), people, score="p")
    assert found["fairpatch_decision"].tolist() == expected
