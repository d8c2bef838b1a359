"""Scores by group: histograms with those who change, calibration, and whether order survives."""

import numpy as np
from scipy.special import expit

from fairpatch._arrays import Bools, Floats
from fairpatch.base import scores_of, threshold_odds, thresholds_of
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.rates import (
    demoted_rate,
    false_positive_rate,
    promoted_rate,
    selection_rate,
    true_positive_rate,
)
from fairpatch.measure.scores import displacement, rank_inversions
from fairpatch.patch import Patch
from fairpatch.report.coarse import WITHHELD_COUNT, Beside
from fairpatch.report.figures import WITHHELD_FIGURE, Count, Figure, Shown

BINS = 20
BANDS = 5


class Histogram(Shown):
    """Base model's scores of one group, in twenty equal bins."""

    feature: str
    """The sensitive feature."""
    group: str
    """The group."""
    people: list[int]
    """People in each bin, full tens."""
    movers: list[int]
    """Of them, those whose decision changes, full tens; none where that would tell too much."""


class Calibration(Shown):
    """Of one group and one band of scores, how many have the good outcome."""

    feature: str
    """The sensitive feature."""
    group: str
    """The group."""
    band: str
    """The band of the score for the favourable decision."""
    people_before: Count
    """People whom the base model scores so."""
    good_before: Figure
    """Of them, the share with the good outcome."""
    people_after: Count
    """People whom the patched model scores so."""
    good_after: Figure
    """Of them, the share with the good outcome."""


class ScoreAxis(Shown):
    """What histograms are drawn over."""

    what: str
    """In words."""
    low: float
    """Its left end; who is below is drawn there."""
    high: float
    """Its right end."""
    bar: float
    """Where the threshold stands."""


class ScoreSection(Shown):
    """How far scores move."""

    displacement: float
    """Mean distance of the patched from the base model's probability."""
    rank_inversions: float
    """Share of pairs of people whose order is reversed."""
    axis: ScoreAxis
    """What histograms are drawn over."""
    histograms: list[Histogram]
    """By group."""
    calibration: list[Calibration]
    """By group and band, before and after."""


def score_section(patch: Patch, rows: Rows, changed: Bools, beside: Beside) -> ScoreSection:
    """Old and new probabilities of being favoured."""
    decision = patch.decision
    both = rows.f, patch.logits(rows.X, rows.f)
    bar = threshold_odds(decision, rows.X)
    old, new = (expit(logits + bar) for logits in both)  # of the good outcome
    shown, axis = _axis(decision, rows, old)
    return ScoreSection(
        displacement=round(displacement(old, new), 3),
        rank_inversions=round(rank_inversions(old, new), 3),
        axis=axis,
        histograms=_histograms(rows, np.clip(shown, axis.low, axis.high), axis, changed, beside),
        calibration=_calibration(rows, old, new, beside),
    )


def _axis(decision: Decision, rows: Rows, favoured: Floats) -> tuple[Floats, ScoreAxis]:
    """Scores in their own unit; where there are several thresholds, by how far from them."""
    t = thresholds_of(decision, rows.X)
    if not decision.in_points and decision.cuts is None:
        bar = decision.cut if decision.favourable else 1 - decision.cut
        return favoured, ScoreAxis(what="probability", low=0, high=1, bar=round(bar, 6))
    values = scores_of(rows.f, decision, t) - (0.0 if decision.cuts is None else t)
    ends = np.quantile(values, [0.01, 0.99])
    step = 10.0 ** np.floor(np.log10(max(ends[1] - ends[0], 1e-6)) - 0.5)  # ends tell nobody's
    low, high = float(np.floor(ends[0] / step) * step), float(np.ceil(ends[1] / step) * step)
    what = "points" if decision.in_points else "score"
    if decision.cuts is not None:
        what += f" from the threshold of their {decision.cuts.by}"
    bar = min(max(decision.cut, low), high)
    return values, ScoreAxis(what=what, low=round(low, 6), high=round(high, 6), bar=bar)


def _histograms(
    rows: Rows, old: Floats, axis: ScoreAxis, changed: Bools, beside: Beside
) -> list[Histogram]:
    unit = 1 if beside.tens.exact else MIN_PEOPLE
    moves = (promoted_rate(), demoted_rate())
    histograms = []
    for feature, name, g, here in beside.shown(rows):
        people, moved = (
            (np.histogram(old[who], BINS, (axis.low, axis.high))[0] // unit * unit).tolist()
            for who in (here, here & changed)
        )
        if sum(moved) > beside.least(*moves, feature=feature, group=g):
            moved = [0] * BINS
        if beside.may_show(selection_rate("f"), feature=feature, group=g):
            histograms.append(Histogram(feature=feature, group=name, people=people, movers=moved))
    return histograms


def _calibration(rows: Rows, old: Floats, new: Floats, beside: Beside) -> list[Calibration]:
    tens, groups = beside.tens, []
    labels = (true_positive_rate("f"), true_positive_rate("g"), false_positive_rate("f"))
    for feature, name, g, here in beside.shown(rows):
        may_show = beside.may_show(*labels, feature=feature, group=g)
        for k in range(BANDS):
            bands: list[tuple[Count, Figure]] = []
            for score in (old, new):
                band = np.minimum((score * BANDS).astype(int), BANDS - 1) == k
                some = here & band & (rows.y != UNKNOWN)
                many, good = float(some.sum()), float(np.sum(rows.y[some] == 1))
                bands.append(
                    (tens.count(many), tens.share(good, many))
                    if may_show
                    else (WITHHELD_COUNT, WITHHELD_FIGURE)
                )
            (people_before, good_before), (people_after, good_after) = bands
            groups.append(
                Calibration(
                    feature=feature,
                    group=name,
                    band=f"{k / BANDS:g} to {(k + 1) / BANDS:g}",
                    people_before=people_before,
                    good_before=good_before,
                    people_after=people_after,
                    good_after=good_after,
                )
            )
    return groups
