"""A sensitive feature of which only probabilities are known (BISG and the like), given by the user.

Everybody whose group is not known gets one drawn by their probabilities, the same one every time
and in every engine. If decisions depend on the group through the columns that the probabilities
were made of alone, then decisions and drawn groups have the very law of decisions and groups: every
rate, test and certificate is right, only with more noise. That is an assumption, and is said with
every figure. Without it, by cell z of people with like probabilities,

    max(0, P(d | z) + P(g | z) - 1)  <=  P(d, g | z)  <=  min(P(d | z), P(g | z))

summed over z: the sharp interval for two groups (METHOD section 22).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.extras import value_of
from fairpatch.inputs.values import PRIME, place, places

Probable = Mapping[str, Mapping[str, str]]
"""By feature and group: the column of its probability."""
SEED = 2
ROUNDED = 0.005
"""By how much each probability may be off, as columns rounded to two digits are."""
CELLS, LEAST = 20, 100
"""Cells of people with like probabilities, at most, and people in each, at least."""
USELESS = 0.5
"""An interval of a ratio as wide as this says hardly anything."""


def check_probable(value: Any) -> dict[str, dict[str, str]]:
    """Refuse what names no columns of at least two groups."""
    expected = "probable must name each group's column, as {'race': {'White': 'p_white', ...}}"
    if not isinstance(value, Mapping):
        raise ValueError(f"{expected}; got {value!r}")
    if len(value) > 1:
        raise ValueError("one sensitive feature may be known by probabilities; got several")
    for feature, groups in value.items():
        named = isinstance(groups, Mapping) and all(isinstance(c, str) for c in groups.values())
        if not named or len(groups) < 2 or len(set(groups.values())) < len(groups):
            raise ValueError(f"{expected}; got {feature!r}: {groups!r}")
    # in one order, so that the order in which groups are listed makes no difference
    return {
        f: dict(sorted((str(g), str(c)) for g, c in groups.items())) for f, groups in value.items()
    }


def columns_of(probable: Probable) -> list[str]:
    """Every column of probabilities: as sensitive as the groups themselves."""
    return [column for groups in probable.values() for column in groups.values()]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Everybody's group, known or drawn, and the chances behind it."""

    feature: str
    groups: tuple[str, ...]
    values: NDArray[Any]
    chances: Floats
    """(rows, groups); of those whose group is known 1 and 0."""
    known: Bools

    def take(self, rows: Ints) -> "Drawn":
        """Some of the rows."""
        return replace(
            self, values=self.values[rows], chances=self.chances[rows], known=self.known[rows]
        )


def draw(frame: Any, probable: Probable, key: str | None) -> Drawn | None:
    """The groups of rows in memory; None where nothing is probable."""
    for feature, groups in probable.items():
        names, P = tuple(groups), _matrix(frame, feature, groups)
        values = np.full(len(P), None, object)
        told = np.zeros(len(P), bool)
        if feature in frame.columns:
            told = ~frame[feature].is_null().to_numpy()
            values[told] = [str(v) for v in frame[feature].filter(told.tolist()).to_list()]
        unknown = sorted(set(values[told]) - set(names))
        if unknown:
            raise ValueError(
                f"{feature!r} has the group {unknown[0]!r}, which has no column of probabilities: "
                f"there are {', '.join(names)}"
            )
        u = np.random.default_rng(SEED).random(len(P))
        if key is not None and key in frame.columns:
            u = places(frame[key].to_numpy(), SEED)
        given = np.isfinite(P).all(1)
        at = np.minimum((u[:, None] >= np.nan_to_num(P.cumsum(1))).sum(1), len(names) - 1)
        drawn = np.where(given, np.array(names, object)[at], None)
        certain = (values[:, None] == np.array(names, object)[None]).astype(np.float64)
        chances = np.where(told[:, None], certain, P)
        values = np.where(told, values, drawn)
        return Drawn(feature, names, values, chances, told)
    return None


def drawn_table(table: Any, probable: Probable, key: str | None) -> Any:
    """The same for a table in an engine, as a column; its key says who is drawn."""
    for feature, groups in probable.items():
        if key is None:
            raise ValueError(
                f"{feature!r} is known by probabilities, and groups are drawn by the key of a row: "
                "name its column, Roles(key='id')"
            )
        frame = nw.from_native(table)
        names = frame.collect_schema().names()
        _check_columns(feature, groups, names)
        u = place(key, SEED).cast(nw.Float64) / PRIME
        total = sum((nw.col(c).cast(nw.Float64) for c in groups.values()), nw.lit(0.0))
        off = tolerance(len(groups))
        whole = (total > 1 - off) & (total < 1 + off)
        below, cases = nw.lit(0.0), []
        for group, column in groups.items():
            below = below + nw.col(column).cast(nw.Float64)
            cases.append(((u * total < below) & whole, group))
        cases.append((whole, list(groups)[-1]))  # what rounding leaves
        case = nw.when(cases[0][0]).then(nw.lit(cases[0][1]))
        for inside, group in cases[1:]:
            case = case.when(inside).then(nw.lit(group))
        drawn: nw.Expr = case
        if feature in names:
            known = nw.col(feature)
            drawn = nw.when(~known.is_null()).then(known.cast(nw.String)).otherwise(drawn)
        _check_sums(frame, feature, total, off)
        table = frame.with_columns(drawn.alias(feature)).to_native()
    return table


