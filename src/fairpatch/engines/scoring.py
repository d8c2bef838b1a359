"""A base model as a score column of a table in an engine: in batches, in bounded memory.

A DuckDB table is read twice: what f reads is scored in Python, then the scores are put beside the
rows, which DuckDB writes itself. On Spark the executors do it (mapInArrow). Sending rows through
Python is far slower than an expression: do it once, and keep the score.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairpatch._extras import need
from fairpatch._fetch import connected, sql_name, sql_text
from fairpatch.base import BaseModel, Estimator
from fairpatch.files.atomic import whole_file

VECTORS = 32
"""DuckDB's vectors in a batch: 65,536 rows."""
OTHER_ORDER = "the table gives its rows in another order each time: sort it by its key"


def score(
    table: Any,
    estimator: Estimator,
    columns: list[str],
    *,
    out: str | Path | None = None,
    name: str = "score",
) -> Any:
    """The table with one more column, f's probability; f is given a pandas frame of ``columns``.

    ``out``, a Parquet file to write, is needed for DuckDB; a Spark frame stays lazy.
    """
    f = estimator if isinstance(estimator, BaseModel) else BaseModel(estimator)
    if hasattr(table, "mapInArrow"):
        return _on_spark(table, f, columns, name)
    if out is None:
        raise ValueError("name a Parquet file to write the scored table to: out='scored.parquet'")
    out = Path(out)
    with whole_file(out) as unfinished, tempfile.TemporaryDirectory(dir=out.parent) as scratch:
        scores = _scores(table, f, columns, Path(scratch))
        if scores is None:
            raise ValueError("the table has no rows")
        _beside(table, columns, scores, name).to_parquet(str(unfinished))
    return connected().read_parquet(str(out))


def _scores(table: Any, f: BaseModel, columns: list[str], scratch: Path) -> Path | None:
    """f's score of every row in the table's order, with a hash of what f has read."""
    kept = need("duckdb", extra="cli").connect(str(scratch / "scores.duckdb"))
    kept.execute("CREATE TABLE scores (read UBIGINT, score DOUBLE)")
    read_columns = f"SELECT {_names(columns)}, {_hash(columns)} FROM t"  # noqa: S608
    table.query("t", read_columns).to_parquet(str(scratch / "read.parquet"))
    rows = kept.cursor().execute("FROM read_parquet(?)", [str(scratch / "read.parquet")])
    found = False
    while len(batch := rows.fetch_df_chunk(VECTORS)):
        read = batch.iloc[:, -1]
        own = batch.iloc[:, :-1].set_axis(columns, axis=1)  # as they are written in the table
        scored = read.to_frame("read").assign(score=f.scores(own))  # noqa: F841 read below
        kept.execute("INSERT INTO scores SELECT read, score FROM scored")
        found = True
    kept.execute("COPY scores TO ?", [str(scratch / "scores.parquet")])
    kept.close()
    return scratch / "scores.parquet" if found else None


def _beside(table: Any, columns: list[str], scores: Path, name: str) -> Any:
    """The table with its scores, row by row; an error where a row is not the one that was read."""
    same = f"{_hash(columns)} IS NOT DISTINCT FROM s.read"
    score = f"CASE WHEN {same} THEN s.score ELSE error('{OTHER_ORDER}') END"
    both = f"t POSITIONAL JOIN read_parquet({sql_text(str(scores))}) s"
    return table.query("t", f"SELECT t.*, {score} AS {sql_name(name)} FROM {both}")  # noqa: S608


def _hash(columns: list[str]) -> str:
    return f"hash(row({_names(columns)}))" if columns else "hash(0)"


def _names(columns: list[str]) -> str:
    return ", ".join(f"t.{sql_name(column)}" for column in columns)


def _on_spark(table: Any, f: BaseModel, columns: list[str], name: str) -> Any:
    types = need("pyspark.sql.types", extra="spark")
    schema = types.StructType([*table.schema.fields, types.StructField(name, types.DoubleType())])

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        pa = need("pyarrow", extra="spark")
        own = pa.field(name, pa.float64())
        for batch in batches:
            scores = pa.array(f.scores(batch.select(columns).to_pandas()))
            parts = [*batch.columns, scores]
            yield pa.RecordBatch.from_arrays(parts, schema=batch.schema.append(own))

    return table.mapInArrow(work, schema)
