"""Folders to deploy on real engines: the decisions are numpy's, row by row, on hostile rows.

`make attack` adds Spark, Postgres, ClickHouse and MariaDB, and 100,000 rows each.
"""

import os

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

PATCHES = 2 if os.environ.get("FAIRPATCH_ATTACK") else 4
"""Of 50,000 rows each, or of 3,000."""
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
@pytest.mark.parametrize("how", ["view", "function"])
@pytest.mark.parametrize("name", ["spark", "databricks", "postgres", "clickhouse", "mysql"])
def test_real_servers(name, how, servers):
    equal(getattr(servers[name], how))
