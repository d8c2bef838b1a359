"""What a column's type means to a patch: the same in every engine, or refused in every engine.

=============================================  ========================  =========================
type                                           as a number               as a category
=============================================  ========================  =========================
whole numbers, floats, decimals                itself; NaN is a gap      itself; 1.0 is 1
booleans                                       1 and 0                   1 and 0
text                                           refused                   itself; empty is a gap
dates, times, durations, bytes, lists, others  refused                   refused
=============================================  ========================  =========================

Where all categories of a patch are text, a column of numbers is refused too, and the other way
round: no line of the scorecard could hold for anybody, and nobody would notice.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np

from fairpatch.inputs.values import Value, plain

Holds = Literal["text", "numbers", "both"]
"""What the categories of a column are."""


def holds(categories: Iterable[Any]) -> Holds:
    """What some categories are.

    >>> holds(["a", "b"]), holds([1, True]), holds(["a", 1]), holds([])
    ('text', 'numbers', 'both', 'both')
    """
    texts = {isinstance(category, str) for category in categories}
    return "both" if len(texts) != 1 else "text" if texts == {True} else "numbers"


def check_number_type(name: str, dtype: Any) -> None:
    """Refuse a column that a patch weighs as a number and that is of another type."""
    if dtype.is_numeric() or dtype in (nw.Boolean, nw.Object):
        return
    raise TypeError(no_number(name, _word(dtype)))


def check_category_type(name: str, dtype: Any, held: Holds = "both") -> None:
    """Refuse a column that a patch reads as a category and that can have none of them."""
    numbers = dtype.is_numeric() or dtype == nw.Boolean
    texts = dtype in (nw.String, nw.Categorical) or isinstance(dtype, nw.Enum)
    if dtype == nw.Object:  # its values are looked at
        return
    if not numbers and not texts:
        raise TypeError(no_category(name, _word(dtype)))
    if dtype == nw.Categorical:  # of text, or of codes: its values are looked at
        return
    if (numbers and held == "text") or (texts and held == "numbers"):
        raise TypeError(_other(name, "numbers" if numbers else "text", held))


def number_of(name: str, value: Any) -> float:
    """One value as a number; infinity where there is none."""
    if value is None or isinstance(value, str | bytes | complex):
        if value is None:
            return float("inf")
        raise TypeError(no_number(name, repr(value)[:60]))
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all doubles: as an infinity, a gap
        return float("inf")
    except (TypeError, ValueError):
        if plain(value) is None:
            return float("inf")
        raise TypeError(no_number(name, repr(value)[:60])) from None


def category_of(name: str, value: Any, held: Holds = "both") -> Value:
    """One value as a category; None where there is none."""
    if isinstance(value, np.generic):
        value = value.item()
    known = plain(value)
    if known is None:
        return None
    if not isinstance(value, str | bool | int | float | Decimal):
        raise TypeError(no_category(name, repr(value)[:60]))
    if isinstance(known, str):
        if held == "numbers" and known:
            raise TypeError(_other(name, f"text, {known[:40]!r}", held))
    elif held == "text":
        raise TypeError(_other(name, f"a number, {known!r}", held))
    return known


def no_number(name: str, what: str) -> str:
    """Why a value is no number."""
    return f"column {name!r} must be a number for this patch; got {what}. Convert the column first"


def no_category(name: str, what: str) -> str:
    """Why a value is no category."""
    return (
        f"column {name!r} must be text, numbers or booleans for this patch; got {what}. Convert "
        "the column first"
    )


def _other(name: str, what: str, held: Holds) -> str:
    return (
        f"column {name!r} is {what}, and the categories of the patch are {held}: no line of it "
        "could hold for anybody. Convert the column first"
    )


def _word(dtype: Any) -> str:
    if dtype == nw.Unknown:
        return "a type that has no meaning for it"
    return "text" if dtype == nw.String else str(dtype).partition("(")[0].lower()
