"""Columns of whatever X is, as numpy; and what a column's type means to a patch, everywhere."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.hints import hint
from fairpatch.inputs.values import Value, factorize, plain
from fairpatch.patch.parts import Column, Kind

# What a column's type means to a patch: the same in every engine, or refused in every engine.
#
# =============================================  ========================  =========================
# type                                           as a number               as a category
# =============================================  ========================  =========================
# whole numbers, floats, decimals                itself; NaN is a gap      itself; 1.0 is 1
# booleans                                       1 and 0                   1 and 0
# text                                           refused                   itself; empty is a gap
# dates, times, durations, bytes, lists, others  refused                   refused
# =============================================  ========================  =========================
#
# Where all values that a line, or a lock, names are text, a column of numbers is refused too, and
# the other way round: it would silently hold for nobody. A column without a single value is all
# gaps, whatever its type. The score is a number like any other.

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
        f"column {name!r} is {what}, and the patch compares it with {held}: no line and no lock of "
        "it could hold for anybody. Convert the column first"
    )


def _word(dtype: Any) -> str:
    if dtype == nw.Unknown:
        return "a type that has no meaning for it"
    return "text" if dtype == nw.String else str(dtype).partition("(")[0].lower()


# Columns of whatever X is, as numpy: of a frame by name, of an array by position.

DATE = re.compile(r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?$|^\d{1,2}[./]\d{1,2}[./]\d{4}$")
"""A day as CSV files have it."""


@dataclass(frozen=True)
class Columns:
    """Columns of a frame by name, or of an array by position, as numpy."""

    frame: Any
    array: NDArray[Any] | None

    @classmethod
    def of(cls, X: Any) -> "Columns":
        """Read X, a frame or a two-dimensional array."""
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return cls(frame, None)
        array = np.asarray(X)
        if array.ndim != 2:
            raise ValueError(
                f"X must be a frame or a two-dimensional array, got {array.ndim} dimensions"
            )
        return cls(None, array)

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.frame) if self.array is None else len(self.array)

    @property
    def names(self) -> list[str]:
        """Names of the columns; those of an array are x0, x1, ..."""
        if self.array is None:
            return list(self.frame.columns)
        return [f"x{j}" for j in range(self.array.shape[1])]

    def raw(self, name: str) -> list[Any]:
        """The values of a column as they are."""
        if self.array is None:
            return list(self.frame[name].to_list())
        return list(self.array[:, self.names.index(name)].tolist())

    def described(
        self,
        exclude: Collection[str] = (),
        categories: Collection[str] = (),
        *,
        strict: bool = False,
    ) -> list[Column]:
        """The columns with their kinds; dates and the like are left out, or refused with advice.

        Those that are excluded may be of any kind. ``categories`` are numbers that are codes.
        """
        columns = []
        for j, name in enumerate(self.names):
            if name in exclude:
                continue
            kind: Kind = "category" if name in categories else "number"
            if self.array is not None:
                columns.append(Column(name=name, kind=kind, position=j))
                continue
            dtype = self.frame[name].dtype
            if not strict and not _readable(dtype):
                continue
            own_kind = _kind(name, dtype)
            if (
                strict
                and own_kind == "category"
                and are_dates(self.frame[name].head(500).to_list())
            ):
                raise TypeError(_no_date(name, "as text"))
            columns.append(Column(name=name, kind="category" if name in categories else own_kind))
        return columns

    def values(self, column: Column) -> NDArray[Any]:
        """One column: float64 with NaN for a gap, or plain values with None."""
        if self.array is not None:
            if column.position is None:
                raise TypeError(
                    f"this patch reads {column.name!r} by name: give it a frame, not an array"
                )
            column_values = self.array[:, column.position]
            return (
                column_values.astype(np.float64)
                if column.kind == "number"
                else column_values.astype(object)
            )
        if column.name not in self.frame.columns:
            raise KeyError(f"X has no column {column.name!r}, which the patch reads")
        held = self._pandas
        if held is not None and column.kind == "number" and held[column.name].dtype == np.float64:
            return np.asarray(held[column.name].to_numpy())
        series = self.frame[column.name]
        if not _holds_any(series):
            number = column.kind == "number"
            return np.full(len(series), np.nan if number else None, float if number else object)
        return self._read(column, series)

    @staticmethod
    def _read(column: Column, series: Any) -> NDArray[Any]:
        if column.kind == "number":
            check_number_type(column.name, series.dtype)
            if series.dtype == nw.Object:
                return np.array([number_of(column.name, v) for v in series.to_list()], np.float64)
            return np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
        check_category_type(column.name, series.dtype)
        if series.dtype == nw.Object:  # lists and the like are no values
            for first in series.drop_nulls().head(1).to_list():
                category_of(column.name, first)
        if series.implementation.is_pyarrow():  # of which old ones have no way for dictionaries
            return np.array([*series.to_list(), None], object)[:-1]
        return np.asarray(series.to_numpy(), object)

    def codes(self, column: Column) -> tuple[list[Value], NDArray[np.intp]]:
        """The distinct plain values of a category, and each row's position among them."""
        held = self._pandas
        if held is not None and column.name in held.columns:  # which has it in C
            try:
                code, categories = held[column.name].factorize()
            except TypeError:  # lists and the like, which are no values
                first = held[column.name].dropna().iloc[0]
                raise TypeError(no_category(column.name, repr(first)[:60])) from None
            known = [category_of(column.name, category) for category in categories]
            return [*known, None], np.asarray(code, np.intp)  # -1: the last
        return factorize(self.values(column))

    def order(self, column: Column) -> list[Value]:
        """The categories in the order that the table itself gives them; none where it has none."""
        if self.array is not None or column.name not in self.frame.columns:
            return []
        held = self._pandas
        if held is not None:
            kind = held[column.name].dtype
            return [*map(plain, kind.categories)] if getattr(kind, "ordered", False) else []
        dtype = self.frame[column.name].dtype
        return list(dtype.categories) if isinstance(dtype, nw.Enum) else []

    @cached_property
    def _pandas(self) -> Any:
        """The frame itself where it is pandas'.

        For one row, the way through narwhals costs more than the patch.
        """
        if self.array is not None or not self.frame.implementation.is_pandas():
            return None
        return self.frame.to_native()


