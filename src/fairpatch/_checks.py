"""Parameters at the door: each refusal names the parameter, what was expected, and what came."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np

NUMBERS = (int, float, np.integer, np.floating)


def one_of(name: str, value: Any, allowed: Collection[str]) -> None:
    """One of some words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed)}; got {value!r}"
            + did_you_mean(value, allowed)
        )


def number(name: str, value: Any, low: float, high: float = float("inf")) -> None:
    """A finite number from low to high, both included."""
    ok = isinstance(value, NUMBERS) and not isinstance(value, bool)
    if not ok or not low <= value <= high or value == float("inf"):
        limits = f"at least {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"
        comma = "," if high == float("inf") else ""
        raise ValueError(f"{name} must be a number{comma} {limits}; got {value!r}")


def whole(name: str, value: Any, at_least: int) -> None:
    """A whole number."""
    ok = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not ok or value < at_least:
        raise ValueError(f"{name} must be a whole number, at least {at_least}; got {value!r}")


def names(name: str, value: Any) -> None:
    """A list of names: a string would be taken letter by letter."""
    if isinstance(value, str):
        raise ValueError(
            f"{name} must be a list of columns; got the string {value!r}. Write [{value!r}]"
        )
    if not isinstance(value, Collection) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"{name} must be a list of columns, each of them a name; got {value!r}")


def a(name: str, value: Any, kind: type, example: str) -> None:
    """An object of some class, or nothing."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, as {example}; got {value!r}")


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """A hint for a name that is nearly right; nothing otherwise."""
    near = get_close_matches(str(value), list(known), 1)
    return f". Did you mean {near[0]!r}?" if near else ""