def tolerance(groups: int) -> float:
    """By how much the probabilities of so many groups may miss 1."""
    return ROUNDED * groups + 1e-9


def _check_sums(frame: Any, feature: str, total: nw.Expr, off: float) -> None:
    wrong = (total <= 1 - off) | (total >= 1 + off)
    counted = frame.lazy().select(nw.when(wrong).then(nw.lit(1)).otherwise(nw.lit(0)).sum())
    many = int(value_of(counted) or 0)
    if many:
        raise ValueError(_not_one(feature, many))


def _matrix(frame: Any, feature: str, groups: Mapping[str, str]) -> Floats:
    _check_columns(feature, groups, list(frame.columns))
    P = np.column_stack([frame[c].cast(nw.Float64).to_numpy() for c in groups.values()])
    given = np.isfinite(P).all(1)
    if (given != np.isfinite(P).any(1)).any() or (P[given] < 0).any() or (P[given] > 1).any():
        raise ValueError(
            f"the probabilities of {feature!r} must be numbers from 0 to 1, all of them or none in "
            "a row"
        )
    total = P[given].sum(1)
    off = np.abs(total - 1) >= tolerance(len(groups))
    if off.any():
        raise ValueError(_not_one(feature, int(off.sum())))
    P = np.asarray(P, np.float64)
    P[given] /= total[:, None]
    return P


def _not_one(feature: str, rows: int) -> str:
    return (
        f"the probabilities of {feature!r} do not add up to 1 in {rows:,} rows: give every group's "
        "column, and divide by their sum"
    )


def _check_columns(feature: str, groups: Mapping[str, str], names: Sequence[str]) -> None:
    for column in groups.values():
        if column not in names:
            raise ValueError(
                f"the probabilities of {feature!r} name column {column!r}, which the table does "
                "not have"
            )


@dataclass(frozen=True)
class WithoutAssumption:
    """What can be said of a ratio of rates: under the assumption, and without it."""

    feature: str
    drawn: float
    """The share of people whose group was drawn."""
    weighted: float | None
    """The ratio of rates weighted by probabilities, which the assumption makes right."""
    low: float
    high: float
    """Where the ratio lies without it, whatever decisions depend on; two standard errors wider."""

    @property
    def useless(self) -> bool:
        """Whether the interval says hardly anything."""
        return self.high - self.low >= USELESS

    def __str__(self) -> str:
        text = assumed(self.feature, f"For {self.drawn:.0%} of people")
        weighted = (
            ""
            if self.weighted is None
            else f" Weighted by them, the P-Rule is {self.weighted:.2f}."
        )
        end = f" Without that assumption it lies between {self.low:.2f} and {self.high:.2f}"
        return text + weighted + end + (": these data cannot tell." if self.useless else ".")


def assumed(feature: str, who: str = "For some people") -> str:
    """What drawing groups rests on."""
    return (
        f"{who} {feature} is known by probabilities alone, and was drawn by them. That is right if "
        f"decisions depend on {feature} only through what the probabilities were made of."
    )


def without_assumption(
    feature: str, chances: Floats, known: Bools, approved: Bools, weight: Floats | None = None
) -> WithoutAssumption | None:
    """The P-Rule of some decisions, with and without the assumption; None where nobody is drawn."""
    there = np.isfinite(chances).all(1)
    if known[there].all():
        return None
    P, d = chances[there], approved[there].astype(float)
    w = np.ones(len(P)) if weight is None else np.asarray(weight, np.float64)[there]
    mass = w @ P
    if (mass <= 0).any():
        return None
    rates = (w * d) @ P / mass
    low, high = np.zeros(P.shape[1]), np.zeros(P.shape[1])
    variance = 0.0
    for rows in _cells(P, known[there]):
        own, share = w[rows], w[rows].sum()
        p, q = own @ P[rows] / share, float(own @ d[rows] / share)
        low += share * np.maximum(0.0, q + p - 1)
        high += share * np.minimum(q, p)
        variance += float((own**2).sum()) * q * (1 - q)
    # groups that are known are cells of their own: there the ends meet
    margin = 2 * np.sqrt(variance)
    ends = np.clip((low - margin) / mass, 0, 1), np.clip((high + margin) / mass, 0, 1)
    top = rates.max()
    worst, best = float(ends[0].min() / max(ends[1].max(), 1e-12)), 1.0
    if ends[0].max() > 0:
        best = min(1.0, float(ends[1].min() / ends[0].max()))
    return WithoutAssumption(
        feature, float(np.average(~known[there], weights=w)),
        None if top <= 0 else float(rates.min() / top), min(worst, 1.0), best,
    )  # fmt: skip


def _cells(P: Floats, known: Bools) -> list[NDArray[np.intp]]:
    """People with like probabilities: by their likeliest group, and how likely it is."""
    likely, cells = P.argmax(1), []
    for g in range(P.shape[1]):
        told = np.flatnonzero(known & (likely == g))
        cells += [told] if len(told) else []
        rows = np.flatnonzero(~known & (likely == g))
        many = int(np.clip(len(rows) // LEAST, 1, CELLS))
        rows = rows[np.argsort(P[rows, g], kind="stable")]
        cells += [part for part in np.array_split(rows, many) if len(part)]
    return cells
