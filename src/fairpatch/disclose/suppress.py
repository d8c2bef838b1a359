"""What may be said of counts, so that no hidden one can be worked out: one disclosure engine.

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
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.smallest_count import MIN_PEOPLE, full_tens

# A count as it may be shown, and a sum of which no more may be learned.

WIDTHS = (1, 10, 20, 50, 100, 200, 500, 1000)
"""How widely a count may be told; what would need more is not told at all."""


@dataclass(frozen=True)
class PublishedCount:
    """A count as it may be shown: it lies between two numbers, which are often the same.

    >>> [str(PublishedCount(*ends)) for ends in ((12, 12), (1, 9), (20, 29), (0, None))]
    ['12', 'below 10', '20 to 29', 'not shown']
    """

    low: int
    high: int | None

    @classmethod
    def by_tens(cls, people: float) -> "PublishedCount":
        """As much of a count as may be told of a part of others: its full tens.

        >>> print(PublishedCount.by_tens(123))
        120 to 129
        """
        return cls(full_tens(people), full_tens(people) + MIN_PEOPLE - 1)

    @property
    def exact(self) -> bool:
        """Whether the count itself is told."""
        return self.low == self.high

    @property
    def data(self) -> int | dict[str, int | None]:
        """As plain data: the count, or what it lies between."""
        return self.low if self.exact else {"at_least": self.low, "at_most": self.high}

    def with_(self, other: int) -> "PublishedCount":
        """The narrowest round range that has another number in it too.

        Ranges start at multiples of half their width, so that two numbers that lie close together
        never need a wide one.

        >>> print(PublishedCount(200, 200).with_(198), "|", PublishedCount(95, 104).with_(93))
        195 to 204 | 90 to 109
        """
        if self.high is None or self.low <= other <= self.high:
            return self
        low, high = min(self.low, other), max(self.high, other)
        for width in WIDTHS[1:]:
            for start in (low // width * width, (low + width // 2) // width * width - width // 2):
                if start <= low and high < start + width:
                    return PublishedCount(max(start, 0), start + width - 1)
        return PublishedCount(0, None)

    def __str__(self) -> str:
        if self.exact:
            return f"{self.low:,}"
        if self.high is None:
            return "not shown"
        return f"below {self.high + 1:,}" if self.low <= 1 else f"{self.low:,} to {self.high:,}"


@dataclass(frozen=True)
class Secret:
    """A sum of cells of which nobody may learn more than that it lies in a range."""

    cells: Bools
    low: int
    high: int


# Tables that agree with what is told and hold a secret at an end of its range: integer programs.
#
# A module of its own, imported with SciPy's solver when there is a secret: most tables have none.

_SECONDS = 20.0
"""For one self."""


class ConsistentTables:
    """Tables z >= 0 of whole people: those that agree with what is told of the counts A z.

    Parameters
    ----------
    cells : the table itself.
    counts : A, a row of cells for each count.
    worth : how much each count matters to the reader.
    stated : what everybody knows of the secrets.
    same : pairs of sets of cells that hold the same people.
    """

    def __init__(
        self,
        cells: Ints,
        counts: Bools,
        worth: Floats,
        stated: Sequence[Secret],
        same: Sequence[tuple[Bools, Bools]],
    ) -> None:
        self.counts = csr_array(counts.astype(float))
        # what ten people matter to a count: the more of them it has, the less
        self.cost = worth / np.maximum(self.counts @ cells, 1.0)
        self.stated, self.same = stated, same

    def nearest(self, told: Sequence[PublishedCount], reach: Floats, end: float) -> Floats | None:
        """The whole table z with reach z <= end that strays least from what is told of each count.

        None where none is found in time.
        """
        n_counts, n_cells = self.counts.shape
        low = np.array([float(t.low) for t in told])
        high = np.array([np.inf if t.high is None else float(t.high) for t in told])
        # low <= A z + under - over <= high, and the straying is what it costs
        stray = csr_array(eye_array(n_counts))
        rows = [LinearConstraint(hstack([self.counts, stray, -stray], "csr"), low, high)]
        within = hstack([csr_array(reach[None]), csr_array((1, 2 * n_counts))], "csr")
        rows.append(LinearConstraint(within, -np.inf, end))
        solution = milp(
            np.concatenate([np.zeros(n_cells), self.cost, self.cost]),
            integrality=np.repeat([1, 0], [n_cells, 2 * n_counts]).astype(np.uint8),
            bounds=Bounds(0, np.inf),
            constraints=[*rows, *self._known(2 * n_counts)],
            options={"time_limit": _SECONDS},
        )
        return None if solution.x is None else np.asarray(np.rint(solution.x[:n_cells]))

    def possible(self, reach: Floats, end: float) -> float:
        """As near to an end as what is stated itself allows: of nine people, not each part has."""
        if not self.stated:
            return end
        solution = milp(
            reach,
            integrality=np.ones(len(reach), np.uint8),
            bounds=Bounds(0, np.inf),
            constraints=[
                *self._known(0),
                LinearConstraint(csr_array(reach[None]), end, np.inf),
            ],
            options={"time_limit": _SECONDS},
        )
        return end if solution.x is None else float(np.rint(reach @ solution.x))

    def _known(self, n_more: int) -> list[LinearConstraint]:
        """What is stated and what is the same, as rows of a program with some more columns."""
        forms = [s.cells.astype(np.float64) for s in self.stated]
        forms += [np.subtract(one, other, dtype=np.float64) for one, other in self.same]
        if not forms:
            return []
        none = csr_array((len(forms), n_more))
        zeros = [0.0] * len(self.same)
        return [
            LinearConstraint(
                hstack([csr_array(np.stack(forms)), none], "csr"),
                np.array([*(float(s.low) for s in self.stated), *zeros]),
                np.array([*(float(s.high) for s in self.stated), *zeros]),
            )
        ]


# What may be said of counts, so that no hidden one can be worked out: the one disclosure engine.

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

        matrix = np.stack(list(self.counts.values()))
        worth = np.array([self.worth[name] for name in self.counts])
        tables = ConsistentTables(self.cells, matrix, worth, self.stated, self.same)
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
