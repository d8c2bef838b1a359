"""How far scores move, by group: histograms with those who change, calibration, thresholds."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from fairpatch._arrays import Bools, Floats
from fairpatch.base import scores_of, threshold_odds, thresholds_of
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import (
    changed_rate,
    correct_rate,
    demoted_rate,
    false_positive_rate,
    promoted_rate,
    selection_rate,
    true_positive_rate,
)
from fairpatch.measure.scores import displacement, rank_inversions
from fairpatch.patch import Patch
from fairpatch.report.coarse import WITHHELD_COUNT, Beside, decided, figure_of
from fairpatch.report.figures import WITHHELD_FIGURE, Count, Figure, Shown, count, figure

BINS = 20
BANDS = 5
SHIFTS = (-0.1, -0.05, -0.02, 0.0, 0.02, 0.05, 0.1)
"""How far the threshold is moved, to see what hangs on it."""


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
    distance_from_threshold: float | None
    """Half of those who change had a probability nearer to the threshold than this."""
    axis: ScoreAxis
    """What histograms are drawn over."""
    histograms: list[Histogram]
    """By group."""
    calibration: list[Calibration]
    """By group and band, before and after."""


class Shift(Shown):
    """What the patch does where the threshold is moved."""

    threshold: float
    """Where it is."""
    changed: Count
    """How many decisions the patch changes."""
    before: Figure
    """What was asked for first, by the base model, for the feature that is worst off."""
    after: Figure
    """The same by the patched model."""
    accuracy_after: Figure
    """Share of its decisions that equal the outcome."""


def score_section(patch: Patch, rows: Rows, changed: Bools, beside: Beside) -> ScoreSection:
    """Old and new probabilities of being favoured."""
    decision = patch.decision
    both = rows.f, patch.logits(rows.X, rows.f)
    bar = threshold_odds(decision, rows.X)
    old, new = (expit(logits + bar) for logits in both)  # of the good outcome
    sure = np.abs(old - expit(bar))[changed]
    shown, axis = _axis(decision, rows, old)
    return ScoreSection(
        displacement=round(displacement(old, new), 3),
        rank_inversions=round(rank_inversions(old, new), 3),
        distance_from_threshold=(
            round(float(np.median(sure)), 2)
            if len(sure) >= MIN_PEOPLE and not decision.in_points
            else None
        ),
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


def threshold_section(patch: Patch, rows: Rows, metric: Metric, beside: Beside) -> list[Shift]:
    """The same card where a little more or less is asked of everybody."""
    shifts: list[Shift] = []
    tens, table = beside.tens, beside.table
    if rows.sample_weight is not None:  # other thresholds count people, the table weighs them
        return shifts
    if patch.decision.in_points or patch.decision.cuts is not None:
        return shifts
    now, score = patch.decision.cut, scores_of(rows.f, patch.decision)
    for shift in SHIFTS:
        threshold = now + shift
        if not 0.01 < threshold < 0.99:
            continue
        if not shift:  # that is the patch itself
            shifts.append(
                Shift(
                    threshold=now,
                    changed=count(table.number(changed_rate().hits)),
                    before=figure_of(table, metric, "f"),
                    after=figure_of(table, metric, "g"),
                    accuracy_after=figure(table.rate(correct_rate("g"))),
                )
            )
            continue
        decision = patch.decision.replace(threshold=round(threshold, 6))
        moved = patch.model_copy(update={"decision": decision})
        clipped = np.clip(score, 1e-12, 1 - 1e-12)
        logits = decision.sign * (
            np.log(clipped / (1 - clipped)) - np.log(threshold / (1 - threshold))
        )
        after = moved.decide(rows.X, logits)
        there = replace(rows, f_logit=logits)
        shifts.append(
            Shift(
                threshold=round(threshold, 4),
                changed=tens.count(np.sum(after != (logits > 0))),
                before=beside.compared(metric, decided(there, logits > 0)),
                after=beside.compared(metric, decided(there, after)),
                accuracy_after=beside.correct(rows, after),
            )
        )
    return shifts
