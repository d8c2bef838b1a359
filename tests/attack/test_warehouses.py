"""Folders to deploy on real engines: the decisions are numpy's, row by row, on hostile rows.

`make attack` adds Spark, Postgres, ClickHouse and MariaDB, and 100,000 rows each.
"""

import os
import runpy
from pathlib import Path

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

PATCHES = 2 if os.environ.get("FAIRPATCH_ATTACK") else 4
"""Of 50,000 rows each, or of 3,000."""
LENDERS_MONTH = Path(__file__).parents[2] / "docs" / "examples" / "lenders_month.py"
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


@pytest.mark.attack
def test_a_lenders_month_in_postgres():
    """The view of the worked example decides as the model does, on a real server."""
    month = runpy.run_path(str(LENDERS_MONTH))
    people = month["month"]
    held = [c.name for c in month["g"].patch_.columns]
    text = {name: str for name in held if people[name].dtype == "category"}
    table = pa.Table.from_pandas(
        people[["id", "score", *held]].astype(text | {"id": "int64"}), preserve_index=False
    )
    table = pa.table({n: table[n].cast(KINDS.get(str(table[n].type), table[n].type))
                      for n in table.column_names})  # fmt: skip
    postgres = PostgresWarehouse()
    postgres.load(table)
    with postgres.connection.cursor() as cursor:
        cursor.execute("alter table people rename to applicants")
        cursor.execute(month["files"]["decided.sql"])
        cursor.execute("select id, fairpatch_decision from decided order by id")
        there = [row[1] for row in cursor.fetchall()]
    postgres.stop()
    here = month["g"].predict(people.sort_values("id")) == 1
    assert there == here.tolist()
