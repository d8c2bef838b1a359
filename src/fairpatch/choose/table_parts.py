"""The three parts of a table that stays in its engine: DuckDB, Spark, whatever Ibis reaches.

A row's place is a hash of its key, in integer arithmetic that every engine has, so the same rows
are taken everywhere. A share of the table is what lies below that share of P:

    h = (48271 (key mod P) + salt) mod P,    place = (h² + 12345) mod P,    P = 2³¹ - 1

Two scans: one counts groups, labels and f's decisions in all parts, one fetches the samples. A
third one counts all patches that certification asks about. Nothing else leaves the engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch.base import BaseModel
from fairpatch.choose.parts import Parts
from fairpatch.choose.rows import Rows, check_shares
from fairpatch.measure.counts import Counts
from fairpatch.measure.sensitive import plain
from fairpatch.patch import Patch, decision_expr

PRIME = 2**31 - 1
PART, PLACE = "fairpatch_part", "fairpatch_place"
FEW = 1_000
"""A group with a label has at least so many rows in a sample, or all that there are."""
Stratum = tuple[Any, ...]


def place(key: str, seed: int) -> nw.Expr:
    """A whole number below PRIME: the same on every engine, and unrelated for different seeds."""
    salt = (seed * 7_919 + 40_692) % PRIME
    k = (nw.col(key).cast(nw.Int64) % PRIME + PRIME) % PRIME  # some engines keep the sign
    h = (k * 48_271 + salt) % PRIME
    return (h * h + 12_345) % PRIME


@dataclass(frozen=True)
class TableParts:
    """A table with a key, and how it is parted."""

    table: Any
    key: str
    y: str
    features: tuple[str, ...]
    base: BaseModel
    shares: tuple[float, float, float]
    seed: int

    def __post_init__(self) -> None:
        names = self.frame.collect_schema()
        wanted = {"key": self.key, "y": self.y, "the score": self.base.score_column}
        wanted |= {f"sensitive feature {i + 1}": name for i, name in enumerate(self.features)}
        for what, name in wanted.items():
            if name is not None and name not in names:
                raise KeyError(f"{what} names column {name!r}, which the table does not have")
        if not names[self.key].is_integer():
            raise TypeError(
                f"key must be a column of whole numbers that tells rows apart; {self.key!r} is "
                f"{names[self.key]}. Number the rows once, for instance by a hash of the key"
            )

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        """The table as narwhals has it."""
        frame: nw.LazyFrame[Any] = nw.from_native(self.table).lazy()
        return frame

    @property
    def _placed(self) -> nw.LazyFrame[Any]:
        """With every row's place as a column, so that an engine works it out once."""
        return self.frame.with_columns(place(self.key, self.seed).alias(PLACE))

    @property
    def columns(self) -> list[str]:
        """What a model may read: everything but key, label and sensitive features."""
        own = {self.key, self.y, *self.features}
        return [name for name in self.frame.collect_schema().names() if name not in own]

    @cached_property
    def counts(self) -> tuple[Counts, Counts, Counts]:
        """Of f's decisions, part by part: one scan."""
        at = nw.col(PLACE)
        _, first, second, _ = self._edges
        part = nw.when(at < first).then(nw.lit(0)).otherwise(
            nw.when(at < second).then(nw.lit(1)).otherwise(nw.lit(2))
        )  # fmt: skip
        found = Counts.from_frame(
            self._placed.with_columns(part.alias(PART)).to_native(),
            decision=self.base.decision_expr(),
            sensitive_features=[*self.features, PART],
            y=self.y,
        )
        parts = [
            found.where([group[-1] == k for group in found.groups]).by(*self.features)
            for k in range(3)
        ]
        return parts[0], parts[1], parts[2]

    def parts(self, most: int | None) -> Parts:
        """Fetch the samples: at most about so many rows of each of the first two parts."""
        check_shares(self.shares)
        learn, select = self.samples((0, 1), most)
        whole = self.shares[2] == 0
        return Parts(learn, select, self.counts[1], None if whole else self.certify)

    def certify(self, patches: list[Patch]) -> list[Counts]:
        """Counts of every patch on all rows of the last part: one scan for all of them."""
        return count_patches(
            self._placed.filter(nw.col(PLACE) >= self._edges[2]).to_native(),
            patches,
            self.base,
            y=self.y,
            sensitive_features=self.features,
        )

    def samples(
        self, wanted: Sequence[int], most: int | None, *, stratified: bool = True
    ) -> list[Rows]:
        """A sample of each part, with weights that undo its strata: one scan.

        Unless stratified, it is a plain one: everybody is as likely to be in it.
        """
        at = nw.col(PLACE)
        taken = [
            (at >= self._edges[k]) & (at < self._limit(k, most, stratified=stratified))
            for k in wanted
        ]
        chosen = reduce(lambda a, b: a | b, taken)
        columns = [self.key, self.y, *self.features, *self.columns]
        found = (
            self._placed.filter(~nw.col(self.y).is_null() & chosen)
            .select(*columns, PLACE).collect().sort(self.key)
        )  # fmt: skip
        part = np.searchsorted(self._edges[1:3], found[PLACE].to_numpy(), side="right")
        return [self._rows(found.filter((part == k).tolist()), self.counts[k]) for k in wanted]

    @property
    def _edges(self) -> list[int]:
        """Where each part begins among the places, and where the last one ends."""
        return [round(share * PRIME) for share in (0.0, *np.cumsum(self.shares))]

    def _limit(self, part: int, most: int | None, *, stratified: bool) -> nw.Expr:
        """Places of a part below this are taken; small strata whole or nearly so."""
        sizes = self._sizes(part)
        begin, end = self._edges[part : part + 2]
        total = sum(sizes.values())
        if most is None or total <= most:
            return nw.lit(end)
        share = most / total
        found = nw.lit(begin + round((end - begin) * share))
        for stratum, size in sizes.items():
            if stratified and size * share < FEW:
                names = (*self.features, self.y)
                here = [_equals(c, v) for c, v in zip(names, stratum, strict=True)]
                own = nw.lit(begin + round((end - begin) * min(1.0, FEW / size)))
                found = nw.when(reduce(lambda a, b: a & b, here)).then(own).otherwise(found)
        return found

    def _sizes(self, part: int) -> dict[Stratum, int]:
        counts = self.counts[part]
        people = counts.n.sum((2, 3))
        return {
            (*group, label): int(people[g, label])
            for g, group in enumerate(counts.groups)
            for label in (0, 1)
            if people[g, label]
        }

    def _rows(self, found: Any, counts: Counts) -> Rows:
        y = found[self.y].to_numpy().astype(np.int64)
        features = [[plain(v) for v in found[name].to_list()] for name in self.features]
        strata = list(zip(*features, y.tolist(), strict=True))
        people = counts.n.sum((2, 3))
        at = {group: g for g, group in enumerate(counts.groups)}
        taken: dict[Stratum, int] = {}
        for stratum in strata:
            taken[stratum] = taken.get(stratum, 0) + 1
        weight: NDArray[np.float64] = np.array(
            [people[at[s[:-1]], s[-1]] / taken[s] for s in strata], np.float64
        )
        sensitive = found.select(*self.features).to_native()
        return Rows(found.select(*self.columns).to_native(), y, sensitive, weight)


def count_patches(
    table: Any,
    patches: Sequence[Patch],
    base: BaseModel,
    *,
    y: str,
    sensitive_features: Sequence[str],
) -> list[Counts]:
    """Counts of f's and every patch's decisions over a whole table, by one GROUP BY."""
    if base.score_column is None:
        raise TypeError("f must be a score column of the table: see fairpatch.engines.scoring")
    return Counts.from_frame_each(
        table,
        decision=base.decision_expr(),
        new_decisions=[decision_expr(patch, base.score_column) for patch in patches],
        sensitive_features=sensitive_features,
        y=y,
    )


def _equals(column: str, value: Any) -> nw.Expr:
    return nw.col(column).is_null() if value is None else nw.col(column) == value
