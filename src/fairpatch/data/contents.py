"""An order of rows that is their own: the same table, its rows shuffled, gives the same patch.

Each row has a number by what it says, a hash of every value with its column's name. Rows of equal
numbers are equal in everything that a fit can see, so sorting by it leaves nothing to chance.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.inputs.values import factorize
from fairpatch.patch.columns import Columns

Hashes = NDArray[np.uint64]


def in_own_order(rows: Rows, seen: Bools | None) -> tuple[Rows, Bools | None]:
    """Rows sorted by what they say, and with them those that f was trained on."""
    number = contents(rows)
    if seen is not None:
        number = _mixed(number + seen)
    order = np.argsort(number, kind="stable")
    return rows.take(order), None if seen is None else seen[order]


def contents(rows: Rows) -> Hashes:
    """A number of every row: the same for equal rows, whichever frame holds them."""
    total = np.zeros(len(rows), np.uint64)
    for name, own in _columns(rows):
        total += _mixed(own ^ _of_text(name))
    return total


def _columns(rows: Rows) -> Iterator[tuple[str, Hashes]]:
    """Every column by its name: those of X, and what goes along with a row."""
    held = Columns.of(rows.X)
    for name in held.names:
        yield f"X {name}", _of_column(held, name)
    if rows.groups is not None:
        for feature, codes in zip(rows.groups.features, rows.groups.codes.T, strict=True):
            yield f"S {feature}", _of_numbers(codes)
    beside = replace(rows, X=None, groups=None)
    for name, values in vars(beside).items():
        if isinstance(values, np.ndarray) and values.dtype != object:
            for j, column in enumerate(values.reshape(len(rows), -1).T):
                yield f"{name} {j}", _of_numbers(column)


def _of_column(held: Columns, name: str) -> Hashes:
    if held.frame is not None and (held.frame[name].dtype.is_numeric() or _is_bool(held, name)):
        return _of_numbers(held.frame[name].cast(nw.Float64).to_numpy())
    values = np.empty(held.rows, object)
    values[:] = held.raw(name)
    try:
        found, code = factorize(values)
    except TypeError:  # lists and the like
        found, code = factorize(np.array([repr(v) for v in values], object))
    if all(isinstance(value, int | float | None) for value in found):  # as a column of numbers
        return _of_numbers(np.array([np.nan if v is None else v for v in found], np.float64))[code]
    return np.array([_of_text(repr(value)) for value in found], np.uint64)[code]


def _is_bool(held: Columns, name: str) -> bool:
    return bool(held.frame[name].dtype == nw.Boolean)


def _of_numbers(values: Any) -> Hashes:
    """Of numbers as they are, with one zero and one gap."""
    x = np.asarray(values, np.float64) + 0.0
    return _mixed(np.where(np.isnan(x), np.nan, x).view(np.uint64))


def _of_text(text: str) -> np.uint64:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "big"))


def _mixed(x: Hashes) -> Hashes:
    """Every bit of the result hangs on every bit of x (splitmix64)."""
    x = np.asarray(x, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)
