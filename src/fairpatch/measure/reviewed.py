"""What a certificate and a review publish of the same people: one list, so protected alike."""

from collections.abc import Iterable, Sequence

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.measure.counts import UNKNOWN, Counts
from fairpatch.measure.metric import P_RULE, Metric
from fairpatch.measure.protected import Places, Protected, protect
from fairpatch.measure.rates import (
    Rate,
    changed_rate,
    correct_rate,
    demoted_rate,
    promoted_rate,
    selection_rate,
)

MOVES = {
    "promoted": (0, 1),
    "demoted": (1, 0),
    "left approved": (1, 1),
    "left denied": (0, 0),
}
"""What may become of a person: decisions of f and of g."""


def move(name: str) -> Rate:
    """The share of everybody of whom this becomes."""
    return Rate(_cells(name), np.full((3, 2, 2), True), "there are no rows")


def outcome(name: str) -> Rate:
    """Of the people of whom this becomes, the share with y = 1."""
    known = _cells(name)
    known[UNKNOWN] = False
    good = known.copy()
    good[0] = False
    return Rate(good, known, "nobody")


def reviewed(
    counts: Counts,
    metrics: Iterable[Metric],
    *,
    places: Sequence[Places] = (),
    show_small: bool = False,
) -> Protected:
    """The groups of each feature before and after, what becomes of everybody, and where."""
    compared = dict.fromkeys([P_RULE, *metrics])
    own = [promoted_rate(), demoted_rate(), selection_rate("f"), selection_rate("g")]
    own += [rate(model) for metric in compared for rate in metric.rates for model in ("f", "g")]
    return protect(
        counts,
        own,
        [(feature,) for feature in counts.features],
        of_everybody=[
            changed_rate(),
            correct_rate("f"),
            correct_rate("g"),
            *(move(name) for name in MOVES),
            *(outcome(name) for name in MOVES),
        ],
        places=places,
        show_small=show_small,
    )


def _cells(name: str) -> Bools:
    cells = np.zeros((3, 2, 2), bool)
    cells[:, *MOVES[name]] = True
    return cells
