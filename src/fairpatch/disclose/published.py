"""A count as it may be shown, and a sum of which no more may be learned."""

from dataclasses import dataclass

from fairpatch._arrays import Bools

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
