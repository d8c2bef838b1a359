"""The sensitive features as they are given, alone or in the table, and the groups they make.

    spellings={"sex": {"female": ["F", "Woman"]}}     one group, however it is written
    unknown=["Decline to state"]                      of no group: as a missing value
    bands={"age": [25, 40, 60]}      below 25, 25 to below 40, 40 to below 60, 60 and above

In this order. Inner edges leave nobody out. All of it is said in the roles, so that audit, fit,
certificate and monitor compare the same groups, in memory and in every engine.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Ints
from fairpatch._tools.checks import spark_names
from fairpatch._tools.extras import frame_of
from fairpatch._tools.hints import did_you_mean, hint
from fairpatch.inputs.notice import SEEN, special_codes
from fairpatch.inputs.probable import Drawn, columns_of, draw, drawn_table
from fairpatch.inputs.roles import EVERY, Roles, band_expr, band_values
from fairpatch.inputs.values import (
    Value,
    check_key,
    factorize,
    months_of,
    numbers_of,
    text,
    with_persons,
)


def grouped(sensitive_features: Any, roles: Roles) -> Any:
    """Sensitive features in memory as groups: spelled one way, unknown as missing, in bands."""
    if sensitive_features is None or not roles.groups_said:
        return sensitive_features
    columns = named_columns(sensitive_features)
    _check_known(roles, columns)
    return {name: _as_groups(name, values, roles) for name, values in columns.items()}


def _as_groups(feature: str, values: NDArray[Any], roles: Roles) -> NDArray[Any]:
    """One feature's values as groups."""
    unknown, spelled = set(roles.unknown_of(feature)), roles.spelled(feature)
    if unknown or spelled:
        found, code = factorize(values)
        named: list[Value] = [None if text(v) in unknown else v for v in found]
        if spelled:
            named = [v if v is None else spelled.get(text(v), text(v)) for v in named]
        values = np.array([*named, None], object)[code]
    edges = roles.bands.get(feature)
    if edges is None:
        return values
    _check_codes(feature, values, roles)
    return band_values(feature, values, edges)


def grouped_table(table: Any, roles: Roles, features: Sequence[str]) -> Any:
    """The same of a table in an engine."""
    if not roles.groups_said:
        return table
    _check_known(roles, features)
    frame = nw.from_native(table)
    schema = frame.collect_schema()
    for name in (n for n in features if n in roles.bands and schema[n].is_numeric()):
        some = frame_of(frame.lazy().select(name).head(SEEN))
        _check_codes(name, some[name].cast(nw.Float64).to_numpy(), roles)
    groups = {
        name: expr
        for name in features
        if (expr := _group_expr(name, schema[name], roles)) is not None
    }
    return frame.with_columns(**groups).to_native()


def _check_codes(feature: str, values: NDArray[Any], roles: Roles) -> None:
    """Refuse numbers that stand apart from all others, -99 or 9999: a band would take them in."""
    if feature in roles.unknown or EVERY in roles.unknown:
        return
    try:
        codes = special_codes(np.asarray(values, np.float64))
    except (TypeError, ValueError):  # texts
        return
    if codes:
        raise ValueError(
            f"{feature!r} has {' and '.join(map(str, codes))}, far from all its other numbers, and "
            "a band would take them in. If nobody knows, say "
            + hint(f"Roles(unknown={{{feature!r}: {codes}}})", f"unknown: {{{feature}: {codes}}}")
            + ", or [] if they are numbers like others"
        )


def _group_expr(feature: str, kind: Any, roles: Roles) -> nw.Expr | None:
    """The group of each row; None where the column is what it is."""
    unknown, spelled = roles.unknown_of(feature), roles.spelled(feature)
    edges = roles.bands.get(feature)
    if not unknown and not spelled and edges is None:
        return None
    column = nw.col(feature)
    if kind in (nw.Categorical, nw.Enum) or isinstance(kind, nw.Enum):
        column, kind = column.cast(nw.String), nw.String()
    own = column  # conditions are on the column as it lies there
    if spelled:
        if kind != nw.String and not kind.is_integer():
            raise TypeError(
                f"spellings of {feature!r} are of texts or codes, and its column is {kind}"
            )
        column = column.cast(nw.String)
        for value, group in _typed(spelled, kind):
            column = nw.when(own == value).then(nw.lit(group)).otherwise(column)
    known = ~own.is_null()
    for value, _ in _typed(dict.fromkeys(unknown, ""), kind):
        known = known & (own != value)
    if unknown:
        column = nw.when(known).then(column)
    return column if edges is None else band_expr(column, edges)


def _typed(values: Mapping[str, str], kind: Any) -> list[tuple[Any, str]]:
    """Values as a column of some type would have them, without those that it cannot."""
    if kind == nw.String:
        return list(values.items())
    kinds = (bool,) if kind == nw.Boolean else (int, float)
    return [
        (found, group) for value, group in values.items()
        if (found := _as_written(value, kinds)) is not None
    ]  # fmt: skip


def _as_written(value: str, kinds: Sequence[Any]) -> Any:
    """A text as the value that is written so; None where there is none: "3.0" is no 3."""
    if kinds == (bool,):
        return {"True": True, "False": False}.get(value)
    for kind in kinds:
        try:
            found = kind(value)
        except ValueError:
            continue
        if text(found) == value:
            return found
    return None


def sensitive_table(table: Any, roles: Roles, features: Sequence[str]) -> Any:
    """A table in an engine with its sensitive features as groups, drawn where need be."""
    columns = (roles.weight, roles.key, roles.person, *columns_of(roles.probable))
    spark_names(nw.from_native(table), (*features, *columns))
    table = drawn_table(with_persons(table, roles.person), roles.probable, roles.key)
    return grouped_table(table, roles, features)


def _check_known(roles: Roles, features: Any) -> None:
    known = list(features)
    for what in ("bands", "spellings", "unknown"):
        for name in getattr(roles, what):
            if name not in (*known, EVERY):
                raise ValueError(
                    f"{what} are given for {name!r}, which is no sensitive feature"
                    + did_you_mean(name, known)
                )


def named_columns(sensitive_features: Any) -> dict[str, NDArray[Any]]:
    """Frame, series, mapping or array of sensitive features -> {name: one value a row}."""
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
    return {"sensitive": array[:, 0] if array.ndim == 2 else array}


# What a caller gives, taken apart: labels, S and weights out of the table, each by itself.

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
        drawn = None if self.drawn is None else self.drawn.take(rows)
        return replace(self, drawn=drawn, **{name: some(getattr(self, name)) for name in named})


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


def column_names(sensitive_features: Any) -> list[str]:
    """Names of columns of a table in an engine."""
    one = isinstance(sensitive_features, str)
    return [sensitive_features] if one else list(sensitive_features)
