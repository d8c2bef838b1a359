"""What speaks against a patch, whatever metric it meets: the choice heeds it, the review says it.

A finding is a figure here, and a level; its words are the review's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fairpatch._tools.arrays import Floats
from fairpatch._tools.hints import hint
from fairpatch._tools.smallest_count import MIN_PEOPLE, full_tens, too_few
from fairpatch.choose.frontier import Frontier
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.measure.strength_curve import StrengthCurve
from fairpatch.patch.encoding import Encoder
from fairpatch.target import MOST_CHANGES, Requirement, Target

SLIGHTLY, SURE = 1.0, 1.645
"""Standard errors from which on a difference is looked at, and is no chance (one side, 95 %)."""
MANY = 0.2
"""Of all decisions, the share that may change before it is another model."""
TIMES = 3.0
"""Times the fewest changes."""
MOSTLY = 0.5
"""Of the promoted, those who are by perverse lines alone: more are most."""
TURNED = "points turn the base model's order round"
PERVERSE = (
    "most of the promoted are so by categories that the base model likes less and that turn out "
    "worse"
)
FAR_BELOW = (
    "many of the promoted are far below the threshold, and nobody has seen how such turn out"
)


def outcome_gap(first: Floats, second: Floats) -> float | None:
    """How much oftener the first have the good outcome, in standard errors; None where few.

    Each is the number of people by label.
    """
    sizes = first.sum(), second.sum()
    if min(sizes) < MIN_PEOPLE:
        return None
    pooled = (first[1] + second[1]) / sum(sizes)
    error = np.sqrt(max(pooled * (1 - pooled), 1e-12) * (1 / sizes[0] + 1 / sizes[1]))
    return float((first[1] / sizes[0] - second[1] / sizes[1]) / error)


def worst_outcomes(dials: Mapping[str, StrengthCurve], strength: float) -> tuple[float, float]:
    """Of all groups, the least gap of the promoted; and of those still approved.

    The promoted beside those left denied, those still approved beside the demoted. All groups
    together would mix them: the disadvantaged one has fewer good outcomes. 0 where nobody can say.
    """
    gaps = list(_gaps(dials, strength))
    promoted, demoted = (min((gap[k] for gap in gaps), default=0.0) for k in (0, 1))
    return promoted, demoted


def _gaps(dials: Mapping[str, StrengthCurve], strength: float) -> Iterator[tuple[float, float]]:
    for dial in dials.values():
        k = int(dial.at(strength))
        sides = zip(dial.risen[k], dial.below, dial.fallen[k], dial.above, strict=True)
        for up, below, down, above in sides:
            yield outcome_gap(up, below - up) or 0.0, outcome_gap(above - down, down) or 0.0


@dataclass(frozen=True)
class Seen:
    """What a candidate does to people whom it has not seen."""

    rate: float
    """Share of decisions that change."""
    least: float | None = None
    """The fewest for any method."""
    gaps: tuple[float, float] = (0.0, 0.0)
    """Of outcomes, as ``worst_outcomes`` has them."""
    only_down: bool = False
    """Whether approvals are withdrawn and none is given, where nobody asked for that."""
    lines: tuple[str, ...] = ()
    """What speaks against its lines."""


def stops_of(seen: Seen) -> tuple[str, ...]:
    """What a review would stop."""
    promoted, demoted = (gap < -SLIGHTLY for gap in seen.gaps)
    found = {
        "the promoted turn out worse than those left denied in their group": promoted,
        "those still approved turn out worse than the demoted in their group": demoted,
        "so many decisions change that it is another model": len(too_many(seen.rate, seen.least))
        > 1,
        "approvals are withdrawn and none is given": seen.only_down,
    }
    return (*(words for words, holds in found.items() if holds), *seen.lines)


def too_many(rate: float, least: float | None) -> list[str]:
    """Which limits of a patch so many changes are beyond: a share of all, and times the fewest."""
    found = ["share"] if rate > MANY else []
    return [*found, "times"] if least and rate > TIMES * least else found


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
    advice = []
    found = cheapest_fair(frontier, target)
    cheapest = None if found is None else found[0]
    if cheapest is not None and target.max_changes is not None:
        advice.append(f"with max_changes={_rounded_up(cheapest):g} it can be met")
    elif cheapest is not None and cheapest > MOST_CHANGES:
        advice.append(
            f"it takes {cheapest:.0%} of all decisions, which is a different model, not a patch "
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
    advice += small_groups(frontier)
    return f"no patch meets the target ({target}) on the selection rows: {'; '.join(advice)}"


def _rounded_up(value: float) -> float:
    return float(np.ceil(value * 1000) / 1000)


def cheapest_fair(frontier: Frontier, target: Target) -> tuple[float, int, int] | None:
    """The fewest changes with which everything else of the target could be met; where that is.

    A share by full tens of people, upwards, so that terminal and page say the same and what they
    say is enough; candidate and step.
    """
    found: list[tuple[float, int, int]] = []
    for m, by_feature in enumerate(frontier.dials):
        dial = next(iter(by_feature.values()))
        met = _allowed(frontier, m, target, target.fairness_requirements, within=False)
        found += [(float(dial.change_rate[k]), m, int(k)) for k in met[:1]]
    if not found:
        return None
    rate, m, k = min(found)
    people = max(next(iter(frontier.dials[m].values())).people, 1)
    return min((full_tens(round(rate * people)) + MIN_PEOPLE) / people, 1.0), m, k


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
    """Along a candidate's dial: where these requirements are kept.

    ``within`` the changes that are allowed, too.
    """
    dial = next(iter(frontier.dials[m].values()))
    kept = np.ones(len(dial.strength), bool)
    met = np.flatnonzero(frontier.met(m, requirements) if requirements else kept)
    if within:
        met = met[dial.change_rate[met] <= target.most_changes]
    return met


def small_groups(frontier: Frontier) -> list[str]:
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


MOST = 5_000
BETTER = 0.05
"""So many points of accuracy more than could be learned, and five standard errors, look odd."""
ERRORS = 5.0


AGAINST = 0.45
"""An AUC below this, and five standard errors below a half: the score points the other way."""


def check_points_right(rows: Rows, decision: Decision) -> None:
    """Refuse a score that is high where the positive label is rare."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 two seconds to import

    rows = rows.with_score.labelled
    known = np.bincount(rows.y, minlength=2)
    if known.min() < 10:
        return
    auc = float(roc_auc_score(rows.y, rows.f))
    error = float(np.sqrt((known.sum() + 1) / (12 * known[0] * known[1])))
    if auc >= AGAINST or auc >= 0.5 - ERRORS * error:
        return
    negative, positive = decision.outcomes
    raise ValueError(
        f"the score points against its label: the higher it is, the fewer have {positive} (AUC "
        f"{auc:.2f}). Is it the probability of {negative}? Then say so: "
        + hint(f"Decision(positive={decision.negative!r})", f"--positive {decision.negative}")
    )


