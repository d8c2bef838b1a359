"""Every rate is two sets of cells of the table of counts: the hits, and those they are among.

A cell is (y, decision of f, decision of g), y being 0, 1 or unknown. TPR, accuracy, change rate and
the others differ in nothing but those two sets.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from fairpatch._tools.arrays import Bools, Floats
from fairpatch.inputs.values import PARTS
from fairpatch.measure import intervals
from fairpatch.measure.cells import UNKNOWN, cells, coordinates
from fairpatch.measure.counts import Counts
from fairpatch.measure.intervals import Estimate

Model = Literal["f", "g"]
NORMAL = 1.959964
"""What bounds a normal deviate with 95 %; a ratio to Student's stands for other levels, too."""

SOME_ONLY = {
    "approved": "outcomes are known of the approved only",
    "sample": "outcomes of the denied are known of a sample of them only",
}
"""Why a rate among labels is not one of everybody."""
_Y, _F, _G = coordinates()
_ALL = cells()


@dataclass(frozen=True, eq=False)
class Rate:
    """The share of ``hits`` among ``among``; both are sets of cells of ``Counts``."""

    hits: Bools
    among: Bools
    nobody: str
    """What it means that nobody is in ``among``."""

    def per_group(self, counts: Counts) -> tuple[Floats, Floats]:
        """Hits k and size n of each group; with weights, n is the effective number of rows.

        As many as would give p = k / n the variance that the weights do, which may go with the
        hits (linearised): p (1 - p) / n = ((1 - p)^2 W2_hit + p^2 W2_miss) / W^2. Where all or
        none are hits, it is Kish's W^2 / W2.
        """
        if counts.parts is not None:
            return self._by_person(counts)
        weight = counts.in_cells(self.among, of="weight")
        squares = counts.in_cells(self.among, of="weight_sq")
        hits_sq = counts.in_cells(self.hits & self.among, of="weight_sq")
        with np.errstate(invalid="ignore", divide="ignore"):
            p = counts.in_cells(self.hits & self.among, of="weight") / weight
            spread = (1 - p) ** 2 * hits_sq + p**2 * (squares - hits_sq)
            inside = (p > 0) & (p < 1) & (spread > 0)
            n = np.where(inside, p * (1 - p) * weight**2 / spread, weight**2 / squares)
            n = np.where(weight > 0, n, 0.0)
        return np.where(n > 0, p * n, 0.0), n

    def _by_person(self, counts: Counts) -> tuple[Floats, Floats]:
        """The same where people have several rows, which are not independent of each other.

        With K of N hits in a part of all people, and u = K - p N: p (1 - p) / n = sum u^2 / (sum
        N)^2. Few people have a wider interval, as Student's. Where all or none are hits, each
        person counts as much as a row: n = (sum N)^2 / sum_person N^2, which parts estimate.
        """
        hits = counts.in_cells(self.hits & self.among, of="parts")
        among = counts.in_cells(self.among, of="parts")
        total = among.sum(1)
        there = np.maximum((among > 0).sum(1), 2)  # parts with somebody in them
        with np.errstate(invalid="ignore", divide="ignore"):
            p = hits.sum(1) / total
            u = hits - p[:, None] * among
            spread = (u**2).sum(1) * there / (there - 1)
            squares = among.var(1) * among.shape[1]
            squares = np.where(there < PARTS / 2, (among**2).sum(1), np.maximum(squares, total))
            inside = (p > 0) & (p < 1) & (spread > 0)
            n = np.where(inside, p * (1 - p) * total**2 / spread, total**2 / squares)
            n = n * (NORMAL / students(there - 1)) ** 2
        n = np.where(total > 0, n, 0.0)
        return np.where(n > 0, p * n, 0.0), n

    @property
    def labels(self) -> Bools:
        """Which labels, 0 and 1, it is among."""
        return np.asarray(self.among[:UNKNOWN].any((1, 2)))

    def refused(self, counts: Counts) -> str | None:
        """Why labels do not give it, where they are known of some people only.

        Of those whom f approves, labels are as good as ever. Of those whom it denies, only where
        who has one stands for the others; and of both together not at all.
        """
        if counts.outcomes == "everybody" or self.among[UNKNOWN].any():
            return None
        denied, approved = (bool(self.among[:UNKNOWN, f].any()) for f in (0, 1))
        if not denied or (not approved and counts.outcomes == "sample"):
            return None
        return SOME_ONLY[str(counts.outcomes)]

    def along(self, positive: Floats, size: Floats) -> Floats:
        """The rate of each group in a sequence of counts: (steps, groups).

        ``positive`` has the decisions of 1 by step, group and label, ``size`` the people by group
        and label. For rates that do not look at f's decision.
        """
        hits, among = (mask[:UNKNOWN, 0] for mask in (self.hits & self.among, self.among))
        k = positive @ hits[:, 1].astype(float) + (size - positive) @ hits[:, 0].astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(k / (size @ among.any(1).astype(float)))

    def of(
        self,
        counts: Counts,
        *,
        confidence: float = 0.95,
        method: intervals.Method = "wilson",
    ) -> Estimate:
        """The rate over everybody in ``counts``."""
        why = self.refused(counts)
        if why is not None:
            return Estimate.undefined(why)
        k, n = self.per_group(counts.by())
        return share(float(k.sum()), float(n.sum()), self.nobody, confidence, method)

    def by_group(
        self,
        counts: Counts,
        *,
        confidence: float = 0.95,
        method: intervals.Method = "wilson",
    ) -> dict[str, Estimate]:
        """The rate in each group."""
        why = self.refused(counts)
        if why is not None:
            return dict.fromkeys(counts.group_names, Estimate.undefined(why))
        k, n = self.per_group(counts)
        low, high = intervals.rate(k, n, confidence, method)
        return {
            name: Estimate(float(k[i] / n[i]), float(low[i]), float(high[i]))
            if n[i] > 0
            else Estimate.undefined(self.nobody)
            for i, name in enumerate(counts.group_names)
        }


