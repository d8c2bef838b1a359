"""The sensitive features as they are given, and the groups that they make.

    spellings={"sex": {"female": ["F", "Woman"]}}     one group, however it is written
    unknown=["Decline to state"]                      of no group: as a missing value
    bands={"age": [25, 40, 60]}      below 25, 25 to below 40, 40 to below 60, 60 and above

In this order. Inner edges leave nobody out. All of it is said in the roles, so that audit, fit,
certificate and monitor compare the same groups, in memory and in every engine.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._checks import spark_names
from fairpatch._fetch import frame_of
from fairpatch._hints import did_you_mean, hint
from fairpatch.inputs.bands import band_expr, band_values
from fairpatch.inputs.keys import with_persons
from fairpatch.inputs.notice import SEEN, special_codes
from fairpatch.inputs.probable import columns_of, drawn_table
from fairpatch.inputs.roles import EVERY, Roles
from fairpatch.inputs.values import Value, factorize, text


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
