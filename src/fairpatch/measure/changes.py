"""How many decisions g takes otherwise than f, and in which direction: functions of Counts."""

from dataclasses import dataclass

from fairpatch.measure import intervals
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import changed_rate, demoted_rate, promoted_rate


def change_rate(
    counts: Counts, *, confidence: float = 0.95, method: intervals.Method = "clopper_pearson"
) -> Estimate:
    """P(decision of g != decision of f).

    >>> print(change_rate(Counts.from_arrays(
    ...     decision=[1, 0, 0, 0], new_decision=[1, 1, 0, 0], sensitive_features=list("abab"))))
    0.250 [0.006, 0.806]
    """
    return changed_rate().of(counts, confidence=confidence, method=method)


@dataclass(frozen=True)
class Changes:
    """Promotions (0 to 1) and demotions (1 to 0), in rows and as rates."""

    promoted: int
    demoted: int
    promotion_rate: Estimate
    demotion_rate: Estimate


def changes_by_group(
    counts: Counts, *, confidence: float = 0.95, method: intervals.Method = "clopper_pearson"
) -> dict[str, Changes]:
    """Promotions and demotions in each group."""
    up = promoted_rate().by_group(counts, confidence=confidence, method=method)
    down = demoted_rate().by_group(counts, confidence=confidence, method=method)
    moved = counts.n.sum(1)  # (group, f, g)
    return {
        name: Changes(int(moved[i, 0, 1]), int(moved[i, 1, 0]), up[name], down[name])
        for i, name in enumerate(counts.group_names)
    }
