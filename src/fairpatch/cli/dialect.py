"""How a text file is written: its encoding, what stands between fields, and its decimal sign.

DuckDB finds the delimiter, quotes and types; it reads neither Windows' encoding nor a decimal comma
unasked. Those two are looked for here, in the file itself, and what is not plain is said.
"""

import codecs
import gzip
import re
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from fairpatch._extras import need
from fairpatch.files.private import private_file

WINDOWS, LATIN = "cp1252", "latin-1"
READ_BY_DUCKDB = {"utf-8": "utf-8", "utf8": "utf-8", "ascii": "utf-8"}
"""Encodings that DuckDB reads without an extension; all others are rewritten in UTF-8 first."""
SEEN = 5_000
"""Rows that are looked at for a decimal comma."""
MOST = 500_000_000
"""Bytes of a file whose types are looked for in all of its rows."""
COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?,\d+")
POINT = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?\.\d+")
GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
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
    """The files, rewritten in UTF-8 where they must be, and their dialect."""
    encoding = asked.encoding or _encoding(files[0])
    if READ_BY_DUCKDB.get(encoding.lower()) is None:
        files = tuple(_rewritten(file, encoding) for file in files)
    dialect = replace(asked, encoding=encoding)
    if asked.decimal == ".":
        return Found(files, dialect)
    numbers, seen = _numbers(files[0], dialect)
    return Found(files, replace(dialect, **{**seen, **asked.said}), numbers)


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
        return (), {}
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
    if not commas or points:
        return (), {}
    return tuple(commas), {"decimal": ",", "thousands": "." if grouped else None}
