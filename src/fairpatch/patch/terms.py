"""Concepts and locks of rows in memory, in numpy. A test holds this equal to the expressions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.hints import did_you_mean
from fairpatch.inputs.past_decisions import score_column
from fairpatch.inputs.values import Value
from fairpatch.patch.columns import Columns, category_of, holds
from fairpatch.patch.parts import (
    CardScale,
    CategoricalWeight,
    Column,
    Concept,
    Kind,
    Lock,
    NumberWeight,
    Range,
    RangesWeight,
)

LARGEST = 1e100
"""What is farther from zero than this is no number of a person: it is taken for missing, as NaN and
the infinities are. With weights of at most 1e15, no sum of terms overflows in any engine."""
SMALLEST = 1e-100
"""What is nearer to zero is zero: Postgres stops at products that are too small to be told."""


def activation(concept: Concept, columns: Sequence[Column], X: Any) -> Floats:
    """c(x) of every row: the intercept, then term by term what x's raw values add.

    In this order in every engine: sums of doubles depend on it in their last bits.
    """
    held = Columns.of(X)
    total = np.full(held.rows, float(concept.intercept))
    for _, values in terms(concept, columns, held):
        total = total + values
    return total


def terms(
    concept: Concept, columns: Sequence[Column], held: Columns
) -> Iterator[tuple[str, Floats]]:
    """What each part adds to a concept, row by row, in the order in which it is summed."""
    known = {column.name: column for column in columns}
    for n in concept.numbers:
        yield n.column, number_term(n, held.values(known[n.column]))
    for r in concept.ranges:
        yield r.column, ranges_term(r, held.values(known[r.column]))
    for c in concept.categories:
        yield c.column, category_term(c, *held.codes(known[c.column]))


def by_column(concept: Concept, columns: Sequence[Column], held: Columns) -> dict[str, Floats]:
    """What each column adds to a concept, row by row."""
    totals: dict[str, Floats] = {}
    for name, values in terms(concept, columns, held):
        totals[name] = totals[name] + values if name in totals else values
    return totals


def number_term(part: NumberWeight, values: Floats) -> Floats:
    """What a number adds to a concept, row by row."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        size = np.abs(values)
        near = np.where(size >= SMALLEST, values, 0.0)
        weighed = np.asarray(part.coefficient * (near - part.around))
        return np.where(size <= LARGEST, weighed, part.missing)


def ranges_term(part: RangesWeight, values: Floats) -> Floats:
    """What a number adds to a concept by the range that it lies in, row by row."""
    total = np.zeros(len(values))
    for r in part.quantities:
        total += r.weight * inside(r, values)
    for r in part.codes:
        total = np.where(values == r.code, r.weight, total)
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) <= LARGEST, total, part.missing)


def inside(r: Range, values: Floats) -> Bools:
    """Which values lie in a range; a gap lies in none that has an end."""
    if r.code is not None:
        return np.asarray(values == r.code)
    with np.errstate(invalid="ignore"):  # a comparison with NaN is no accident
        here = np.ones(len(values), bool) if r.at_least is None else values >= r.at_least
        return np.asarray(here if r.below is None else here & (values < r.below))


def category_term(
    part: CategoricalWeight, categories: list[Value], code: NDArray[np.intp]
) -> Floats:
    """What a category adds to a concept, row by row."""
    weights = {entry.category: entry.weight for entry in part.categories} | {None: part.missing}
    if part.categories:
        weights.setdefault("", part.missing)  # an empty text says as little as a gap
    held = holds(entry.category for entry in part.categories)
    for category in categories:
        if category is not None and category not in weights:
            category_of(part.column, category, held)  # refused where no line could hold
        if isinstance(category, float) and not abs(category) <= LARGEST:  # nor is it a code
            weights[category] = part.missing
    return np.array([weights.get(category, part.other) for category in categories] or [0.0])[code]


# Rows whose decision is a matter of policy: what a user says of them, and who they are.
#
# A knock-out is never approved by a patch, a guaranteed approval never withdrawn: whoever is locked
# keeps the base model's decision, in every engine.

