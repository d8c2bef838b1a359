"""Folders to deploy on real engines: the decisions are numpy's, row by row, on hostile rows.

`make attack` adds Spark, Postgres, ClickHouse and MariaDB, and 100,000 rows each.
"""

import runpy
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from attack.test_every_engine import different, problem
from attack.warehouses import (
    ClickHouseWarehouse,
    DuckDB,
    MariaDB,
    PostgresWarehouse,
    SparkWarehouse,
    SQLite,
    Translated,
)
from fairpatch.identity.fingerprint import fingerprint_of
from fairpatch.patch import load
from fairpatch.patch.apply import apply
from test_score import BY_PRODUCT, card, edges

PATCHES = 2
"""Of 50,000 rows each, or of 3,000."""
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
KINDS = {"large_string": pa.string(), "float": pa.float64()}
NO_SERVER = ("bigquery", "snowflake", "trino", "mssql")


def equal(deploy):
    for number in range(PATCHES):
        patch, table = problem(number)
        assert different(deploy, patch, table) == [], number


def test_views_on_duckdb_and_sqlite():
    equal(DuckDB().view)
    equal(SQLite().view)


def test_a_function_on_duckdb():
    equal(DuckDB().function)


def whole(warehouse):
    """Every query of a folder runs; the key is unique, and few groups are alike in hostile rows."""
    patch, table = problem(1)
    frame = table.to_pandas()
    scores = frame["p"].where(frame["p"].between(0, 1), 0.5).to_numpy()
    own = patch.model_copy(update={"fingerprint": fingerprint_of(frame, scores, patch.columns)})
    queries, found = warehouse.every_file(own, table)
    assert len(queries) == 5
    assert "monitor.sql" in found
    assert "test_key.sql" not in found
    assert "test_changes.sql" not in found


def test_every_file_on_duckdb_and_sqlite():
    whole(DuckDB())
    whole(SQLite())


def alike(warehouse):
    """Points at every edge of every row's own threshold, and a pilot of half the people."""
    people = edges().rename(columns={"score": "p"})
    people["rid"] = np.arange(len(people))
    people["id"] = people["rid"] * 7_919
    kinds = {"p": pa.float64(), "product": pa.string(), "debt": pa.float64(),
             "rid": pa.int64(), "id": pa.int64()}  # fmt: skip
    rows = people.to_dict("list")
    rows["product"] = [v if isinstance(v, str) else None for v in rows["product"]]
    table = pa.table({name: pa.array(rows[name], kind) for name, kind in kinds.items()})
    patch = card(BY_PRODUCT)
    for own in (patch, patch.with_pilot(0.5, "id")):
        expected = apply(own, people, "p")["fairpatch_decision"]
        found = [None if v is None else bool(v) for v in warehouse.view(own, table)]
        assert found == [None if pd.isna(v) else bool(v) for v in expected]


def test_points_thresholds_by_value_and_pilots_on_duckdb_and_sqlite():
    alike(DuckDB())
    alike(SQLite())


@pytest.mark.attack
def test_points_thresholds_by_value_and_pilots_on_postgres():
    server = PostgresWarehouse()
    try:
        alike(server)
    finally:
        server.stop()


@pytest.mark.parametrize("dialect", NO_SERVER)
def test_text_for_engines_that_are_not_here_translated_back(dialect):
    equal(Translated(dialect).view)


@pytest.fixture(scope="module")
def servers(request, tmp_path_factory):
    """Each of them, started when it is first asked for, stopped at the end."""
    session, folder = request.getfixturevalue("spark"), tmp_path_factory.mktemp("warehouse")
    found = {
        "spark": SparkWarehouse(session, folder),
        "databricks": SparkWarehouse(session, folder, "databricks"),
        "postgres": PostgresWarehouse(),
        "clickhouse": ClickHouseWarehouse(folder),
        "mysql": MariaDB(),
    }
    yield found
    found["postgres"].stop()
    found["mysql"].stop()


@pytest.mark.attack
@pytest.mark.parametrize("name", ["spark", "databricks", "postgres", "clickhouse", "mysql"])
def test_every_file_on_real_servers(name, servers):
    whole(servers[name])


@pytest.mark.attack
@pytest.mark.parametrize("how", ["view", "function"])
@pytest.mark.parametrize("name", ["spark", "databricks", "postgres", "clickhouse", "mysql"])
def test_real_servers(name, how, servers):
    equal(getattr(servers[name], how))


def in_postgres(people, columns, text, *, table, key):
    """The decisions of a view on a real server, by key."""
    frame = people[columns].astype({c: str for c in columns if people[c].dtype == "category"})
    held = pa.Table.from_pandas(frame, preserve_index=False)
    held = pa.table({n: held[n].cast(KINDS.get(str(held[n].type), held[n].type)) for n in columns})
    postgres = PostgresWarehouse()
    try:
        postgres.load(held)
        with postgres.connection.cursor() as cursor:
            cursor.execute(f"alter table people rename to {table}")
            cursor.execute(text)
            cursor.execute(f'select fairpatch_decision from decided order by "{key}"')
            return [bool(row[0]) for row in cursor.fetchall()]
    finally:
        postgres.stop()


@pytest.mark.attack
def test_a_lenders_month_in_postgres():
    """The view of the worked example decides as the model does, on a real server."""
    month = runpy.run_path(str(EXAMPLES / "lenders_month.py"))
    people = month["month"].astype({"id": "int64"})
    columns = ["id", "score", *(c.name for c in month["g"].patch_.columns)]
    there = in_postgres(
        people, columns, month["files"]["decided.sql"], table="applicants", key="id"
    )
    here = month["g"].predict(people.sort_values("id")) == 1
    assert there == here.tolist()


@pytest.mark.attack
def test_the_german_table_in_postgres():
    """Umlauts, brackets and a percent sign in names: the view decides as ``apply`` did."""
    made = runpy.run_path(str(EXAMPLES / "german_table.py"))
    decided = made["decided"].sort_values(made["key"])
    read = [c.name for c in load(made["FOLDER"] / "run" / "patch.json").columns]
    text = (made["FOLDER"] / "warehouse" / "decided.sql").read_text()
    columns = [made["key"], "PD in %", *read]
    there = in_postgres(decided, columns, text, table="antraege", key=made["key"])
    shutil.rmtree(made["FOLDER"])
    assert len(there) == 8_000
    assert there == decided["fairpatch_decision"].astype(bool).tolist()
