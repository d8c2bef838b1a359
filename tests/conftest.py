"""Engines for the tests, each started at most once."""

import os
import sys

import pytest

_OPEN = []


def pytest_configure():
    """Before DuckDB 1.5 a table did not keep its connection open; tests write it as it is now."""
    import duckdb

    if duckdb.__version__.startswith("1.4."):
        connect = duckdb.connect

        def kept(*given, **named):
            _OPEN.append(connect(*given, **named))
            return _OPEN[-1]

        duckdb.connect = kept


@pytest.fixture(scope="session")
def spark():
    """A small Spark on loopback, stopped at the end."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("fairpatch-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    yield session
    session.stop()


TWO_GROUPS = {"a": (0.7, 0.0), "b": (0.3, 1.0)}


@pytest.fixture(scope="session")
def two_groups():
    """12,000 people of two groups; f approves the second 0.6 times as often."""
    from fairpatch.datasets import Population

    population = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=TWO_GROUPS)
    return population.sample(12_000, seed=0).to_pandas()


@pytest.fixture(scope="session")
def quick_fit(two_groups):
    """A fit to a P-Rule of 0.8 in a second: the estimator, X, y and S."""
    from fairpatch import FairPatch, Target

    X, y, S = (
        two_groups.drop(columns=["id", "group", "y"]), two_groups["y"], two_groups[["group"]],
    )  # fmt: skip
    g = FairPatch("score", Target(p_rule=0.8))
    return g.fit(X, y, sensitive_features=S), X, y, S
