"""Groups: the sensitive features at the door, parsed once, and everybody's place in them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Ints
from fairpatch._tools.hints import hint
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.inputs.roles import proposed
from fairpatch.inputs.sensitive import named_columns
from fairpatch.inputs.values import Value, factorize

Group = tuple[Value, ...]

MAX_GROUPS = 10_000
"""More than this is a continuous feature by mistake."""
MAX_NUMBERS = 50
"""Of a feature whose values are numbers: a group of one age is hardly ever meant."""
MAX_VALUES = 100
"""Values of one feature that can be learned from, at most."""


def check_values(feature: str, values: Sequence[Value]) -> None:
    """Refuse an amount as a sensitive feature: its groups would be single people."""
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(values) <= MAX_VALUES and (len(numbers) < len(values) or len(values) <= MAX_NUMBERS):
        return
    if len(numbers) < len(values):
        raise ValueError(f"sensitive feature {feature!r} has {len(values)} values; merge some")
    edges = proposed(numbers)
    how = hint(
        f"Roles(bands={{{feature!r}: {edges}}})",
        f"columns: {{bands: {{{feature}: {edges}}}}} in the file",
    )
    raise ValueError(
        f"sensitive feature {feature!r} has {len(values)} values, all of them numbers: cut it into "
        f"bands, for example {how}. If they are codes, convert them to text"
    )


@dataclass(frozen=True, eq=False)
class Groups:
    """Everybody's values of the sensitive features, as codes.

    Attributes
    ----------
    features : names of the sensitive features.
    values : of each feature, the values that occur, ordered as text.
    codes : (rows, features), positions among the values; -1 where one is missing.
    """

    features: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    codes: Ints

    @classmethod
    def of(cls, sensitive_features: Any) -> "Groups":
        """Parse a frame, series, mapping or array; what is parsed already stays as it is.

        >>> Groups.of({"sex": ["f", "m", None], "race": [2, 1, 2]}).codes.tolist()
        [[0, 1], [1, 0], [-1, 1]]
        """
        if isinstance(sensitive_features, Groups):
            return sensitive_features
        columns = named_columns(sensitive_features)
        sizes = {len(column) for column in columns.values()}
        if len(sizes) > 1:
            raise ValueError(f"the sensitive features differ in their rows: {sorted(sizes)}")
        ranked = [_ranked(*factorize(column)) for column in columns.values()]
        return cls(
            tuple(columns),
            tuple(values for values, _ in ranked),
            np.stack([code for _, code in ranked], 1).astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Of each feature, everybody's value."""
        return {
            name: np.array([*values, None], object)[code]
            for name, values, code in zip(self.features, self.values, self.codes.T, strict=True)
        }

    def take(self, rows: NDArray[np.intp]) -> "Groups":
        """Some of the rows; a value that none of them has is no value any more."""
        present = [
            _present(values, code)
            for values, code in zip(self.values, self.codes[rows].T, strict=True)
        ]
        return Groups(
            self.features,
            tuple(values for values, _ in present),
            np.stack([code for _, code in present], 1),
        )

    def enough(self, person: Ints | None = None) -> "Groups":
        """The same where a value of fewer than ten people is as good as missing.

        Nobody can say anything of them, so nothing may be learned or chosen for their sake; as long
        as two others are left to compare.
        """
        codes = self.codes.copy()
        for k, (values, code) in enumerate(zip(self.values, self.codes.T, strict=True)):
            whose = np.arange(len(code)) if person is None else person
            seen = np.unique(np.stack([code, whose]), axis=1)[0]
            heads = np.bincount(seen[seen >= 0], minlength=len(values))
            if np.sum(heads >= MIN_PEOPLE) >= min(2, len(values)):
                codes[np.isin(code, np.flatnonzero(heads < MIN_PEOPLE)), k] = -1
        if np.array_equal(codes, self.codes):
            return self
        return replace(self, codes=codes).take(np.arange(len(self)))

    def without(self, names: Mapping[str, Collection[str]]) -> "Groups":
        """The same with some groups as good as missing: they are not compared."""
        codes = self.codes.copy()
        for k, (feature, values) in enumerate(zip(self.features, self.values, strict=True)):
            gone = set(map(str, names.get(feature, ())))
            places = [i for i, value in enumerate(values) if str(value) in gone]
            codes[np.isin(codes[:, k], places), k] = -1
        return replace(self, codes=codes).take(np.arange(len(self))) if names else self

    def of_feature(self, feature: str) -> Ints:
        """The codes of one feature."""
        return np.asarray(self.codes[:, self.features.index(feature)])

    def comparable(self) -> "Groups":
        """The same, refused where a feature has too few or too many values to learn from."""
        for name, values in zip(self.features, self.values, strict=True):
            if len(values) < 2:
                raise ValueError(
                    f"sensitive feature {name!r} has {len(values)} known value, at least 2 are "
                    "needed to compare groups"
                )
            check_values(name, values)
        return self

    @cached_property
    def strata(self) -> NDArray[np.intp]:
        """One number for each combination of values, gaps included."""
        return numbered(*self.codes.T)

    @cached_property
    def joint(self) -> tuple[tuple[Group, ...], NDArray[np.intp]]:
        """The combinations of values that occur, in the order of counts, and everybody's place."""
        code: NDArray[np.intp] = np.zeros(len(self), np.intp)
        groups: list[Group] = [()]
        for values, column in zip(self.values, self.codes.T, strict=True):
            known = (*values, None)  # a code of -1 is the last
            both = code * len(known) + np.where(column < 0, len(values), column)
            combined, code = np.unique(both, return_inverse=True)
            groups = [(*groups[c // len(known)], known[c % len(known)]) for c in combined]
        order = ordered(set(groups))
        at = {group: i for i, group in enumerate(order)}
        return order, np.array([at[group] for group in groups], np.intp)[code]


def ordered(groups: set[Group]) -> tuple[Group, ...]:
    """Groups in an order that does not depend on the engine; missing values last."""
    if len(groups) > MAX_GROUPS:
        raise ValueError(
            f"the sensitive features have {len(groups):,} different values or combinations, at "
            f"most {MAX_GROUPS:,} can be compared. Cut a continuous feature such as age into "
            "bands first."
        )
    return tuple(sorted(groups, key=lambda g: [(v is None, type(v).__name__, v) for v in g]))


def _ranked(values: list[Value], code: NDArray[np.intp]) -> tuple[tuple[Value, ...], Ints]:
    """Values in the order of their text, gaps as -1."""
    order = sorted((i for i, v in enumerate(values) if v is not None), key=lambda i: str(values[i]))
    rank = np.full(len(values), -1)
    rank[order] = np.arange(len(order))
    return tuple(values[i] for i in order), np.asarray(rank[code], np.int64)


def _present(values: tuple[Value, ...], code: Ints) -> tuple[tuple[Value, ...], Ints]:
    """Only the values that occur, and the codes among them."""
    there = np.unique(code[code >= 0])
    rank = np.full(len(values) + 1, -1)  # the last place is for -1
    rank[there] = np.arange(len(there))
    return tuple(values[i] for i in there), np.asarray(rank[code], np.int64)


def numbered(*columns: Ints) -> NDArray[np.intp]:
    """One number for each combination of whole numbers from -1 on, in the order of the columns.

    >>> numbered(np.array([0, -1, 0]), np.array([1, 1, 0])).tolist()
    [2, 0, 1]
    """
    code: NDArray[np.intp] = np.zeros(len(columns[0]), np.intp)
    for column in columns:
        code = code * (int(column.max(initial=-1)) + 2) + column + 1
        if len(code) and code.max() < 4 * len(code):  # they are few: no sort
            code = (np.cumsum(np.bincount(code) > 0) - 1)[code]
        else:
            code = np.unique(code, return_inverse=True)[1]
    return code
