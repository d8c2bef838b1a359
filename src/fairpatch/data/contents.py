"""An order of rows that is their own: the same table, its rows shuffled, gives the same patch.

Each row has a number by what it says, a hash of its groups and of every value with its column's
name. Whoever splits the same people splits them alike, in whatever order they come; labels, which
some have and others do not, make no difference.
"""

import hashlib
from collections.abc import Collection, Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch.inputs.values import factorize
from fairpatch.measure.groups import Groups
from fairpatch.patch.columns import Columns

Hashes = NDArray[np.uint64]


def contents(
    X: Any, groups: Groups | None = None, but: Collection[str] = ()
) -> Hashes:  # fmt: skip
    """A number of every row: the same for equal rows, whichever frame holds them.

    ``but`` are columns that make no difference, as nobody reads them.
    """
    total = np.zeros(Columns.of(X).rows, np.uint64)
    for name, own in _columns(Columns.of(X), groups, but):
        total += _mixed(own ^ _of_text(name))
    return total


def _columns(
    held: Columns, groups: Groups | None, but: Collection[str]
) -> Iterator[tuple[str, Hashes]]:
    """Every column by its name."""
    for name in (n for n in held.names if n not in but):
        yield f"X {name}", _of_column(held, name)
    if groups is not None:
        for feature, codes in zip(groups.features, groups.codes.T, strict=True):
            yield f"S {feature}", _of_numbers(codes)


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
