"""A frontier as it may be published: shares by full tens of people, small groups left out.

To the last digit, a ratio and a difference of two rates give a group of 24 its exact count. Whoever
knows a person's columns knows at which strength they change: steps by one would tell their group.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from fairpatch.choose.frontier import Frontier
from fairpatch.disclose.tens import ends_of
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.dial import Counted, Dial
from fairpatch.measure.metric import Metric

Ends = tuple[float, float]
"""What a share lies between, to three digits."""


@dataclass(frozen=True, eq=False)
class InTens:
    """Which groups of a frontier may be shown, and shares of their people."""

    large: dict[str, list[int]]
    """By feature, the groups of at least ten people, in the order of the dials; two or more."""
    sized: bool = False
    """Whether it is no secret how many people each group has."""
    exact: bool = False
    """Whether small counts are shown as they are."""

    @classmethod
    def of(cls, frontier: Frontier, metrics: Sequence[Metric], *, exact: bool = False) -> Self:
        """What may be shown of a frontier, where these metrics are."""
        large = {}
        for name in frontier.counts.features:
            if name not in frontier.dials[0]:  # in strata, or against a reference
                continue
            sizes = [size for _, size in groups_in_order(frontier, name)]
            groups = [i for i, size in enumerate(sizes) if size >= MIN_PEOPLE]
            if len(groups) > 1:
                large[name] = groups
        whole = all(
            len(groups) == len(frontier.counts.by(name).groups) for name, groups in large.items()
        ) and len(large) == len(frontier.counts.features)
        # how many have each label is told nowhere
        sized = whole and not any(metric.given_y for metric in metrics)
        return cls(large, sized, exact)

    def only(self, dials: Mapping[str, Dial]) -> list[Dial]:
        """Of each feature's dial, the groups that are shown."""
        return [dials[name].of_groups(groups) for name, groups in self.large.items()]

    def share(self, hits: float, among: float, *, known: bool | None = None) -> Ends:
        """What a share lies between."""
        return self._outwards(
            *self._ends(hits, among, known=self.sized if known is None else known)
        )

    def metric(self, metric: Metric, positive: Counted, size: Counted) -> Ends:
        """What a metric lies between at one stretch of a dial, (groups, labels)."""
        low = high = 0.0
        for make in metric.rates:
            labels = make("g").labels
            ends = metric.between(
                [
                    self._ends(float(p[labels].sum()), float(n[labels].sum()), known=self.sized)
                    for p, n in zip(positive, size, strict=True)
                ]
            )
            low, high = low + ends[0], high + ends[1]
        return self._outwards(low, high, metric.highest)

    def _ends(self, hits: float, among: float, *, known: bool) -> Ends:
        return ends_of(hits, among, known=known, exact=self.exact)

    def _outwards(self, low: float, high: float, most: float = 1.0) -> Ends:
        return float(np.floor(low * 1000) / 1000), float(min(most, np.ceil(high * 1000) / 1000))


def groups_in_order(frontier: Frontier, feature: str) -> list[tuple[str, int]]:
    """The groups of a feature with their people, as dials have them: ordered as text."""
    counts = frontier.counts.by(feature).known()
    both = zip(counts.groups, counts.sizes.tolist(), strict=True)
    return sorted(((str(value), size) for (value,), size in both), key=lambda pair: pair[0])
