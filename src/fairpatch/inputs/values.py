"""Values of a column as Python has them, the same whichever engine or frame they came from."""

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = str | int | float | bool | None


def factorize(column: NDArray[Any]) -> tuple[list[Value], NDArray[np.intp]]:
    """The distinct plain values of a column, and each row's position among them."""
    if column.dtype == object:
        cells = column.tolist()
        first: dict[Any, int] = {}
        code = {raw: first.setdefault(plain(raw), len(first)) for raw in dict.fromkeys(cells)}
        return list(first), np.fromiter(map(code.__getitem__, cells), np.intp, len(cells))
    raw, inverse = np.unique(column, return_inverse=True)
    return [plain(value) for value in raw], inverse


def plain(value: Any) -> Value:
    """One value as Python has it, the same whichever engine it came from.

    Missing is None; 1.0 is 1 (a column of integers with a gap arrives as floats).

    >>> [plain(v) for v in (np.float64(2.0), float("nan"), np.str_("a"), np.bool_(True), 0.5)]
    [2, None, 'a', True, 0.5]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float | Decimal):
        number = float(value)
        if np.isnan(number):
            return None
        return int(number) if number.is_integer() else number
    if isinstance(value, str | int):
        return value
    return str(value)


def text(value: Value) -> str:
    """A value as it is written where it is said what it means: 3 and "3" alike."""
    return str(plain(value))
