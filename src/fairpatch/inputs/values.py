"""Values of a column as Python has them; dates as months; keys as numbers nobody chose."""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Floats, Ints
from fairpatch._tools.extras import need, row_of, sql_name
from fairpatch._tools.hints import did_you_mean, hint

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


# When somebody was decided: any column of dates as months, in memory and in every engine.
#
#     2024-11-30, 20241130, 202411, "2024-11-30", "2024-11"   ->   202411
#     "2024-Q4", "2024Q4"                                     ->   202410
#     2024                                                    ->   2024
#
# Months are whole numbers that sort by time. A few of them are shown as they are, more by quarter,
# many by year.

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


# A number of every row that nobody chose: a hash of its key, in whole numbers every engine has.
#
#     h = (48271 (key mod P) + salt) mod P,    place = (h² + 12345) mod P,    P = 2³¹ - 1
#
# A share of a table is what lies below that share of P: the same rows everywhere. A key that is
# text is turned into a number first, by its SHA-256. Rows of one person share the person's place,
# and the part of all people that the person belongs to.

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
