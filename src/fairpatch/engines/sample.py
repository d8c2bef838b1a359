"""Some rows of many Parquet files, from all over them: sampling in an engine reads every page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairpatch._extras import need

MOST_FILES = 20
"""Files that rows are taken from, at most."""


def sample_files(files: Sequence[str | Path], columns: list[str], most: int) -> Any:
    """About so many rows as an Arrow table, from one row group a file; None where all are few."""
    parquet = need("pyarrow.parquet", extra="cli")
    opened = [parquet.ParquetFile(name) for name in files[:: max(1, len(files) // MOST_FILES)]]
    some = [file for file in opened if file.metadata.num_rows]
    if sum(file.metadata.num_rows for file in some) <= most:
        return None
    each = -(-most // len(some))
    batches = [
        next(file.iter_batches(each, row_groups=[i * 7919 % file.num_row_groups], columns=columns))
        for i, file in enumerate(some)
    ]
    return need("pyarrow", extra="cli").Table.from_batches(batches)
