"""A model becomes a score column, in batches, on every engine that takes part."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairpatch.engines.streams import apply_files, score
from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 5_000))
    return pd.DataFrame({"id": np.arange(5_000), "a": a, "b": b})


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def test_scores_are_the_models(engine, people, tmp_path, request, monkeypatch):
    monkeypatch.setattr("fairpatch.engines.streams.VECTORS", 1)
    f = LogisticRegression().fit(people[["a", "b"]], people["a"] > 0)
    out = tmp_path / "scored.parquet"
    if engine == "spark":
        table = request.getfixturevalue("spark").createDataFrame(people)
        found = score(table, f, ["a", "b"]).toPandas()
    else:
        connection = duckdb.connect()
        connection.register("people", people)
        table = connection.sql("SELECT * FROM people")
        found = score(table, f, ["a", "b"], out=out).df()
        assert [p.name for p in tmp_path.iterdir()] == ["scored.parquet"]
    found = found.sort_values("id")
    assert np.allclose(found["score"], f.predict_proba(people[["a", "b"]])[:, 1], atol=1e-12)


def test_a_place_to_write_to_is_asked_for(people):
    f = LogisticRegression().fit(people[["a", "b"]], people["a"] > 0)
    with pytest.raises(ValueError, match="name a Parquet file"):
        score(duckdb.sql("SELECT 1 AS a, 2 AS b"), f, ["a", "b"])


def test_names_that_are_also_ours(people, tmp_path):
    own = people.rename(columns={"a": "read", "b": 's "t"'}).assign(t=None)
    f = LogisticRegression().fit(own[["read", 's "t"']], own["read"] > 0)
    table = duckdb.sql("SELECT * FROM own")
    found = score(table, f, ["read", 's "t"'], out=tmp_path / "o.parquet", name="s").df()
    assert found.drop(columns=["s", "t"]).equals(own.drop(columns="t"))
    assert np.allclose(found["s"], f.predict_proba(own[["read", 's "t"']])[:, 1], atol=1e-12)


def test_a_table_in_another_order_each_time_is_refused(people, tmp_path):
    f = LogisticRegression().fit(people[["a", "b"]], people["a"] > 0)
    with pytest.raises(duckdb.Error, match="another order each time: sort it by its key"):
        score(
            duckdb.sql("SELECT * FROM people ORDER BY random()"), f, ["a", "b"],
            out=tmp_path / "o.parquet",
        )  # fmt: skip
    assert not list(tmp_path.glob("o*"))


def test_a_folder_that_was_begun_with_other_people_is_not_gone_on_with(tmp_path):
    part = RangesWeight(column="x", ranges=[Range(at_least=1, weight=60)])
    patch = Patch(
        columns=[Column(name="x", kind="number")],
        concepts=[Concept(name="x", weight=1.0, intercept=0.0, ranges=[part])],
        card=CardScale(approve_at=50),
    )
    files = [tmp_path / f"{i}.parquet" for i in range(2)]
    frame = pd.DataFrame({"x": [0.0, 2.0], "score": [0.4, 0.4]})
    for file in files:
        frame.to_parquet(file)
    done = apply_files(patch, files, tmp_path / "out", "score", read=duckdb.read_parquet)
    assert (done.rows, done.changed, done.kept) == (4, 2, 0)
    again = apply_files(patch, files, tmp_path / "out", "score", read=duckdb.read_parquet)
    assert again.kept == 2
    more = [*files, tmp_path / "more.parquet"]
    frame.to_parquet(more[-1])
    with pytest.raises(ValueError, match=r"begun without .*more\.parquet"):
        apply_files(patch, more, tmp_path / "out", "score", read=duckdb.read_parquet)
    frame.assign(x=5.0).to_parquet(files[1])
    with pytest.raises(ValueError, match="begun with another content of"):
        apply_files(patch, files, tmp_path / "out", "score", read=duckdb.read_parquet)
    with pytest.raises(ValueError, match="begun with other options"):
        apply_files(patch, files, tmp_path / "out", "x", read=duckdb.read_parquet)
