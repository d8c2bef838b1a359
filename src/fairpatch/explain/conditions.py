"""Conditions on raw columns that a person can read, and the 0/1 and number features behind them."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairpatch._arrays import Bools, Floats
from fairpatch.floor import MIN_PEOPLE
from fairpatch.inputs.values import Value, factorize
from fairpatch.patch.columns import Columns


@dataclass(frozen=True)
class Condition:
    """One condition on one column."""

    column: str
    kind: Literal["at most", "above", "is", "is not"]
    value: Value

    def holds(self, X: Any) -> Bools:
        """Whether it holds, row by row; a missing number counts as the column's median."""
        held = Columns.of(X)
        column = next(c for c in held.described() if c.name == self.column)
        values = held.values(column)
        if self.kind in ("is", "is not"):
            categories, code = factorize(values)
            same = np.array([v == self.value for v in categories] or [False])[code]
            return np.asarray(same == (self.kind == "is"))
        filled = _filled(values)
        limit = float(self.value)  # type: ignore[arg-type]
        return np.asarray(filled <= limit if self.kind == "at most" else filled > limit)

    def __str__(self) -> str:
        if self.kind in ("is", "is not"):
            return f"{self.column} {self.kind} {_short(self.value)}"
        return f"{self.column} {'<=' if self.kind == 'at most' else '>'} {self.value:.6g}"


@dataclass(frozen=True, eq=False)
class ReadableFeatures:
    """Features of raw columns for a tree: a number as it is, a category's categories as 0 and 1."""

    names: list[tuple[str, Value]]
    """Column and category; the category of a number is None."""
    matrix: Floats

    @classmethod
    def of(cls, X: Any, columns: Collection[str] | None = None) -> "ReadableFeatures":
        """Of the named columns, or of all."""
        held = Columns.of(X)
        names: list[tuple[str, Value]] = []
        features = []
        for column in held.described():
            if columns is not None and column.name not in columns:
                continue
            values = held.values(column)
            if column.kind == "number":
                names.append((column.name, None))
                features.append(_filled(values))
                continue
            categories, code = factorize(values)
            size = Counter(code.tolist())
            for i, category in enumerate(categories):
                if size[i] >= MIN_PEOPLE and category is not None:
                    names.append((column.name, category))
                    features.append((code == i).astype(float))
        if not features:  # nothing to ask about: a tree is then one leaf, everybody
            return cls([("nothing", None)], np.zeros((held.rows, 1)))
        return cls(names, np.column_stack(features))

    def like(self, X: Any) -> Floats:
        """The same features of other rows."""
        held = Columns.of(X)
        columns = {c.name: c for c in held.described()}
        features = []
        for name, category in self.names:
            if name not in columns:
                features.append(np.zeros(held.rows))
                continue
            values = held.values(columns[name])
            if category is None:
                features.append(_filled(values))
            else:
                categories, code = factorize(values)
                features.append(np.array([float(v == category) for v in categories] or [0.0])[code])
        return np.column_stack(features)

    def condition(self, feature: int, cut: float, *, above: bool) -> Condition:
        """A tree's split in words."""
        column, category = self.names[feature]
        if category is not None:
            return Condition(column, "is" if above else "is not", category)
        values = self.matrix[:, feature]
        if (values == np.rint(values)).all():  # between whole numbers: say the lower one
            cut = np.floor(cut)
        return Condition(column, "above" if above else "at most", float(cut))


def _filled(values: Any) -> Floats:
    """Numbers with gaps filled by the median."""
    values = np.asarray(values, np.float64)
    gap = np.isnan(values)
    if gap.all():
        return np.zeros(len(values))
    return np.asarray(np.where(gap, np.median(values[~gap]), values))


def _short(value: Value) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else text[:59] + "…")
