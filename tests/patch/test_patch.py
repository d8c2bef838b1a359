"""The patch: folded weights equal the encoding, every engine agrees, the file is plain data."""

import json
import os
from datetime import date
from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpatch._tools.files import loads_strictly
from fairpatch.patch import (
    CategoricalWeight,
    CategoryWeight,
    Column,
    Concept,
    NumberWeight,
    Patch,
    decision_expr,
    load,
    ratio_expr,
    save,
    schema,
)
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.terms import activation

ROOT = Path(__file__).parents[2]
HOSTILE = "x\"'; DROP TABLE people; --"
if duckdb.__version__.startswith("1."):  # which reads no name with a double quote
    HOSTILE = HOSTILE.replace('"', "")


def people(n=400, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, random.normal(40, 12, n)),
            "children": random.integers(0, 5, n),
            "owner": random.random(n) < 0.5,
            HOSTILE: pd.Series(random.choice(["north", "south", "o'hara", '"q"'], n)).where(
                random.random(n) > 0.1, None
            ),
            "job": random.choice(["a", "b", "rare"], n, p=[0.5, 0.49, 0.01]),
            "score": random.random(n),
        }
    )


def random_patch(frame, seed=0, k=2, **options):
    encoder = Encoder.fit(frame, exclude=["score"])
    random = np.random.default_rng(seed)
    W = random.normal(size=(k, len(encoder.features))) * (
        random.random(len(encoder.features)) < 0.7
    )
    v, a = random.normal(size=k), random.normal()
    concepts = tuple(encoder.fold(W[j], float(v[j]), f"concept {j}") for j in range(k))
    read = {c for concept in concepts for c in concept.columns}
    columns = {f.column.name: f.column for f in encoder.features if f.column.name in read}
    patch = Patch(columns=tuple(columns.values()), concepts=concepts, offset=a, **options)
    return patch, encoder, (W, v, a)


@pytest.mark.parametrize("seed", range(5))
def test_folded_weights_give_the_ratio_of_the_encoding(seed):
    train, new = people(seed=seed), people(seed=seed + 100)
    new.loc[0, "job"] = "never seen"
    new.loc[1, "job"] = None
    new.loc[2, "children"] = np.nan  # no gap in training
    patch, encoder, (W, v, a) = random_patch(train, seed)
    Z = encoder.transform(new)
    assert np.allclose(patch.ratio(new), 1 + a + Z @ W.T @ v, atol=1e-12, rtol=1e-12)
    for concept, w in zip(patch.concepts, W, strict=True):
        assert np.allclose(activation(concept, patch.columns, new), Z @ w, atol=1e-12)
        assert abs(activation(concept, patch.columns, train).mean()) < 1e-9


def test_rare_and_unseen_levels_are_the_reference():
    few = pd.DataFrame({"job": ["a"] * 50 + ["b"] * 50 + ["one person"] * 3})
    assert {f.category for f in Encoder.fit(few).features} == {"a", "b"}


def natives(frame, spark):
    yield "polars", pl.from_pandas(frame)
    yield "pyarrow", pa.Table.from_pandas(frame)
    connection = duckdb.connect()
    connection.register("people", pa.Table.from_pandas(frame))
    yield "duckdb", connection.table("people")
    clean = frame.astype(object).where(frame.notna(), None)
    yield "pyspark", spark.createDataFrame(clean)
    yield "pandas", frame


@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
def test_expressions_equal_numpy_on_every_engine(spark, direction):
    frame = people().assign(row=np.arange(400))
    frame.loc[:5, "score"] = 0.3  # exactly the threshold
    patch, *_ = random_patch(frame.drop(columns="row"), 3, threshold=0.3, direction=direction)
    p = frame["score"].to_numpy()
    f_logit = np.where(p == 0.3, 0.0, np.log(p / (1 - p)) - np.log(0.3 / 0.7))
    decisions = patch.decide(frame, f_logit)
    for name, native in natives(frame, spark):
        table = nw.from_native(native).lazy()
        out = table.select("row", r=ratio_expr(patch), d=decision_expr(patch, "score")).collect()
        order = np.argsort(out["row"].to_numpy())
        assert np.allclose(out["r"].to_numpy()[order], patch.ratio(frame), atol=1e-12), name
        assert np.array_equal(out["d"].to_numpy()[order].astype(bool), decisions), name


