"""Whether the same people would change if it were learned again, and what search could gain."""

from collections.abc import Sequence

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.explain.stability import Stability
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.metric import Metric
from fairpatch.report.coarse import Beside, decided
from fairpatch.report.figures import Figure, Shown

CONFIDENCE = 0.95
MANY_PEOPLE = 100
"""Who change, at least, so that a share of them to two digits counts nobody."""


class StabilitySection(Shown):
    """Learned again on bootstraps of these people, turned to as many changes each time."""

    refits: int
    """How often."""
    of_changed: float
    """Of the changes, the share that a refit makes too, on average."""
    firm: float
    """Of the changes, the share that at least 4 of 5 refits make too."""
    reached: list[Figure]
    """What was asked for first, in each refit, with as many changes."""
    better: int
    """How many refits reach more than the patch does, with as many changes."""
    chance: float
    """With 95 % confidence, one more refit reaches more than the best so far at most this often."""


def stability_section(
    again: Stability, rows: Rows, metric: Metric, after: Figure, beside: Beside
) -> StabilitySection:
    """How far refits agree, and how good they get."""
    before = rows.f > 0
    reached = [
        beside.compared(metric, decided(rows, before ^ changed_rows)) for changed_rows in again.sets
    ]
    return StabilitySection(
        refits=again.refits,
        of_changed=round(again.of_changed, 2),
        firm=round(again.firm, 2),
        reached=reached,
        better=_better(reached, after, metric),
        chance=chance_of_better(again.refits),
    )


def enough_change(changed: Bools, table: Protected) -> bool:
    """Whether a share of those who change would tell of no few people; else nobody need refit."""
    return bool(changed.sum() >= (2 * MIN_PEOPLE if table.whole else MANY_PEOPLE))


def chance_of_better(tries: int) -> float:
    """How often one more try may beat the best of so many, with 95 % confidence, rounded up.

    Tries that are drawn alike fall above the best of k with a chance p that is below
    1 - 0.05 ** (1 / k) in 95 of 100 searches: were p larger, k misses in a row would be rarer.

    >>> [chance_of_better(k) for k in (5, 20, 100)]
    [0.46, 0.14, 0.03]
    """
    return float(np.ceil((1 - (1 - CONFIDENCE) ** (1 / tries)) * 100 - 1e-9) / 100)


def _better(reached: Sequence[Figure], after: Figure, metric: Metric) -> int:
    """Refits whose middle is clearly beyond what the patch reaches."""
    if after.middle is None:
        return 0
    sign = 1 if metric.at_least else -1
    return sum(r.middle is not None and sign * (r.middle - after.middle) > 0.005 for r in reached)
