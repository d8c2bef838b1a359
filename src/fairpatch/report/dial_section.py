"""Every metric as the dial is turned."""

from collections.abc import Callable, Sequence

import numpy as np

from fairpatch._arrays import Floats, Ints
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.disclose.published import PublishedCount
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.counts import Counts
from fairpatch.measure.dial import Dial, trace
from fairpatch.measure.groups import Groups
from fairpatch.measure.metric import Metric
from fairpatch.measure.rates import Model, Rate, changed_rate, correct_rate
from fairpatch.patch import Patch
from fairpatch.report.figures import Shown, bands

STEPS = 41
"""Strengths that the dial shows."""


class DialLine(Shown):
    """What a figure lies between at every strength."""

    at_least: list[float | None]
    """No lower than this."""
    at_most: list[float | None]
    """No higher than this."""


class MetricLine(DialLine):
    """A comparison of the groups of one feature."""

    name: str
    """The metric's name, as a target has it."""
    words: str
    """What it is called."""
    feature: str
    """The sensitive feature."""
    highest: float
    """The largest value it can have."""


class DialSection(Shown):
    """The patch at evenly spaced strengths, from the base model to twice the patch."""

    strength: list[float]
    """0 is the base model."""
    chosen: float
    """The strength of the patch as reviewed."""
    metrics: list[MetricLine]
    """What was asked for, by feature."""
    change_rate: DialLine
    """Share of changed decisions."""
    accuracy: DialLine | None
    """Share of decisions that equal the outcome."""


def dial_section(
    patch: Patch, rows: Rows, asked: Sequence[Metric], table: Protected
) -> DialSection:
    """What is asked at evenly spaced strengths, from the base model to twice the patch.

    Whoever knows a person's columns knows at which strength they change, and would read their group
    and outcome off the step that the figures take there. So of those who have changed only the full
    tens are told, and every figure as what it then lies between.
    """
    each, rest = patch.with_strength(1.0).effect(rows.f, rows.X)
    ratio = np.asarray(1 + each * patch.points(rows.X) + rest)
    most = 2 * patch.strength or 1.0
    at = np.linspace(0, most, STEPS)
    lines: list[MetricLine] = []
    tens = _exactly if table.small_shown else _by_tens
    for feature in rows.s.features:
        compared = table.compared(feature)
        group = _among(rows.s, feature, table.by(feature), compared)
        dial = trace(ratio, rows.f, rows.good, group, direction=patch.direction, most=most)
        shown = dial.only(dial.at(at))
        for metric in asked:
            ends = np.zeros((STEPS, 2))
            for rate in metric.rates:
                made = rate("f")
                by_group = [
                    _rates(
                        table.number(made.hits & made.among, feature, group=g),
                        table.number(made.among, feature, group=g),
                        tens(_moved(shown, made, i), _change(table, rate, feature, g)),
                    )
                    for i, g in enumerate(compared)
                ]
                ends += _ends(metric, by_group)
            lines.append(
                MetricLine(
                    name=metric.name,
                    words=metric.words,
                    feature=feature,
                    highest=metric.highest,
                    **bands(ends, metric.highest),
                )
            )
        people = table.number(changed_rate().hits) if not table.whole else PublishedCount(0, 0)
        changed = _rates(PublishedCount(0, 0), table.people(), tens(shown.changed, people))
        right = correct_rate("f")
        gained = tens(shown.correct - shown.correct[0], _change(table, correct_rate))
        correct = _rates(table.number(right.hits & right.among), table.number(right.among), gained)
    return DialSection(
        strength=at.tolist(),
        chosen=patch.strength,
        metrics=lines,
        change_rate=DialLine(**bands(changed)),
        accuracy=None if right.refused(table.counts) else DialLine(**bands(correct)),
    )


def _moved(dial: Dial, rate: Rate, group: int) -> Ints:
    """By how many more people of a group the rate's decision is 1, at every step."""
    labels = rate.labels
    more = dial.positive[:, group] - dial.positive[0, group]
    return np.asarray(more[:, labels].sum(1), np.int64)


def _by_tens(more: Ints, chosen: PublishedCount) -> Floats:
    """The ten that each number lies in; only that nobody has changed at strength 0 is certain.

    What is told of the patch as it is, ``chosen``, must not become narrower by its ten: of the tens
    that it may lie in, none is told from the others.
    """
    low = np.floor(more / MIN_PEOPLE) * MIN_PEOPLE
    ends = np.stack([low, low + MIN_PEOPLE - 1], 1)
    if not chosen.exact:
        high = ends.max() if chosen.high is None else chosen.high
        near = (ends[:, 0] <= high) & (ends[:, 1] >= chosen.low)
        span = (
            np.floor(min(chosen.low, high) / MIN_PEOPLE) * MIN_PEOPLE,
            np.floor(high / MIN_PEOPLE) * MIN_PEOPLE + MIN_PEOPLE - 1,
        )
        ends[near] = span
    ends[0] = 0.0
    return ends


def _exactly(more: Ints, _: PublishedCount) -> Floats:
    return np.stack([more, more], 1).astype(float)


def _change(
    table: Protected, rate: Callable[[Model], Rate], feature: str | None = None, group: int = 0
) -> PublishedCount:
    """What is told of how many more hits g has than f; nothing is at stake where all is told."""
    if table.whole:
        return PublishedCount(0, 0)
    margin = () if feature is None else (feature,)
    before, after = (
        table.number(made.hits & made.among, *margin, group=group)
        for made in (rate("f"), rate("g"))
    )
    if before.high is None or after.high is None:
        return PublishedCount(-(10**9), None)
    return PublishedCount(after.low - before.high, after.high - before.low)


def _rates(hits: PublishedCount, among: PublishedCount, more: Floats) -> Floats:
    """What a rate lies between at every step: (steps, 2)."""
    if hits.high is None or among.high is None or not among.high:
        return np.broadcast_to([0.0, 1.0], more.shape).copy()
    low = (hits.low + more[:, 0]) / among.high
    high = (hits.high + more[:, 1]) / max(among.low, 1)
    return np.clip(np.stack([low, high], 1), 0.0, 1.0)


def _ends(metric: Metric, by_group: Sequence[Floats]) -> Floats:
    """What a metric of one rate lies between at every step."""
    if len(by_group) < 2:
        return np.full((STEPS, 2), np.nan)
    return np.array([metric.between([ends[k] for ends in by_group]) for k in range(STEPS)])


def _among(s: Groups, feature: str, counts: Counts, compared: Sequence[int]) -> Ints:
    """Codes of the groups that are compared; -1 for everybody else."""
    values = s.values[s.features.index(feature)]
    rank = np.full(len(values) + 1, -1)  # the last place is for -1
    for i, g in enumerate(compared):
        rank[values.index(counts.groups[g][0])] = i
    return np.asarray(rank[s.of_feature(feature)], np.int64)
