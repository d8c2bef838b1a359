"""How far scores move, and every metric as the dial is turned."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.choose.dial import Dial, trace
from fairpatch.data.rows import Rows
from fairpatch.measure.counts import Counts
from fairpatch.measure.disclose import Told
from fairpatch.measure.floor import MIN_PEOPLE
from fairpatch.measure.groups import Groups
from fairpatch.measure.metric import Metric
from fairpatch.measure.protected import Protected
from fairpatch.measure.rates import Model, Rate, changed_rate, correct_rate
from fairpatch.measure.scores import displacement, rank_inversions
from fairpatch.patch import Patch

BINS = 20
STEPS = 41
"""Strengths that the dial shows."""


def score_section(
    old: Floats, new: Floats, changed: Bools, cutoff: float, *, moved: bool
) -> dict[str, Any]:
    """How far scores move, and old against new in bins; of each, only the full tens are told.

    Where counts of those who change are hidden, bins that only they are in are too (``moved``).
    """
    table, _, _ = np.histogram2d(new, old, BINS, [[0, 1], [0, 1]])
    if not moved:
        table = np.diag(np.diag(table))
    sure = np.abs(old[changed] - cutoff)
    return {
        "displacement": round(displacement(old, new), 3),
        "rank_inversions": round(rank_inversions(old, new), 3),
        "distance_from_cutoff": (
            round(float(np.median(sure)), 2) if len(sure) >= MIN_PEOPLE else None
        ),
        "bins": [
            [int(v // MIN_PEOPLE * MIN_PEOPLE) if v >= MIN_PEOPLE else None for v in row]
            for row in table
        ],
    }


def dial_section(
    patch: Patch, rows: Rows, asked: Sequence[Metric], table: Protected
) -> dict[str, Any]:
    """What is asked at evenly spaced strengths, from the base model to twice the patch.

    Whoever knows a person's columns knows at which strength they change, and would read their group
    and outcome off the step that the figures take there. So of those who have changed only the full
    tens are told, and every figure as what it then lies between.
    """
    each, rest = patch.with_strength(1.0).effect(rows.f)
    ratio = np.asarray(1 + each * patch.points(rows.X) + rest)
    most = 2 * patch.strength or 1.0
    at = np.linspace(0, most, STEPS)
    found: dict[str, Any] = {"strength": at.tolist(), "chosen": patch.strength, "metrics": []}
    tens = _exactly if table.small_shown else _by_tens
    for feature in rows.s.features:
        compared = table.compared(feature)
        group = _among(rows.s, feature, table.by(feature), compared)
        dial = trace(ratio, rows.f, rows.y, group, direction=patch.direction, most=most)
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
            found["metrics"].append(
                {"name": metric.name, "words": metric.words, "feature": feature,
                 "highest": metric.highest, **_told(ends, metric.highest)}
            )  # fmt: skip
        people = table.number(changed_rate().hits) if not table.whole else Told(0, 0)
        changed = _rates(Told(0, 0), table.people(), tens(shown.changed, people))
        right = correct_rate("f")
        gained = tens(shown.correct - shown.correct[0], _change(table, correct_rate))
        correct = _rates(table.number(right.hits & right.among), table.number(right.among), gained)
        found |= {"change_rate": _told(changed, 1.0), "accuracy": _told(correct, 1.0)}
    return found


def _moved(dial: Dial, rate: Rate, group: int) -> Ints:
    """By how many more people of a group the rate's decision is 1, at every step."""
    labels = rate.among[:2, 0].any(1)
    more = dial.positive[:, group] - dial.positive[0, group]
    return np.asarray(more[:, labels].sum(1), np.int64)


def _by_tens(more: Ints, chosen: Told) -> Floats:
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


def _exactly(more: Ints, _: Told) -> Floats:
    return np.stack([more, more], 1).astype(float)


def _change(
    table: Protected, rate: Callable[[Model], Rate], feature: str | None = None, group: int = 0
) -> Told:
    """What is told of how many more hits g has than f; nothing is at stake where all is told."""
    if table.whole:
        return Told(0, 0)
    margin = () if feature is None else (feature,)
    before, after = (
        table.number(made.hits & made.among, *margin, group=group)
        for made in (rate("f"), rate("g"))
    )
    if before.high is None or after.high is None:
        return Told(-(10**9), None)
    return Told(after.low - before.high, after.high - before.low)


def _rates(hits: Told, among: Told, more: Floats) -> Floats:
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
    return np.array([metric.between([own[k] for own in by_group]) for k in range(STEPS)])


def _told(ends: Floats, highest: float) -> dict[str, list[float | None]]:
    """Both ends to two digits, outwards."""
    low, high = np.floor(ends[:, 0] * 100 + 1e-9) / 100, np.ceil(ends[:, 1] * 100 - 1e-9) / 100
    both = {"at_least": np.maximum(low, 0.0), "at_most": np.minimum(high, highest)}
    return {
        k: [None if np.isnan(v) else round(float(v), 2) for v in own] for k, own in both.items()
    }


def _among(s: Groups, feature: str, counts: Counts, compared: Sequence[int]) -> Ints:
    """Codes of the groups that are compared; -1 for everybody else."""
    values = s.values[s.features.index(feature)]
    rank = np.full(len(values) + 1, -1)  # the last place is for -1
    for i, g in enumerate(compared):
        rank[values.index(counts.groups[g][0])] = i
    return np.asarray(rank[s.of_feature(feature)], np.int64)