def test_a_decision_without_a_score_is_null():
    patch, *_ = random_patch(people())
    frame = pl.from_pandas(people().assign(score=[None, float("nan"), 2.0] + [0.7] * 397))
    out = nw.from_native(frame).select(d=decision_expr(patch, "score"))["d"].to_list()
    assert out[:3] == [None, None, None]
    assert None not in out[3:]


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-3, 3)), min_size=1, max_size=30))
def test_a_decision_changes_exactly_where_the_method_says(pairs):
    f, r = map(np.array, zip(*[*pairs, (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)], strict=True))
    weight = NumberWeight(column="x0", coefficient=1.0, missing=0.0)
    patch = Patch(
        columns=[Column(name="x0", kind="number", position=0)],
        concepts=[Concept(name="c", weight=1.0, intercept=0.0, numbers=[weight])],
    )
    X = (r - 1)[:, None]
    r = patch.ratio(X)
    changed = patch.decide(X, f) != (f > 0)
    assert np.array_equal(changed, (r < 0) | ((r == 0) & (f > 0)))
    up = patch.model_copy(update={"direction": "promote_only"}).decide(X, f)
    down = patch.model_copy(update={"direction": "demote_only"}).decide(X, f)
    assert not (up < (f > 0)).any()
    assert not (down > (f > 0)).any()
    assert np.array_equal(up | ((f > 0) & ~changed), np.where(f > 0, True, patch.decide(X, f)))
    # strength 0 is the base model
    assert np.array_equal(patch.with_strength(0).decide(X, f), f > 0)


def test_the_sign_of_the_patched_logit_is_the_decision():
    frame = people()
    patch, *_ = random_patch(frame, 1)
    f = np.random.default_rng(0).normal(size=400)
    assert np.array_equal(patch.logits(frame, f) > 0, patch.decide(frame, f))


def test_the_file_gives_the_same_patch_and_reading_it_runs_nothing(tmp_path):
    frame = people()
    patch, *_ = random_patch(frame)
    path = save(patch, tmp_path / "patch.json")
    again = load(path)
    assert again == patch
    assert np.array_equal(again.ratio(frame), patch.ratio(frame))
    assert [p.name for p in tmp_path.iterdir()] == ["patch.json"]
    assert path.stat().st_size < 20_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 5}, "written by a newer one; upgrade"),
        ({"version": 0}, "version"),
        ({"format": "pickle"}, "format"),
        ({"strength": -1}, "strength"),
        ({"strength": float("inf")}, "Infinity is no number"),
        ({"surprise": 1}, "surprise"),
        ({"columns": []}, "undeclared columns"),
    ],
)
def test_what_is_not_a_patch_is_refused(tmp_path, change, message):
    patch, *_ = random_patch(people())
    path = tmp_path / "patch.json"
    path.write_text(json.dumps(json.loads(patch.model_dump_json()) | change))
    with pytest.raises(ValueError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("parts", "words"),
    [({"confidence": [{"below": -1.0, "points": 40}]}, "ends outside of 0 to 1"),
     ({"confidence": [{"at_least": 1.5, "points": 40}]}, "ends outside of 0 to 1"),
     ({"column": "job"}, "'c' reads 'job', a category, as something else")],
)  # fmt: skip
def test_a_file_that_engines_would_read_differently_is_refused(tmp_path, parts, words):
    """Found by a million changed files: a band of no score, a text that is weighed."""
    ranges = {"column": parts.get("column", "age"), "ranges": [{"below": 20, "weight": 20}]}
    patch = {
        "columns": [{"name": "age", "kind": "number"}, {"name": "job", "kind": "category"}],
        "concepts": [{"name": "c", "weight": 1, "intercept": 0, "ranges": [ranges]}],
        "card": {"approve_at": 30, "confidence": parts.get("confidence", [])},
    }
    (tmp_path / "patch.json").write_text(json.dumps(patch))
    with pytest.raises(ValueError, match=words):
        load(tmp_path / "patch.json")


@pytest.mark.skipif(os.name != "posix", reason="pipes have names there")
def test_a_patch_may_come_through_a_pipe():
    patch, *_ = random_patch(people())
    read, write = os.pipe()
    os.write(write, patch.model_dump_json().encode())
    os.close(write)
    assert load(f"/dev/fd/{read}") == patch
    os.close(read)


def test_a_file_that_is_no_json_is_refused(tmp_path):
    (tmp_path / "patch.json").write_bytes(b"\x80\x04pickle")
    with pytest.raises(ValueError, match="not a patch"):
        load(tmp_path / "patch.json")


def test_levels_keep_their_type():
    weights = [CategoryWeight(category=v, weight=1.0) for v in (1, "1", 2.5)]
    part = CategoricalWeight(column="c", categories=weights, missing=0.0)
    again = CategoricalWeight.model_validate_json(part.model_dump_json())
    assert [type(entry.category) for entry in again.categories] == [int, str, float]


