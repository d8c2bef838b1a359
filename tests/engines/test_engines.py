"""One patch on six kinds of table and in six dialects: the same decisions, whatever the names."""

import sys
from pathlib import Path

import duckdb
import ibis
import numpy as np
import onnx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairpatch.decision import Decision
from fairpatch.engines.onnx import patch_graph
from fairpatch.engines.sql import DIALECTS, column_type, sql
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CategoricalWeight, CategoryWeight, Column, Concept, NumberWeight, Patch
from fairpatch.patch.apply import CHANGED, DECISION, RATIO, SCORE, apply

HOSTILE = ['we"ird', "it's", "a;DROP TABLE people;--", "back\\slash", "select", "ünï ☃", "x`y"]
GOLDEN = Path(__file__).parent / "golden"


def patch_on(number, category, **options):
    return Patch(
        columns=[Column(name=number, kind="number"), Column(name=category, kind="category")],
        concepts=[
            Concept(
                name="c", weight=1.0, intercept=0.2,
                numbers=[NumberWeight(column=number, coefficient=-0.7, missing=0.3)],
                categories=[
                    CategoricalWeight(
                        column=category, missing=-0.4, other=0.1,
                        categories=[CategoryWeight(category=v, weight=w)
                                for v, w in [("o'hara", -1.5), ('q"q', 0.5), ("\\", -2.0)]],
                    )
                ],
            )
        ],
        **options,
    )  # fmt: skip


def people(number="n", category="c", rows=600):
    random = np.random.default_rng(0)
    n = random.normal(1.0, 1.5, rows)
    n[::17] = np.nan
    c = random.choice(np.array(["o'hara", 'q"q', "\\", "else", None], object), rows)
    p = random.uniform(0, 1, rows)
    p[:3] = [0.0, 1.0, 0.5]
    return pd.DataFrame({"id": np.arange(rows), number: n, category: c, "p": p})


def table_of(engine, frame):
    if engine == "pandas":
        return frame
    if engine == "polars":
        return pl.from_pandas(frame)
    if engine == "polars lazy":
        return pl.from_pandas(frame).lazy()
    if engine == "pyarrow":
        return pa.Table.from_pandas(frame, preserve_index=False)
    if engine == "duckdb":  # NaN stays NaN there, and is equal to itself
        connection = duckdb.connect()
        connection.register("frame", pl.from_pandas(frame, nan_to_null=False).to_arrow())
        return connection.sql("SELECT * FROM frame")
    return ibis.memtable(frame)


def collected(table):
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, duckdb.DuckDBPyRelation):
        return table.df()
    if isinstance(table, ibis.Table):
        return table.execute()
    return table if isinstance(table, pd.DataFrame) else table.to_pandas()


