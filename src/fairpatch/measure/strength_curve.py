"""The dial: what one trained ratio does at every strength, exactly, by one sort (METHOD section 4).

    r_s(x) = 1 + s (r(x) - 1)        s = 0 is the base model, s = 1 the patch as trained

A person with r < 1 changes when s passes 1 / (1 - r), and never changes back. So the people in the
order of those numbers are the whole dial: after k of them, the counts are cumulative sums. Metrics
are read off them by ``fairpatch.measure.metric``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch.measure.cells import Direction, untouched
from fairpatch.measure.comparisons import Layers, mix


@dataclass(frozen=True, eq=False)
class Priced:
    """Of every row, what approving and refusing cost given its outcome, and what a change does."""

    approve: Floats
    refuse: Floats
    change: Floats

    def losses(self, approved: Bools) -> Floats:
        """What each decision costs."""
        return np.where(approved, self.approve, self.refuse)

    def mean(self, approved: Bools, weight: Floats | None = None) -> float:
        """The mean cost of decisions."""
        return float(np.average(self.losses(approved), weights=weight))

    @property
    def unit(self) -> float:
        """What a decision that differs costs at most, on average: a change, and an error."""
        return float(self.change.mean() + np.maximum(self.approve, self.refuse).mean())


Counted = NDArray[Any]
"""Whole numbers, or floats where rows have weights."""


@dataclass(frozen=True, eq=False)
class StrengthCurve:
    """One ratio at every strength: entry k is the state between two at which somebody changes.

    Attributes
    ----------
    start : the strength that each stretch begins after; the first is 0.
    strength : a strength inside each stretch; the first is 0, where nobody has changed.
    positive : decisions of 1 by group and label, (stretches, groups, 2); of people whose label is
        not known, parts of both by what is expected.
    size : people by group and label, (groups, 2).
    risen, below : the same of those who are promoted, and of all whom f denies.
    fallen, above : of those who are demoted, and of all whom f approves.
    changed : changed decisions, (stretches,).
    promoted, promoted_good : of those whom f denies, who is approved, and of them with y = 1.
    denied, denied_good : whom f denies, and of them with y = 1.
    kept, compared : decisions as they were previous, and of how many people that is known.
    loss, spent : what wrong decisions and changes cost; as many as there are, without costs.

    With weights, each row counts for so many people.
    """

    start: Floats
    strength: Floats
    positive: Counted
    size: Counted
    risen: Counted
    below: Counted
    fallen: Counted
    above: Counted
    changed: Counted
    people: float
    correct: Counted
    promoted: Counted
    promoted_good: Counted
    denied: float
    denied_good: float
    kept: Counted
    loss: Counted
    spent: Counted
    compared: float = 0.0

    def at(self, strength: Any) -> Any:
        """The stretch that a strength, or each of several, lies in."""
        return np.maximum(np.searchsorted(self.start, strength, side="left") - 1, 0)

    def only(self, k: Any) -> "StrengthCurve":
        """Only some of the stretches, or one."""
        k = np.atleast_1d(k)
        return replace(self, **{name: getattr(self, name)[k] for name in BY_STRETCH})

    def of_groups(self, which: Any) -> "StrengthCurve":
        """Of some groups only."""
        at = list(which)
        return replace(
            self, positive=self.positive[:, at], size=self.size[at], risen=self.risen[:, at],
            below=self.below[at], fallen=self.fallen[:, at], above=self.above[at],
        )  # fmt: skip

    @property
    def change_rate(self) -> Floats:
        """Share of changed decisions."""
        return self.changed / self.people

    @property
    def approvals(self) -> Counted:
        """Approved people."""
        return np.asarray(self.people - self.denied + 2 * self.promoted - self.changed)

    @property
    def accuracy(self) -> Floats:
        """Share of decisions that equal y."""
        return self.correct / self.people

    @property
    def mean_loss(self) -> Floats:
        """What wrong decisions cost, for each person."""
        return np.asarray(self.loss / self.people)

    @property
    def mean_spent(self) -> Floats:
        """What changes cost, for each person."""
        return np.asarray(self.spent / self.people)

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
    "start", "strength", "positive", "risen", "fallen", "changed", "correct", "promoted",
    "promoted_good", "kept", "loss", "spent",
)  # fmt: skip


def trace(
    ratio: Floats,
    f_logit: Floats,
    good: Floats,
    group: Ints,
    *,
    direction: Direction = "both",
    most: float = np.inf,
    weight: Floats | None = None,
    previous: Ints | None = None,
    strengths: Floats | None = None,
    priced: Priced | None = None,
) -> StrengthCurve:
    """Follow one ratio from strength 0 to ``most``; people of group -1 are in no group.

    ``good`` is each one's label, or the chance of the good one where it is not known.

    One sort of the people who may change. Where the dial may stand at some ``strengths`` only, as a
    card's at whole prices, not even that: each of them falls between two strengths.
    """
    approved = f_logit > 0
    may = np.flatnonzero((ratio < 1) & ~untouched(direction, approved))
    at = 1 / (1 - ratio[may])
    may, at = may[at < most], at[at < most]
    if strengths is None:  # a stretch ends where the next person changes; equal numbers do together
        ends, place = np.unique(at, return_inverse=True)
        ahead = np.append(ends[1:], min(most, 2 * ends[-1] + 1)) if len(ends) else ends
        start, strength, place = np.append(0.0, ends), np.append(0.0, (ends + ahead) / 2), place + 1
    else:
        start, strength = np.nextafter(strengths, -np.inf), strengths
        place = np.searchsorted(strengths, at, side="right")

    # people by group (none first), label, f's decision and yesterday's (unknown first); and of
    # them who has changed, along the dial
    past = np.full(len(good), -1) if previous is None else previous
    shape = (int(group.max()) + 2, 2, 2, 3 if previous is not None else 1)
    n_cells, n_steps = int(np.prod(shape)), len(strength)
    n: Counted = np.zeros(n_cells, np.intp)
    turned: Counted = np.zeros(n_steps * n_cells, np.intp)
    for label, counted in _by_label(good, weight):
        cell = np.ravel_multi_index((group + 1, label, approved, past + 1), shape)
        n = n + np.bincount(cell, counted, n_cells)
        own = None if counted is None else counted[may]
        changing = np.bincount(place * n_cells + cell[may], own, n_steps * n_cells)
        turned = turned + changing[: n_steps * n_cells]
    n, moved = n.reshape(shape), turned.reshape(n_steps, *shape).cumsum(0)

    def equal(same: NDArray[np.bool_], known: NDArray[np.bool_]) -> Counted:
        """Decisions that equal others, along the dial: a change ends it, or brings it about."""
        gained = np.where(same, -1, 1) * known
        return np.asarray((n * same * known).sum() + (moved * gained).sum((1, 2, 3, 4)))

    def summed(each: Floats) -> Counted:
        """What those who change have of something, along the dial."""
        own = each[may] if weight is None else each[may] * weight[may]
        return np.bincount(place, own, n_steps)[:n_steps].cumsum()

    as_y = np.eye(2, dtype=bool)[:, :, None]
    before = np.arange(shape[-1]) - 1
    as_previous = np.arange(2)[:, None] == before
    changed, correct = moved.sum((1, 2, 3, 4)), equal(as_y, np.ones(1, bool))
    loss, spent = n.sum() - correct, changed
    if priced is not None:
        now, then = priced.losses(approved), priced.losses(~approved)
        w = np.ones(len(good)) if weight is None else weight
        loss, spent = float(w @ now) + summed(then - now), summed(priced.change)
    return StrengthCurve(
        start=start,
        strength=strength,
        positive=n[1:, :, 1].sum(-1) + (moved[:, 1:, :, 0] - moved[:, 1:, :, 1]).sum(-1),
        size=n[1:].sum((2, 3)),
        risen=moved[:, 1:, :, 0].sum(-1),
        below=n[1:, :, 0].sum(-1),
        fallen=moved[:, 1:, :, 1].sum(-1),
        above=n[1:, :, 1].sum(-1),
        changed=changed,
        people=float(n.sum()),
        correct=correct,
        promoted=moved[:, :, :, 0].sum((1, 2, 3)),
        promoted_good=moved[:, :, 1, 0].sum((1, 2)),
        denied=float(n[:, :, 0].sum()),
        denied_good=float(n[:, 1, 0].sum()),
        kept=equal(as_previous, before >= 0),
        loss=np.asarray(loss),
        spent=np.asarray(spent),
        compared=float(n[..., 1:].sum()),
    )


def _by_label(good: Floats, weight: Floats | None) -> list[tuple[Ints, Floats | None]]:
    """Everybody with their label; where some have none, everybody in part with either."""
    labels = good.astype(np.intp)
    if (labels == good).all():
        return [(labels, weight)]
    w = np.ones(len(good)) if weight is None else weight
    return [(np.full(len(good), label), w * part) for label, part in ((0, 1 - good), (1, good))]


Traced = Callable[..., StrengthCurve]
"""Codes of groups and weights in, a dial out."""


def in_layers(
    layers: Layers, group: Ints, weight: Floats | None, traced: Traced
) -> dict[str, StrengthCurve]:
    """The dials of one feature, by what they are called."""
    strata, groups = layers.kept.shape
    inside = (layers.code >= 0) & (group >= 0)
    inside &= layers.kept[layers.code, group]
    shift = 0 if layers.standardised else layers.code * groups
    codes = np.where(inside, shift + group, -1)
    whole = traced(codes)
    if layers.standardised:
        w = np.ones(len(group)) if weight is None else weight
        size = np.zeros((groups, strata))
        np.add.at(size, (group[inside], layers.code[inside]), w[inside])
        factor = np.zeros(len(group))
        factor[inside] = mix(size)[group[inside], layers.code[inside]]
        weighed = traced(codes, w * factor)
        whole = replace(whole, positive=weighed.positive, size=weighed.size)
    return {name: whole.of_groups(which) for name, which in layers.blocks}
