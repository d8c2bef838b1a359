"""Rows whose decision is a matter of policy: what a user says of them, and who they are.

A knock-out is never approved by a patch, a guaranteed approval never withdrawn: whoever is locked
keeps the base model's decision, in every engine.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

from fairpatch._arrays import Bools
from fairpatch._hints import did_you_mean
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import CardScale, Column, Kind, Lock
from fairpatch.patch.terms import activation

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
    lock = CardScale(approve_at=0, locked=tuple(locked)).lock
    if lock is None:
        return np.zeros(Columns.of(X).rows, bool)
    return np.asarray(activation(lock, with_locked((), locked), X) > 0)


def in_scope(scope: Sequence[Lock], X: Any) -> Bools | None:
    """Which rows in memory a patch is for; None where it is for all of them."""
    if not scope:
        return None
    return ~locked_rows(scope, X)


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
