"""A model becomes a score column, in batches, on every engine that takes part."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairpatch.engines.streams import score


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
