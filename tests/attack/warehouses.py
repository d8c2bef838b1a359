"""Folders to deploy, deployed for real: each engine gives 1, 0 or None for every row of a table."""

import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import sqlglot

from attack.engines import ClickHouse, Postgres
from fairpatch.engines.deploy import BITS, Audited, Destination, pack
from fairpatch.engines.sql import BY_DUCKDB, quoted
from fairpatch.patch.apply import DECISION
from fairpatch.target import Target


class Warehouse:
    """A database that takes a table of people, runs statements, and answers a query."""

    dialect = "duckdb"

    def view(self, patch, table):
        """Deploy the view and read it."""
        self.load(table)
        self.run(self.pack(patch, "view")["decided.sql"])
        return self.ask(f"select {DECISION} from {self.named('decided')} order by rid")

    def function(self, patch, table):
        """Deploy the function and call it."""
        self.load(table)
        self.run(self.pack(patch, "function")["function.sql"])
        given = ", ".join(self.named(c) for c in [*(c.name for c in patch.columns), "p"])
        return self.ask(f"select {self.named('decided')}({given}) from people order by rid")

    def every_file(self, patch, table):
        """Deploy everything and run every query: what gives rows, of the tests and monitoring."""
        place = np.arange(table.num_rows) % 3
        table = table.append_column("s1", pa.array(np.array(["x", "y", "it's"])[place]))
        self.load(table.append_column("s2", pa.array(place)))
        audited = Audited(Target(p_rule=0.8), ("s1", "s2"), None, groups=3, change_rate=0.9)
        files = self.pack(patch, "view", audited)
        for name in ("decided.sql", "audit.sql"):
            self.run(files[name])
        queries = sorted(name for name in files if name.startswith(("test_", "monitor")))
        found = [name for name in queries if self.ask(files[name].rstrip(";\n"))]
        self.run(files["rollback.sql"])
        changed = self.named("fairpatch_changed")
        yes = " = 1" if self.dialect in BITS else ""
        assert not self.ask(f"select rid from {self.named('decided')} where {changed}{yes}")
        return queries, found

    def pack(self, patch, kind, audited=None):
        return pack(
            patch, "p", kind, Destination("people", "decided", "rid", (), self.dialect), audited
        )

    def named(self, name):
        return quoted(name, self.dialect, dotted=False)


class DuckDB(Warehouse):
    def __init__(self):
        self.connection = duckdb.connect()

    def load(self, table):
        self.connection.register("arrow", table)
        self.connection.execute("create or replace table people as from arrow")

    def run(self, text):
        self.connection.execute(text)

    def ask(self, query):
        return [row[0] for row in self.connection.execute(query).fetchall()]


class Translated(DuckDB):
    """A dialect that we have no server of: its text, read again and run by DuckDB."""

    def __init__(self, dialect):
        super().__init__()
        self.dialect = dialect
        for macro in ("ieee_divide(a, b) as a / b", "nan() as 'nan'::double",
                      "infinity() as 'inf'::double"):  # BigQuery's and Trino's  # fmt: skip
            self.connection.execute(f"create macro {macro}")

    def run(self, text):
        own = BY_DUCKDB.get(self.dialect, self.dialect)
        text = text.replace("CREATE OR ALTER", "CREATE OR REPLACE")
        if self.dialect == "mssql":  # its floats are doubles, and the collation is DuckDB's way
            text = text.replace(" COLLATE Latin1_General_100_BIN2", "")
            text = text.replace(" AS FLOAT)", " AS DOUBLE)")
        self.connection.execute(sqlglot.transpile(text, read=own, write="duckdb")[0])

    def ask(self, query):
        query = sqlglot.transpile(
            query, read=BY_DUCKDB.get(self.dialect, self.dialect), write="duckdb"
        )[0]
        return [None if v is None else bool(v) for v in super().ask(query)]


