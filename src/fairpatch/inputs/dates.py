"""When somebody was decided: any column of dates as months, in memory and in every engine.

    2024-11-30, 20241130, 202411, "2024-11-30", "2024-11"   ->   202411
    "2024-Q4", "2024Q4"                                     ->   202410
    2024                                                    ->   2024

Months are whole numbers that sort by time. A few of them are shown as they are, more by quarter,
many by year.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Ints
from fairpatch._fetch import row_of

NEVER = -1
"""The month of a row without a date."""
MONTHS, QUARTERS = 12, 12
"""Months that are shown by themselves, and quarters, at most."""
DAYS, NO_NUMBER = 19_000_101, 1e300
"""Whole numbers from here on are days; and from here on there is none."""
YEARS, MONTHS_AS, DAYS_AS = (0, 9_999), (190_001, 210_012), (19_000_101, 21_001_231)
"""What whole numbers may be: years or their numbers, months, days."""
QUARTER_ENDS = ("Q1", "Q2", "Q3", "Q4")
END = "fairpatch_end"


def month_expr(table: Any, column: str) -> nw.Expr:
    """The month of every row of a frame or a table in an engine, as a whole number."""
    frame = nw.from_native(table)
    kind, day = frame.collect_schema()[column], nw.col(column)
    if any(kind == dated for dated in (nw.Date, nw.Datetime)):
        return _or_never(~day.is_null(), day.dt.year() * 100 + day.dt.month())
    if kind == nw.String:
        _check_text(frame, column)
        month = day.str.slice(5, 2)
        for quarter in QUARTER_ENDS:
            month = nw.when(day.str.ends_with(quarter)).then(
                nw.lit(f"{3 * int(quarter[1]) - 2:02d}")
            ).otherwise(month)  # fmt: skip
        text = nw.concat_str(day.str.slice(0, 4), month)
        return nw.when(day.str.len_chars() >= len("2024Q4")).then(text).otherwise(
            nw.lit(str(NEVER))
        ).cast(nw.Int64)  # fmt: skip
    if not kind.is_numeric():
        raise TypeError(f"date names column {column!r}, which is {kind}: a date was expected")
    known = (day > 0) & (day < NO_NUMBER)  # nor NaN
    ends = row_of(frame.lazy().filter(known).select(least=day.min(), **{END: day.max()}))
    whole = _or_never(known, day)
    _check_numbers(column, float(ends.get("least") or 0), float(ends.get(END) or 0))
    if float(ends[END] or 0) < DAYS:
        return whole
    return nw.when(whole > 0).then(whole // 100).otherwise(whole)


def _or_never(known: nw.Expr, month: nw.Expr) -> nw.Expr:
    whole: nw.Expr = nw.when(known).then(month).otherwise(nw.lit(NEVER)).cast(nw.Int64)
    return whole


def _check_numbers(column: str, least: float, most: float) -> None:
    """Refuse whole numbers that are not all years, all months, or all days."""
    one_kind = any(low <= least and most <= high for low, high in (YEARS, MONTHS_AS, DAYS_AS))
    if most and not one_kind:
        raise ValueError(
            f"date names column {column!r}, whose numbers must be all days such as 20241130, all "
            f"months such as 202411, or all years; they go from {least:.12g} to {most:.12g}"
        )


def _check_text(frame: Any, column: str) -> None:
    """Refuse texts that are no dates which sort by time."""
    day = nw.col(column)
    year = day.str.slice(0, 4).is_in([str(y) for y in range(1900, 2101)])
    dashed = day.str.slice(4, 1).is_in(["-", "/"])
    month = dashed & day.str.slice(5, 2).is_in([f"{m:02d}" for m in range(1, 13)])
    quarter = day.str.len_chars() <= len("2024-Q4")
    quarters = nw.lit(value=False)
    for end in QUARTER_ENDS:
        quarters = quarters | day.str.ends_with(end)
    sorts = year & (month | (quarter & quarters))
    odd = frame.lazy().filter(~day.is_null() & (day != "")).filter(~sorts).select(day).head(1)
    found = row_of(odd)
    if found:
        raise ValueError(
            f"date names column {column!r}, whose texts must be dates such as 2024-11-30, 2024-11 "
            f"or 2024-Q4; got {found[column]!r}"
        )


def months_of(table: Any, column: str) -> Ints:
    """The months of rows in memory."""
    frame = nw.from_native(table, eager_only=True)
    if frame[column].dtype == nw.Object:  # days as Python has them
        days = [d if hasattr(d, "month") and d == d else None for d in frame[column].to_list()]  # noqa: PLR0124
        if any(day is not None for day in days):
            months = [NEVER if d is None else d.year * 100 + d.month for d in days]
            return np.array(months, np.int64)
    named = frame.select(month_expr(table, column).alias(END))
    return np.asarray(named[END].cast(nw.Int64).to_numpy(), np.int64)


def since(months: Sequence[int], rows: Sequence[float], share: float) -> int | None:
    """The month from which on so many of the rows are, about; None where no month will do.

    >>> since([202401, 202402, 202403, 202404], [10, 10, 10, 10], 0.5)
    202403
    >>> since([202401, 202402], [99, 1], 0.5) is None
    True
    """
    order = np.argsort(months)
    known = np.asarray(months)[order]
    later = np.cumsum(np.asarray(rows, float)[order][::-1])[::-1] / max(float(np.sum(rows)), 1.0)
    fits = [k for k in range(1, len(known)) if 0.6 * share <= later[k] <= min(1.4 * share, 0.9)]
    best = min(fits, key=lambda k: abs(later[k] - share), default=None)
    return None if best is None else int(known[best])


def periods(months: Ints) -> tuple[list[str], Ints]:
    """Periods to be shown, in order, and each row's place among them; -1 where it has no date.

    >>> periods(np.array([202403, 202401, -1, 202403]))[0]
    ['2024-01', '2024-03']
    """
    known = np.unique(months[months > 0])
    if len(known) <= MONTHS:
        names = {int(m): _month(int(m)) for m in known}
    elif len({_quarter(int(m)) for m in known}) <= QUARTERS:
        names = {int(m): _quarter(int(m)) for m in known}
    else:
        names = {int(m): f"{m // 100 if m >= 10_000 else m}" for m in known}
    ordered = list(dict.fromkeys(names.values()))
    place = {m: ordered.index(name) for m, name in names.items()}
    return ordered, np.array([place.get(int(m), -1) for m in months], np.int64)


def _month(month: int) -> str:
    return str(month) if month < 10_000 else f"{month // 100}-{month % 100:02d}"


def _quarter(month: int) -> str:
    return str(month) if month < 10_000 else f"{month // 100}-Q{(month % 100 + 2) // 3}"
