"""Where no patch meets a target: what could be had instead, in each direction."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairpatch.choose.frontier import Frontier
from fairpatch.choose.target import MOST_CHANGES, Requirement, Target
from fairpatch.floor import MIN_PEOPLE, too_few

FEW = 30
"""A group of fewer people is named: its rate is mostly chance."""


class TargetNotReachedError(ValueError):
    """No patch on the frontier meets the target; the message says what could be had instead."""

    def __init__(
        self, message: str, frontier: Frontier | None = None, target: Target | None = None
    ) -> None:
        super().__init__(message)
        self.frontier, self.target = frontier, target


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
    if cheapest is not None and target.max_changes is not None:
        advice.append(f"with max_changes={_rounded_up(cheapest):g} it can be met")
    elif cheapest is not None and cheapest > MOST_CHANGES:
        advice.append(
            f"it takes {cheapest:.0%} of all decisions, which is another model and no patch "
            f"(max_changes={_rounded_up(cheapest):g} allows it)"
        )
    for requirement in target.fairness_requirements:
        best = _best(frontier, target, requirement)
        words = requirement.metric.words
        advice.append(
            f"whatever the {words}, the rest of the target cannot be met"
            if best is None
            else f"the best {words} when the rest of the target is met is {best:.3f}"
        )
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
    """With how few changes everything else of the target could be met."""
    rates = []
    for m, by_feature in enumerate(frontier.dials):
        dial = next(iter(by_feature.values()))
        met = _allowed(frontier, m, target, target.fairness_requirements, within=False)
        rates += dial.change_rate[met[:1]].tolist()
    return min(rates, default=None)


def _best(frontier: Frontier, target: Target, asked: Requirement) -> float | None:
    """The best value of one metric where everything else of the target is met; None if nowhere."""
    rest = [r for r in target.requirements if r is not asked]
    reached = []
    for m, by_feature in enumerate(frontier.dials):
        met = _allowed(frontier, m, target, rest)
        values = np.array([asked.along(dial)[met] for dial in by_feature.values()])
        worst = values.min(0) if asked.metric.at_least else values.max(0)
        reached += worst[~np.isnan(worst)].tolist()
    best = max if asked.metric.at_least else min
    return best(reached, default=None)


def _allowed(
    frontier: Frontier,
    m: int,
    target: Target,
    requirements: Sequence[Requirement],
    *,
    within: bool = True,
) -> NDArray[np.intp]:
    """Along a candidate's dial: where these requirements and the displacement are kept.

    ``within`` the changes that are allowed, too.
    """
    dial = next(iter(frontier.dials[m].values()))
    kept = np.ones(len(dial.strength), bool)
    met = np.flatnonzero(frontier.met(m, requirements) if requirements else kept)
    if within:
        met = met[dial.change_rate[met] <= target.most_changes]
    if target.max_displacement is None:
        return met
    return met[: frontier.moved_little(m, dial.strength[met], target.max_displacement)]


def _small_groups(frontier: Frontier) -> list[str]:
    """Groups whose rates are mostly chance."""
    advice = []
    for feature in frontier.counts.features:
        smallest = int(frontier.counts.by(feature).known().sizes.min())
        if smallest < FEW:
            size = f"fewer than {MIN_PEOPLE}" if too_few(smallest) else str(smallest)
            advice.append(
                f"the smallest group of {feature} has {size} people here, so few that its rate is "
                "chance: merge it with another, or set it to missing"
            )
    return advice
