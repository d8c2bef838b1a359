"""The one table that every metric is computed from: how many people are where.

    n[group, stratum, label, before, after]

An array in memory fills it, and so does one GROUP BY in an engine over 10^10 rows; counts of parts
add up to the counts of the whole (METHOD section 5). Axes are named: ``along`` sums over those that
are not asked for, ``in_cells`` counts a set of cells in each group. Nothing else knows the shape.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, Literal, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch.inputs.roles import Outcomes
from fairpatch.inputs.values import PARTS, Value, plain
from fairpatch.measure.cells import CELLS
from fairpatch.measure.counting import (
    NO_STRATA,
    OWN,
    as_expr,
    bit,
    count_arrays,
    group_by,
    heads_of,
    tables_of,
)
from fairpatch.measure.groups import Group, ordered
from fairpatch.measure.labels import KnownLabels

Axis = Literal["group", "stratum", "label", "before", "after"]
AXES: tuple[Axis, ...] = ("group", "stratum", "label", "before", "after")
Sums = Literal["n", "weight", "weight_sq", "parts"]
MOST_BITS = 60
"""Decisions that one whole number holds."""
GIVEN, LABEL, BEFORE = f"{OWN}g", f"{OWN}y", f"{OWN}f"
TABLES = ("n", "weight", "weight_sq", "parts")  # fields that are a table by all axes


@dataclass(frozen=True, eq=False)
class Counts:
    """How many people of each group and label were decided how, by f and by g.

    Groups are the combinations of all sensitive features together; ``by`` sums them up to one
    feature or to the intersection of some. A value of ``None`` means that the feature is missing.
    Strata, where there are any, are an axis of their own: people who are compared with each other.

    Attributes
    ----------
    features : tuple of str
        Names of the sensitive features.
    groups : tuple of tuples
        One tuple of values for each group, in the order of its axis.
    n : array
        Rows, by ``AXES``; whole numbers, unless people belong to groups in part.
    weight, weight_sq : arrays
        Sums of the sample weights, same shape (equal to ``n`` without weights), and of their
        squares, which give the effective number of rows.
    strata_features, strata : tuple of str, and tuple of tuples
        The columns that make the strata, and one tuple of values each, in the order of its axis.
    parts : array, optional
        Where people have several rows: the weights of random parts of all people, along one axis
        more. What differs between the parts by chance is how sure a rate is.
    persons, in_all : array and int, optional
        How many people each group has, where they have several rows; and all groups together, as
        somebody's rows may be in several.
    outcomes : {"everybody", "approved", "sample"}
        Whose labels are known. Unless said, "approved" where they are missing by decision: then
        nothing that rests on the labels of both decisions is a rate of everybody.

    Examples
    --------
    >>> counts = Counts.from_arrays(
    ...     decision=[1, 1, 0, 0], new_decision=[1, 1, 1, 0], y=[1, 0, 1, 0],
    ...     sensitive_features={"sex": ["m", "m", "f", "f"]})
    >>> counts.groups
    (('f',), ('m',))
    >>> counts.along("group", "before")  # women and men: declined, approved by f
    array([[2, 0],
           [0, 2]])
    >>> from fairpatch.measure.cells import cells
    >>> counts.in_cells(cells(before=0, after=1))  # newly approved
    array([1, 0])
    >>> counts + counts == Counts.from_arrays(
    ...     decision=[1, 1, 0, 0] * 2, new_decision=[1, 1, 1, 0] * 2, y=[1, 0, 1, 0] * 2,
    ...     sensitive_features={"sex": ["m", "m", "f", "f"] * 2})
    True
    """

    features: tuple[str, ...]
    groups: tuple[Group, ...]
    n: NDArray[Any]
    weight: Floats
    weight_sq: Floats
    strata_features: tuple[str, ...] = ()
    strata: tuple[Group, ...] = NO_STRATA
    outcomes: Outcomes | None = None
    parts: Floats | None = None
    persons: Ints | None = None
    in_all: int | None = None

    def __post_init__(self) -> None:
        if self.outcomes in (None, "everybody"):
            outcomes = "approved" if self.labels.by_decision else "everybody"
            object.__setattr__(self, "outcomes", outcomes)

    @property
    def labels(self) -> KnownLabels:
        """Of how many of the approved and of the denied a label is known."""
        return KnownLabels.of(self.along("label", "before"))

    @classmethod
    def from_arrays(
        cls,
        *,
        decision: Any,
        sensitive_features: Any,
        y: Any = None,
        new_decision: Any = None,
        sample_weight: Any = None,
        strata: Any = None,
        membership: Any = None,
        outcomes: Outcomes | None = None,
        person: Any = None,
    ) -> Self:
        """Count rows held in memory.

        Parameters
        ----------
        decision : array
            Decisions of f, 0 / 1 or booleans.
        sensitive_features : frame, series, dict or array
            One value a row and feature; gaps are fine.
        y : array, optional
            Labels, 0 / 1 or booleans; may have gaps.
        new_decision : array, optional
            Decisions of g; without them g is f, the patch that changes nothing.
        sample_weight : array, optional
            What each row weighs.
        strata : frame, series, dict or array, optional
            Whom to compare with each other, as the sensitive features are given.
        membership : array, optional
            How much of a person each row is, 0 to 1, where one is a row for each group that they
            may belong to.
        outcomes : {"everybody", "approved", "sample"}, optional
            Whose labels are known, where that is said.
        person : array, optional
            Whose row it is, where people have several.

        Returns
        -------
        Counts
        """
        tables = count_arrays(
            decision, new_decision, y, sensitive_features, strata, sample_weight, membership, person
        )
        return cls(**tables, outcomes=outcomes)

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
        strata: Sequence[str] = (),
        membership: str | None = None,
        outcomes: Outcomes | None = None,
        person: str | None = None,
    ) -> Self:
        """Count a table where it lies, by one GROUP BY: only the counts leave the engine.

        Parameters
        ----------
        frame : frame or table
            Anything narwhals reads: pandas, polars, pyarrow, a DuckDB relation, a PySpark or Ibis
            table.
        decision : str or expression
            Decisions of f, a column (0 / 1 or boolean) or a narwhals expression.
        sensitive_features : str or sequence of str
            Names of columns.
        y : str or expression, optional
            Labels, 0, 1 or missing.
        new_decision : str or expression, optional
            Decisions of g.
        sample_weight : str, optional
            Column of what each row weighs.
        strata : sequence of str
            Columns that say who is compared with whom.
        membership : str, optional
            Column of how much of a person each row is.
        outcomes : {"everybody", "approved", "sample"}, optional
            Whose labels are known, where that is said.
        person : str, optional
            Column of whole numbers that says whose row it is, where people have several.

        Returns
        -------
        Counts
        """
        features = tuple(
            [sensitive_features] if isinstance(sensitive_features, str) else sensitive_features
        )
        keys = {"f": decision, "g": new_decision, "y": y}
        given = {k: v for k, v in keys.items() if v is not None}
        rows = group_by(frame, (*features, *strata), given, sample_weight, membership, person)
        tables = tables_of(features, rows, tuple(strata))
        return cls(**tables, **heads_of(frame, features, person, tables), outcomes=outcomes)

    @classmethod
    def from_frame_each(
        cls, frame: Any, *, new_decisions: Sequence[nw.Expr], **given: Any
    ) -> list[Self]:
        """The same for several g at once: one GROUP BY of all their decisions, one scan."""
        if len(new_decisions) > MOST_BITS:
            parts = new_decisions[:MOST_BITS], new_decisions[MOST_BITS:]
            return [c for p in parts for c in cls.from_frame_each(frame, new_decisions=p, **given)]
        # all decisions as the bits of one key: an engine groups by it faster than by each
        bits = [as_expr(g).cast(nw.Int64) * 2**i for i, g in enumerate(new_decisions)]
        key = reduce(lambda a, b: a + b, bits)
        readings = [partial(bit, i) for i in range(len(bits))]
        return cls.from_frame_by_key(frame, key=key, readings=readings, **given)

    @classmethod
    def from_frame_by_key(
        cls,
        frame: Any,
        *,
        decision: str | nw.Expr,
        key: nw.Expr,
        readings: Sequence[Callable[[Value, Value], Value]],
        sensitive_features: Sequence[str],
        y: str | nw.Expr | None = None,
        sample_weight: str | None = None,
        label_of: Callable[[Value], int | None] | None = None,
        strata: Sequence[str] = (),
        outcomes: Outcomes | None = None,
        person: str | None = None,
    ) -> list[Self]:
        """The same where f's decision and a key tell every g's decision, by a reading of each.

        ``label_of`` makes 0, 1 or None of a label as it stands in the table: the engine then groups
        by the labels themselves, and need not be asked for them first.
        """
        features = tuple(sensitive_features)
        given = {"f": decision, "g": key, **({} if y is None else {"y": y})}
        rows = list(group_by(frame, (*features, *strata), given, sample_weight, person=person))
        if label_of is not None and y is not None:
            rows = [{**row, LABEL: label_of(plain(row[LABEL]))} for row in rows]
        decided = ([{**r, GIVEN: g(r[BEFORE], r[GIVEN])} for r in rows] for g in readings)
        tables = [tables_of(features, own, tuple(strata)) for own in decided]
        heads = heads_of(frame, features, person, tables[0]) if tables else {}
        return [cls(**own, **heads, outcomes=outcomes) for own in tables]

    def along(self, *axes: Axis, of: Sums = "n") -> NDArray[Any]:
        """The table summed over all axes but these, in this order.

        ``of`` says what is summed: "n", "weight", "weight_sq" or "parts", whose own axis is last.
        """
        rest = tuple(i for i, axis in enumerate(AXES) if axis not in axes)
        summed = getattr(self, of).sum(rest)
        kept = [axis for axis in AXES if axis in axes]
        order = [kept.index(axis) for axis in axes] + [len(kept)] * (of == "parts")
        return np.asarray(np.transpose(summed, order))

    def in_cells(self, mask: Bools, *, of: Sums = "n") -> NDArray[Any]:
        """How many people of each group are in some cells (see ``cells``)."""
        return np.asarray((_masked(getattr(self, of), mask)).sum((1, 2, 3, 4)))

    @property
    def people(self) -> int:
        """How many people there are: rows, unless a person may have several."""
        heads = self.total if self.persons is None else int(self.persons.sum())
        return heads if self.in_all is None else self.in_all

    @property
    def heads(self) -> Ints:
        """How many people each group has."""
        return self.sizes if self.persons is None else self.persons

    def heads_by(self, mask: Bools) -> Ints:
        """How many people of each group have a row in some cells, or at least so many."""
        if self.parts is None:
            return self.in_cells(mask)
        return np.asarray((self.in_cells(mask, of="parts") > 0).sum(1))

    @cached_property
    def weighted(self) -> bool:
        """Whether rows weigh differently."""
        return not np.array_equal(self.weight, self.n)

    def __add__(self, other: Self) -> Self:
        """Counts of two parts together."""
        if (self.features, self.strata_features) != (other.features, other.strata_features):
            raise ValueError(
                f"these counts are of different sensitive features: {self.features} "
                f"and {other.features}"
            )
        groups = ordered({*self.groups, *other.groups})
        strata = ordered({*self.strata, *other.strata})
        both = [part._placed(groups, strata) for part in (self, other)]
        tables = {name: both[0][name] + both[1][name] for name in both[0] if name in both[1]}
        outcomes = self.outcomes if other.outcomes == "everybody" else other.outcomes
        whole = {"parts": None, "persons": None, "in_all": None, **tables}
        return replace(self, **whole, groups=groups, strata=strata, outcomes=outcomes)

    def _placed(self, groups: tuple[Group, ...], strata: tuple[Group, ...]) -> dict[str, Any]:
        """The tables with these groups and strata, of which there may be more."""
        rows = [groups.index(g) for g in self.groups]
        columns = [strata.index(z) for z in self.strata]
        placed: dict[str, Any] = {}
        for name, table in self._tables.items():
            wider = np.zeros((len(groups), len(strata), *table.shape[2:]), table.dtype)
            wider[np.ix_(rows, columns)] = table
            placed[name] = wider
        if self.persons is not None:
            placed["persons"] = np.zeros(len(groups), np.int64)
            placed["persons"][rows] = self.persons
        return placed

    def by(self, *features: str) -> Self:
        """The same people, counted by these sensitive features only."""
        for name in features:
            if name not in self.features:
                raise KeyError(f"no sensitive feature {name!r}, there are {list(self.features)}")
        pick = [self.features.index(name) for name in features]
        return self._merged(features, [tuple(g[i] for i in pick) for g in self.groups])

    def without(self, names: Mapping[str, Collection[str]]) -> Self:
        """The same people, with those of some groups as if their feature were missing."""
        gone = {(name, str(group)) for name, groups in names.items() for group in groups}
        named = [
            tuple(None if (f, str(v)) in gone else v for f, v in zip(self.features, g, strict=True))
            for g in self.groups
        ]
        return self if named == list(self.groups) else self._merged(self.features, named)

    def _merged(self, features: tuple[str, ...], old: Sequence[Group]) -> Self:
        """Groups by other names; those of one name together."""
        groups = ordered(set(old))
        at = {group: i for i, group in enumerate(groups)}
        code = [at[group] for group in old]
        tables: dict[str, Any] = {}
        for name, table in self._by_group.items():
            summed = np.zeros((len(groups), *table.shape[1:]), table.dtype)
            np.add.at(summed, code, table)
            tables[name] = summed
        return replace(self, features=features, groups=groups, **tables)

    def where(self, keep: Sequence[bool] | Bools) -> Self:
        """Only the groups that are marked."""
        keep = np.asarray(keep, bool)
        groups = tuple(g for g, k in zip(self.groups, keep, strict=True) if k)
        tables = {n: t[keep] for n, t in self._by_group.items()}
        return replace(self, groups=groups, in_all=None, **tables)

    def in_stratum(self, stratum: Group) -> Self:
        """Only the people of one stratum."""
        k = self.strata.index(stratum)
        tables: dict[str, Any] = {n: table[:, [k]] for n, table in self._tables.items()}
        return replace(self, strata=(stratum,), persons=None, in_all=None, **tables)

    def pooled(self) -> Self:
        """All strata together."""
        tables: dict[str, Any] = {
            name: table.sum(1, keepdims=True) for name, table in self._tables.items()
        }
        return replace(self, strata_features=(), strata=NO_STRATA, **tables)

    def among(self, mask: Bools) -> Self:
        """Only the people in some cells of every group."""
        tables: dict[str, Any] = {
            name: _masked(table, mask) for name, table in self._tables.items()
        }
        return replace(self, persons=None, in_all=None, **tables)

    def known(self) -> Self:
        """Only the groups in which no sensitive feature is missing."""
        return self.where([None not in group for group in self.groups])

    def flip(self) -> Self:
        """Count outcome 0 instead of 1: labels and decisions change places."""
        tables = {n: t[:, :, [1, 0, 2]][:, :, :, ::-1, ::-1] for n, t in self._tables.items()}
        return replace(self, **tables)

    def renamed(self, groups: Sequence[Group]) -> Self:
        """The same groups by other names, in the order of those."""
        order = sorted(range(len(groups)), key=lambda i: [(v is None, str(v)) for v in groups[i]])
        named = tuple(groups[i] for i in order)
        return replace(self, groups=named, **{n: t[order] for n, t in self._by_group.items()})

    def to_dict(self) -> dict[str, Any]:
        """As plain data: one flat list of numbers for each group."""
        tables = {"n": self.n}
        if self.weighted:
            tables |= {"weight": self.weight, "weight_sq": self.weight_sq}
        several: dict[str, Any] = {}
        if self.parts is not None and self.persons is not None:
            spots, values = np.nonzero(self.parts), self.parts[self.parts != 0]
            several = {
                "persons": tuple(self.persons.tolist()),
                "parts": tuple(zip(*(s.tolist() for s in spots), values.tolist(), strict=True)),
            }
        return {
            "features": self.features,
            "groups": self.groups,
            "strata_features": self.strata_features,
            "strata": self.strata,
            **{
                name: tuple(tuple(row.ravel().tolist()) for row in table)
                for name, table in tables.items()
            },
            **several,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Counts again of what ``to_dict`` gave."""
        groups, strata = (
            tuple(map(tuple, data.get(name) or default))
            for name, default in (("groups", ()), ("strata", NO_STRATA))
        )
        shape = (len(groups), len(strata), *CELLS)
        n = np.array(data["n"]).reshape(shape)
        weight, squares = (
            n.astype(float) if data.get(name) is None else np.array(data[name], float)
            for name in ("weight", "weight_sq")
        )
        weight, squares = weight.reshape(shape), squares.reshape(shape)
        by = tuple(data.get("strata_features") or ())
        several: dict[str, Any] = {}
        if data.get("parts"):
            parts = np.zeros((*shape, PARTS))
            *spots, values = np.array(data["parts"], float).T
            parts[tuple(spot.astype(int) for spot in spots)] = values
            several = {"parts": parts, "persons": np.array(data["persons"], np.int64)}
        return cls(tuple(data["features"]), groups, n, weight, squares, by, strata, **several)

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
        return self.along("group")

    def large(self, people: int) -> Self:
        """Only the groups of at least so many people."""
        return self.where(self.heads >= people)

    @cached_property
    def total(self) -> int:
        """All rows."""
        return int(self.n.sum())

    @property
    def _tables(self) -> dict[str, Any]:
        """The tables by all axes that there are."""
        named = {name: getattr(self, name) for name in TABLES}
        return {name: table for name, table in named.items() if table is not None}

    @property
    def _by_group(self) -> dict[str, Any]:
        """The same, and what is by group alone."""
        return self._tables | ({} if self.persons is None else {"persons": self.persons})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.features == other.features
            and self.groups == other.groups
            and self.strata == other.strata
            and self._tables.keys() == other._tables.keys()
            and all(np.array_equal(t, other._tables[n]) for n, t in self._tables.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Counts({self.total:,} rows, {len(self.groups)} groups of {list(self.features)})"


def _masked(table: NDArray[Any], mask: Bools) -> NDArray[Any]:
    """A table, nothing but some of its cells; parts have an axis of their own after those."""
    return table * mask.reshape(mask.shape + (1,) * (table.ndim - 2 - mask.ndim))
