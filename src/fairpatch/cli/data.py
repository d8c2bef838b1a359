"""Data wherever it lies: files of any dialect through DuckDB, databases through Ibis."""

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairpatch._tools.extras import connected, need, row_of, sql_name, sql_text
from fairpatch._tools.hints import did_you_mean, in_percent
from fairpatch.cli.dialect import MOST, PLAIN, Dialect, of_files, with_days
from fairpatch.cli.say import note, refuse

if TYPE_CHECKING:
    from fairpatch.decision import Decision


# Data wherever it lies: files through DuckDB, databases through Ibis.

MOST_HASHED = 5_000_000_000
"""Bytes of data that are hashed for a run's manifest, at most."""
TEXTS = (".csv", ".tsv", ".txt", ".gz")


def relation(source: str, csv: Dialect = PLAIN) -> Any:
    """A table to read: people.csv, 'months/*.parquet', a folder, base.duckdb::table, URL::table.

    ``csv`` is how text files are written, where that is known; the rest is looked for.
    """
    if "://" in source:
        return _database(source)
    connection = connected()
    if "::" in source:
        file, _, table = source.partition("::")
        if not Path(file).exists():
            refuse(
                f"there is no file {file!r}; expected a DuckDB file and table, base.duckdb::people"
            )
        connection.execute(f"ATTACH {sql_text(file)} AS base (READ_ONLY)")
        return _readable(connection.sql(f"SELECT * FROM base.{sql_name(table)}"))  # noqa: S608
    path = Path(source)
    if path.is_dir():
        files(source)  # refused where there is none
        source = str(path / "**" / "*.parquet")
    elif not any(sign in source for sign in "*?[") and not path.exists():
        refuse(
            f"there is no file {source!r}; expected a CSV or Parquet file, a folder or a glob of "
            "them, or base.duckdb::table"
        )
    suffix = Path(source).suffix.lower()
    if suffix in TEXTS:
        return _readable(_csv(connection, source, csv))
    if suffix in (".parquet", ".pq"):
        return _readable(connection.sql(f"SELECT * FROM read_parquet({sql_text(source)})"))  # noqa: S608
    return refuse(
        f"do not know how to read {source!r}: expected .csv, .parquet or base.duckdb::table"
    )


def _readable(table: Any) -> Any:
    """The table itself; before DuckDB 2.0 a name with a double quote cannot be computed with."""
    quoted = next((name for name in table.columns if '"' in name), None)
    if quoted is not None and need("duckdb", extra="cli").__version__.startswith("1."):
        refuse(
            f"column {quoted!r} has a double quote in its name, which DuckDB 1 cannot compute "
            "with: rename it, or pip install 'duckdb>=2.0'"
        )
    return table


def dialect_read(source: str, csv: Dialect) -> Dialect:
    """How the text files of a source are written; of another source, as was said."""
    texts = "://" not in source and "::" not in source and not Path(source).is_dir()
    if texts and Path(source).suffix.lower() in TEXTS:
        return with_days(of_files(tuple(files(source)), csv))
    return csv


def _csv(connection: Any, source: str, csv: Dialect) -> Any:
    """Text files by DuckDB, in the dialect that they are found to be in."""
    names = tuple(files(source))
    if not any(Path(name).stat().st_size for name in names):
        refuse(f"{source} is empty: it does not even have a header")
    found = of_files(names, csv)
    _tell_dialect(source, found.dialect)
    options = found.dialect.options()
    if sum(Path(name).stat().st_size for name in found.files) < MOST:
        options["sample_size"] = "-1"  # a type that fits every row, not the first ones
    given = "".join(f", {name}={sql_text(value)}" for name, value in options.items())
    if found.numbers:
        given += ", types={" + ", ".join(f"{sql_text(n)}: 'DOUBLE'" for n in found.numbers) + "}"
    listed = ", ".join(map(sql_text, found.files))
    # yes and no stay text, as they would in Parquet
    types = "auto_type_candidates=['BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMP', 'VARCHAR']"
    table = connection.sql(f"SELECT * FROM read_csv([{listed}], {types}{given})")  # noqa: S608
    if not table.limit(1).fetchall():
        refuse(f"{source} has a line of names and no rows: give a table with people in it")
    return table


