"""One patch, one table of hostile rows, every engine: each gives 1, 0 or None for every row."""

import duckdb
import numpy as np
import onnxruntime
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from attack.cluster import Cluster
from fairpatch.engines.mlflow_served import Patched
from fairpatch.engines.onnx import SCORE, patch_graph, run_graph
from fairpatch.engines.sql import sql
from fairpatch.inputs.base import BaseModel
from fairpatch.patch.apply import DECISION, apply

TEXTS = [
    "x", "y", "z", "nan", "None", "NULL", " x", "X", "é", "e\u0301", "1", "1.0", "true", "it's",
    'q"q', "a\\b", "", "🙂", "\u202e", "100%",
]  # fmt: skip
NUMBERS = [
    np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e308, -1e308, 1.7e308, 1e99,
    1e101, -1e100, 1e-99, 1e-101, 2.0**53 + 2, -(2.0**63), 1e16, 1e-16, 0.1, 0.2, 0.3, 0.7, 1.1,
]  # fmt: skip


def rows(random, n, threshold):
    """Numbers, texts, whole numbers and scores as nobody would want them, as an Arrow table."""
    columns = {"rid": np.arange(n)}
    for name in ("n1", "n2", "n3"):
        value, chance = random.integers(-30, 31, n) / 10.0, random.random(n)
        value = np.where(chance < 0.3, random.integers(-5, 6, n), value)
        columns[name] = np.where(chance > 0.88, random.choice(NUMBERS, n), value).astype(float)
    for name in ("c1", "c2"):
        columns[name] = pa.array(random.choice(np.array([*TEXTS, None, None], object), n))
    code = random.integers(-1, 5, n)
    columns["i1"] = pa.array(code.astype(float), mask=code < 0)  # whole numbers as 1.0
    near = [0.0, 1.0, threshold, np.nextafter(threshold, 0), np.nextafter(threshold, 1), 5e-324,
            1 - 1e-16, 1e-300, 1e-7, 1 - 1e-7, float(np.float32(threshold)), np.nan, 1.5,
            -0.5]  # fmt: skip
    score = np.where(random.random(n) < 0.5, random.choice(near, n), random.random(n))
    columns["p"] = pa.array(score, mask=random.random(n) < 0.02)
    return pa.table(columns)


def in_numpy(patch, table):
    """The reference: scores that are no probabilities have no decision."""
    frame = table.to_pandas()
    valid = ((frame["p"] >= 0) & (frame["p"] <= 1)).to_numpy()
    safe = frame.assign(p=frame["p"].where(valid, 0.5))
    favoured = patch.decide(safe, BaseModel("p", decision=patch.decision).logits(safe))
    decided = favoured if patch.decision.favourable else ~favoured
    return np.where(valid, decided.astype(object), None)


def in_pandas(patch, table):
    return apply(patch, table.to_pandas(), "p")[DECISION]


def in_polars(patch, table):
    return apply(patch, pl.from_arrow(table), "p")[DECISION]


def in_polars_lazy(patch, table):
    return apply(patch, pl.from_arrow(table).lazy(), "p").collect()[DECISION]


def in_pyarrow(patch, table):
    return apply(patch, table, "p")[DECISION]


def in_duckdb(patch, table):
    own = duckdb.connect().from_arrow(table)
    found = apply(patch, own, "p").order("rid")
    return [row[0] for row in found.project(DECISION).fetchall()]


def in_duckdb_sql(patch, table):
    connection = duckdb.connect()
    connection.register("people", table)
    text = sql(patch, "p", keep=("rid",))
    query = f"select {DECISION} from ({text}) order by rid::bigint"
    return [row[0] for row in connection.sql(query).fetchall()]


def in_onnx(patch, table):
    graph = patch_graph(patch).SerializeToString()
    return run_graph(graph, table.to_pandas(), score="p")[DECISION]


def in_mlflow(patch, table):
    """What an MLflow server runs: the same graph, fed by its own code."""
    graph = patch_graph(patch).SerializeToString()
    served = Patched()
    served.session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    frame = table.to_pandas()
    return served.frame(frame.assign(**{SCORE: frame["p"]}))[DECISION]


EMBEDDED = {
    "pandas": in_pandas,
    "polars": in_polars,
    "polars lazy": in_polars_lazy,
    "pyarrow": in_pyarrow,
    "duckdb": in_duckdb,
    "sql duckdb": in_duckdb_sql,
    "onnx": in_onnx,
    "mlflow": in_mlflow,
}


def plain(decisions):
    """1, 0 and None, whatever the engine calls them."""
    values = decisions.tolist() if hasattr(decisions, "tolist") else decisions
    values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return np.array([None if v is None or np.isnan(v) else bool(v) for v in values], object)


class Spark:
    """Spark on loopback, by expressions and by text."""

    def __init__(self, session, folder):
        self.session, self.file = session, str(folder / "people.parquet")

    def _table(self, table):
        pq.write_table(table, self.file)
        return self.session.read.parquet(self.file)

    def apply(self, patch, table):
        found = apply(patch, self._table(table), "p").select("rid", DECISION).toPandas()
        return found.sort_values("rid")[DECISION].astype(object)

    def sql(self, patch, table):
        self._table(table).createOrReplaceTempView("people")
        text = sql(patch, "p", dialect="spark", keep=("rid",))
        found = self.session.sql(text).select("rid", DECISION).toPandas()
        return (
            found.assign(rid=found["rid"].astype(int)).sort_values("rid")[DECISION].astype(object)
        )


class Postgres(Cluster):
    """A cluster with a connection."""

    def __init__(self):
        import psycopg

        super().__init__()
        self.connection = psycopg.connect(self.address, autocommit=True)

    def load(self, table):
        kinds = {"double": "double precision", "int64": "bigint", "string": "text"}
        columns = ", ".join(f'"{f.name}" {kinds[str(f.type)]}' for f in table.schema)
        with self.connection.cursor() as cursor:
            cursor.execute(f"drop table if exists people cascade; create table people ({columns})")
            with cursor.copy("copy people from stdin") as copy:
                for row in zip(*(c.to_pylist() for c in table.columns), strict=True):
                    copy.write_row(row)

    def sql(self, patch, table):
        self.load(table)
        with self.connection.cursor() as cursor:
            text = sql(patch, "p", dialect="postgres", keep=("rid",))
            cursor.execute(f"select {DECISION} from ({text}) as t order by rid::bigint")
            return [row[0] for row in cursor.fetchall()]

    def stop(self):
        self.connection.close()
        super().stop()


class ClickHouse:
    """ClickHouse's own engine, embedded."""

    def __init__(self, folder):
        from chdb import session

        self.session, self.file = session.Session(), str(folder / "people.parquet")

    def load(self, table):
        kinds = {"double": "Float64", "int64": "Int64", "string": "String"}
        columns = ", ".join(f"{f.name} Nullable({kinds[str(f.type)]})" for f in table.schema)
        pq.write_table(table, self.file)
        self.session.query("drop table if exists people")
        self.session.query(f"create table people ({columns}) engine=Memory")
        self.session.query(f"insert into people select * from file('{self.file}', 'Parquet')")

    def sql(self, patch, table):
        self.load(table)
        text = sql(patch, "p", dialect="clickhouse", keep=("rid",))
        query = f"select toInt64(rid) as id, {DECISION} as d from ({text}) order by id"
        lines = str(self.session.query(query, "TSV")).splitlines()
        words = {"true": True, "false": False, "1": True, "0": False, "\\N": None}
        return [words[line.split("\t")[1]] for line in lines]
