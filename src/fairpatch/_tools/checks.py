"""Parameters at the door: each refusal names the parameter, what was expected, what came."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from fairpatch._tools.hints import did_you_mean

MANY = 30
"""People from whom on it is no chance that all of their log-odds look like probabilities."""
NUMBERS = (int, float, np.integer, np.floating)


def one_of(name: str, value: Any, allowed: Collection[str]) -> None:
    """One of some words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed)}; got {value!r}"
            + did_you_mean(value, allowed)
        )


def number(name: str, value: Any, low: float, high: float = float("inf")) -> None:
    """A finite number from low to high, both included."""
    ok = isinstance(value, NUMBERS) and not isinstance(value, bool)
    if not ok or not low <= value <= high or value == float("inf"):
        limits = f"at least {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"
        comma = "," if high == float("inf") else ""
        raise ValueError(f"{name} must be a number{comma} {limits}; got {value!r}")


def whole(name: str, value: Any, at_least: int) -> None:
    """A whole number."""
    ok = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not ok or value < at_least:
        raise ValueError(f"{name} must be a whole number, at least {at_least}; got {value!r}")


def names(name: str, value: Any) -> None:
    """A list of names: a string would be taken letter by letter."""
    if isinstance(value, str):
        raise ValueError(
            f"{name} must be a list of columns; got the string {value!r}. Write [{value!r}]"
        )
    if not isinstance(value, Collection) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"{name} must be a list of columns, each of them a name; got {value!r}")


def spark_names(frame: Any, read: Collection[str | None]) -> None:
    """Refuse names that Spark reads as syntax: there a column's name cannot be quoted for it."""
    awkward = [name for name in read if name is not None and ("." in name or "`" in name)]
    if awkward and frame.implementation.is_spark_like():
        raise ValueError(
            f"Spark takes the dots and backticks in a column's name for syntax, and {awkward[0]!r} "
            "has some: rename the column, or apply the patch by the SQL that fairpatch writes, "
            "which quotes it"
        )


def a(name: str, value: Any, kind: type, example: str, *, needed: bool = False) -> None:
    """An object of some class; or nothing, where none is needed."""
    if not isinstance(value, kind) and (needed or value is not None):
        got = repr(value) if len(repr(value)) < 60 else type(value).__name__
        raise TypeError(f"{name} must be a {kind.__name__}, as {example}; got {got}")


def a_patch(value: Any) -> None:
    """A patch; of what has one, that is said."""
    if not hasattr(value, "concepts"):
        own = next((n for n in ("patch_", "patch") if hasattr(value, n)), None)
        instead = f": give its {own}" if own else ""
        raise TypeError(f"expected a Patch; got {type(value).__name__}{instead}")


def a_table(name: str, value: Any) -> Any:
    """A frame, or a table of an engine; given back."""
    if value is None or isinstance(value, str | bytes | int | float | Mapping | list | tuple):
        raise TypeError(
            f"{name} must be a frame (pandas, polars, pyarrow) or a table of an engine; got "
            f"{type(value).__name__}"
        )
    return value


def log_odds(name: str, values: Any) -> None:
    """Refuse what looks like probabilities: in the place of log-odds they would approve all."""
    if len(values) < MANY:
        return
    low, high = np.min(values), np.max(values)
    if 0 <= low < high - 0.5 and high <= 1:
        raise ValueError(
            f"{name} lies between 0 and 1 for all {len(values):,} people, as probabilities do: "
            "log-odds are needed. A patch with its model takes scores as they are: "
            "PatchedModel(BaseModel('score'), patch).decide(X)"
        )


def weights(name: str, values: Any) -> Any:
    """Finite numbers, none below 0 and not all 0."""
    try:
        array = np.asarray(values, np.float64)
    except ValueError as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise ValueError(f"{name} must be finite numbers, at least 0 and not all zero")
    return array


def same_people(**given: Any) -> None:
    """Pandas objects beside each other have the same index: else a person gets another's values."""
    each: list[tuple[str, Any]] = []
    for name, value in given.items():
        parts = list(value.values()) if isinstance(value, Mapping) else [value]
        each += [(name, part.index) for part in parts if _has_index(part)]
    for two, second in each[1:]:
        one, first = each[0]
        if len(first) == len(second) and not first.equals(second):
            raise ValueError(
                f"the rows of {one} and {two} have different indexes, so that people could get "
                f"each other's values: align them, {two} = {two}.loc[{one}.index]; or, where their "
                "order is the same, drop both indexes with .reset_index(drop=True)"
            )


def _has_index(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "index")
