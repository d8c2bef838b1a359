"""A number of every row that nobody chose: a hash of its key, in whole numbers every engine has.

    h = (48271 (key mod P) + salt) mod P,    place = (h² + 12345) mod P,    P = 2³¹ - 1

A share of a table is what lies below that share of P: the same rows everywhere.
"""

from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Floats

PRIME = 2**31 - 1


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
    return np.asarray(place_of(np.asarray(keys, np.int64), seed) / PRIME)
