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

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    confidence : float
        Level of the interval.
    method : {"wilson", "clopper_pearson"}
        How the interval is computed.

    Returns
    -------
    Estimate
        The value with its interval, or the reason why there is none.

    Examples
    --------
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
    """Promotions and demotions in each group.

    Parameters
    ----------
    counts : Counts
        Decisions by group and label.
    confidence : float
        Level of the interval.
    method : {"wilson", "clopper_pearson"}
        How the interval is computed.

    Returns
    -------
    dict of group to Changes
        Promotions and demotions, in rows and as rates.
    """
    up = promoted_rate().by_group(counts, confidence=confidence, method=method)
    down = demoted_rate().by_group(counts, confidence=confidence, method=method)
    moved = counts.along("group", "before", "after")
    return {
        name: Changes(int(moved[i, 0, 1]), int(moved[i, 1, 0]), up[name], down[name])
        for i, name in enumerate(counts.group_names)
    }
