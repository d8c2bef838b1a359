"""What may be said of counts, so that no hidden one can be worked out: the one disclosure engine.

A count of one to nine people is told as "below 10" (primary suppression). It must not follow from
the other counts either, so some of those are told only by a range that they lie in (complementary
suppression). Whoever reads the page knows that every count is a sum A z of cells z >= 0 and lies in
what was told of it; what they can work out of a secret s is

    [ min s(z), max s(z) ]  over all whole z with  low <= A z <= high.

For each end of the range that was stated of a secret there must be a table z that has it there and
agrees with all that is told. It is found by an integer program that strays from what is told as
little as possible, each count's straying weighed by what ten people matter to it; then the counts
from which it strays are told by a wider range.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Generic, TypeVar

import numpy as np

from fairpatch._arrays import Bools, Ints
from fairpatch.disclose.published import PublishedCount, Secret

Name = TypeVar("Name", bound=Hashable)
"""What a published count is called."""
MOST_CELLS = 4_000
"""Cells of a table that can be protected in a reasonable time."""
_ALL_SECONDS = 40.0
"""For all programs of a table, of the processor: far above what tables take that are told whole, so
that a busy machine does not say less than an idle one."""


class TooManyCellsError(ValueError):
    """The table is too large for its small counts to be protected."""


@dataclass
class Program(Generic[Name]):
    """A table of cells, the counts that are published of it, and what is told of them.

    Attributes
    ----------
    cells : how many people are in each cell of the table.
    counts : what is published, by name: sets of cells.
    same : pairs of sets of cells that hold the same people, as of a table that is told twice.
    told : what is said of each count; starts with the truth.
    worth : how much a count matters to the reader, 1 unless said.
    stated : what everybody knows of the secrets: that a group which is not shown has one to nine
        people, and so has each of its parts that is not shown.
    """

    cells: Ints
    counts: dict[Name, Bools] = field(default_factory=dict)
    same: list[tuple[Bools, Bools]] = field(default_factory=list)
    published: dict[Name, PublishedCount] = field(default_factory=dict)
    worth: dict[Name, float] = field(default_factory=dict)
    stated: list[Secret] = field(default_factory=list)

    def publish(self, name: Name, cells: Bools, worth: float = 1.0) -> None:
        """Add a count."""
        count = int(self.cells[cells].sum())
        self.counts[name], self.published[name], self.worth[name] = (
            cells,
            PublishedCount(count, count),
            worth,
        )

    def protect(self, secrets: Sequence[Secret]) -> None:
        """Tell counts by wider ranges until no secret is known better than stated."""
        if not secrets:
            return
        by_cells = {secret.cells.tobytes(): secret for secret in secrets}
        for name, cells in self.counts.items():
            if cells.tobytes() in by_cells:
                secret = by_cells[cells.tobytes()]
                self.published[name] = PublishedCount(secret.low, secret.high)
        from fairpatch.disclose.agreeing import Agreeing  # noqa: PLC0415 a solver, rarely needed

        matrix = np.stack(list(self.counts.values()))
        worth = np.array([self.worth[name] for name in self.counts])
        tables = Agreeing(self.cells, matrix, worth, self.stated, self.same)
        begun = process_time()
        agreeing = [self.cells.astype(float)]  # tables that agree with all that is told
        for secret in by_cells.values():
            for sign, stated in ((1.0, secret.low), (-1.0, secret.high)):
                reach = np.asarray(sign * secret.cells, np.float64)
                end = tables.possible(reach, sign * stated)
                if process_time() - begun > _ALL_SECONDS:
                    raise TooManyCellsError(f"not protected within {_ALL_SECONDS:g} seconds")
                if not any(reach @ table <= end for table in agreeing):
                    table = tables.nearest(list(self.published.values()), reach, end)
                    if table is None:
                        raise TooManyCellsError("no table found that hides what is small")
                    for name, value in zip(self.counts, matrix @ table, strict=True):
                        self.published[name] = self.published[name].with_(round(value))
                    agreeing.append(table)
