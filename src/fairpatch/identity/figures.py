"""The figures by which a table is compared with the one of the fit: sums, and what follows of them.

Sums are counted by numpy, or by one query in an engine. What follows of them is written once, for
numbers and for expressions alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import narwhals as nw

from fairpatch._arrays import Floats
from fairpatch.identity.fingerprint import codes_of
from fairpatch.patch.columns import Columns
from fairpatch.patch.fingerprint import ColumnPrint, Fingerprint
from fairpatch.patch.model import Patch
from fairpatch.patch.terms import LARGEST

ENOUGH = 0.04
"""Where people's mean scores differ less than this (sum of squares), likeness is not judged."""
FEW = 100
"""Fewer people than this are not compared with others by their mean score."""
SPREAD = 1.2
"""Four times the spread of a score: a mean of n is off by more than 1.2 / sqrt(n) hardly ever."""


class Expressions:
    """Arithmetic on columns of sums, inside an engine."""

    def of(self, name: str) -> Any:
        """A sum."""
        return nw.col(name).cast(nw.Float64)

    def highest(self, values: list[Any]) -> Any:
        """The largest of some."""
        apart = [value.abs() for value in values]
        return nw.max_horizontal(*apart) if len(apart) > 1 else apart[0]

    def where(self, condition: Any, value: Any, otherwise: float) -> Any:
        """One or the other."""
        return nw.when(condition).then(value).otherwise(nw.lit(otherwise))


@dataclass(frozen=True)
class Numbers:
    """The same arithmetic on sums that are at hand."""

    sums: dict[str, float]

    def of(self, name: str) -> Any:
        """A sum."""
        return float(self.sums[name])

    def highest(self, values: list[Any]) -> Any:
        """The largest of some."""
        return max(map(abs, values))

    def where(self, condition: Any, value: Any, otherwise: float) -> Any:
        """One or the other."""
        return value if condition else otherwise


Algebra = Expressions | Numbers


def sums_of_rows(known: Fingerprint, patch: Patch, held: Columns, p: Floats) -> dict[str, float]:
    """The same sums of rows in memory."""
    sums = {"n": float(len(p)), "p": float(p.sum())}
    sums |= {f"s{i}": float((p <= edge).sum()) for i, edge in enumerate(known.edges)}
    columns = {column.name: column for column in patch.columns}
    for j, print_ in enumerate(known.columns):
        column = columns[print_.column]
        if print_.categories or column.kind == "category":
            categories, code = codes_of(held, column)
            at = {category: i for i, category in enumerate(categories)}
            there = code != at.get(None, -1)
            places = [code == at.get(category, -2) for category in print_.categories]
        else:
            x = held.values(column)
            there = x <= LARGEST
            places = [x <= edge for edge in print_.edges]
        sums[f"m{j}"] = float(there.sum())
        for i, here in enumerate(places):
            sums[f"c{j}_{i}"], sums[f"p{j}_{i}"] = float(here.sum()), float(p[here].sum())
    return sums


def sums_of_table(known: Fingerprint, frame: Any, p: nw.Expr) -> Any:
    """All that is counted, as one row: people, shares at the edges, sums of scores between them."""
    frame = frame.filter(~p.is_null() & (p >= 0.0) & (p <= 1.0))
    sums = {"n": nw.len(), "p": p.sum()}
    sums |= {f"s{i}": _count(p <= edge) for i, edge in enumerate(known.edges)}
    for j, print_ in enumerate(known.columns):
        for i, here in enumerate(_places(print_)):
            sums[f"c{j}_{i}"] = _count(here)
            sums[f"p{j}_{i}"] = nw.when(here).then(p).otherwise(nw.lit(0.0)).sum()
        sums[f"m{j}"] = _count(_known(print_))
    return frame.select(**sums)


