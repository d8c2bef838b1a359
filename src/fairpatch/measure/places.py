"""Limited places: how many people may be approved, whoever they are.

    rate(g) within low and high                    a range of approval rates
    rate(g) - rate(f) within -2 and 2 points       as many as before: ``kept``

The second is about the same people twice, so its error is that of promoted less demoted alone:
(p + q - (p - q)^2) / n for the shares p promoted and q demoted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from fairpatch._tools import checks as check
from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.verdict import Verdict
from fairpatch.measure.cells import Direction, cells
from fairpatch.measure.counts import Counts
from fairpatch.measure.hypothesis_tests import POWER, Judgement
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.rates import demoted_rate, promoted_rate, selection_rate

SLACK = 0.02
"""Of all people: how far "as many as before", or a single rate, may be missed. Whole points move
some people at a time; a batch is cut to the very number when the patch is applied."""
EXPECTED = (
    "approvals must be 'keep', a rate such as 0.45, a range such as [0.43, 0.46], or places among "
    "applicants as {'number': 450, 'of': 1000}, or by a column as {'by': 'requisition'}"
)


@dataclass(frozen=True)
class Places:
    """How many people may be approved, as a share of everybody."""

    low: float
    high: float
    kept: bool = False
    """Whether the range is of the difference from the base model's approval rate."""
    by: str | None = None
    """Column of batches, each of which has its own places: they are filled to the very number."""
    number: str | int | None = None
    """How many each has: of all the same, or in a column; None for as many as the base model."""
    name: str = "approvals"
    words: str = "approval rate"
    at_least: bool = False
    side: str = "at most"
    highest: float = 1.0

    @classmethod
    def of(cls, given: Any) -> "Places":
        """What a target asks for.

        >>> Places.of("keep").kept, Places.of({"number": 450, "of": 1_000}).high
        (True, 0.47)
        """
        if given == "keep":
            return cls(-SLACK, SLACK, kept=True)
        if isinstance(given, Mapping) and "by" in given:
            return cls(-SLACK, SLACK, kept=True, **_by_batch(given))
        if isinstance(given, Mapping):
            given = _places_among(given)
        if isinstance(given, list | tuple):
            low, high = _two(given)
            return cls(low, high)
        if isinstance(given, bool) or not isinstance(given, check.NUMBERS) or not 0 < given < 1:
            raise ValueError(f"{EXPECTED}; got {given!r}")
        return cls(max(float(given) - SLACK, 0.0), min(round(float(given) + SLACK, 12), 1.0))

    @property
    def middle(self) -> float:
        """What is aimed at."""
        return (self.low + self.high) / 2

    def aim(self, approved: Bools, weight: Floats | None = None) -> float:
        """The share to approve of people of whom f approves these."""
        return self.middle + self.kept * float(np.average(approved, weights=weight))

    def within(self, before: float) -> tuple[float, float]:
        """The range of approval rates, where the base model approves this share.

        >>> Places.of("keep").within(0.45)
        (0.43, 0.47)
        """
        shift = before if self.kept else 0.0
        return round(self.low + shift, 12), round(self.high + shift, 12)

    def met(self, values: Any, _: float) -> Any:
        """Whether values keep the range; places of a batch are filled to the very number."""
        if self.by is not None:
            return np.ones(np.shape(values), bool)
        return (values >= self.low - 1e-12) & (values <= self.high + 1e-12)

    def along(self, steps: Any) -> Floats:
        """What must lie in the range, at every step of a dial."""
        after = steps.approvals / steps.people
        return np.asarray(after - after[0] if self.kept else after)

    def judge(self, counts: Counts, _: float, confidence: float) -> Judgement:
        """Whether it lies in the range in the population: one test for each end, both at level."""
        estimate = self.estimate(counts, confidence)
        if self.by is not None:  # nothing that rows could show: it is so
            return Judgement(Verdict.CERTIFIED, estimate, counts.people)
        if estimate.value is None or estimate.low is None or estimate.high is None:
            return Judgement(Verdict.INCONCLUSIVE, estimate, counts.people)
        if self.low <= estimate.low and estimate.high <= self.high:
            return Judgement(Verdict.CERTIFIED, estimate, counts.people)
        if estimate.high < self.low or self.high < estimate.low:
            return Judgement(Verdict.REFUTED, estimate, counts.people)
        room = min(estimate.value - self.low, self.high - estimate.value)
        if room <= 0:
            return Judgement(Verdict.NOT_MET, estimate, counts.people)
        longer = 1 + ndtri(POWER) / -ndtri(1 - confidence)
        half = (estimate.high - estimate.low) / 2
        needed = int(np.ceil(counts.people * (longer * half / room) ** 2))
        return Judgement(Verdict.INCONCLUSIVE, estimate, counts.people, needed)

    def estimate(self, counts: Counts, confidence: float) -> Estimate:
        """What must lie in the range; each end of its interval is a limit at this confidence."""
        if not self.kept:
            return selection_rate("g").of(counts, confidence=2 * confidence - 1)
        everybody = counts.by()
        if not counts.total:
            return Estimate.undefined("there are no rows")
        weight = everybody.weight.sum()
        p, q = (
            float(everybody.in_cells(rate.hits, of="weight").sum() / weight)
            for rate in (promoted_rate(), demoted_rate())
        )
        size = float(weight**2 / everybody.weight_sq.sum())
        # one more each way, so that no changes at all do not mean no error
        error = float(np.sqrt((p + q - (p - q) ** 2 + 2 / size) / size))
        if everybody.parts is not None:  # people have several rows
            up, down, rows = (
                everybody.in_cells(mask, of="parts")[0]
                for mask in (promoted_rate().hits, demoted_rate().hits, cells())
            )
            apart = up - down - (p - q) * rows
            error = max(error, float(np.sqrt((apart**2).sum()) / weight))
        far = -float(ndtri(1 - confidence)) * error
        return Estimate(p - q, p - q - far, p - q + far)

    def said(self, _: float) -> str:
        """In words."""
        if self.by is not None:
            many = "as many as before" if self.number is None else f"{self.number}"
            return f"the places of every {self.by}: {many}"
        if self.kept:
            return f"as many approvals as before, within {100 * self.high:g} points"
        return f"approval rate {self.low:g} to {self.high:g}"