class SQLite(Warehouse):
    dialect = "sqlite"

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def load(self, table):
        kinds = {"double": "REAL", "int64": "INTEGER", "string": "TEXT"}
        columns = ", ".join(f"{f.name} {kinds[str(f.type)]}" for f in table.schema)
        self.connection.executescript(
            f"drop table if exists people; create table people ({columns})"
        )
        marks = ", ".join("?" for _ in table.schema)
        rows = zip(*(c.to_pylist() for c in table.columns), strict=True)
        self.connection.executemany(f"insert into people values ({marks})", rows)

    def run(self, text):
        self.connection.executescript(text)

    def ask(self, query):
        return [row[0] for row in self.connection.execute(query).fetchall()]


class PostgresWarehouse(Warehouse, Postgres):
    dialect = "postgres"

    def run(self, text):
        self.connection.execute(text)

    def ask(self, query):
        return [row[0] for row in self.connection.execute(query).fetchall()]


class ClickHouseWarehouse(Warehouse, ClickHouse):
    dialect = "clickhouse"

    def __init__(self, folder):
        super().__init__(folder)
        self.session.query("SET max_query_size = 10000000")

    def run(self, text):
        self.session.query(text)

    def ask(self, query):
        words = {"true": True, "false": False, "1": True, "0": False, "\\N": None}
        lines = [line.split("\t")[0] for line in str(self.session.query(query, "TSV")).splitlines()]
        return [words.get(line, line) for line in lines]


class SparkWarehouse(Warehouse):
    """Spark, also as a stand-in for Databricks, whose SQL it is."""

    def __init__(self, session, folder, dialect="spark"):
        self.session, self.file, self.dialect = session, str(folder / "people.parquet"), dialect

    def load(self, table):
        pq.write_table(table, self.file)
        self.session.read.parquet(self.file).createOrReplaceTempView("people")

    def run(self, text):
        text = text.replace("OR REPLACE FUNCTION", "OR REPLACE TEMPORARY FUNCTION")
        self.session.sql(text.replace("REPLACE VIEW", "REPLACE TEMPORARY VIEW").rstrip(";\n"))

    def ask(self, query):
        return [row[0] for row in self.session.sql(query).collect()]


class MariaDB(Warehouse):
    """MariaDB on loopback, in place of MySQL, stopped and thrown away at the end."""

    dialect = "mysql"

    def __init__(self):
        import pymysql

        self.folder = Path(tempfile.mkdtemp())
        shutil.chown(self.folder, "mysql")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = f"--datadir={self.folder}/data"
        install = [
            "mariadb-install-db",
            "--user=mysql",
            data,
            "--auth-root-authentication-method=normal",
        ]
        subprocess.run(install, check=True, capture_output=True)
        self.server = subprocess.Popen(
            ["mariadbd", "--user=mysql", data, f"--port={port}", "--bind-address=127.0.0.1",
             f"--socket={self.folder}/socket", f"--pid-file={self.folder}/pid"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for _ in range(60):
            try:
                self.connection = pymysql.connect(
                    unix_socket=f"{self.folder}/socket", user="root", charset="utf8mb4",
                    autocommit=True,
                )  # fmt: skip
                break
            except pymysql.err.OperationalError:
                time.sleep(0.5)
        self._each("create database own character set utf8mb4", "use own")

    def _each(self, *statements):
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def load(self, table):
        kinds = {"double": "double", "int64": "bigint", "string": "text"}
        columns = ", ".join(f"{f.name} {kinds[str(f.type)]}" for f in table.schema)
        self._each("drop table if exists people", f"create table people ({columns})")
        marks = ", ".join("%s" for _ in table.schema)

        def kept(value):  # it has neither NaN nor infinities
            return None if isinstance(value, float) and not np.isfinite(value) else value

        rows = [
            tuple(map(kept, r)) for r in zip(*(c.to_pylist() for c in table.columns), strict=True)
        ]
        with self.connection.cursor() as cursor:
            cursor.executemany(f"insert into people values ({marks})", rows)
        self._each("alter table people add primary key (rid)")  # it joins nothing without one

    def run(self, text):
        first, _, rest = text.partition(";\n") if "\nDROP" in f"\n{text}" else ("", "", text)
        self._each(*([first] if first else []), rest.rstrip(";\n"))

    def ask(self, query):
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            return [row[0] for row in cursor.fetchall()]

    def stop(self):
        self.connection.close()
        self.server.terminate()
        self.server.wait(30)
        shutil.rmtree(self.folder)