def figures_of(known: Fingerprint, a: Algebra) -> dict[str, Any]:
    """Every figure of ``LIMITS`` by its name, and the likeness."""
    n = at_least_one(a.of("n"), a)
    figures: dict[str, Any] = {"people": a.of("n")}
    if known.edges:
        figures["score_distance"] = a.highest(
            [a.of(f"s{i}") / n - share for i, share in enumerate(known.shares)]
        )
    for j, print_ in enumerate(known.columns):
        figures |= _of_column(j, print_, n, known.people, a)
    figures["likeness"] = _likeness(known, a)
    return figures


def _of_column(j: int, print_: ColumnPrint, n: Any, people: int, a: Algebra) -> dict[str, Any]:
    there = at_least_one(a.of(f"m{j}"), a)
    counts = [a.of(f"c{j}_{i}") for i in range(len(print_.shares))]
    figures = {f"gaps of {print_.column}": 1.0 - a.of(f"m{j}") / n - print_.missing}
    if print_.categories:
        seen = reduce(lambda x, y: x + y, counts) / there
        figures[f"unseen of {print_.column}"] = 1.0 - print_.others - seen
    if counts:
        apart = [c / there - share for c, share in zip(counts, print_.shares, strict=True)]
        figures[f"distance of {print_.column}"] = a.highest(apart)
    shifts = []
    for (size, mean, then), then_size in zip(
        _bands(j, print_, a), _sizes(print_, people), strict=True
    ):
        if then is None or then_size < FEW:
            continue
        chance = at_least_one(size, a) ** -0.5 * SPREAD + SPREAD * then_size**-0.5
        beyond = a.highest([mean - then]) - chance
        shifts.append(a.where((size >= FEW) & (beyond > 0.0), beyond, 0.0))
    if shifts:
        figures[f"shift of {print_.column}"] = a.highest(shifts)
    return figures


def _likeness(known: Fingerprint, a: Algebra) -> Any:
    """Slope of people's mean scores now on those then: sum (now - p)(then - q) / sum (then - q)^2.

    Bands of few people are left out of both sums.
    """
    p = a.of("p") / at_least_one(a.of("n"), a)
    up, down = p * 0.0, p * 0.0 + 1e-9
    for j, print_ in enumerate(known.columns):
        for size, mean, then in _bands(j, print_, a):
            if then is not None:
                away = then - known.mean
                up = up + a.where(size >= FEW, (mean - p) * away, 0.0)
                down = down + a.where(size >= FEW, p * 0.0 + away**2, 0.0)
    return a.where(down > ENOUGH, up / down, 1.0)


def _bands(j: int, print_: ColumnPrint, a: Algebra) -> Iterator[tuple[Any, Any, float | None]]:
    """Of each band: people, f's mean score now, and then."""
    for i, then in enumerate(print_.means):
        size, total = a.of(f"c{j}_{i}"), a.of(f"p{j}_{i}")
        if print_.edges and i:
            size, total = size - a.of(f"c{j}_{i - 1}"), total - a.of(f"p{j}_{i - 1}")
        yield size, total / at_least_one(size, a), then


def at_least_one(size: Any, a: Algebra) -> Any:
    """At least one: a band of nobody is divided by it all the same."""
    return a.where(size > 0, size, 1.0)


def _sizes(print_: ColumnPrint, people: int) -> list[float]:
    """How many people each band had then."""
    before = (0.0, *print_.shares[:-1]) if print_.edges else (0.0,) * len(print_.shares)
    there = people * (1 - print_.missing)
    return [there * (b - a) for a, b in zip(before, print_.shares, strict=True)]


def _places(print_: ColumnPrint) -> list[nw.Expr]:
    """Who is at most each edge; or has each category."""
    if print_.categories:
        return [nw.col(print_.column) == category for category in print_.categories]
    x = nw.col(print_.column).cast(nw.Float64)
    return [x <= edge for edge in print_.edges]


def _known(print_: ColumnPrint) -> nw.Expr:
    if print_.edges:
        x = nw.col(print_.column).cast(nw.Float64)
        return ~x.is_null() & (x <= LARGEST)
    return ~nw.col(print_.column).is_null()


def _count(here: nw.Expr) -> nw.Expr:
    return nw.when(here).then(nw.lit(1)).otherwise(nw.lit(0)).sum()
