"""Who is compared with whom: everybody with everybody, in strata, or with one group of reference.

    each            in every stratum: the groups of a stratum that have enough people there
    standardised    rate_g = sum_z P(z) P(decision | g, z): every group as if it had everybody's mix
    reference       each group with the one of reference, and no other pair; a group that the base
                    model clearly approves more often than it is limited by nothing

Standardised rates have weights P(z) / P(z | g): linear in the decisions, so that dial, program,
bound and certificate carry them. Their variance is that within strata, and that of the mix itself:

    sum_z P(z)^2 p_gz (1 - p_gz) / n_gz  +  sum_z P(z) (p_gz - p_g)^2 / n
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.hints import did_you_mean
from fairpatch.inputs.values import Value
from fairpatch.measure.counts import TABLES, Counts
from fairpatch.measure.groups import Group, Groups
from fairpatch.measure.rates import selection_rate

How = Literal["each", "standardised"]
HOWS: tuple[How, ...] = ("each", "standardised")
ENOUGH = 30
"""People of a group in a stratum, at least: with fewer its rate is mostly chance."""
MOST = 500
"""Strata, at most."""
CLEARLY = 1.645
"""Standard errors that a group's rate must be above the reference's, to be left alone."""


@dataclass(frozen=True)
class Comparisons:
    """Columns within whose values groups are compared, and how; and groups of reference."""

    columns: tuple[str, ...] = ()
    how: How = "each"
    reference: tuple[tuple[str | None, Value], ...] = ()
    """Of features by name, or of whichever feature has the value."""

    @classmethod
    def of(cls, columns: Any, how: Any = "each", reference: Any = None) -> "Comparisons":
        """What a target asks for.

        >>> str(Comparisons.of("product")), str(Comparisons.of(["a", "b"], "standardised"))
        ('within every product', 'standardised over a and b')
        >>> str(Comparisons.of(None, reference={"race": "White"}))
        'each group against White'
        """
        columns = [columns] if isinstance(columns, str) else columns
        if columns is not None:
            check.names("within", columns)
            if not columns:
                raise ValueError("within must name at least one column")
        check.one_of("strata", how, HOWS)
        named = reference if isinstance(reference, Mapping) else {None: reference}
        kept = tuple((f, value) for f, value in named.items() if value is not None)
        return cls(tuple(columns or ()), how, kept)

    def __str__(self) -> str:
        named = " and ".join(self.columns)
        how = f"within every {named}" if self.how == "each" else f"standardised over {named}"
        against = " and ".join(str(value) for _, value in self.reference)
        pairs = f"each group against {against}" if against else ""
        return ", ".join([*([pairs] if pairs else []), *([how] if named else [])])

    def check(self, names: Sequence[str], groups: Groups) -> None:
        """Refuse strata that are not there, or are the groups themselves; and no such reference."""
        for name in self.columns:
            if name in groups.features:
                raise ValueError(
                    f"groups cannot be compared within {name!r}: it is the sensitive feature, and "
                    "everybody in a stratum would be of one group"
                )
            self.check_column(name, names)
        for feature, value in self.reference:
            known = dict(zip(groups.features, groups.values, strict=True))
            if feature is not None and feature not in known:
                raise ValueError(
                    f"reference names {feature!r}, which is no sensitive feature"
                    + did_you_mean(feature, list(known))
                )
            values = [v for f, own in known.items() if feature in (None, f) for v in own]
            if value not in values:
                raise ValueError(
                    f"reference is {value!r}, and there is no such group"
                    + (did_you_mean(str(value), list(map(str, values))) or f"; there are {values}")
                )

    def check_column(self, name: str, names: Sequence[str]) -> None:
        """Refuse a stratum that is no column."""
        if name not in names:
            raise ValueError(
                f"within names {name!r}, which is no column of the table"
                + did_you_mean(name, list(names))
            )

    def compare(self, counts: Counts) -> dict[str, Counts]:
        """The tables that are compared, by what they are called."""
        if counts.strata_features != self.columns:
            raise ValueError(
                f"these people are not counted by {', '.join(self.columns)}: count them {self}"
            )
        found: dict[str, Counts] = {}
        for feature in counts.features:
            for name, table in self._tables(counts.by(feature).known(), feature):
                values = [group[0] for group in table.groups]
                rates = selection_rate("f").per_group(table)
                for pair, which in self.pairs(name, feature, values, rates):
                    found[pair] = table.where([i in which for i in range(len(values))])
        if not found:
            raise ValueError(
                f"nobody can be compared {self}: no stratum has {ENOUGH} people of two groups"
                + "".join(f"; {text}" for text in self.spared(counts))
            )
        return found

    def spared(self, counts: Counts) -> list[str]:
        """Groups that are approved more often than the reference: no limit is about them."""
        found = []
        for feature in counts.features if self.reference else ():
            for name, table in self._tables(counts.by(feature).known(), feature):
                values = [group[0] for group in table.groups]
                k, n = selection_rate("f").per_group(table)
                at = self._at(feature, values)
                if at is None:
                    continue
                for i in sorted(_above((k, n), at)):
                    ratio = (k[i] / n[i]) / max(k[at] / n[at], 1e-12)
                    found.append(
                        f"{name}: the base model approves {values[i]} {ratio:.2f} times as often "
                        f"as {values[at]}, the reference, so no limit is about them"
                    )
        return found

    def not_compared(self, counts: Counts) -> tuple[list[str], float, Counts | None]:
        """Strata that have too few people to be compared: names, share of rows, all together."""
        if not self.columns or self.how != "each":
            return [], 0.0, None
        table = counts.by(*counts.features).known()
        people = table.along("group", "stratum")
        left = [
            k
            for k, z in enumerate(table.strata)
            if None in z or (people[:, k] >= ENOUGH).sum() < min(2, len(table.groups))
        ]
        if not left:
            return [], 0.0, None
        tables = [table.in_stratum(table.strata[k]).pooled() for k in left]
        whole = tables[0]
        for more in tables[1:]:
            whole = whole + more
        names = [" & ".join("missing" if v is None else str(v) for v in table.strata[k])
                 for k in left]  # fmt: skip
        return names, float(people[:, left].sum() / max(people.sum(), 1)), whole

    def _tables(self, table: Counts, feature: str) -> Iterator[tuple[str, Counts]]:
        """By stratum, or of everybody."""
        if not self.columns:
            yield feature, table
        elif self.how == "standardised":
            yield from self._standardised(table, feature)
        else:
            check_many(len(table.strata), self)
            for stratum in table.strata:
                own = table.in_stratum(stratum).pooled().large(ENOUGH)
                if None not in stratum and len(own.groups) > 1:
                    yield self.called(feature, stratum), own

    def called(self, feature: str, stratum: Group) -> str:
        """A feature in a stratum, for people to read."""
        if self.how == "standardised":
            return f"{feature}, standardised over {' and '.join(self.columns)}"
        return f"{feature} in {' & '.join(map(str, stratum))}"

    def _at(self, feature: str, values: Sequence[Value]) -> int | None:
        """Which of some groups is the one of reference."""
        own = [v for f, v in self.reference if f in (None, feature)]
        return next((i for i, value in enumerate(values) if value in own), None)

    def pairs(
        self, name: str, feature: str, values: Sequence[Value],
        rates: tuple[Floats, Floats] | None = None,
    ) -> Iterator[tuple[str, list[int]]]:  # fmt: skip
        """Which groups are compared with each other: all, or each with the one of reference.

        ``rates`` are how many of each the base model approves, of how many.
        """
        at = self._at(feature, values)
        if at is None and self._has_reference(feature):
            return  # nobody of it here
        if at is None:
            yield name, list(range(len(values)))
            return
        above = set() if rates is None else _above(rates, at)
        for i, value in enumerate(values):
            if i != at and i not in above:
                yield f"{name}: {value} against {values[at]}", sorted([i, at])

    def _has_reference(self, feature: str) -> bool:
        """Whether a reference was named for this very feature."""
        return any(f == feature for f, _ in self.reference)

    def _standardised(self, table: Counts, feature: str) -> Iterator[tuple[str, Counts]]:
        """Every group as if it had everybody's mix, over the strata where all groups are."""
        large = table.large(ENOUGH)
        people = large.along("group", "stratum")
        kept = (people >= ENOUGH).all(0) & np.array([None not in z for z in large.strata])
        if len(large.groups) < 2 or not kept.any():
            return
        tables = {
            name: table[:, kept] for name in TABLES if (table := getattr(large, name)) is not None
        }
        strata = tuple(z for z, k in zip(large.strata, kept, strict=True) if k)
        own = replace(large, strata=strata, **tables)
        factor = mix(own.along("group", "stratum", of="weight"))[:, :, None, None, None]
        parts = None if own.parts is None else own.parts * factor[..., None]
        weighed = replace(
            own, weight=own.weight * factor, weight_sq=own.weight_sq * factor**2, parts=parts
        )
        pooled = weighed.pooled()
        spread = _variance(own) / _linearised(pooled)
        squares = pooled.weight_sq * spread[:, None, None, None, None]
        yield self.called(feature, ()), replace(pooled, weight_sq=squares)


