"""The dial: what one trained ratio does at every strength, exactly, by one sort (METHOD section 4).

    r_s(x) = 1 + s (r(x) - 1)        s = 0 is the base model, s = 1 the patch as trained

A person with r < 1 changes when s passes 1 / (1 - r), and never changes back. So the people in the
order of those numbers are the whole dial: after k of them, the counts are cumulative sums. Metrics
are read off them by ``fairpatch.measure.metric``.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Floats, Ints
from fairpatch.measure.direction import Direction, untouched

Counted = NDArray[Any]
"""Whole numbers, or floats where rows have weights."""


@dataclass(frozen=True, eq=False)
class Dial:
    """One ratio at every strength: entry k is the state between two at which somebody changes.

    Attributes
    ----------
    start : the strength that each stretch begins after; the first is 0.
    strength : a strength inside each stretch; the first is 0, where nobody has changed.
    positive : decisions of 1 by group and label, (stretches, groups, 2).
    size : people by group and label, (groups, 2).
    changed : changed decisions, (stretches,).
    promoted, promoted_good : of those whom f denies, who is approved, and of them with y = 1.
    denied, denied_good : whom f denies, and of them with y = 1.
    kept, compared : decisions as they were yesterday, and of how many people that is known.

    With weights, each row counts for so many people.
    """

    start: Floats
    strength: Floats
    positive: Counted
    size: Counted
    changed: Counted
    people: float
    correct: Counted
    promoted: Counted
    promoted_good: Counted
    denied: float
    denied_good: float
    kept: Counted
    compared: float = 0.0

    def at(self, strength: Any) -> Any:
        """The stretch that a strength, or each of several, lies in."""
        return np.maximum(np.searchsorted(self.start, strength, side="left") - 1, 0)

    def only(self, k: Any) -> "Dial":
        """Only some of the stretches, or one."""
        k = np.atleast_1d(k)
        return replace(self, **{name: getattr(self, name)[k] for name in BY_STRETCH})

    def read_at(self, strengths: Floats) -> "Dial":
        """The same dial where it may stand at some strengths only."""
        start = np.nextafter(strengths, -np.inf)
        return replace(self.only(self.at(strengths)), start=start, strength=strengths)

    @property
    def change_rate(self) -> Floats:
        """Share of changed decisions."""
        return self.changed / self.people

    @property
    def accuracy(self) -> Floats:
        """Share of decisions that equal y."""
        return self.correct / self.people

    @property
    def churn(self) -> Floats:
        """Share of decisions that are not as yesterday; 0 where yesterday is not known."""
        return (self.compared - self.kept) / max(self.compared, 1.0)

    @property
    def outcomes(self) -> tuple[Floats, Floats]:
        """Share with y = 1 of those who are promoted, and of those who are left denied."""
        with np.errstate(invalid="ignore", divide="ignore"):
            left = self.denied - self.promoted
            return (
                np.where(self.promoted > 0, self.promoted_good / self.promoted, np.nan),
                np.where(left > 0, (self.denied_good - self.promoted_good) / left, np.nan),
            )


BY_STRETCH = (
    "start", "strength", "positive", "changed", "correct", "promoted", "promoted_good", "kept"
)  # fmt: skip


def trace(
    ratio: Floats,
    f_logit: Floats,
    y: Ints,
    group: Ints,
    *,
    direction: Direction = "both",
    most: float = np.inf,
    weight: Floats | None = None,
    yesterday: Ints | None = None,
) -> Dial:
    """Follow one ratio from strength 0 to ``most``; people of group -1 are in no group.

    O(n log n) in the number of people.
    """
    n_groups = int(group.max()) + 1
    approved = f_logit > 0
    may = (ratio < 1) & (f_logit != 0) & ~untouched(direction, approved)
    with np.errstate(divide="ignore"):
        at = np.where(may, 1 / (1 - ratio), np.inf)
    order = np.argsort(at, kind="stable")
    order = order[at[order] < most]
    turning = at[order]
    # A stretch ends where the next person's number is larger; equal numbers change together.
    last = np.append(turning[1:] > turning[:-1], True) if len(order) else np.empty(0, bool)
    ends = turning[last]
    ahead = np.append(ends[1:], min(most, 2 * ends[-1] + 1)) if len(ends) else np.empty(0)
    strength = np.append(0.0, (ends + ahead) / 2)

    w: Counted = np.ones(len(y), np.int64) if weight is None else weight
    step = np.where(approved, -w, w)  # a change takes an approval away, or gives one
    positive = np.zeros((len(strength), n_groups, 2), w.dtype)
    size = np.zeros((n_groups, 2), w.dtype)
    for g in range(n_groups):
        for label in (0, 1):
            here = (group == g) & (y == label)
            size[g, label] = w[here].sum()
            moves = np.where(here[order], step[order], 0).cumsum()[last]
            positive[:, g, label] = w[here & approved].sum() + np.append(0, moves)

    def equal(other: Ints) -> Counted:
        """Decisions that equal others, along the dial; of people of whom -1 is known, none."""
        here, same = np.where(other >= 0, w, 0), (other == 1) == approved
        gained = np.where(same, -here, here)[order].cumsum()[last]
        return np.asarray(here[same].sum() + np.append(0, gained))

    past = np.full(len(y), -1) if yesterday is None else yesterday
    changed = np.append(0, w[order].cumsum()[last])
    good = y == 1
    up, up_good = (
        np.append(0, np.where(who[order], w[order], 0).cumsum()[last])
        for who in (~approved, ~approved & good)
    )
    return Dial(
        np.append(0.0, ends), strength, positive, size, changed, float(w.sum()), equal(y),
        up, up_good, float(w[~approved].sum()), float(w[~approved & good].sum()),
        equal(past), float(w[past >= 0].sum()),
    )  # fmt: skip
