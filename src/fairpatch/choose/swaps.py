"""Limited places: for every number of points that gains an approval, the one that loses it.

A dial turns one number. Where places are limited it turns two, and the second follows from the
first: as many approvals are withdrawn as are given beyond the places there are,

    demoted(lose)  is nearest to  promoted(gain) + approved by f - places

so that one sort is still the whole dial. Points are counted from the candidate's constant.
"""

from dataclasses import dataclass

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.measure.direction import Direction

NOBODY = 100_000
"""Points below zero that nobody has: no approval is withdrawn."""


@dataclass(frozen=True, eq=False)
class Swaps:
    """Points needed to gain an approval, the most first, and those needed to lose one."""

    gain: Ints
    lose: Ints

    @classmethod
    def of(
        cls, points: Floats, confidence: Floats, f_logit: Floats, gain: Floats, places: float,
        weight: Floats | None = None,
    ) -> "Swaps":  # fmt: skip
        """Of some rows, so that the share of ``places`` is approved; nobody is withdrawn before."""
        w = np.ones(len(points)) if weight is None else weight
        approved = f_logit > 0
        up = _at_least(points[~approved] - confidence[~approved], w[~approved], gain)
        margin = -points[approved] - confidence[approved]
        levels = np.unique(margin[margin > -NOBODY])[::-1]  # who is locked never loses
        down = np.append(0.0, _at_least(margin, w[approved], levels))
        wanted = np.maximum(up + w[approved].sum() - places * w.sum(), 0.0)
        nearest = np.maximum.accumulate(np.abs(down - wanted[:, None]).argmin(1))
        return cls(gain.astype(np.int64), np.append(NOBODY, levels)[nearest].astype(np.int64))

    def lose_at(self, needed: int) -> int:
        """The points needed to lose an approval, where so many gain one."""
        k = int(np.searchsorted(-self.gain, -needed))
        return int(self.lose[min(k, len(self.lose) - 1)])

    def direction_at(self, needed: int) -> Direction:
        """Both ways, or one where nobody loses yet."""
        return "promote_only" if self.lose_at(needed) >= NOBODY else "both"

    def short(self, lacking: Floats) -> Floats:
        """Of people whom f approves: what they lack of losing, as if it were of gaining.

        ``lacking`` is points and confidence together: somebody loses where its negative is at least
        ``lose``.
        """
        # the first place of the dial whose ``lose`` is low enough
        k = np.searchsorted(-self.lose, lacking, side="left")
        never = k == len(self.lose)
        return np.where(never, float(NOBODY), -self.gain[np.minimum(k, len(self.gain) - 1)])


def _at_least(margin: Floats, weight: Floats, levels: Floats) -> Floats:
    """How many people have a margin of at least each level."""
    order = np.argsort(margin, kind="stable")
    from_top = np.append(weight[order][::-1].cumsum()[::-1], 0.0)
    return np.asarray(from_top[np.searchsorted(margin[order], levels)])