ENGINES = ["pandas", "polars", "polars lazy", "pyarrow", "duckdb", "ibis"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
@pytest.mark.parametrize("threshold", [0.5, 0.3])
def test_every_engine_gives_numpys_ratio_score_and_decision(engine, direction, threshold):
    frame = people()
    patch = patch_on("n", "c", direction=direction, threshold=threshold)
    found = collected(apply(patch, table_of(engine, frame), "p")).sort_values("id")
    f_logit = BaseModel("p", Decision(threshold=threshold)).logits(frame)
    decided = patch.decide(frame, f_logit)
    assert (found[DECISION].to_numpy(bool) == decided).all()
    assert np.abs(found[RATIO].to_numpy(float) - patch.ratio(frame)).max() < 1e-9
    offset = np.log(threshold / (1 - threshold))
    g = 1 / (1 + np.exp(-(patch.logits(frame, f_logit) + offset)))
    assert np.abs(found[SCORE].to_numpy(float) - g).max() < 2e-6  # clipped at 1e-6
    assert (found[CHANGED].to_numpy(bool) == (decided != (f_logit > 0))).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_many_levels_are_looked_up(engine):
    frame, random = people(), np.random.default_rng(1)
    texts = np.array([*(f"it's {i}" for i in range(500)), "else", "", None], object)
    frame["c"] = random.choice(texts, len(frame))
    weights = random.normal(size=400)
    for last in ("it's 400", ""):  # an empty text is a gap, unless it is a category
        categories = [CategoryWeight(category=f"it's {i}", weight=w) for i, w in enumerate(weights)]
        categories.append(CategoryWeight(category=last, weight=2.0))
        part = CategoricalWeight(column="c", missing=-3.0, other=0.1, categories=categories)
        patch = Patch(
            columns=[Column(name="c", kind="category")],
            concepts=[Concept(name="k", weight=1.0, intercept=0.0, categories=[part])],
        )
        found = collected(apply(patch, table_of(engine, frame), "p")).sort_values("id")
        assert np.abs(found[RATIO].to_numpy(float) - patch.ratio(frame)).max() < 1e-12
    with pytest.raises(ValueError, match="too many categories"):
        sql(patch, "p")


def test_spark_gives_the_same(spark):
    frame = people(rows=200)
    patch = patch_on("n", "c")
    rows = [
        tuple(None if isinstance(v, float) and np.isnan(v) else v for v in row)
        for row in frame.itertuples(index=False, name=None)
    ]
    table = spark.createDataFrame(
        [(int(a), b, c, float(d)) for a, b, c, d in rows], "id long, n double, c string, p double"
    )
    found = apply(patch, table, "p").toPandas().sort_values("id")
    decided = patch.decide(frame, BaseModel("p").logits(frame))
    assert (found[DECISION].to_numpy(bool) == decided).all()
    table.createOrReplaceTempView("people")
    text = sql(patch, "p", dialect="spark", keep=("id",))
    by_text = spark.sql(text).toPandas().sort_values("id")
    assert (by_text[DECISION].to_numpy(bool) == decided).all()


@pytest.mark.parametrize("number", HOSTILE)
def test_hostile_names_and_levels_in_duckdbs_text(number):
    frame = people(number, category=number + "2")
    patch = patch_on(number, number + "2")
    connection = duckdb.connect()
    connection.register("people", pl.from_pandas(frame, nan_to_null=False).to_arrow())
    found = connection.sql(sql(patch, "p", keep=("id",))).df().sort_values("id")
    decided = patch.decide(frame, BaseModel("p").logits(frame))
    assert (found[DECISION].to_numpy(bool) == decided).all()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_for_every_dialect_is_as_it_was(dialect):
    """Golden files: a change of a library's SQL is seen before a bank's job sees it."""
    text = (
        sql(patch_on("income", "job"), "p", dialect=dialect, keep=("id",), with_score=True) + "\n"
    )
    golden = GOLDEN / f"{dialect}.sql"
    assert text == golden.read_text(encoding="utf-8")


def test_a_name_that_a_dialect_would_change_is_refused():
    with pytest.raises(ValueError, match="bigquery cannot have a column named"):
        sql(patch_on('we"ird', "c"), "p", dialect="bigquery")
    with pytest.raises(ValueError, match="dialect must be one of"):
        sql(patch_on("n", "c"), "p", dialect="oracle")


def test_what_is_missing_or_taken_is_named():
    patch, frame = patch_on("n", "c"), people()
    with pytest.raises(ValueError, match="no column 'n'.*needs; its columns are"):
        apply(patch, frame.drop(columns="n"), "p")
    with pytest.raises(ValueError, match="no column 'score'"):
        apply(patch, frame, "score")
    with pytest.raises(ValueError, match="already has a column 'fairpatch_ratio'"):
        apply(patch, apply(patch, frame, "p"), "p")
    with pytest.raises(ValueError, match="already has a column 'Fairpatch_confidence'"):
        apply(patch, frame.assign(Fairpatch_confidence=1), "p")


def test_a_score_that_is_none_decides_nothing():
    frame = people(rows=4)
    frame["p"] = [None, np.nan, 1.5, 0.7]
    found = apply(patch_on("n", "c"), pl.from_pandas(frame), "p")[DECISION].to_list()
    assert found[:3] == [None, None, None]
    assert found[3] is not None


@pytest.mark.parametrize("engine", ENGINES)
def test_a_gap_in_the_score_is_no_change(engine):
    frame = people(rows=3)
    frame["p"] = [0.6, np.nan, 0.3]
    found = collected(apply(patch_on("n", "c"), table_of(engine, frame), "p")).sort_values("id")
    assert found[CHANGED].isna().tolist() == [False, True, False]


def test_a_qualified_table_and_names_like_ours():
    assert '"credit"."people"' in sql(patch_on("n", "c"), "p", table="credit.people")
    graph = patch_graph(patch_on("ratio", "step_0"))
    onnx.checker.check_model(graph)
    clash = patch_on("n", "c").model_dump()
    clash["concepts"][0]["categories"][0]["categories"] = [{"category": "", "weight": 1.0}]
    with pytest.raises(ValueError, match="empty string as a category"):
        patch_graph(Patch.model_validate(clash))


def two_concepts():
    """One concept pushes by the number, one by the category."""
    one = patch_on("n", "c").concepts[0]
    return Patch(
        columns=patch_on("n", "c").columns,
        concepts=[
            one.model_copy(update={"name": 'it\'s the "number"', "categories": ()}),
            one.model_copy(update={"name": "the category", "numbers": (), "weight": 1.3}),
        ],
    )


def expected_reasons(patch, frame):
    """Each concept's part of the ratio by itself, from patches of one concept."""
    alone = [patch.model_copy(update={"concepts": (c,)}).ratio(frame) - 1 for c in patch.concepts]
    f_logit = BaseModel("p").logits(frame)
    changed = patch.decide(frame, f_logit) != (f_logit > 0)
    names = np.array([c.name for c in patch.concepts], object)
    return np.where(changed, names[np.argmin(alone, 0)], None)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_names_the_concept_that_pushed(engine):
    frame, patch = people(), two_concepts()
    found = collected(apply(patch, table_of(engine, frame), "p", with_reason=True))
    expected = expected_reasons(patch, frame)
    own = [None if pd.isna(v) else v for v in found.sort_values("id")["fairpatch_reason"]]
    assert own == expected.tolist()
    assert {None, *(c.name for c in patch.concepts)} == set(own)


def test_spark_and_text_name_it_too(spark):
    frame, patch = people(rows=200).dropna(), two_concepts()
    table = spark.createDataFrame(
        [(int(a), float(b), c, float(d)) for a, b, c, d in frame.itertuples(index=False)],
        "id long, n double, c string, p double",
    )
    table.createOrReplaceTempView("people")
    expected = expected_reasons(patch, frame).tolist()
    text = sql(patch, "p", dialect="spark", keep=("id",), with_reason=True)
    for found in (apply(patch, table, "p", with_reason=True), spark.sql(text)):
        own = found.toPandas().sort_values("id")["fairpatch_reason"]
        assert [None if pd.isna(v) else v for v in own] == expected


def test_text_for_spark_needs_no_spark(monkeypatch):
    """The command line is installed without it."""
    for gone in ("pyspark", "pyarrow_hotfix"):
        monkeypatch.setitem(sys.modules, gone, None)
    monkeypatch.setattr(ibis.options, "pyspark", None)
    assert "SELECT" in sql(patch_on("income", "job"), "p", dialect="spark")


@pytest.mark.parametrize(
    ("categories", "kind"),
    [([1, 2], "int64"), ([True, False], "boolean"), ([1, 2.5], "float64"), (["a", "b"], "string"),
     ([1, "a"], "string")],
)  # fmt: skip
def test_a_column_of_codes_is_declared_with_the_type_of_its_categories(categories, kind):
    weights = [CategoryWeight(category=c, weight=1.0) for c in categories]
    part = CategoricalWeight(column="code", categories=weights, missing=0.0)
    column = Column(name="code", kind="category")
    patch = Patch(
        columns=[column],
        concepts=[Concept(name="c", weight=1.0, intercept=0.0, categories=[part])],
    )
    assert column_type(patch, column) == kind
