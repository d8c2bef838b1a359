"""The three splits of the data: one to learn from, one to choose on, one to certify on.

Rows in memory are split here, tables in an engine by ``engine_splits``. Only learning makes do with
a sample; what is certified is counted on every row there is.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.extras import value_of
from fairpatch._tools.hints import hint
from fairpatch.data.rows import Rows, Shares, strata_of
from fairpatch.inputs.base import BaseModel
from fairpatch.inputs.roles import Roles
from fairpatch.inputs.values import PRIME, place
from fairpatch.measure.comparisons import Comparisons
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch
from fairpatch.patch.batch import filled


class CertificationRows(Protocol):
    """People whom neither learning nor choosing has seen: they certify, and are reviewed."""

    def count(
        self, patches: Sequence[Patch], comparisons: Comparisons | None = None
    ) -> list[Counts]:
        """The counts of every patch, on all of these people; by strata where there are any."""
        ...

    def sample(self, most: int | None) -> Rows:
        """At most so many of them, each as likely as the others."""
        ...

    def scored(self, base: BaseModel) -> "CertificationRows":
        """The same people, f having been asked about them."""
        ...


@dataclass(frozen=True, eq=False)
class CertificationSample:
    """Fresh people in memory."""

    rows: Rows

    def count(
        self, patches: Sequence[Patch], comparisons: Comparisons | None = None
    ) -> list[Counts]:
        """The counts of every patch."""
        return [count_rows(self.rows, patch, comparisons) for patch in patches]

    def sample(self, most: int | None) -> Rows:
        """At most so many of them."""
        return self.rows.sample(most, seed=0)

    def scored(self, base: BaseModel) -> "CertificationSample":
        """The same people, f having been asked about them."""
        return CertificationSample(self.rows.scored(base))


@dataclass(frozen=True, eq=False)
class Crossed:
    """The first two splits together: everybody is learned from, and judged by the others' model."""

    rows: Rows
    """Each stands for one person, or for ``sample_weight`` people."""
    weight: Floats | None = None
    """How much each counts in learning."""
    counts: Counts | None = None
    """Of f's decisions for everybody, where the rows are a sample."""
    known_to_f: Bools | None = None
    """Rows that f was trained on: they are learned from, and nothing is judged on them."""
    first: Bools | None = None
    """Which of them are the first split, where the others are the second."""


@dataclass(frozen=True, eq=False)
class Splits:
    """What a fit to a target needs to know of the data."""

    learn: Rows
    select: Rows
    """Each stands for one person, or for ``sample_weight`` people."""
    both: Crossed | None = None
    """For a learner that makes no difference between the two."""
    selected: Counts | None = None
    """Of f's decisions for everybody in the second split, where ``select`` is a sample of it."""
    fresh: CertificationRows | None = None
    """The third split; None where there is none."""
    people: int = 0
    """In all splits together."""

    def compared(self, but: Mapping[str, Collection[str]]) -> "Splits":
        """The same, learned and chosen from without some groups, and those of fewer than ten."""

        def known(rows: Rows) -> Rows:
            return replace(rows, groups=rows.s.without(but).enough(rows.person))

        both = None if self.both is None else replace(self.both, rows=known(self.both.rows))
        return replace(self, learn=known(self.learn), select=known(self.select), both=both)

    def scored(self, base: BaseModel) -> "Splits":
        """The same splits, f having been asked about every row: once."""
        learn, select, both = self.learn, self.select, self.both
        if both is not None:
            both = replace(both, rows=both.rows.scored(base))
            if both.first is not None:  # the two are parts of it
                f = both.rows.f
                learn = replace(learn, f_logit=f[both.first])
                select = replace(select, f_logit=f[~both.first])
        return replace(
            self,
            learn=learn.scored(base),
            select=select.scored(base),
            both=both,
            fresh=self.fresh and self.fresh.scored(base),
        )


def in_memory(
    rows: Rows, shares: Shares | None, most: int | None, seed: int, known_to_f: Bools | None = None,
    *, for_all: bool = False,
) -> Splits:  # fmt: skip
    """Split rows that are at hand. Choosing and certifying count people, each of them once.

    Unless the weights are ``for_all``: then a row stands for so many people everywhere. Rows that f
    was trained on are learned from only. Who has a label makes no difference.
    """

    def counted(some: Rows) -> Rows:
        return some if for_all else replace(some, sample_weight=None)

    known = np.zeros(len(rows), bool) if known_to_f is None else known_to_f
    place = np.zeros(len(rows), np.int64)
    place[~known] = rows.take(np.flatnonzero(~known)).split_codes(shares, seed)
    if rows.told is not None and rows.told.any():
        place = _told_certify(place, rows.told & ~known, seed)
    first = np.flatnonzero(place == 0)
    if most is not None and len(first) > most:
        first = np.sort(np.random.default_rng(seed).choice(first, most, replace=False))
    second = np.flatnonzero(place == 1)
    both = np.sort(np.concatenate([first, second]))
    last, crossed = rows.take(np.flatnonzero(place == 2)), rows.take(both)
    return Splits(
        rows.take(first),
        counted(rows.take(second)),
        Crossed(
            counted(crossed),
            None if rows.sample_weight is None else np.asarray(crossed.sample_weight, np.float64),
            known_to_f=known[both] if known.any() else None,
            first=place[both] == 0,
        ),
        None,
        CertificationSample(counted(last)) if len(last) else None,
        len(rows),
    )


def _told_certify(place: Ints, told: Bools, seed: int) -> Ints:
    """Places exchanged, so that people whose group is known certify, and no assumption is needed.

    As many certify as there are places, or as are known; those who were drawn are learned from.
    """
    place, random = place.copy(), np.random.default_rng(seed)
    drawn = np.flatnonzero((place == 2) & ~told)
    others = random.permutation(np.flatnonzero((place < 2) & told))[: len(drawn)]
    gone = random.permutation(drawn)
    place[gone[: len(others)]], place[others] = place[others], 2
    place[gone[len(others) :]] = random.integers(0, 2, len(gone) - len(others))
    return place


def count_rows(rows: Rows, patch: Patch, comparisons: Comparisons | None = None) -> Counts:
    """Counts of f's and the patch's decisions; by strata where there are any.

    Where places are shared out in batches, of the decisions that are left after that.
    """
    after = patch.decide(rows.X, rows.f)
    if rows.batch is not None:
        after = filled(patch, rows.X, rows.f, rows.batch, rows.room)
    counts = Counts.from_arrays(
        decision=rows.f > 0,
        new_decision=after,
        y=rows.labels,
        sensitive_features=rows.s,
        sample_weight=rows.sample_weight,
        strata=strata_of(comparisons, rows.X),
        outcomes=rows.outcomes,
        person=rows.person,
    )
    # batches are clusters as people are, and no people
    return counts if rows.batch is None else replace(counts, persons=None)


THINNED = 1
"""The seed of the places by which people are drawn."""


def thinned_table(table: Any, roles: Roles) -> Any:
    """People drawn by what they weigh, each as likely as w / max w: by the hash of their key."""
    if roles.weight is None:
        return table
    if roles.key is None:
        raise ValueError(
            "rows weigh differently, and are drawn by their key to be judged over time: name it, "
            + hint("Roles(key='id')", "key: id in the configuration")
        )
    frame = nw.from_native(table).lazy()
    weight = nw.col(roles.weight).cast(nw.Float64)
    heaviest = float(value_of(frame.select(weight.max())) or 1.0)
    at = place(roles.key, THINNED).cast(nw.Float64)
    return frame.filter(at < weight * (PRIME / heaviest)).to_native()