def dialect_of(source: str) -> Dialect:
    """How text files are found to be written."""
    return of_files(tuple(files(source))).dialect


@cache
def _tell_dialect(source: str, dialect: Dialect) -> None:
    if str(dialect):
        note(f"{source} is read with {dialect}; to say otherwise: csv: in the configuration")


def frame(source: str) -> Any:
    """The whole table in memory."""
    return in_memory(relation(source))


def files(source: str) -> list[str]:
    """The files of a folder or glob, or the one file or table."""
    path = Path(source)
    if path.is_dir():
        names = sorted(map(str, path.rglob("*.parquet")))
    elif any(sign in source for sign in "*?[") and "::" not in source:
        names = sorted(glob(source, recursive=True))  # noqa: PTH207 may be absolute
    else:
        return [source]
    return names or refuse(f"there is no file in {source!r}")


def in_memory(table: Any) -> Any:
    """A table as a pandas frame."""
    return table.df() if hasattr(table, "df") else table.to_pandas()


def some_rows(source: str) -> Any:
    """The first thousand rows: enough to tell the columns' types."""
    return in_memory(relation(source).limit(1_000))


def _database(source: str) -> Any:
    """postgres://user@host/base::schema.table, and whatever else Ibis connects to."""
    url, _, table = source.rpartition("::")
    if not url:
        refuse(
            f"{source!r}: expected a connection string and a table, postgres://host/base::people"
        )
    ibis = need("ibis", extra="sql")
    *place, name = table.split(".")
    kind = url.partition("://")[0]
    try:
        connection = ibis.connect(url)
    except ImportError:
        refuse(
            f"there is no driver for {kind} here: pip install 'ibis-framework[{kind}]', or give "
            "the table as a file"
        )
    except ValueError:
        refuse(f"do not know how to read {kind}://: expected a database that Ibis connects to")
    return connection.table(name, database=tuple(place) if place else None)


def without(table: Any, columns: list[str]) -> Any:
    """The table without some of its columns."""
    if not columns:
        return table
    import narwhals as nw

    return nw.from_native(table).drop(*columns).to_native()


FORMULA = "^[\\s]*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"
"""How a text begins that spreadsheets take for a formula; full-width signs count, too."""


def without_formulas(table: Any) -> Any:
    """A table whose texts and names no spreadsheet takes for a formula: they get an apostrophe."""
    if not hasattr(table, "project"):  # a database's own: what is written as text is small
        table = need("duckdb", extra="cli").from_arrow(table.to_pyarrow())  # its driver has Arrow
    cells = []
    for name, kind in zip(table.columns, table.types, strict=True):
        shown = f"'{name}" if re.match(FORMULA, name) else name
        cell = sql_name(name)
        if str(kind).startswith(("VARCHAR", "ENUM")):
            cell = f"CAST({cell} AS VARCHAR)"
            harmful = f"regexp_matches({cell}, {sql_text(FORMULA)})"
            cell = f"CASE WHEN {harmful} THEN chr(39) || {cell} ELSE {cell} END"
        cells.append(f"{cell} AS {sql_name(shown)}")
    return table.project(", ".join(cells))


def joined(
    people: Any, source: str, other: str, key: str, columns: Sequence[str], csv: Dialect = PLAIN
) -> Any:
    """A DuckDB relation with columns of another table, by a key; missing where it has no row."""
    if any("://" in name for name in (source, other)):
        refuse("tables are joined between files; join tables of a database there")
    given = relation(other, csv)
    need_columns(people, [key], source)
    need_columns(given, [key, *columns], other)
    more = f"SELECT 1 FROM own GROUP BY {sql_name(key)} HAVING count(*) > 1 LIMIT 1"  # noqa: S608
    if given.query("own", more).fetchall():
        refuse(f"{other} has more than one row for a {key!r}: keep one")
    names = ", ".join(map(sql_name, columns))
    come = given.project(f"{sql_name(key)}, {names}").df()  # noqa: F841 read below
    there = ", ".join(sql_name(name) for name in columns if name in people.columns)
    rest = f"* EXCLUDE ({there})" if there else "*"
    theirs = ", ".join(f"c.{sql_name(name)}" for name in columns)
    return people.query(
        "people",
        f"SELECT p.*, {theirs} FROM (SELECT {rest} FROM people) p "  # noqa: S608
        f"LEFT JOIN come c ON p.{sql_name(key)} = c.{sql_name(key)}",
    )


