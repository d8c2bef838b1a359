"""How far scores move, and every metric as the dial is turned."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Floats, Ints
from fairpatch.choose.dial import trace
from fairpatch.data.rows import Rows
from fairpatch.measure.floor import MIN_PEOPLE, too_few
from fairpatch.measure.metric import Metric
from fairpatch.measure.scores import displacement, rank_inversions
from fairpatch.patch import Patch

BINS = 20
STEPS = 41
"""Strengths that the dial shows."""


def score_section(old: Floats, new: Floats, changed: Bools, cutoff: float) -> dict[str, Any]:
    """How far scores move, and old against new in bins of at least ten people."""
    table, _, _ = np.histogram2d(new, old, BINS, [[0, 1], [0, 1]])
    sure = np.abs(old[changed] - cutoff)
    return {
        "displacement": displacement(old, new),
        "rank_inversions": rank_inversions(old, new),
        "distance_from_cutoff": float(np.median(sure)) if len(sure) >= MIN_PEOPLE else None,
        "bins": [[int(v) if v >= MIN_PEOPLE else None for v in row] for row in table],
    }


def dial_section(patch: Patch, rows: Rows, asked: Sequence[Metric]) -> dict[str, Any]:
    """What is asked at evenly spaced strengths, from the base model to twice the patch."""
    each, rest = patch.with_strength(1.0).effect(rows.f)
    ratio = np.asarray(1 + each * patch.points(rows.X) + rest)
    most = 2 * patch.strength or 1.0
    at = np.linspace(0, most, STEPS)
    found: dict[str, Any] = {"strength": at.tolist(), "chosen": patch.strength, "metrics": []}
    for feature in rows.s.features:
        group = _large(rows.s.of_feature(feature))
        dial = trace(ratio, rows.f, rows.y, group, direction=patch.direction, most=most)
        shown = dial.only(dial.at(at))
        found["metrics"] += [
            {"name": metric.name, "words": metric.words, "feature": feature,
             "highest": metric.highest, "values": [_rounded(v) for v in metric.along(shown)]}
            for metric in asked
        ]  # fmt: skip
        found["change_rate"] = [
            None if too_few(n) else _rounded(n / len(rows)) for n in shown.changed
        ]
        found["accuracy"] = [_rounded(v) for v in shown.accuracy]
    return found


def _large(group: Ints) -> Ints:
    """Codes of the groups that are compared; -1 for people of a group too small for that."""
    sizes = np.bincount(group[group >= 0], minlength=int(group.max()) + 1)
    rank = np.full(len(sizes) + 1, -1)  # the last place is for -1
    large = np.flatnonzero(sizes >= MIN_PEOPLE)
    rank[large] = np.arange(len(large))
    return np.asarray(rank[group], np.int64)


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 3)
