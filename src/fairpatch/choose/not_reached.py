"""Where no patch meets a target: what could be had instead, in each direction."""

import numpy as np

from fairpatch.choose.frontier import Frontier
from fairpatch.choose.target import Requirement, Target
from fairpatch.measure.floor import MIN_PEOPLE, too_few

FEW = 30
"""A group of fewer people is named: its rate is mostly chance."""


class TargetNotReachedError(ValueError):
    """No patch on the frontier meets the target; the message says what could be had instead."""


def nearest(frontier: Frontier, target: Target) -> str:
    """Why not, and which relaxations would do."""
    if target.max_displacement is not None:
        moved = _least_displacement(frontier, target)
        if moved is not None:
            return (
                f"no patch meets the target ({target}) with a displacement of at most "
                f"{target.max_displacement:g}; with max_displacement={_rounded_up(moved):g} it can "
                "be met"
            )
    advice = []
    cheapest = _fewest_changes(frontier, target)
    if cheapest is not None:
        advice.append(f"with max_changes={_rounded_up(cheapest):g} it can be met")
    for requirement in target.fairness_requirements:
        best = _best(frontier, target, requirement)
        advice.append(f"the best {requirement.metric.words} within the rest is {best:.3f}")
    if target.max_columns is not None:
        advice.append("more columns may help")
    advice += _small_groups(frontier)
    return f"no patch meets the target ({target}) on the selection rows: {'; '.join(advice)}"


def _rounded_up(value: float) -> float:
    return float(np.ceil(value * 1000) / 1000)


def _least_displacement(frontier: Frontier, target: Target) -> float | None:
    """How little probabilities could move where everything else of the target is met."""
    moved = []
    for m, by_feature in enumerate(frontier.dials):
        met = np.flatnonzero(frontier.met(m, target.requirements))
        if len(met):
            strength = next(iter(by_feature.values())).strength[met[0]]
            moved.append(frontier.displacement(m, float(strength)))
    return min(moved, default=None)


def _fewest_changes(frontier: Frontier, target: Target) -> float | None:
    """With how few changes the groups' limits could be met."""
    found = []
    for m, by_feature in enumerate(frontier.dials):
        met = np.flatnonzero(frontier.met(m, target.fairness_requirements))
        if len(met):
            found.append(float(next(iter(by_feature.values())).change_rate[met[0]]))
    return min(found, default=None)


def _best(frontier: Frontier, target: Target, requirement: Requirement) -> float:
    """The best value of a metric within the changes that are allowed; NaN where there is none."""
    at_least = requirement.metric.at_least
    best = np.nan
    for by_feature in frontier.dials:
        dials = list(by_feature.values())
        values = np.array([requirement.along(dial) for dial in dials])
        worst = values.min(0) if at_least else values.max(0)
        allowed = ~np.isnan(worst)
        if target.max_changes is not None:
            allowed &= dials[0].change_rate <= target.max_changes
        reach = worst[allowed]
        if len(reach):
            own = reach.max() if at_least else reach.min()
            best = np.fmax(best, own) if at_least else np.fmin(best, own)
    return float(best)


def _small_groups(frontier: Frontier) -> list[str]:
    """Groups whose rates are mostly chance."""
    found = []
    for feature in frontier.counts.features:
        smallest = int(frontier.counts.by(feature).known().sizes.min())
        if smallest < FEW:
            size = f"fewer than {MIN_PEOPLE}" if too_few(smallest) else str(smallest)
            found.append(
                f"the smallest group of {feature} has {size} people here, so few that its rate is "
                "chance: merge it with another, or set it to missing"
            )
    return found
