"""What a certificate and a review publish of the same people: one list, so protected alike."""

from collections.abc import Callable, Iterable

from fairpatch._arrays import Bools
from fairpatch.disclose.protected import Protected, protect
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.cells import UNKNOWN, cells
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.metric import P_RULE, Metric
from fairpatch.measure.rates import (
    Model,
    Rate,
    changed_rate,
    correct_rate,
    demoted_rate,
    false_positive_rate,
    promoted_rate,
    selection_rate,
    true_positive_rate,
)

MOST_CROSSED = 40
"""Groups of a crossing of all features, at most: of more, hardly one could be shown."""
MOVES = {
    "promoted": (0, 1),
    "demoted": (1, 0),
    "left approved": (1, 1),
    "left denied": (0, 0),
}
"""What may become of a person: decisions of f and of g."""


def move(name: str) -> Rate:
    """The share of everybody of whom this becomes."""
    return Rate(_cells(name), cells(), "there are no rows")


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
    show_small: bool = False,
) -> Protected:
    """The groups of each feature and of their crossing before and after, and where changes lie."""
    compared = dict.fromkeys([P_RULE, *metrics])
    made: list[Callable[[Model], Rate]] = [selection_rate, correct_rate]
    made += [true_positive_rate, false_positive_rate]
    made += [rate for metric in compared for rate in metric.rates]
    models: tuple[Model, ...] = ("f", "g")
    rates = [promoted_rate(), demoted_rate(), *(outcome(name) for name in MOVES)]
    rates += [rate(model) for rate in dict.fromkeys(made) for model in models]
    who = [selection_rate("f"), selection_rate("g"), promoted_rate(), demoted_rate()]
    crossed = len(counts.features) > 1 and len(counts.groups) <= MOST_CROSSED
    margins = [(feature,) for feature in counts.features]
    return protect(
        counts,
        rates,
        [*margins, counts.features] if crossed else margins,
        of_everybody=[changed_rate(), *(move(name) for name in MOVES)],
        crossed=crossed,
        of_crossing=who,
        dear=[*who, changed_rate()],
        show_small=show_small,
    )


def of_pair(metric: Metric, counts: Counts, estimate: Estimate, model: Model = "g") -> Estimate:
    """A metric of a comparison that is told nowhere else, in a stratum or against a reference.

    To two digits, and only where nobody can be told from it: of every group there are enough hits
    and enough others.
    """
    for make in metric.rates:
        rate = make(model)
        hits, among = (counts.in_cells(c) for c in (rate.hits & rate.among, rate.among))
        if min(hits.min(), (among - hits).min()) < MIN_PEOPLE:
            return Estimate.withhold()
    return estimate.rounded()


def _cells(name: str) -> Bools:
    before, after = MOVES[name]
    return cells(before=before, after=after)
