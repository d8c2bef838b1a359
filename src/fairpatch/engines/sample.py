"""Some rows of many Parquet files, from all over them: sampling in an engine reads every page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairpatch._fetch import connected, sql_name, sql_text

MOST_FILES = 20
"""Files that rows are taken from, at most."""


def sample_files(files: Sequence[str | Path], columns: list[str], most: int) -> Any:
    """About so many rows as a DuckDB relation, a stretch of each file; None where all are few."""
    connection = connected()
    names = [str(name) for name in files[:: max(1, len(files) // MOST_FILES)]]
    counted = "SELECT file_name, num_rows FROM parquet_file_metadata(?) WHERE num_rows > 0"
    sizes = dict(connection.execute(counted, [names]).fetchall())
    if sum(sizes.values()) <= most:
        return None
    each = -(-most // len(sizes))
    stretches = [
        _stretch(name, columns, i * 7919 * each % max(1, size - each), each)
        for i, (name, size) in enumerate(sizes.items())
    ]
    # read once, and looked at several times
    connection.execute(f"CREATE TABLE sample AS {' UNION ALL '.join(stretches)}")
    return connection.table("sample")


def _stretch(name: str, columns: list[str], begin: int, rows: int) -> str:
    """Rows that follow each other: the file's other row groups are not read."""
    file = f"read_parquet({sql_text(name)}, file_row_number = true)"
    here = f"file_row_number BETWEEN {begin} AND {begin + rows - 1}"
    return f"SELECT {', '.join(map(sql_name, columns))} FROM {file} WHERE {here}"  # noqa: S608