def test_columns_that_cannot_be_weighed_are_refused_with_advice():
    with pytest.raises(TypeError, match="days since a fixed day"):
        Encoder.fit(pd.DataFrame({"born": pd.to_datetime(["2000-01-01", "2001-01-01"])}))
    with pytest.raises(TypeError, match="days since a fixed day"):
        Encoder.fit(pl.DataFrame({"born": [date(2000, 1, 1), date(2001, 1, 1)]}))
    with pytest.raises(TypeError, match="numbers, booleans and strings"):
        Encoder.fit(pl.DataFrame({"tags": [["a"], ["b"]]}))
    with pytest.raises(ValueError, match="columns that X does not have: \\['agee'\\]"):
        Encoder.fit(people(), exclude=["agee"])
    with pytest.raises(ValueError, match="no column is left"):
        Encoder.fit(pd.DataFrame({"a": [1, 1, 1]}))
    patch, *_ = random_patch(people())
    with pytest.raises(KeyError, match="which the patch reads"):
        patch.ratio(people().drop(columns=["age", "children"]))
    with pytest.raises(TypeError, match="give it a frame"):
        patch.ratio(np.zeros((2, 6)))


def test_the_published_schema_is_the_current_one():
    """Renew it with: python -c 'from fairpatch.patch import schema; print(schema(), end="")'."""
    assert (ROOT / "docs" / "patch.schema.json").read_text() == schema()


def test_a_file_of_an_older_version_is_brought_up_step_by_step(tmp_path, monkeypatch):
    from fairpatch.patch import file as patch_file

    patch, *_ = random_patch(people())
    path = save(patch, tmp_path / "patch.json")
    old = json.loads(path.read_text())
    old["power"] = old.pop("strength")
    old["version"] = 1
    path.write_text(json.dumps(old))
    steps = {
        1: lambda data: {("force" if k == "power" else k): v for k, v in data.items()},
        2: lambda data: {("strength" if k == "force" else k): v for k, v in data.items()},
    }
    monkeypatch.setattr(patch_file, "STEPS", steps)
    monkeypatch.setattr(patch_file, "CURRENT", 3)
    moved = patch_file.migrated(json.loads(path.read_bytes()))
    assert moved["version"] == 3
    assert {**moved, "version": 2} == json.loads(patch.model_dump_json())


def test_what_unlisted_levels_weigh_adds_up_over_concepts():
    def part(other, **categories):
        listed = [CategoryWeight(category=k, weight=v) for k, v in categories.items()]
        return [CategoricalWeight(column="job", categories=listed, missing=0.5, other=other)]

    patch = Patch(
        columns=[Column(name="job", kind="category")],
        concepts=[
            Concept(name="one", weight=2.0, intercept=0.0, categories=part(0.25, cook=1.0)),
            Concept(name="two", weight=-1.0, intercept=0.0, categories=part(3.0, nurse=4.0)),
        ],
        strength=0.5,
    )
    people = pl.DataFrame({"job": ["cook", "nurse", "pilot", None]})
    expected = [1 + 0.5 * (2 * a - b) for a, b in [(1, 3), (0.25, 4), (0.25, 3), (0.5, 0.5)]]
    assert patch.ratio(people).tolist() == expected
    assert nw.from_native(people).select(r=ratio_expr(patch))["r"].to_list() == expected


@pytest.mark.parametrize(("rows", "weighed"), [(9, False), (10, True), (11, True)])
def test_what_ten_people_have_gets_a_weight_of_its_own(rows, weighed):
    """A category, a gap, or a number that nearly everybody shares: nine people are too few."""
    n = 200
    rare = np.arange(n) < rows
    frame = pl.DataFrame(
        {
            "category": np.where(rare, "rare", np.where(np.arange(n) % 2, "x", "y")),
            "gap": [None if r else float(i % 7) for i, r in enumerate(rare)],
            "flag": rare.astype(float),
        }
    )
    found = {(f.column.name, f.what, f.category) for f in Encoder.fit(frame).features}
    assert (("category", "category", "rare") in found) == weighed
    assert (("gap", "missing", None) in found) == weighed
    assert (("flag", "value", None) in found) == weighed
    assert {("category", "category", "x"), ("gap", "value", None)} <= found


def test_an_excluded_column_may_be_of_any_kind():
    n = 40
    frame = pl.DataFrame({"x": np.arange(n) % 7, "day": [date(2020, 1, 1)] * n})
    assert [f.column.name for f in Encoder.fit(frame, exclude=["day"]).features] == ["x"]
    with pytest.raises(TypeError, match="'day' is a date or time"):
        Encoder.fit(frame)


def test_a_name_that_comes_twice_is_found_in_one_pass():
    """Of 200,000 names; looking each of them up among all others would take an hour."""
    names = [f"n{i}" for i in range(200_000)]
    text = "{" + ", ".join(f'"{name}": 0' for name in [*names, names[-2], names[3]]) + "}"
    with pytest.raises(ValueError, match="'n199998' is given twice"):
        loads_strictly(text.encode())