def students(freedom: Any) -> Floats:
    """What bounds Student's t with 95 %."""
    return np.asarray(stdtrit(np.asarray(freedom, np.float64), 0.975))


def share(
    k: float,
    n: float,
    nobody: str,
    confidence: float = 0.95,
    method: intervals.Method = "wilson",
) -> Estimate:
    """k of n with its interval; undefined where n is 0, for the reason given."""
    if not n:
        return Estimate.undefined(nobody)
    low, high = intervals.rate(np.array([k]), np.array([n]), confidence, method)
    return Estimate(float(k / n), float(low[0]), float(high[0]))


def _decision(model: Model) -> NDArray[np.int_]:
    if model not in ("f", "g"):
        raise ValueError(
            f"model must be 'f' (the base model) or 'g' (the patched one), got {model!r}"
        )
    return _F if model == "f" else _G


def selection_rate(model: Model = "g") -> Rate:
    """P(decision = 1)."""
    return Rate(_ALL & (_decision(model) == 1), _ALL, "there are no rows")


def true_positive_rate(model: Model = "g") -> Rate:
    """P(decision = 1 | y = 1)."""
    return Rate(_ALL & (_decision(model) == 1), _ALL & (_Y == 1), "there are no rows with y = 1")


def false_positive_rate(model: Model = "g") -> Rate:
    """P(decision = 1 | y = 0)."""
    return Rate(_ALL & (_decision(model) == 1), _ALL & (_Y == 0), "there are no rows with y = 0")


def correct_rate(model: Model = "g") -> Rate:
    """P(decision = y)."""
    return Rate(_ALL & (_decision(model) == _Y), _ALL & (_Y != UNKNOWN), "no row has a label")


def base_rate() -> Rate:
    """P(y = 1)."""
    return Rate(_ALL & (_Y == 1), _ALL & (_Y != UNKNOWN), "no row has a label")


def approved_outcome() -> Rate:
    """P(y = 1 | f decides 1)."""
    return Rate(_ALL & (_Y == 1), _ALL & (_Y != UNKNOWN) & (_F == 1), "nobody")


def changed_rate() -> Rate:
    """P(decision of g != decision of f)."""
    return Rate(_ALL & (_F != _G), _ALL, "there are no rows")


def promoted_rate() -> Rate:
    """P(f decides 0 and g decides 1)."""
    return Rate(_ALL & (_F < _G), _ALL, "there are no rows")


def demoted_rate() -> Rate:
    """P(f decides 1 and g decides 0)."""
    return Rate(_ALL & (_F > _G), _ALL, "there are no rows")
