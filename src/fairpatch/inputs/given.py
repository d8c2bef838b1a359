"""What a caller gives, taken apart: labels, S and weights out of the table, each by itself."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from fairpatch._arrays import Ints
from fairpatch._hints import did_you_mean
from fairpatch.inputs.dates import months_of
from fairpatch.inputs.keys import check_key, numbers_of
from fairpatch.inputs.probable import Drawn, columns_of, draw
from fairpatch.inputs.roles import Roles
from fairpatch.inputs.sensitive import grouped

NEEDED = ("weight", "person")
"""Roles whose column must be there wherever rows are counted."""
OPTIONAL = ("key", "date", "decided")
"""Roles whose column may be missing where nothing asks for it."""


@dataclass(frozen=True, eq=False)
class Given:
    """What a caller gave, taken apart: everything by itself."""

    X: Any
    """What f or the patch reads."""
    y: Any
    sensitive: Any
    weight: Any = None
    person: Any = None
    """Whose row it is, as a whole number."""
    month: Any = None
    """When they were decided, as a whole number."""
    made: Any = None
    """The decisions as they were made, in their own words."""
    hidden: tuple[str, ...] = ()
    """What the patch must not read: columns of X, and those that were taken out of it."""
    named: bool = False
    """Whether labels, S or weights were names of X's columns."""
    drawn: Drawn | None = None
    """Groups that were drawn by probabilities, and the chances behind them."""

    def take(self, rows: Ints) -> "Given":
        """Some of the rows, whatever they were given as."""

        def some(values: Any) -> Any:
            if values is None:
                return None
            if isinstance(values, Mapping):
                return {name: some(column) for name, column in values.items()}
            native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
            if isinstance(native, nw.DataFrame | nw.Series):
                return native[rows].to_native()
            return np.asarray(values)[rows]

        named = ("X", "y", "sensitive", "weight", "person", "month", "made")
        return replace(self, **{name: some(getattr(self, name)) for name in named})


def take_apart(
    X: Any, y: Any, sensitive: Any, roles: Roles, read_by_f: Collection[str] | None = None
) -> Given:
    """Labels, S, and columns with a role of their own, taken out of X unless f reads them.

    What is given as values stays as it is, and so does an X that is no frame.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30], "sex": ["f"], "y": [1], "w": [2.0]})
    >>> given = take_apart(people, "y", ["sex"], Roles(weight="w"))
    >>> list(given.X), given.weight.tolist(), given.hidden
    (['age'], [2.0], ('sex', 'y', 'w'))
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        for name, column in (("y", y), *((role, roles.column_of(role)) for role in NEEDED)):
            if isinstance(column, str):
                raise TypeError(
                    f"{name} names column {column!r}, so X must be a frame; got {type(X).__name__}"
                )
        return Given(X, y, grouped(sensitive, roles))
    drawn = draw(frame, roles.probable, roles.key)
    if drawn is not None:
        given = take_apart(*_with_drawn(frame, drawn, y, sensitive, roles), read_by_f)
        return replace(given, drawn=drawn, hidden=(*given.hidden, *columns_of(roles.probable)))
    names = list(frame.columns)
    features = names_in(sensitive, names, len(frame)) or []
    named = {"y": y if isinstance(y, str) else None}
    named |= {role: roles.column_of(role) for role in (*NEEDED, *OPTIONAL)}
    of = {r: c for r, c in named.items() if c is not None and (c in names or r not in OPTIONAL)}
    for role, column in of.items():
        if column not in names:
            raise KeyError(
                f"{role} names column {column!r}, which the table does not have"
                + did_you_mean(column, names)
            )
    if of.get("y") in features:
        raise ValueError(f"column {y!r} is y and a sensitive feature: one column has one role")
    taken = [*features, *of.values()]
    if not taken:
        return Given(X, y, grouped(sensitive, roles))
    if "key" in of and of["key"] != roles.person:
        check_key(frame[of["key"]].to_numpy(), of["key"])
    read = set(() if read_by_f is None else read_by_f)
    held = {role: frame[column] for role, column in of.items()}
    return Given(
        frame.select([n for n in names if n not in taken or n in read]).to_native(),
        held["y"].to_native() if "y" in held else y,
        grouped(frame.select(features).to_native() if features else sensitive, roles),
        held["weight"].to_numpy() if "weight" in held else None,
        numbers_of(held["person"].to_numpy()) if "person" in held else None,
        months_of(frame, of["date"]) if "date" in of else None,
        held["decided"].to_numpy() if "decided" in held else None,
        tuple(dict.fromkeys(taken)),
        named=True,
    )


def _with_drawn(
    frame: Any, drawn: Drawn, y: Any, sensitive: Any, roles: Roles
) -> tuple[Any, Any, Any, Roles]:
    """The frame without its probabilities, the drawn groups among its sensitive features."""
    rest = frame.drop([c for c in columns_of(roles.probable) if c in frame.columns])
    names = [sensitive] if isinstance(sensitive, str) else sensitive
    known = [*rest.columns, drawn.feature]
    if sensitive is None or not names_in(names, known, len(frame)):
        raise ValueError(
            f"{drawn.feature!r} is known by probabilities, so sensitive_features must be names: "
            f"sensitive_features=[{drawn.feature!r}]; got {type(sensitive).__name__}"
        )
    plain = roles.replace(probable={})
    if drawn.feature not in names:
        return rest.to_native(), y, sensitive, plain
    series = nw.new_series(
        drawn.feature, drawn.values.tolist(), nw.String, backend=nw.get_native_namespace(frame)
    )
    return rest.with_columns(series).to_native(), y, sensitive, plain


def names_in(given: Any, columns: Sequence[str], rows: int) -> list[str] | None:
    """Names of columns, where that is what was given; None where it is values."""
    wanted = [given] if isinstance(given, str) else given
    if not isinstance(wanted, list | tuple) or not wanted:
        return None
    if not all(isinstance(name, str) for name in wanted):
        return None
    if len(set(wanted)) < len(wanted):  # one for each row
        return None
    present = [name for name in wanted if name in columns]
    if len(present) == len(wanted):
        return list(wanted)
    if isinstance(given, str) or len(wanted) != rows:
        lost = next(name for name in wanted if name not in columns)
        raise KeyError(f"there is no column {lost!r} in X" + did_you_mean(lost, columns))
    return None
