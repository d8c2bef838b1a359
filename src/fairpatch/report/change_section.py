"""Where changes lie: segments and features, histograms of scores, calibration and order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from fairpatch._tools.arrays import Bools, Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.explain import ConceptView, Segment, segments
from fairpatch.explain.segments import Leaf, neglected
from fairpatch.inputs.base import scores_of, threshold_odds, thresholds_of
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
from fairpatch.report.figures import (
    WITHHELD_COUNT,
    WITHHELD_FIGURE,
    Count,
    Figure,
    ReviewPart,
    RoundedContext,
)

# Where changes lie: segments of the paper's concepts, and of each feature who is left out.
#
# Regions are parts of counts that the tables show, so they have no counts of their own: a share in
# steps of twenty people or more takes nothing away from a table, and says as much to a reader.

STEPS = (0.05, 0.1, 0.2, 0.5)
"""Shares are given to one of these, the finest that has enough people."""


class Region(ReviewPart):
    """People of whom some conditions hold; shares are null where few are there."""

    where: str
    """The conditions."""
    share: float | None
    """Their share of the people who are divided."""
    changed: float | None
    """Of them, the share that changes."""


class SegmentPlace(ReviewPart):
    """Where a concept is most active."""

    concept: str
    """The concept."""
    where: str
    """The conditions."""
    towards_change: bool
    """Whether it pushes towards a change there, or holds."""
    share: float | None
    """The share of the people who are there; null where few are."""
    inside: float | None
    """Share of them who change."""
    outside: float | None
    """Share of all others who change."""


class LeftOut(ReviewPart):
    """People for whom the patch does less than half of what it does for such people on average."""

    group: str
    """The group that the base model approves least."""
    places: list[Region]
    """Among those of it whom the base model denies."""


@dataclass(frozen=True, eq=False)
class ChangeRegions:
    """Where changes lie, as found on some rows."""

    segments: list[Segment]
    left_out: dict[str, LeftOut]
    """By feature: the group that f approves least, and those of it whom the patch leaves denied."""


def find(patch: Patch, rows: Rows, after: Bools) -> ChangeRegions:
    """Look for regions: by concept, by a tree, and among those whom f denies."""
    changed = (rows.f > 0) != after
    # a card says itself who gets how many points; only concepts need to be told by segments
    of_concepts = [] if patch.card else segments(patch, rows.X, changed, rows.f)
    left_out = {}
    for feature in rows.s.features:
        lowest, here, neglected_leaves = neglected(rows, after, feature)
        left_out[feature] = LeftOut(
            group=str(rows.s.values[rows.s.features.index(feature)][lowest]),
            places=_regions(neglected_leaves, len(here)),
        )
    return ChangeRegions(of_concepts, left_out)


def segment_section(places: ChangeRegions, views: Sequence[ConceptView]) -> list[SegmentPlace]:
    """Where each concept is most active, and how likely a change is there."""
    names = {view.name: view.plain_name for view in views}
    return [
        SegmentPlace(
            concept=names.get(segment.concept, segment.concept),
            where=segment.who,
            towards_change=segment.towards_change,
            share=coarse_share(segment.people, segment.people + segment.others),
            inside=coarse_share((segment.inside.value or 0.0) * segment.people, segment.people),
            outside=coarse_share((segment.outside.value or 0.0) * segment.others, segment.others),
        )
        for segment in places.segments
    ]


def _regions(leaves: Sequence[Leaf], among: int) -> list[Region]:
    return [
        Region(
            where=str(leaf),
            share=coarse_share(leaf.people, among),
            changed=coarse_share(leaf.changed, leaf.people),
        )
        for leaf in leaves
    ]


def coarse_share(hits: float, among: float) -> float | None:
    """A share to the finest step that twenty people or more are behind.

    Half a step is then ten people: a share of 0 may be nobody, or as many as are not shown.

    >>> coarse_share(7, 1000), coarse_share(130, 220), coarse_share(7, 30)
    (0.0, 0.6, None)
    """
    step = next((s for s in STEPS if s * among >= 2 * MIN_PEOPLE), None)
    return None if step is None else round(round(hits / among / step) * step, 2)


# Scores by group: histograms with those who change, calibration, and whether order survives.

BINS = 20
BANDS = 5


class Histogram(ReviewPart):
    """Base model's scores of one group, in twenty equal bins."""

    feature: str
    """The sensitive feature."""
    group: str
    """The group."""
    people: list[int]
    """People in each bin, full tens."""
    movers: list[int]
    """Of them, those whose decision changes, full tens; none where that would tell too much."""


class Calibration(ReviewPart):
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


class ScoreAxis(ReviewPart):
    """What histograms are drawn over."""

    what: str
    """In words."""
    low: float
    """Its left end; who is below is drawn there."""
    high: float
    """Its right end."""
    bar: float
    """Where the threshold stands."""


class ScoreSection(ReviewPart):
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


def score_section(patch: Patch, rows: Rows, changed: Bools, beside: RoundedContext) -> ScoreSection:
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
    rows: Rows, old: Floats, axis: ScoreAxis, changed: Bools, beside: RoundedContext
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


def _calibration(rows: Rows, old: Floats, new: Floats, beside: RoundedContext) -> list[Calibration]:
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
