"""How a text file is written: its encoding, what stands between fields, and its decimal sign.

DuckDB finds the delimiter, quotes and types; it reads neither Windows' encoding nor a decimal comma
unasked. Those two are looked for here, in the file itself, and what is not plain is said. What is
written for somebody is written as they wrote.
"""

import codecs
import gzip
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from fairpatch._tools.extras import connected, need, sql_name, sql_text
from fairpatch._tools.files import private_file
from fairpatch.cli.say import note

WINDOWS, LATIN = "cp1252", "latin-1"
READ_BY_DUCKDB = {"utf-8": "utf-8", "utf8": "utf-8", "ascii": "utf-8"}
"""Encodings that DuckDB reads without an extension; all others are rewritten in UTF-8 first."""
SEEN = 5_000
"""Rows that are looked at for a decimal comma."""
MOST = 500_000_000
"""Bytes of a file whose types are looked for in all of its rows."""
COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?,\d+([eE][+-]?\d+)?")
POINT = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?\.\d+([eE][+-]?\d+)?")
GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
POINTS: dict[str, Any] = {"decimal": "."}
"""What is seen where numbers plainly have a decimal point."""
WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Dialect:
    """How CSV files are written; what is not said is looked for in the file."""

    delimiter: str | None = None
    """Between fields: a comma, a semicolon or a tab."""
    decimal: Literal[".", ","] | None = None
    """The decimal sign."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """Between groups of three digits."""
    encoding: str | None = None
    """As Python names it: utf-8, cp1252."""
    date: str | None = None
    """Days, as %d.%m.%Y; looked for where a file is written as another was."""

    @property
    def said(self) -> dict[str, str]:
        """What is known of it."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        said = {
            "encoding": self.encoding if self.encoding not in (None, "utf-8") else None,
            "decimal comma": "" if self.decimal == "," else None,
            "thousands": self.thousands,
        }
        return ", ".join(f"{k} {v!r}" if v else k for k, v in said.items() if v is not None)

    def options(self) -> dict[str, str]:
        """As DuckDB's read_csv takes them."""
        given = {
            "delim": self.delimiter,
            "decimal_separator": self.decimal,
            "thousands": self.thousands,
        }
        return {name: value for name, value in given.items() if value is not None}


PLAIN = Dialect()


class Found(NamedTuple):
    """Files as DuckDB reads them, and how they are written."""

    files: tuple[str, ...]
    dialect: Dialect
    numbers: tuple[str, ...] = ()
    """Columns that are seen to be numbers with a decimal comma: DuckDB doubts some of them."""


@cache
def of_files(files: tuple[str, ...], asked: Dialect = PLAIN) -> Found:
    """The files, rewritten in UTF-8 where they must be, and their dialect.

    What was said is said of a run's own file; where another shows plainly that it is written
    otherwise, it is read as it is written.
    """
    encoding = _encoding_of(files[0], asked.encoding)
    if READ_BY_DUCKDB.get(encoding.lower()) is None:
        files = tuple(_rewritten(file, encoding) for file in files)
    dialect = replace(asked, encoding=encoding)
    if asked.decimal == ".":
        return Found(files, dialect)
    if asked.delimiter is not None and not _stands_in_head(files[0], asked.delimiter):
        asked = replace(asked, delimiter=None)
    dialect = replace(asked, encoding=encoding)
    numbers, seen = _numbers(files[0], dialect)
    if seen == POINTS:
        gone = {"decimal": None, "thousands": None} if asked.decimal == "," else {}
        return Found(files, replace(dialect, **gone))
    told = {name: value for name, value in asked.said.items() if name != "encoding"}
    return Found(files, replace(dialect, **{**seen, **told}), numbers)


def _stands_in_head(file: str, delimiter: str) -> bool:
    """Whether what should stand between fields stands between any."""
    with _opened(file) as lines:
        return delimiter.encode() in (lines.readline() or b"")


def _encoding_of(file: str, asked: str | None) -> str:
    """As was said; but what is UTF-8 with letters beyond ASCII is hardly anything else.

    Nor is what begins with the mark of UTF-16.
    """
    if asked is None or _encoding(file) == "utf-16":
        return _encoding(file)
    if READ_BY_DUCKDB.get(asked.lower()) is not None:
        return asked
    with _opened(file) as bytes_of:
        plain = all(part.isascii() for part in iter(lambda: bytes_of.read(1 << 20), b""))
    return asked if plain or _encoding(file) != "utf-8" else "utf-8"


def _encoding(file: str) -> str:
    """UTF-8 where every byte fits, UTF-16 where the file says so, and Windows' own otherwise."""
    with _opened(file) as bytes_of:
        begin = bytes_of.read(4)
        if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        bytes_of.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while part := bytes_of.read(1 << 20):
                decoder.decode(part)
        except UnicodeDecodeError:
            return WINDOWS
    return "utf-8"


def _opened(file: str) -> BinaryIO:
    if file.lower().endswith(".gz"):
        return gzip.open(file, "rb")  # type: ignore[return-value]
    return Path(file).open("rb")