def _above(rates: tuple[Floats, Floats], at: int) -> set[int]:
    """Which groups are clearly approved more often than the one of reference.

    >>> _above((np.array([80.0, 50.0, 52.0]), np.array([100.0, 100.0, 100.0])), 1)
    {0}
    """
    k, n = (np.asarray(v, np.float64) for v in rates)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = k / n
        error = np.sqrt(p * (1 - p) / n + (p * (1 - p) / n)[at])
    found = np.flatnonzero((p - p[at] > CLEARLY * error) & (n > 0))
    return {int(i) for i in found if i != at}


def mix(size: Floats) -> Floats:
    """P(z) / P(z | g), of people by group and stratum.

    >>> mix(np.array([[10.0, 30.0], [30.0, 10.0]])).tolist()
    [[2.0, 0.66...], [0.66..., 2.0]]
    """
    everybody = size.sum(0) / size.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        own = size / size.sum(1, keepdims=True)
        return np.where(own > 0, everybody / own, 0.0)


def _variance(own: Counts) -> Floats:
    """Of every group's standardised share of decision 1."""
    hits = selection_rate("g").hits
    size = own.along("group", "stratum", of="weight")
    share = size.sum(0) / size.sum()
    effective = size**2 / np.maximum(own.along("group", "stratum", of="weight_sq"), 1e-300)
    p = (own.weight * hits).sum((2, 3, 4)) / size
    # one hit and one miss more, so that no hits at all do not mean no error
    q = (p * effective + 1) / (effective + 2)
    inside = (share**2 * q * (1 - q) / effective).sum(1)
    rate = p @ share
    between = ((p - rate[:, None]) ** 2) @ share / effective.sum()
    return np.asarray(inside + between)


