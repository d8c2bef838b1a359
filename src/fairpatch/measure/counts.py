"""n[group, y, decision_f, decision_g]: the one table that every metric is computed from.

An array in memory fills it, and so does one GROUP BY in an engine over 10^10 rows; counts of parts
add up to the counts of the whole (METHOD section 5).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.measure.groups import Group, Groups, ordered
from fairpatch.measure.values import Value, factorize, plain

Cells = Floats

UNKNOWN = 2
"""Index of a missing label on the y axis: 0, 1, unknown."""

MOST_BITS = 60
"""Decisions that one whole number holds."""
_OWN = "__fairpatch_"  # prefix of the columns we add to a table


@dataclass(frozen=True, eq=False)
class Counts:
    """How many people of each group and label were decided how, by f and by g.

    Groups are the cells of all sensitive features together; ``by`` sums them up to one feature or
    to the intersection of some. A group value of ``None`` means that the feature is missing.

    Attributes
    ----------
    features : names of the sensitive features.
    groups : one tuple of values a group, in the order of the first axis.
    n : rows, of shape (groups, 3, 2, 2): label 0, 1 or unknown, decision of f, decision of g.
    weight : sum of the sample weights, same shape (equal to ``n`` without weights).
    weight_sq : sum of their squares, which gives the effective number of rows.

    Examples
    --------
    >>> counts = Counts.from_arrays(
    ...     decision=[1, 1, 0, 0], new_decision=[1, 1, 1, 0], y=[1, 0, 1, 0],
    ...     sensitive_features={"sex": ["m", "m", "f", "f"]})
    >>> counts.groups
    (('f',), ('m',))
    >>> counts.n[0, 1]  # women with y = 1: f denies, g approves
    array([[0, 1],
           [0, 0]])
    >>> counts + counts == Counts.from_arrays(
    ...     decision=[1, 1, 0, 0] * 2, new_decision=[1, 1, 1, 0] * 2, y=[1, 0, 1, 0] * 2,
    ...     sensitive_features={"sex": ["m", "m", "f", "f"] * 2})
    True
    """

    features: tuple[str, ...]
    groups: tuple[Group, ...]
    n: Ints
    weight: Cells
    weight_sq: Cells

    @classmethod
    def from_arrays(
        cls,
        *,
        decision: Any,
        sensitive_features: Any,
        y: Any = None,
        new_decision: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Count rows held in memory.

        Decisions and labels are 0 / 1 or booleans; a label may be missing. Without ``new_decision``
        g is f, the patch that changes nothing.
        """
        f = _decisions(decision, "decision")
        g = f if new_decision is None else _decisions(new_decision, "new_decision")
        labels = np.full(len(f), UNKNOWN) if y is None else _labels(y)
        weight = np.ones(len(f)) if sample_weight is None else _weights(sample_weight)
        parsed = Groups.of(sensitive_features)
        for name, column in [
            ("new_decision", g),
            ("y", labels),
            ("sample_weight", weight),
            ("sensitive_features", parsed),
        ]:
            if len(column) != len(f):
                raise ValueError(f"{name} has {len(column)} rows, decision has {len(f)}")
        groups, code = parsed.joint
        shape = (len(groups), 3, 2, 2)
        cell = np.ravel_multi_index((code, labels, f, g), shape)

        def total(values: Any) -> Any:
            return np.bincount(cell, values, minlength=int(np.prod(shape))).reshape(shape)

        n = total(None).astype(np.int64)
        if sample_weight is None:
            return cls(parsed.features, groups, n, n.astype(float), n.astype(float))
        return cls(parsed.features, groups, n, total(weight), total(weight**2))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        decision: str | nw.Expr,
        sensitive_features: str | Sequence[str],
        y: str | nw.Expr | None = None,
        new_decision: str | nw.Expr | None = None,
        sample_weight: str | None = None,
    ) -> Self:
        """Count a table where it lies, by one GROUP BY: only the counts leave the engine.

        ``frame`` is anything narwhals reads: pandas, polars, pyarrow, a DuckDB relation, a PySpark
        or Ibis table. Decisions are columns (0 / 1 or boolean) or narwhals expressions.
        """
        features = tuple(
            [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
        )
        keys = {"f": decision, "g": new_decision, "y": y}
        given = {k: v for k, v in keys.items() if v is not None}
        return cls._from_rows(features, _group_by(frame, features, given, sample_weight))

    @classmethod
    def from_frame_each(
        cls,
        frame: Any,
        *,
        decision: str | nw.Expr,
        new_decisions: Sequence[nw.Expr],
        sensitive_features: Sequence[str],
        y: str | nw.Expr | None = None,
        sample_weight: str | None = None,
        label_of: Callable[[Value], int | None] | None = None,
    ) -> list[Self]:
        """The same for several g at once: one GROUP BY of all their decisions, one scan.

        ``label_of`` makes 0, 1 or None of a label as it stands in the table: the engine then groups
        by the labels themselves, and need not be asked for them first.
        """
        features = tuple(sensitive_features)
        if len(new_decisions) > MOST_BITS:
            parts = new_decisions[:MOST_BITS], new_decisions[MOST_BITS:]
            own: dict[str, Any] = {
                "decision": decision, "sensitive_features": sensitive_features, "y": y,
                "sample_weight": sample_weight, "label_of": label_of,
            }  # fmt: skip
            return [c for p in parts for c in cls.from_frame_each(frame, new_decisions=p, **own)]
        # all decisions as the bits of one key: an engine groups by it faster than by each
        bits = [_expr(g).cast(nw.Int64) * 2**i for i, g in enumerate(new_decisions)]
        key = reduce(lambda a, b: a + b, bits)
        given = {"f": decision, "g": key, **({} if y is None else {"y": y})}
        rows = list(_group_by(frame, features, given, sample_weight))
        if label_of is not None and y is not None:
            rows = [{**row, f"{_OWN}y": label_of(plain(row[f"{_OWN}y"]))} for row in rows]
        return [
            cls._from_rows(
                features, ({**row, f"{_OWN}g": _bit(row[f"{_OWN}g"], i)} for row in rows)
            )
            for i in range(len(bits))
        ]

    @classmethod
    def _from_rows(cls, features: tuple[str, ...], rows: Any) -> Self:
        """Put the rows of the GROUP BY into the table."""
        cells = [{name: plain(value) for name, value in row.items()} for row in rows]
        in_group = [tuple(cell[name] for name in features) for cell in cells]
        groups = ordered(set(in_group))
        at = {group: i for i, group in enumerate(groups)}
        shape = (len(groups), 3, 2, 2)
        n, w, ww = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape)
        nobody = sum(int(cell[f"{_OWN}n"] or 0) for cell in cells if cell[f"{_OWN}f"] is None)
        for group, cell in zip(in_group, cells, strict=True):
            rows_here = cell[f"{_OWN}n"]
            f, y = cell[f"{_OWN}f"], cell.get(f"{_OWN}y")
            g = cell.get(f"{_OWN}g", f)
            for name, value in (("decision", f), ("new_decision", g)):
                if value not in (0, 1):
                    raise ValueError(
                        f"{name} must be 0 or 1 in every row, but {nobody or rows_here} rows have "
                        f"{value!r}. A missing score has no decision, nor has one that is no "
                        "probability: drop or mend those rows first."
                    )
            if y not in (0, 1, None):
                raise ValueError(_label_error(y))
            index = (at[group], UNKNOWN if y is None else int(y), int(f or 0), int(g or 0))
            n[index] += rows_here
            w[index] += cell.get(f"{_OWN}w", rows_here)
            ww[index] += cell.get(f"{_OWN}ww", rows_here)
        return cls(features, groups, n, w, ww)

    def __add__(self, other: Self) -> Self:
        """Counts of two parts together."""
        if self.features != other.features:
            raise ValueError(
                f"these counts are of different sensitive features: {self.features} "
                f"and {other.features}"
            )
        groups = ordered({*self.groups, *other.groups})
        at = {group: i for i, group in enumerate(groups)}
        parts = []
        for mine, theirs in zip(self._tables, other._tables, strict=True):
            both = np.zeros((len(groups), 3, 2, 2), mine.dtype)
            both[[at[g] for g in self.groups]] += mine
            both[[at[g] for g in other.groups]] += theirs
            parts.append(both)
        return type(self)(self.features, groups, *parts)

    def by(self, *features: str) -> Self:
        """The same people, counted by these sensitive features only."""
        for name in features:
            if name not in self.features:
                raise KeyError(f"no sensitive feature {name!r}, there are {list(self.features)}")
        pick = [self.features.index(name) for name in features]
        old = [tuple(group[i] for i in pick) for group in self.groups]
        groups = ordered(set(old))
        at = {group: i for i, group in enumerate(groups)}
        code = [at[group] for group in old]
        parts = []
        for table in self._tables:
            summed = np.zeros((len(groups), 3, 2, 2), table.dtype)
            np.add.at(summed, code, table)
            parts.append(summed)
        return type(self)(features, groups, *parts)

    def where(self, keep: Sequence[bool] | Bools) -> Self:
        """Only the groups that are marked."""
        keep = np.asarray(keep, bool)
        groups = tuple(g for g, k in zip(self.groups, keep, strict=True) if k)
        return type(self)(self.features, groups, *(table[keep] for table in self._tables))

    def among(self, cells: Bools) -> Self:
        """Only the people in some cells (y, decision of f, decision of g) of every group."""
        return type(self)(self.features, self.groups, *(table * cells for table in self._tables))

    def known(self) -> Self:
        """Only the groups in which no sensitive feature is missing."""
        return self.where([None not in group for group in self.groups])

    def flip(self) -> Self:
        """Count outcome 0 instead of 1: labels and decisions change places."""
        parts = [table[:, [1, 0, 2]][:, :, ::-1, ::-1] for table in self._tables]
        return type(self)(self.features, self.groups, *parts)

    @property
    def group_names(self) -> tuple[str, ...]:
        """A readable name a group, each different from the others."""
        names = tuple(
            " & ".join("(missing)" if value is None else str(value) for value in group)
            for group in self.groups
        )
        return names if len(set(names)) == len(names) else tuple(map(repr, self.groups))

    @property
    def sizes(self) -> Ints:
        """Rows of each group."""
        return np.asarray(self.n.sum((1, 2, 3)))

    def large(self, people: int) -> Self:
        """Only the groups of at least so many people."""
        return self.where(self.sizes >= people)

    @cached_property
    def total(self) -> int:
        """All rows."""
        return int(self.n.sum())

    @property
    def _tables(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.n, self.weight, self.weight_sq

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.features == other.features
            and self.groups == other.groups
            and all(np.array_equal(a, b) for a, b in zip(self._tables, other._tables, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Counts({self.total:,} rows, {len(self.groups)} groups of {list(self.features)})"


def _group_by(
    frame: Any,
    features: tuple[str, ...],
    keys: dict[str, str | nw.Expr],
    sample_weight: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Rows of the GROUP BY, under names of our own."""
    exprs = {f"{_OWN}{k}": _expr(v) for k, v in keys.items()}
    sums = [nw.len().alias(f"{_OWN}n")]
    table = nw.from_native(frame).lazy().with_columns(**exprs)
    if sample_weight is not None:
        w = nw.col(sample_weight).cast(nw.Float64)
        table = table.with_columns(**{f"{_OWN}w": w, f"{_OWN}ww": w * w})
        sums += [nw.col(f"{_OWN}w").sum(), nw.col(f"{_OWN}ww").sum()]
    rows = table.group_by(*features, *exprs).agg(*sums).collect()
    return iter(rows.iter_rows(named=True))


def _bit(key: Any, i: int) -> int | None:
    return None if key is None else int(key) >> i & 1


def _expr(column: str | nw.Expr) -> nw.Expr:
    return nw.col(column) if isinstance(column, str) else column


def _decisions(values: Any, name: str) -> NDArray[np.int8]:
    array = np.asarray(values)
    if not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must be 0 or 1 (or boolean) in every row")
    return array.astype(np.int8)


def _labels(y: Any) -> NDArray[np.int8]:
    values, code = factorize(np.asarray(y))
    for value in values:
        if value not in (0, 1, None):
            raise ValueError(_label_error(value))
    return np.array([UNKNOWN if v is None else int(v) for v in values], np.int8)[code]


def _label_error(value: Value) -> str:
    return (
        f"y must be 0, 1 or missing, got {value!r}. "
        "Say which label is the positive one, for instance y = (labels == 'yes')."
    )


def _weights(sample_weight: Any) -> Cells:
    weight = np.asarray(sample_weight, float)
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight must be a finite number, at least 0, in every row")
    return weight