def _by_batch(given: Mapping[str, Any]) -> dict[str, Any]:
    """A column of batches, and how many places each has."""
    by, number = given.get("by"), given.get("number", "keep")
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool) and number > 0
    if set(given) - {"by", "number"} or not isinstance(by, str) or not (
        whole or isinstance(number, str)
    ):  # fmt: skip
        raise ValueError(f"{EXPECTED}; got {dict(given)!r}")
    return {"by": by, "number": None if number == "keep" else number}


def share_moved(before: float, after: float) -> str:
    """A share before and after, in words.

    >>> share_moved(0.45, 0.574), share_moved(0.45, 0.45)
    ('goes from 45.0% to 57.4%', 'stays at 45.0%')
    """
    one, two = f"{before:.1%}", f"{after:.1%}"
    return f"stays at {one}" if one == two else f"goes from {one} to {two}"


def _places_among(given: Mapping[str, Any]) -> float:
    """So many places among so many applicants, as a rate."""
    whole = all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in given.values())
    if set(given) != {"number", "of"} or not whole or not 0 < given["number"] < given["of"]:
        raise ValueError(f"{EXPECTED}; got {dict(given)!r}")
    return float(given["number"] / given["of"])


def _two(given: Any) -> tuple[float, float]:
    numbers = all(isinstance(v, check.NUMBERS) and not isinstance(v, bool) for v in given)
    if len(given) != 2 or not numbers or not 0 <= given[0] < given[1] <= 1:
        raise ValueError(f"{EXPECTED}; got {given!r}")
    return float(given[0]), float(given[1])


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