def _linearised(pooled: Counts) -> Floats:
    """What ``Rate.per_group`` makes of the weights as they are."""
    k, n = selection_rate("g").per_group(pooled)
    p = k / n
    return np.where((p > 0) & (p < 1), p * (1 - p) / n, 1 / n)


def check_many(strata: int, what: Any) -> None:
    """Refuse a column of hardly any repetition: its strata would be single people."""
    if strata > MOST:
        raise ValueError(
            f"there are {strata:,} strata ({what}), at most {MOST} can be compared: merge some, or "
            "cut numbers into bands"
        )


@dataclass(frozen=True, eq=False)
class Layers:
    """The comparisons of one feature, for a learner and a dial: strata, and groups in each."""

    comparisons: Comparisons
    code: Ints
    """Everybody's stratum; -1 where it is missing, or too small."""
    kept: Bools
    """(strata, groups): which groups have enough people there."""
    blocks: tuple[tuple[str, tuple[int, ...]], ...]
    """What is compared: a name, and numbers stratum * groups + group; of a mix, groups alone."""

    @classmethod
    def of(
        cls, comparisons: Comparisons, strata: Groups | None, feature: str, group: Ints,
        values: Sequence[Value], approved: Bools | None = None,
    ) -> "Layers":  # fmt: skip
        """Of the groups of one feature."""
        names: tuple[Group, ...] = ((),)
        code = np.zeros(len(group), np.intp)
        if strata is not None:
            names, code = strata.joint
        people = np.zeros((len(names), len(values)))
        np.add.at(people, (code[group >= 0], group[group >= 0]), 1)
        known = np.array([None not in z for z in names], bool)
        kept = (people >= (ENOUGH if strata is not None else 1)) & known[:, None]
        standardised = comparisons.how == "standardised" and strata is not None
        if standardised:
            large = people.sum(0) >= ENOUGH
            kept = kept & (kept | ~large).all(1, keepdims=True) & large
        there = kept.sum(1) > 1
        place, kept = np.where(there, np.cumsum(there) - 1, -1), kept[there]
        blocks: list[tuple[str, tuple[int, ...]]] = []
        inside = [z for z, t in zip(names, there, strict=True) if t]
        for k, z in enumerate(inside[:1] if standardised else inside):
            own: list[int] = np.flatnonzero(kept[k]).tolist()
            name = feature if strata is None else comparisons.called(feature, z)
            shift = 0 if standardised else k * len(values)
            rates = None
            if approved is not None:
                here = np.isin(code, np.flatnonzero(there) if standardised else [names.index(z)])
                every = [here & (group == i) for i in own]
                rates = (
                    np.array([np.sum(one & approved) for one in every], float),
                    np.array([np.sum(one) for one in every], float),
                )
            for pair, which in comparisons.pairs(name, feature, [values[i] for i in own], rates):
                blocks.append((pair, tuple(shift + own[i] for i in which)))
        if not blocks and comparisons.reference and there.any():
            raise ValueError(
                f"there is nothing to do: {comparisons}, and the base model approves every other "
                f"group of {feature} more often. To bring those down, leave out the reference"
            )
        if not blocks:
            raise ValueError(
                f"nobody can be compared {comparisons}: no stratum has {ENOUGH} people of two "
                f"groups of {feature} among those learned from"
            )
        return cls(comparisons, place[code], kept, tuple(blocks))

    @property
    def standardised(self) -> bool:
        """Whether all strata are one comparison."""
        return bool(self.comparisons.columns) and self.comparisons.how == "standardised"

    def spread(self, chances: Floats) -> Floats:
        """P(cell | x) by stratum, or weighed to everybody's mix; nothing outside of all strata."""
        strata, groups = self.kept.shape
        labels = chances.shape[1] // groups
        inside = self.code >= 0
        if self.standardised:
            each = np.zeros((strata, groups))
            by_group = chances.reshape(len(chances), groups, labels).sum(2)
            np.add.at(each, self.code[inside], by_group[inside])
            factor = np.repeat(mix(each.T * self.kept.T).T, labels, axis=1)
            return np.where(inside[:, None], chances * factor[self.code], 0.0)
        wide = np.zeros((len(chances), strata, chances.shape[1]))
        wide[inside, self.code[inside]] = chances[inside]
        return np.asarray(wide.reshape(len(chances), -1))
