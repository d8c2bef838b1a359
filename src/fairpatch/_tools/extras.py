"""Optional packages, imported where they are used; what DuckDB worked out, as Python's values."""

from importlib import import_module
from typing import Any

import narwhals as nw

# Optional packages: imported where they are used, with a message that says what to install.


def need(module: str, *, extra: str) -> Any:
    """Import ``module``, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"this needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'fairpatch[{extra}]'"
        ) from error


# What an engine worked out, as Python's values: DuckDB's own, so that it needs no Arrow.

_OPEN: list[Any] = []
"""Connections that tables read from: before DuckDB 1.5, a table did not keep its own open."""


def connected() -> Any:
    """A DuckDB of its own, for as long as anybody reads from it."""
    duckdb = need("duckdb", extra="cli")
    own = duckdb.connect()
    if duckdb.__version__.startswith("1.4."):
        _OPEN.append(own)
    return own


def sql_name(name: str) -> str:
    """A name as DuckDB reads it, whatever is in it.

    >>> print(sql_name('the "b" column'))
    "the ""b"" column"
    """
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str) -> str:
    """A text as DuckDB reads it, whatever is in it.

    >>> sql_text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """Few rows of a lazy frame, each by its columns' names."""
    native = nw.to_native(frame)
    if _of_duckdb(native):
        return [dict(zip(native.columns, row, strict=True)) for row in native.fetchall()]
    return list(nw.from_native(native).lazy().collect().iter_rows(named=True))


def row_of(frame: Any) -> dict[str, Any]:
    """The one row of a sum; nothing where there is none."""
    return next(iter(rows_of(frame)), {})


def value_of(frame: Any) -> Any:
    """The one value of a sum."""
    (value,) = row_of(frame).values()
    return value


def frame_of(frame: Any) -> nw.DataFrame[Any]:
    """All rows of a lazy frame: pandas from DuckDB, else what the engine gives."""
    backend = "pandas" if _of_duckdb(nw.to_native(frame)) else None
    whole: nw.DataFrame[Any] = nw.from_native(nw.to_native(frame)).lazy().collect(backend)
    return whole


def _of_duckdb(native: Any) -> bool:
    return type(native).__name__ == "DuckDBPyRelation"
