"""Strata: groups are compared within a product, a region or a job (conditional parity).

    each            in every stratum: the groups of a stratum that have enough people there
    standardised    rate_g = sum_z P(z) P(decision | g, z): every group as if it had everybody's mix

The second is a rate with weights P(z) / P(z | g): linear in the decisions, so that dial, program,
bound and certificate carry it. Its variance is that within strata, and that of the mix itself:

    sum_z P(z)^2 p_gz (1 - p_gz) / n_gz  +  sum_z P(z) (p_gz - p_g)^2 / n
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fairpatch import _checks as check
from fairpatch._arrays import Bools, Floats, Ints
from fairpatch._hints import did_you_mean
from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import Group, Groups
from fairpatch.measure.rates import selection_rate

How = Literal["each", "standardised"]
HOWS: tuple[How, ...] = ("each", "standardised")
ENOUGH = 30
"""People of a group in a stratum, at least: with fewer its rate is mostly chance."""
MOST = 500
"""Strata, at most."""


@dataclass(frozen=True)
class Within:
    """Columns within whose values groups are compared, and how."""

    columns: tuple[str, ...]
    how: How = "each"

    @classmethod
    def of(cls, columns: Any, how: Any) -> "Within":
        """What a target asks for.

        >>> str(Within.of("product", "each")), str(Within.of(["product", "region"], "standardised"))
        ('within every product', 'standardised over product and region')
        """
        columns = [columns] if isinstance(columns, str) else columns
        check.names("within", columns)
        check.one_of("strata", how, HOWS)
        if not columns:
            raise ValueError("within must name at least one column")
        return cls(tuple(columns), how)

    def __str__(self) -> str:
        named = " and ".join(self.columns)
        return f"within every {named}" if self.how == "each" else f"standardised over {named}"

    def check(self, names: Sequence[str], sensitive: Sequence[str]) -> None:
        """Refuse strata that are not there, or that are the groups themselves."""
        for name in self.columns:
            if name in sensitive:
                raise ValueError(
                    f"groups cannot be compared within {name!r}: it is the sensitive feature, and "
                    "everybody in a stratum would be of one group"
                )
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
            table = counts.by(feature).known()
            if self.how == "standardised":
                found |= self._standardised(table, feature)
                continue
            for stratum in _known(table):
                own = table.in_stratum(stratum).pooled().large(ENOUGH)
                if len(own.groups) > 1:
                    found[self.called(feature, stratum)] = own
        if not found:
            raise ValueError(
                f"nobody can be compared {self}: no stratum has {ENOUGH} people of two groups"
            )
        return found

    def called(self, feature: str, stratum: Group) -> str:
        """A feature in a stratum, for people to read."""
        return f"{feature} in {' & '.join(map(str, stratum))}"

    def _standardised(self, table: Counts, feature: str) -> dict[str, Counts]:
        """Every group as if it had everybody's mix, over the strata where all groups are."""
        large = table.large(ENOUGH)
        kept = supported(large)
        if len(large.groups) < 2 or not kept.any():
            return {}
        tables = {name: getattr(large, name)[:, kept] for name in ("n", "weight", "weight_sq")}
        own = replace(
            large, strata=tuple(z for z, k in zip(large.strata, kept, strict=True) if k), **tables
        )
        size = own.along("group", "stratum", of="weight")
        factor = mix(size)[:, :, None, None, None]
        weighed = replace(own, weight=own.weight * factor, weight_sq=own.weight_sq * factor**2)
        pooled = weighed.pooled()
        spread = _variance(own) / _linearised(pooled)
        squares = pooled.weight_sq * spread[:, None, None, None, None]
        return {f"{feature}, {self}": replace(pooled, weight_sq=squares)}


def supported(table: Counts) -> Bools:
    """The strata in which every group has a few people, and nothing is missing."""
    people = table.along("group", "stratum")
    known = np.array([None not in z for z in table.strata], bool)
    return np.asarray((people >= ENOUGH).all(0) & known)


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


def _known(table: Counts) -> list[Group]:
    """Strata of which nothing is missing."""
    check_many(len(table.strata), table.strata_features)
    return [z for z in table.strata if None not in z]


def check_many(strata: int, what: Any) -> None:
    """Refuse a column of hardly any repetition: its strata would be single people."""
    if strata > MOST:
        raise ValueError(
            f"there are {strata:,} strata ({what}), at most {MOST} can be compared: merge some, or "
            "cut numbers into bands"
        )


@dataclass(frozen=True, eq=False)
class Layers:
    """Everybody's stratum among those that are compared, for a learner and a dial."""

    within: Within
    code: Ints
    """-1 where the stratum is missing, or too small."""
    kept: Bools
    """(strata, groups): which groups are compared there."""
    names: tuple[str, ...]

    @classmethod
    def of(cls, within: Within, strata: Groups, feature: str, group: Ints, groups: int) -> "Layers":
        """Of the groups of one feature."""
        values, code = strata.joint
        people = np.zeros((len(values), groups))
        np.add.at(people, (code[group >= 0], group[group >= 0]), 1)
        known = np.array([None not in z for z in values], bool)
        kept = (people >= ENOUGH) & known[:, None]
        if within.how == "standardised":
            large = people.sum(0) >= ENOUGH
            kept = kept & (kept | ~large).all(1, keepdims=True) & large
        there = kept.sum(1) > 1
        place = np.where(there, np.cumsum(there) - 1, -1)
        named = [within.called(feature, z) for z, t in zip(values, there, strict=True) if t]
        if within.how == "standardised":
            named = [f"{feature}, {within}"]
        if not there.any():
            raise ValueError(
                f"nobody can be compared {within}: no stratum has {ENOUGH} people of two groups "
                f"of {feature} among those learned from"
            )
        return cls(within, place[code], kept[there], tuple(named))

    @property
    def number(self) -> int:
        """How many strata are compared."""
        return len(self.kept)

    def spread(self, chances: Floats) -> Floats:
        """P(cell | x) by stratum, or weighed to everybody's mix; nothing outside of all strata."""
        groups = self.kept.shape[1]
        labels = chances.shape[1] // groups
        inside = self.code >= 0
        if self.within.how == "standardised":
            each = np.zeros((self.number, groups))
            by_group = chances.reshape(len(chances), groups, labels).sum(2)
            np.add.at(each, self.code[inside], by_group[inside])
            factor = np.repeat(mix(each.T * self.kept.T).T, labels, axis=1)
            return np.where(inside[:, None], chances * factor[self.code], 0.0)
        wide = np.zeros((len(chances), self.number, chances.shape[1]))
        wide[inside, self.code[inside]] = chances[inside]
        return np.asarray(wide.reshape(len(chances), -1))