def sample_of(source: str, table: Any, columns: list[str], most: int) -> Any:
    """Some rows of a large table, from all over it; the table itself where it is small."""
    from fairpatch.engines.streams import sample_files

    names = files(source)
    if not all(name.endswith((".parquet", ".pq")) for name in names):
        return sampled(table, most)
    sample = sample_files(names, columns, most)
    return table if sample is None else sample


def sampled(table: Any, most: int) -> Any:
    """Of a DuckDB relation, blocks drawn at random; a database's own table as it is."""
    if not hasattr(table, "query"):
        return table
    ((rows,),) = table.aggregate("count(*)").fetchall()
    if rows <= most:
        return table
    share = f"{100 * most / rows:.6f}% (system, 1)"
    return table.query("whole", f"SELECT * FROM whole USING SAMPLE {share}")  # noqa: S608


def index_columns(source: str) -> list[str]:
    """Columns of a Parquet file that are a pandas frame's index, and no data of a person."""
    first = [name for name in files(source) if name.endswith((".parquet", ".pq"))][:1]
    if not first:
        return []
    told = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'pandas'"
    with need("duckdb", extra="cli").connect() as connection:
        found = connection.execute(told, [first[0]]).fetchall()
    about = json.loads(bytes(found[0][0])) if found else {}
    return [name for name in about.get("index_columns", []) if isinstance(name, str)]


def true_or_false(column: Any) -> Any:
    """Booleans, however they are written; anything else is refused."""
    from fairpatch.decision import text_of

    words = {"1": True, "0": False, "yes": True, "no": False}
    values = [words.get(text_of(value).lower()) for value in column.tolist()]
    odd = sorted({str(v) for v, b in zip(column.tolist(), values, strict=True) if b is None})
    if odd:
        refuse(f"column {column.name!r} must be true or false in every row; got {odd[0]!r}")
    return type(column)(values, index=column.index, dtype=bool)


def fingerprint(source: str) -> str | None:
    """A hash of the data's files; of a database or of very large files there is none."""
    paths = [Path(file) for file in files(source)]
    if not all(p.is_file() for p in paths) or sum(p.stat().st_size for p in paths) > MOST_HASHED:
        return None
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def need_columns(table: Any, wanted: list[str], source: str) -> None:
    """Say which columns are missing, before anything long begins."""
    names = list(table.columns)
    missing = [name for name in wanted if name not in names]
    if missing:
        refuse(
            f"{source} has no column {', '.join(map(repr, missing))}; its columns are "
            f"{', '.join(map(repr, names[:40]))}" + did_you_mean(missing[0], names)
        )


def need_probabilities(
    table: Any, score: str, source: str, decision: "Decision", *, if_any: bool = False
) -> None:
    """A score in another unit is a common mistake: say so; ``if_any``: gaps alone are fine."""
    import narwhals as nw

    column = nw.col(score)
    ends = row_of(nw.from_native(table).lazy().select(low=column.min(), high=column.max()))
    low, high = ends["low"], ends["high"]
    if low is None and if_any:
        return
    if decision.in_points:
        if isinstance(high, str):
            refuse(f"column {score!r} of {source} is text; a score in points is a number")
        return
    most = 100 if decision.score_unit == "percent" else 1
    if low is None or isinstance(high, str) or low < 0 or high > most:
        what = "a score in percent" if most == 100 else "a probability"
        hint = "" if low is None or isinstance(high, str) else in_percent(low, high)
        if hint and if_any:  # of a run: its configuration is what it is
            hint = " The run was fitted to probabilities: if it is percent, divide it by 100."
        refuse(
            f"column {score!r} of {source} runs from {low} to {high}; {what} is between 0 and "
            f"{most}.{hint}"
        )