EXPECTED = (
    "locked must name columns, each with a value, a list of values, or at_least and below, as "
    "{'knock_out': 'yes', 'amount': {'at_least': 50_000}}"
)


def locks_of(given: Any, *, unless: bool = False) -> tuple[Lock, ...]:
    """What was said as locks; or, ``unless``, as the rows that a patch is for.

    >>> [str(lock) for lock in locks_of({"knock_out": True, "amount": {"at_least": 50_000}})]
    ['knock_out is True', 'amount from 50000']
    """
    expected = EXPECTED.replace("locked", "where") if unless else EXPECTED
    if not isinstance(given, Mapping):
        raise TypeError(f"{expected}; got {given!r}")
    found = []
    for column, said in given.items():
        if isinstance(said, Mapping):
            options = dict(said)
        else:
            values = said if isinstance(said, list | tuple | set | frozenset) else [said]
            options = {"values": tuple(values)}
        try:
            found.append(Lock(column=column, unless=unless, **options))
        except (ValidationError, TypeError) as error:
            raise ValueError(f"{expected}; got {column!r}: {said!r}") from error
    return tuple(found)


def with_locked(columns: Iterable[Column], locked: Sequence[Lock]) -> tuple[Column, ...]:
    """Columns that give points, and those that lock rows."""
    kept = {column.name: column for column in columns}
    for lock in locked:
        kind: Kind = "category" if lock.values else "number"
        kept.setdefault(lock.column, Column(name=lock.column, kind=kind))
    return tuple(kept.values())


def locked_rows(locked: Sequence[Lock], X: Any) -> Bools:
    """Who is locked: any one lock is enough."""
    return _above_zero(CardScale(approve_at=0, locked=tuple(locked)).lock, locked, X)


def unjudged_rows(locked: Sequence[Lock], X: Any) -> Bools:
    """Of whom some lock says nothing, as its column is empty there: they are not locked by it."""
    return _above_zero(CardScale(approve_at=0, locked=tuple(locked)).gap, locked, X)


def _above_zero(concept: Concept | None, locked: Sequence[Lock], X: Any) -> Bools:
    if concept is None:
        return np.zeros(Columns.of(X).rows, bool)
    return np.asarray(activation(concept, with_locked((), locked), X) > 0)


def in_scope(scope: Sequence[Lock], X: Any, needed: str | None = None) -> Bools | None:
    """Which rows in memory a patch is for; None where it is for all of them.

    ``needed`` is a score column without which a row is left out.
    """
    inside = ~locked_rows(scope, X) if scope else None
    if needed is None:
        return inside
    scored = ~np.isnan(np.asarray(score_column(X, needed), np.float64))
    return scored if inside is None else scored & inside


def check_locks(locked: Sequence[Lock], X: Any, sensitive: Iterable[str]) -> None:
    """Refuse locks that cannot be meant: of a column that is not there, of S, or of nobody."""
    held = Columns.of(X)
    for lock in locked:
        if lock.column in set(sensitive):
            raise ValueError(
                f"rows cannot be locked by {lock.column!r}: it is a sensitive feature, which no "
                "patch reads"
            )
        if lock.column not in held.names:
            raise ValueError(
                f"rows are to be locked by {lock.column!r}, and there is no such column"
                + (did_you_mean(lock.column, held.names) or f"; there are {_list(held.names)}")
            )
        mask = locked_rows((lock,), X)
        if lock.unless and mask.all():
            seen = _some_values(lock, held)
            raise ValueError(f"the target is for nobody, {lock}: the column has {seen}")
        if not (lock.unless or mask.any()):
            seen = _some_values(lock, held)
            raise ValueError(f"no row is locked by {lock}: the column has {seen}")


def _some_values(lock: Lock, held: Columns) -> str:
    """What a column has, for somebody who has mistyped a value."""
    column = Column(name=lock.column, kind="category" if lock.values else "number")
    if lock.values:
        return _list([value for value in held.codes(column)[0] if value is not None])
    numbers = held.values(column)
    return f"numbers from {np.nanmin(numbers):g} to {np.nanmax(numbers):g}"


def _list(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values[:8])) + (", ..." if len(values) > 8 else "")
