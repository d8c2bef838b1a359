"""The three splits of the data: one to learn from, one to choose on, one to certify on.

Rows in memory are split here, tables in an engine by ``engine_splits``. Only learning makes do with
a sample; what is certified is counted on every row there is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from fairpatch.base import BaseModel
from fairpatch.data.rows import Rows, Shares
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch


class Fresh(Protocol):
    """People whom neither learning nor choosing has seen: they certify, and are reviewed."""

    def count(self, patches: Sequence[Patch]) -> list[Counts]:
        """The counts of every patch, on all of these people."""
        ...

    def sample(self, most: int | None) -> Rows:
        """At most so many of them, each as likely as the others."""
        ...

    def scored(self, base: BaseModel) -> "Fresh":
        """The same people, f having been asked about them."""
        ...


@dataclass(frozen=True, eq=False)
class FreshRows:
    """Fresh people in memory."""

    rows: Rows

    def count(self, patches: Sequence[Patch]) -> list[Counts]:
        """The counts of every patch."""
        return [count_rows(self.rows, patch) for patch in patches]

    def sample(self, most: int | None) -> Rows:
        """At most so many of them."""
        return self.rows.sample(most, seed=0)

    def scored(self, base: BaseModel) -> "FreshRows":
        """The same people, f having been asked about them."""
        return FreshRows(self.rows.scored(base))


@dataclass(frozen=True, eq=False)
class Splits:
    """What a fit to a target needs to know of the data."""

    learn: Rows
    select: Rows
    """Each stands for one person, or for ``sample_weight`` people."""
    selected: Counts | None = None
    """Of f's decisions for everybody in the second split, where ``select`` is a sample of it."""
    fresh: Fresh | None = None
    """The third split; None where there is none."""
    people: int = 0
    """In all splits together."""

    def scored(self, base: BaseModel) -> "Splits":
        """The same splits, f having been asked about every row: once."""
        return replace(
            self,
            learn=self.learn.scored(base),
            select=self.select.scored(base),
            fresh=self.fresh and self.fresh.scored(base),
        )


def in_memory(rows: Rows, shares: Shares, most: int | None, seed: int) -> Splits:
    """Split rows that are at hand. Choosing and certifying count people, each of them once."""
    learn, select, last = rows.split(shares, seed)
    return Splits(
        learn.sample(most, seed),
        replace(select, sample_weight=None),
        None,
        FreshRows(replace(last, sample_weight=None)) if len(last) else None,
        len(rows),
    )


def count_rows(rows: Rows, patch: Patch) -> Counts:
    """Counts of f's and the patch's decisions."""
    return Counts.from_arrays(
        decision=rows.f > 0,
        new_decision=patch.decide(rows.X, rows.f),
        y=rows.y,
        sensitive_features=rows.s,
    )
