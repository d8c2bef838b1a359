"""Sensitive features at the door: whatever the caller has, as named columns of plain values."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

Value = str | int | float | bool | None


def named_columns(sensitive_features: Any) -> dict[str, NDArray[Any]]:
    """Frame, series, mapping or array of sensitive features -> {name: one value a row}.

    >>> sorted(named_columns({"sex": ["f", "m"], "race": ["a", "b"]}))
    ['race', 'sex']
    """
    if isinstance(sensitive_features, Mapping):
        columns = {str(k): np.asarray(v) for k, v in sensitive_features.items()}
    else:
        native = nw.from_native(
            sensitive_features, eager_only=True, allow_series=True, pass_through=True
        )
        if isinstance(native, nw.DataFrame):
            columns = {name: native[name].to_numpy() for name in native.columns}
        elif isinstance(native, nw.Series):
            columns = {str(native.name or "sensitive"): native.to_numpy()}
        else:
            columns = _from_array(np.asarray(sensitive_features))
    if not columns or any(column.ndim != 1 for column in columns.values()):
        raise ValueError(
            "sensitive_features must have at least one column and one value a row; give a frame, "
            "a series, a dict of columns or an array of shape (rows,) or (rows, features)"
        )
    return columns


def _from_array(array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if array.ndim == 2 and array.shape[1] != 1:
        return {f"sensitive_{j}": array[:, j] for j in range(array.shape[1])}
    return {"sensitive": array.reshape(len(array), -1)[:, 0] if array.ndim else array}


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