def looks_known(rows: Rows) -> str | None:
    """What looks odd about f on these rows, in words; None where nothing does."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 two seconds to import
    from sklearn.model_selection import cross_val_predict  # noqa: PLC0415 two seconds to import

    some = rows.with_score.labelled.sample(MOST, seed=0)
    counts = np.bincount(some.y, minlength=2)
    if counts.min() < 50:
        return None
    right = (some.f > 0) == (some.y == 1)
    trees = HistGradientBoostingClassifier(
        learning_rate=0.2, max_iter=25, max_leaf_nodes=8, max_bins=63, random_state=0
    )  # a quarter of the time of 40 larger trees, and as often right
    Z = Encoder.fit(some.X, strict=False).transform(some.X)
    with threadpool_limits(1):  # a few thousand rows: threads that wait for each other cost minutes
        could = cross_val_predict(trees, Z, some.y, cv=5) == some.y
    more = right.astype(float) - could
    error = float(more.std() / np.sqrt(len(more))) or 1e-9
    if more.mean() < BETTER or more.mean() < ERRORS * error:
        return None
    return (
        f"the base model is right for {right.mean():.1%} of these people, where trees learned from "
        f"the same columns are right for {could.mean():.1%}: has it been trained on them? Then the "
        "certificate does not hold. Certify on other rows, or say which it knows: seen_by_base"
    )
