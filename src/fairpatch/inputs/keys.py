"""A number of every row that nobody chose: a hash of its key, in whole numbers every engine has.

    h = (48271 (key mod P) + salt) mod P,    place = (h² + 12345) mod P,    P = 2³¹ - 1

A share of a table is what lies below that share of P: the same rows everywhere. A key that is text
is turned into a number first, by its SHA-256. Rows of one person share the person's place, and the
part of all people that the person belongs to.
"""

import hashlib
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch._extras import need
from fairpatch._fetch import sql_name
from fairpatch._hints import did_you_mean, hint
from fairpatch.inputs.values import factorize

PRIME = 2**31 - 1
PARTS = 500
"""Parts of all people, drawn at random: what differs between them by chance is how sure a rate is,
however many rows a person has (random groups; Wolter, Introduction to Variance Estimation)."""
OF_PARTS = 3
"""The seed of the places that make them."""
DIGITS = 12
"""Hexadecimal digits of a text's hash that make its number."""
NOBODY = -1
"""The number of a key that is missing: as if all of them were one person."""


def place(key: str, seed: int) -> nw.Expr:
    """A whole number below PRIME: the same on every engine, and unrelated for different seeds."""
    salt = (seed * 7_919 + 40_692) % PRIME
    k = (nw.col(key).cast(nw.Int64) % PRIME + PRIME) % PRIME  # some engines keep the sign
    h = (k * 48_271 + salt) % PRIME
    return (h * h + 12_345) % PRIME


def place_of(key: Any, seed: int) -> Any:
    """The same of one key, or of an array of whole numbers."""
    salt = (seed * 7_919 + 40_692) % PRIME
    h = (key % PRIME * 48_271 + salt) % PRIME
    return (h * h + 12_345) % PRIME


def places(keys: Any, seed: int) -> Floats:
    """The same of keys in memory, as shares below 1."""
    return np.asarray(place_of(numbers_of(keys), seed) / PRIME)


def part(key: str) -> nw.Expr:
    """The part of all people that a row's person belongs to."""
    return place(key, OF_PARTS) * PARTS // PRIME


def part_of(numbers: Ints) -> Ints:
    """The same of rows in memory."""
    return np.asarray(place_of(numbers, OF_PARTS) * PARTS // PRIME, np.int64)


def numbers_of(keys: Any) -> Ints:
    """A whole number for every key: itself, or the hash of a text.

    >>> numbers_of([7, 12]).tolist(), numbers_of(["C7", None, "C7"]).tolist()
    ([7, 12], [265426588119789, -1, 265426588119789])
    """
    found, code = factorize(np.asarray(keys))
    whole = [v for v in found if isinstance(v, int)]
    if len(whole) + found.count(None) == len(found):
        numbers = [NOBODY if v is None else int(v) for v in found]
    else:
        numbers = [NOBODY if v is None else _hash(str(v)) for v in found]
    return np.array(numbers or [NOBODY], np.int64)[code]


def check_key(keys: Any, name: str) -> None:
    """Refuse a key that some rows share: they could be one person, and nobody said so."""
    found, code = factorize(np.asarray(keys))
    many = np.bincount(code, minlength=len(found))
    for i, value in enumerate(found):
        if value is None:  # a gap is noticed elsewhere
            many[i] = 0
    if many.max(initial=0) > 1:
        raise ValueError(
            f"key {name!r} repeats: {int((many > 1).sum()):,} of its {len(found):,} values stand "
            f"for several rows, up to {int(many.max()):,}. Are those rows of one person? Then say "
            + hint(f"Roles(person={name!r})", f"person: {name} in columns")
            + "; otherwise name the column that tells rows apart"
        )


def _hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:DIGITS], 16)


def with_persons(table: Any, person: str | None) -> Any:
    """A table in an engine in which every row's person is a whole number, where that is a role."""
    if person is None:
        return table
    frame = nw.from_native(numbered(table, person, "person"))
    return frame.with_columns(nw.col(person).cast(nw.Int64).fill_null(NOBODY)).to_native()


def numbered(table: Any, key: str, role: str = "key") -> Any:
    """A table in an engine whose key is a whole number; a missing one stays missing."""
    frame = nw.from_native(table)
    schema = frame.collect_schema()
    if key not in schema:
        raise KeyError(
            f"{role} names column {key!r}, which the table does not have"
            + did_you_mean(key, schema.names())
        )
    kind = schema[key]
    if kind.is_integer():
        return table
    engine = type(nw.to_native(frame)).__module__.partition(".")[0]
    if kind == nw.String and engine in ("duckdb", "_duckdb"):
        c = sql_name(key)
        number = f"CAST('0x' || left(sha256({c}), {DIGITS}) AS BIGINT)"  # of null, null
        return table.project(f"* REPLACE ({number} AS {c})")
    if kind == nw.String and engine == "pyspark":
        f = need("pyspark.sql.functions", extra="spark")
        digits = f.substring(f.sha2(f.col(f"`{key}`"), 256), 1, DIGITS)
        return table.withColumn(key, f.conv(digits, 16, 10).cast("long"))
    raise TypeError(
        f"{key!r} tells rows or people apart, and is {kind}: in this engine that must be a column "
        "of whole numbers. Number it once, for instance by a hash"
    )
