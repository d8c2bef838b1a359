"""What speaks against a patch, whatever metric it meets: the choice heeds it, the review says it.

A finding is a figure here, and a level; its words are the review's.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.dial import Dial
from fairpatch.floor import MIN_PEOPLE

SLIGHTLY, SURE = 1.0, 1.645
"""Standard errors from which on a difference is looked at, and is no chance (one side, 95 %)."""
MANY = 0.2
"""Of all decisions, the share that may change before it is another model."""
TIMES = 3.0
"""Times the fewest changes."""


def outcome_gap(first: Floats, second: Floats) -> float | None:
    """How much oftener the first have the good outcome, in standard errors; None where few.

    Each is the number of people by label.
    """
    sizes = first.sum(), second.sum()
    if min(sizes) < MIN_PEOPLE:
        return None
    pooled = (first[1] + second[1]) / sum(sizes)
    error = np.sqrt(max(pooled * (1 - pooled), 1e-12) * (1 / sizes[0] + 1 / sizes[1]))
    return float((first[1] / sizes[0] - second[1] / sizes[1]) / error)


def worst_outcome(dials: Mapping[str, Dial], strength: float) -> float:
    """Of all groups, the least gap between those who are promoted and those left denied.

    All groups together would mix them: the disadvantaged one has fewer good outcomes. 0 where
    nobody can say.
    """
    return min(_gaps(dials, strength), default=0.0)


def _gaps(dials: Mapping[str, Dial], strength: float) -> Iterator[float]:
    for dial in dials.values():
        risen = dial.risen[int(dial.at(strength))]
        for up, below in zip(risen, dial.below, strict=True):
            gap = outcome_gap(up, below - up)
            if gap is not None:
                yield gap


def stops_of(
    gap: float, rate: float, least: float | None, *, in_order: bool
) -> tuple[str, ...]:  # fmt: skip
    """What a review would stop, of figures on people whom a candidate has not seen."""
    found = {
        "the promoted turn out worse than those left denied in their group": gap < -SLIGHTLY,
        "so many decisions change that it is another model": len(too_many(rate, least)) > 1,
        "points turn the base model's order round": not in_order,
    }
    return tuple(words for words, holds in found.items() if holds)


def too_many(rate: float, least: float | None) -> list[str]:
    """Which limits of a patch so many changes are beyond: a share of all, and times the fewest."""
    found = ["share"] if rate > MANY else []
    return [*found, "times"] if least and rate > TIMES * least else found
