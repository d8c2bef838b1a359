"""Spark with executors of its own, one of them killed: the same counts, nobody applied twice."""

import os
import signal
import sys
import threading
import time

import duckdb
import psutil
import pytest

from fairpatch.data.engine import count_table
from fairpatch.datasets import Population
from fairpatch.inputs.base import BaseModel
from fairpatch.patch import CategoricalWeight, CategoryWeight, Column, Concept, NumberWeight, Patch
from fairpatch.patch.apply import apply

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1_200)]
ROWS = 20_000_000
PATCH = Patch(
    columns=[Column(name="num_0", kind="number"), Column(name="cat_0", kind="category")],
    concepts=[
        Concept(
            name="c",
            weight=1.0,
            intercept=2.0,
            numbers=[NumberWeight(column="num_0", coefficient=-0.05, missing=0.1)],
            categories=[
                CategoricalWeight(
                    column="cat_0",
                    missing=0.0,
                    categories=[CategoryWeight(category="a", weight=-1.0)],
                )
            ],
        )
    ],
)
OPTIONS = {"y": "y", "sensitive_features": ["group"]}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster") / "people"
    return Population(p_rule=0.6).write(folder, ROWS, seed=1, rows_per_file=1_000_000)


@pytest.fixture(scope="module")
def cluster():
    """A master and two workers with one core each, on loopback."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.maxPartitionBytes", "16m").getOrCreate()
    )  # fmt: skip
    yield session
    session.stop()


def executors():
    return [
        p
        for p in psutil.Process().children(recursive=True)
        if "CoarseGrainedExecutorBackend" in " ".join(p.cmdline())
    ]


class Killer(threading.Thread):
    """Kill one executor a moment after the work has begun."""

    def __init__(self, after):
        super().__init__(daemon=True)
        self.after, self.killed = after, None

    def run(self):
        time.sleep(self.after)
        self.killed = executors()[0].pid
        os.kill(self.killed, signal.SIGKILL)


def test_counts_survive_an_executor_that_is_killed(cluster, data):
    table = cluster.read.parquet(str(data))
    start = time.perf_counter()
    (undisturbed,) = count_table(table, [PATCH], BaseModel("score"), **OPTIONS)
    took = time.perf_counter() - start
    killer = Killer(took / 3)
    killer.start()
    (disturbed,) = count_table(table, [PATCH], BaseModel("score"), **OPTIONS)
    killer.join()
    assert killer.killed
    assert disturbed == undisturbed
    relation = duckdb.connect().read_parquet(f"{data}/*.parquet")
    assert disturbed == count_table(relation, [PATCH], BaseModel("score"), **OPTIONS)[0]


def test_nobody_is_applied_twice(cluster, data, tmp_path):
    applied = apply(PATCH, cluster.read.parquet(str(data)), "score", with_score=False)
    killer = Killer(4.0)
    killer.start()
    applied.write.parquet(str(tmp_path / "applied"))
    killer.join()
    assert killer.killed
    found = duckdb.read_parquet(str(tmp_path / "applied" / "*.parquet"))
    rows, people, changed = found.aggregate(
        "count(*), count(DISTINCT id), count(*) FILTER (fairpatch_changed)"
    ).fetchall()[0]
    (counts,) = count_table(
        duckdb.connect().read_parquet(f"{data}/*.parquet"), [PATCH], BaseModel("score"), **OPTIONS
    )
    assert rows == people == ROWS
    assert changed == sum(counts.along("before", "after")[[0, 1], [1, 0]])