def _rewritten(file: str, encoding: str) -> str:
    """The file in UTF-8, in a folder of this process that goes when it ends."""
    path = private_file(f"{Path(file).stem}.csv")
    try:
        decode = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise ValueError(
            f"there is no encoding {encoding!r}; expected one such as utf-8, cp1252 or utf-16"
        ) from None
    with _opened(file) as source, path.open("w", encoding="utf-8", newline="") as out:
        try:
            while part := source.read(1 << 20):
                out.write(decode.decode(part))
            out.write(decode.decode(b"", final=True))
        except UnicodeDecodeError as error:
            if encoding == WINDOWS:  # five of its bytes mean nothing
                return _rewritten(file, LATIN)
            raise ValueError(
                f"{file} is not written in {encoding}: {error.reason} at byte {error.start:,}. "
                "Set another encoding: csv: {encoding: ...}"
            ) from None
    return str(path)


def _plainly_commas(file: str) -> bool:
    """Whether commas stand between fields and none can stand within: nothing is quoted."""
    with _opened(file) as lines:
        some = list(islice(lines, SEEN))  # all of it is one line where only returns end lines
    head = some[0] if some else b""
    between = b"," in head and not any(sign in head for sign in b";\t|")
    return between and not any(b'"' in line or b"'" in line for line in some)


def _numbers(file: str, dialect: Dialect) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Columns with a decimal comma, if there are any; and points between thousands."""
    if dialect.delimiter in (None, ",") and _plainly_commas(file):
        return (), POINTS
    duckdb = need("duckdb", extra="cli")
    given = {"all_varchar": True, "delimiter": dialect.delimiter}
    options = {k: v for k, v in given.items() if v is not None}
    with duckdb.connect() as connection:
        try:
            table = connection.read_csv(file, **options)
            names, rows = table.columns, table.limit(SEEN).fetchall()
        except duckdb.Error:
            return (), {}  # the reading itself will say what is wrong
    commas, points, grouped = [], False, False
    for name, column in zip(names, zip(*rows, strict=True), strict=False):
        texts = [value.strip() for value in column if value and value.strip()]
        if texts and all(COMMA.fullmatch(t) or WHOLE.fullmatch(t) or GROUPED.fullmatch(t)
                         for t in texts):  # fmt: skip
            commas += [name] if any(COMMA.fullmatch(t) for t in texts) else []
            grouped |= any(GROUPED.fullmatch(t) for t in texts)
        elif texts and all(POINT.fullmatch(t) or WHOLE.fullmatch(t) for t in texts):
            points |= any(POINT.fullmatch(t) for t in texts)
    if points and not commas:
        return (), POINTS
    if not commas or points:
        return (), {}
    return tuple(commas), {"decimal": ",", "thousands": "." if grouped else None}


def with_days(found: Found) -> Dialect:
    """The dialect with how days are written, as DuckDB sees it; ISO's own way is not named."""
    duckdb = need("duckdb", extra="cli")
    between = f", delim={sql_text(found.dialect.delimiter)}" if found.dialect.delimiter else ""
    with duckdb.connect() as connection:
        try:
            ((days,),) = connection.sql(
                f"SELECT DateFormat FROM sniff_csv({sql_text(found.files[0])}{between})"  # noqa: S608
            ).fetchall()
        except duckdb.Error:
            return found.dialect
    return replace(found.dialect, date=None if days in (None, "%Y-%m-%d") else str(days))


FRACTIONS = ("DOUBLE", "FLOAT", "DECIMAL")
"""Types that are written with a decimal sign."""


def write(table: Any, path: Path, csv: Dialect | None, marks: Mapping[str, str]) -> Any:
    """Write a table as Parquet, or as text in a dialect, in UTF-8; gives it as it lies there.

    A Parquet file has the ``marks`` among its metadata.
    """
    duckdb = need("duckdb", extra="cli")
    if csv is None:
        inside = ", ".join(f"{name}: '{text}'" for name, text in marks.items())  # our own words
        place = str(path).replace("'", "''")
        table.query(
            "whole",
            f"COPY (FROM whole) TO '{place}' (FORMAT parquet, KV_METADATA {{{inside}}})",
        )
        return duckdb.read_parquet(str(path), connection=connected())
    between = csv.delimiter or (";" if csv.decimal == "," else ",")
    if csv.decimal == "," or csv.date is not None:
        written = [_as_written(n, t, csv) for n, t in zip(table.columns, table.types, strict=True)]
        table = table.project(", ".join(written))
    table.to_csv(str(path), sep=between)
    return duckdb.read_csv(str(path), sep=between, all_varchar=True, connection=connected())


def _as_written(name: str, kind: Any, csv: Dialect) -> str:
    """A column as text with a decimal comma, or days in their order."""
    column = sql_name(name)
    if csv.decimal == "," and str(kind).startswith(FRACTIONS):
        return f"replace(CAST({column} AS VARCHAR), '.', ',') AS {column}"
    if csv.date is not None and str(kind) == "DATE":
        return f"strftime({column}, {sql_text(csv.date)}) AS {column}"
    return column


def encode(path: Path, encoding: str | None) -> None:
    """A text file in UTF-8 in another encoding, where that has all of its letters."""
    if encoding is None or READ_BY_DUCKDB.get(encoding.lower()) is not None:
        return
    wide, narrow = path, private_file(path.name)
    try:
        with (
            wide.open(encoding="utf-8", newline="") as given,
            narrow.open("w", encoding=encoding, newline="") as out,
        ):
            shutil.copyfileobj(given, out)
    except UnicodeEncodeError as error:
        letter = error.object[error.start : error.end]
        note(f"written in UTF-8, as {encoding} has no {letter!r}")
        return
    shutil.copyfile(narrow, path)
    narrow.unlink()