def _holds_any(series: Any) -> bool:
    """Whether a column that is not of numbers has any value."""
    return bool(series.dtype.is_numeric() or series.null_count() < len(series))


def _readable(dtype: Any) -> bool:
    return _is_number(dtype) or _is_category(dtype)


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def _is_category(dtype: Any) -> bool:
    texts = (nw.String, nw.Categorical, nw.Enum, nw.Object)
    return dtype in texts or isinstance(dtype, nw.Enum)


def _kind(name: str, dtype: Any) -> Kind:
    if _is_number(dtype):
        return "number"
    if _is_category(dtype):
        return "category"
    if dtype.is_temporal():
        raise TypeError(_no_date(name, str(dtype).partition("(")[0].lower()))
    raise TypeError(
        f"column {name!r} has the type {str(dtype).lower()}; a patch reads numbers, booleans and "
        f"strings. Convert it, or {_without(name)}"
    )


def are_dates(values: Iterable[Any]) -> bool:
    """Whether texts are days, as CSV files have them.

    >>> are_dates(["2026-01-31", None, "2026-02-01"]), are_dates(["2026-01-31", "never"])
    (True, False)
    """
    known = [value for value in values if isinstance(value, str)]
    return bool(known) and all(map(DATE.match, known))


def _no_date(name: str, how: Any) -> str:
    return (
        f"column {name!r} is a date or time ({how}), which a patch cannot weigh. Turn it into a "
        "number that means something, such as age in years or days since a fixed day, or "
        f"{_without(name)}"
    )


def _without(name: str) -> str:
    return "keep it from the patch, " + hint(f"exclude=[{name!r}]", f"--exclude {name}")
