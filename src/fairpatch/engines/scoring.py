"""A base model as a score column of a table in an engine: in Arrow batches, in bounded memory.

A DuckDB table is streamed through Python into Parquet; on Spark the executors do it
(mapInArrow). Sending rows through Python is far slower than an expression: do it once, and keep the
score.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairpatch._extras import need
from fairpatch.base import BaseModel, Estimator
from fairpatch.files.atomic import whole_file

BATCH = 65_536


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
    duckdb, parquet = need("duckdb", extra="cli"), need("pyarrow.parquet", extra="cli")
    out = Path(out)
    with whole_file(out) as unfinished:
        writer: Any = None
        for batch in scored(_batches(table), f, columns, name):
            writer = writer or parquet.ParquetWriter(unfinished, batch.schema)
            writer.write_batch(batch)
        if writer is None:
            raise ValueError("the table has no rows")
        writer.close()
    return duckdb.connect().read_parquet(str(out))


def scored(batches: Iterator[Any], f: BaseModel, columns: list[str], name: str) -> Iterator[Any]:
    """Every batch with its scores."""
    pa = need("pyarrow", extra="cli")
    for batch in batches:
        frame = batch.select(columns).to_pandas()
        values = pa.array(f.scores(frame))
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, values], schema=batch.schema.append(pa.field(name, pa.float64()))
        )


def _batches(table: Any) -> Iterator[Any]:
    read = getattr(table, "to_arrow_reader", None) or table.fetch_record_batch  # DuckDB 2, 1
    return iter(read(BATCH))


def _on_spark(table: Any, f: BaseModel, columns: list[str], name: str) -> Any:
    types = need("pyspark.sql.types", extra="spark")
    schema = types.StructType([*table.schema.fields, types.StructField(name, types.DoubleType())])

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        return scored(batches, f, columns, name)

    return table.mapInArrow(work, schema)
