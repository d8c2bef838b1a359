"""The choice: the patch that meets the target with the fewest changes, or an honest no."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch._tools.arrays import Floats
from fairpatch._tools.smallest_count import MIN_PEOPLE, too_few
from fairpatch.choose.frontier import Frontier, fewest
from fairpatch.choose.learner import sense_of
from fairpatch.choose.objections import (
    Seen,
    TargetNotReachedError,
    nearest,
    stops_of,
    too_many,
    worst_outcomes,
)
from fairpatch.data.outcomes import Expected
from fairpatch.measure.bounds import Bound
from fairpatch.measure.cells import Direction
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import METRICS, Metric
from fairpatch.measure.places import Places, share_moved
from fairpatch.measure.strength_curve import StrengthCurve
from fairpatch.target import Requirement, Target, judgeable

WIDEST, CLOSEST, RUNGS = 0.25, 0.004, 24
"""How far inside the target the ladder starts, its least step, and its rungs at most."""
TIMES, FEW = 4.0, 0.05
"""The changes that a certificate may cost, as times those of the preferred patch or as a share: who
has too few rows to certify should see that, and not a patch that changes everybody. A preferred
patch that changes hardly anybody may meet the target by luck alone."""
BACK = 0.05
"""A dial that has fallen so far below where the ladder begins is past its best."""
ROOM = (3.0, 2.0, 1.0)
"""Standard errors inside the target that a candidate should be able to reach, the best first."""
HARDLY = 0.2
"""A chance of being certified below which it is said beforehand."""
INSIDE = (0.05, 0.1)
"""How much inside the target candidates are judged as well: there are more changes to judge."""
MORE = 0.15
"""Of the changes of the cheapest, how many more a candidate may need that is better otherwise."""
HEED = 0.5
"""The same of one that less speaks against: a finding is heeded, and not at any price."""
DIRECTION_PREFERENCE: tuple[Direction, ...] = ("promote_only", "both", "demote_only")
"""Of patches that serve alike: no approval is withdrawn, if that can be."""

MOST_TOLD = 5
"""Comparisons in a sentence."""
WORDS = {metric.name: metric.words for metric in METRICS}


@dataclass(frozen=True)
class Choice:
    """One candidate at one strength, and what it reaches on the selection rows."""

    model: int
    strength: float
    change_rate: float
    accuracy: float
    displacement: float
    """Mean distance of the patched from the base model's probability."""
    loss: tuple[float, float]
    """What wrong decisions cost, for each person, before and after; their share, without costs."""
    spent: float
    """What changes cost, for each person; their share, without costs."""
    approvals: tuple[float, float]
    """Share of people approved, by the base model and by the patched one."""
    metrics: dict[str, dict[str, float]]
    """By sensitive feature."""
    bound: Bound | None = None
    """The fewest changes with which any method could meet the target, S known."""
    blind: float | None = None
    """The same for methods that do not read S, as a share: estimated, as P(S|x) is."""
    promoted_outcome: float | None = None
    """Share with y = 1 of those who are promoted, and of those who are left denied; None if few."""
    denied_outcome: float | None = None
    direction: Direction = "both"
    """Which decisions it may change."""
    churn: float | None = None
    """Share of decisions that differ from the previous ones, where that was asked for."""
    outcome: str = "y = 1"
    """What that outcome is called."""
    outlook: tuple[Expected, Expected] | None = None
    """Where outcomes are known of some people only: what is expected of those who are promoted, and
    of those who are left denied."""
    expected: dict[str, dict[str, Estimate]] = field(default_factory=dict)
    """What to expect on new people, with 95 % intervals, by feature and metric."""
    expected_from: str = ""
    """The rows that this was measured on: those of the certificate, where there are any."""
    left_out: dict[str, str] = field(default_factory=dict)
    """By column: why no candidate reads it."""
    priced: bool = False
    """Whether wrong decisions cost different sums."""
    observed: bool = True
    """Whether everybody's outcome is known; accuracy and losses are expected ones otherwise."""
    stops: tuple[str, ...] = ()
    """What speaks against it."""
    chance: float | None = None
    """Of being certified on the certification rows, as predicted from the selection rows."""
    swings: str | None = None
    """What else would be chosen if outcomes were at an end of their range; None: the same."""
    handful: str | None = None
    """A group of few people without which far fewer decisions would change; None: no such."""

    def __str__(self) -> str:
        reached = _some(
            [
                f"{feature}: " + ", ".join(f"{WORDS[k]} {v:.3f}" for k, v in values.items())
                for feature, values in self.metrics.items()
            ]
        )
        text = f"{reached}. {self.change_rate:.1%} of decisions change"
        if self.bound is not None and self.bound.change_rate <= self.change_rate:
            least = self.bound.change_rate
            text += f"; the minimum for any method is {least:.1%}"
        if self.blind is not None:
            text += (
                f"; the estimated minimum without using the sensitive features is {self.blind:.1%}"
            )
        text += f". The share approved {share_moved(*self.approvals)}"
        seen = f"Accuracy {self.accuracy:.3f}, displacement" if self.observed else "Displacement"
        text += f". {seen} {self.displacement:.3f}."
        if self.priced:
            now, then = self.loss
            cost = "cost" if self.observed else "are expected to cost"
            text += f" Wrong decisions {cost} {then:.4g} a person, {now:.4g} before."
        if self.outlook is not None:
            promoted, left = self.outlook
            text += (
                f" Of the promoted {promoted} are expected to have {self.outcome}, of those still "
                f"denied {left}{_observed(promoted)}."
            )
        elif self.observed and self.promoted_outcome is not None:
            text += f" Of the promoted {self.promoted_outcome:.0%} have {self.outcome}"
            if self.denied_outcome is not None:
                text += f", of those still denied {self.denied_outcome:.0%}"
            text += "."
        if self.stops:
            text += f" Think twice: {' and '.join(self.stops)}."
        if self.chance is not None and self.chance < HARDLY:
            text += (
                f" So few people certify that it had hardly a chance ({self.chance:.0%} predicted):"
                " bring more rows, or ask for less."
            )
        if self.swings is not None:
            text += f" {self.swings}."
        if self.handful is not None:
            text += f" {self.handful}."
        likely = [
            f"{feature}: {WORDS[name]} {e.low:.2f} to {e.high:.2f}{e.groups}"
            for feature, by_metric in self.expected.items()
            for name, e in by_metric.items()
            if e.low is not None and e.high is not None
        ]
        if likely:
            text += f" Expected on new people (95 %, {self.expected_from}): {_some(likely)}."
        if self.left_out:
            named = "; ".join(f"{column}, {why}" for column, why in self.left_out.items())
            text += f" Left out of the scorecard: {named}."
        return text

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def _observed(expected: Expected) -> str:
    """How many of them an outcome is known of."""
    if not expected.observed:
        return "; nobody has seen what became of them"
    return f"; an outcome is known of {expected.observed:.0%} of the promoted"


def _some(told: list[str]) -> str:
    """Not more comparisons than anybody reads: strata may be many.

    >>> _some(list("abcdefgh"))
    'a; b; c; d; e; and 3 more'
    """
    rest = len(told) - MOST_TOLD
    return "; ".join([*told[:MOST_TOLD], *([f"and {rest} more"] if rest > 0 else [])])


def choose(
    frontier: Frontier, target: Target, among: Collection[int] | None = None
) -> list[Choice]:  # fmt: skip
    """The preferred patch, and before it the same patch at fewer points needed: the ladder.

    The last one meets the target on the selection rows; each one before meets it with more room.
    Those are what certification may have to fall back on. One candidate all along: only how far its
    dial is turned differs. ``among`` are the candidates that may be chosen; all, if not given.
    Raises where no patch meets the target.
    """
    counts = frontier.counts
    by_feature = {name: judgeable(counts.by(name), MIN_PEOPLE) for name in counts.features}
    known, blind = fewest(target, by_feature, frontier.q, frontier.f_logit > 0, frontier.weight)
    if frontier.candidates.roles.weight is not None:
        known = None  # it counts people, and not what they weigh
    (able,) = options(frontier, [target], among)
    if not able:
        raise TargetNotReachedError(nearest(frontier, target), frontier, target)
    best = _preferred(able, frontier, target, known)
    return [
        replace(
            c, bound=known, blind=blind, stops=_stops(c.model, [c], frontier, known, target),
            displacement=frontier.displacement(c.model, c.strength),
        )
        for c in _ladder(best, frontier, target, None if known is None else known.change_rate)
    ]  # fmt: skip


def _preferred(
    able: list[Choice], frontier: Frontier, target: Target, bound: Bound | None
) -> Choice:  # fmt: skip
    """With the fewest stops, the one that costs least; within the noise the kindest and surest.

    What a review would stop is seen beforehand, and avoided for half as many changes again. Where
    a model is in force already, what differs least from it comes before caution. Costs and stops
    are judged by scores that have not seen the person, where there are such; costs at the target
    and inside it: at its very end one candidate may be there by luck, and none is certified.
    """
    if target.fewest:
        seen = {c.model: c for c in options(frontier.crossed or frontier, [target])[0]}
        some = [c for c in able if c.model in seen] or able
        return min(some, key=lambda c: _preference(seen.get(c.model) or c, target))
    pool, found = frontier.candidates, _judged(able, frontier, target, bound)
    people = next(iter(frontier.dials[0].values())).people

    def near(some: list[_Judged], more: float) -> list[_Judged]:
        """Those that need so much more than the first, at most."""
        best = some[0]
        extra = more * max(best.change_rate, 1 / people)
        return [  # a decision that differs costs up to two: a change and an error
            j for j in some
            if j.cost <= best.cost + frontier.unit * extra
            and j.change_rate <= best.change_rate + extra
        ]  # fmt: skip

    heeded = near(found, HEED)
    fewest_stops = min(len(j.stops) for j in heeded)
    found = [j for j in heeded if len(j.stops) == fewest_stops]

    def order(j: _Judged) -> tuple[float, ...]:
        m, c = j.choice.model, j.choice
        if target.costs:  # who prices wrong approvals has said what a withdrawn one is worth
            return (c.churn or 0.0, j.cost)
        return (
            DIRECTION_PREFERENCE.index(pool.directions[m]),
            c.churn or 0.0,
            -pool.caution(m),
            j.cost,
        )

    alike = near(found, MORE)
    return min(_with_room(alike, frontier, target), key=order).choice


@dataclass(frozen=True)
class _Judged:
    """A candidate as it is seen by people whom it has not seen: means over some levels."""

    choice: Choice
    levels: int
    """How many it reaches."""
    cost: float
    change_rate: float
    stops: tuple[str, ...]
    """What a review would find that speaks against it."""


def _judged(
    able: list[Choice], frontier: Frontier, target: Target, bound: Bound | None
) -> list[_Judged]:  # fmt: skip
    """All of them that reach the most levels, the cheapest first."""
    by = frontier.crossed or frontier
    levels = [target, *(target.inside(margin) for margin in INSIDE)]
    models = {c.model for c in able}
    reached = [{c.model: c for c in found} for found in options(by, levels, models)]
    judged = []
    for c in able:
        seen = [found[c.model] for found in reached if c.model in found] or [c]
        judged.append(
            _Judged(
                c, sum(c.model in found for found in reached),
                float(np.mean([_preference(s, target)[0] for s in seen])),
                float(np.mean([s.change_rate for s in seen])),
                _stops(c.model, seen, frontier, bound, target),
            )
        )  # fmt: skip
    most = max(j.levels for j in judged)
    return sorted((j for j in judged if j.levels == most), key=lambda j: j.cost)


def _stops(
    m: int, seen: Sequence[Choice], frontier: Frontier, bound: Bound | None, target: Target
) -> tuple[str, ...]:  # fmt: skip
    """What speaks against a candidate, of the changes at the first of some strengths."""
    by, pool = frontier.crossed or frontier, frontier.candidates
    gaps = np.mean([worst_outcomes(by.dials[m], s.strength) for s in seen], axis=0)
    free = target.direction == "both" and not target.costs
    return stops_of(
        Seen(
            seen[0].change_rate, None if bound is None else bound.change_rate,
            (float(gaps[0]), float(gaps[1])) if frontier.observed else (0.0, 0.0),
            only_down=free and pool.directions[m] == "demote_only" and seen[0].change_rate > 0,
            lines=sense_of(pool, m, seen[0].strength),
        )
    )  # fmt: skip


def _with_room(near: list[_Judged], frontier: Frontier, target: Target) -> list[_Judged]:
    """Those that could also meet the target by a margin: at its very end none is certified."""
    tried = [target.replace(safety_margin=target.safety_margin + room) for room in ROOM]
    models = {j.choice.model for j in near}
    reach = [{c.model for c in found} for found in options(frontier, tried, models)]
    able = ([j for j in near if j.choice.model in reached] for reached in reach)
    return next((some for some in able if some), near)


def _ladder(
    best: Choice, frontier: Frontier, target: Target, least: float | None
) -> list[Choice]:  # fmt: skip
    """The preferred choice, and before it stronger ones of the same candidate, the safest first.

    Where more is limited than what the groups have, the strongest need not be the safest.
    """
    dials = frontier.dials[best.model]
    first = next(iter(dials.values()))
    requirement = target.fairness_requirements[0]
    metric = requirement.metric
    values = {
        (feature, r.name): r.along(dial) for feature, dial in dials.items()
        for r in target.requirements
    }  # fmt: skip
    worst = np.array([values[feature, requirement.name] for feature in dials])
    room = worst.min(0) if metric.at_least else -worst.max(0)
    start = int(first.at(best.strength))
    met = np.flatnonzero(frontier.met(best.model, target.requirements))
    kept = set(_within(frontier, best.model, met, target).tolist())
    preferred = float(first.change_rate[start])
    most = max(TIMES * preferred, FEW)
    rungs, steps, last = [best], [start], float(room[start])
    before = max(1, len(too_many(best.change_rate, least)))
    for k in range(start + 1, len(room)):
        far = first.change_rate[k] > most or room[k] > room[start] + WIDEST
        if far or room[k] < room[start] - BACK or len(rungs) >= RUNGS:
            break  # far enough, or past its best: nearly everybody would be approved next
        if k in kept and room[k] >= last + CLOSEST:
            rung = _option(frontier, best.model, k, target, values)
            if len(too_many(rung.change_rate, least)) > before:
                break  # a certificate may not make it another model
            rungs.append(rung)
            steps.append(k)
            last = float(room[k])
    if all(r.between_groups for r in target.requirements):
        return rungs[::-1]
    order = safest_first(steps, target.requirements, list(dials.values()))
    return [rungs[i] for i in order]


def _within(frontier: Frontier, m: int, met: NDArray[np.intp], target: Target) -> NDArray[np.intp]:
    """Of some stretches of a candidate's dial, those that differ as little as asked."""
    dial = next(iter(frontier.dials[m].values()))
    met = met[dial.change_rate[met] <= target.most_changes]
    if target.max_churn is not None:
        met = met[dial.churn[met] <= target.max_churn]
    return met


def _preference(choice: Choice, target: Target) -> tuple[float, ...]:
    """What is least for the preferred choice."""
    if target.fewest:
        return (choice.spent, choice.loss[1])
    figures = (choice.spent, choice.loss[1], choice.churn or 0.0)
    return (_cost(target, *figures), choice.change_rate)


def _cost(target: Target, spent: Any, loss: Any, churn: Any) -> Any:
    """In wrong decisions, or what they cost: those there are, changes at their price, and churn."""
    return target.price_per_change * spent + loss + churn


def options(
    frontier: Frontier, targets: Sequence[Target], models: Collection[int] | None = None
) -> list[list[Choice]]:
    """For every target, each candidate (or some of them) at its preferred strength that meets it.

    One pass over the candidates: a metric is read off a dial once, for all targets. Displacement,
    a pass over all rows for each, is left for the one that is chosen.
    """
    choices: list[list[Choice]] = [[] for _ in targets]
    metrics = {r.name: r.metric for target in targets for r in target.requirements}
    for m in range(len(frontier.dials)) if models is None else sorted(models):
        by_feature = frontier.dials[m]
        values = {
            (feature, name): metric.along(dial)
            for feature, dial in by_feature.items()
            for name, metric in metrics.items()
        }
        for of_target, target in zip(choices, targets, strict=True):
            kept = [
                r.met(_with_margin(r, values[feature, r.name], dial, target.safety_margin))
                for feature, dial in by_feature.items()
                for r in target.requirements
            ]
            step = _step(frontier, m, np.flatnonzero(np.logical_and.reduce(kept)), target)
            if step is not None:
                of_target.append(_option(frontier, m, step, target, values))
    return choices


def _step(frontier: Frontier, m: int, met: NDArray[np.intp], target: Target) -> int | None:
    """Of the stretches of a candidate's dial that meet the target, the preferred one.

    Changes only grow along a dial: the first has the fewest. The most accurate may be any of them.
    """
    dial = next(iter(frontier.dials[m].values()))
    met = _within(frontier, m, met, target)
    if not len(met):
        return None
    if target.fewest:
        return int(met[0])
    # in people: sums of whole numbers, so that ties are ties, and the first has fewest changes
    cost = _cost(target, dial.spent, dial.loss, dial.churn * dial.people)
    return int(met[cost[met].argmin()])


def _with_margin(r: Requirement, values: Floats, dial: StrengthCurve, margin: float) -> Floats:
    """Values moved towards the limit by so many standard errors: they must keep it even so."""
    if not margin or not isinstance(r.metric, Metric):
        return values
    error = margin * r.metric.error_along(dial)
    return values - error if r.metric.at_least else values + error


def _option(
    frontier: Frontier, m: int, k: int, target: Target, values: Mapping[tuple[str, str], Floats]
) -> Choice:
    first = next(iter(frontier.dials[m].values()))
    strength = float(first.strength[k])
    up = float(first.promoted[k])
    few = too_few(up)
    return Choice(
        model=m,
        strength=strength,
        change_rate=float(first.change_rate[k]),
        accuracy=float(first.accuracy[k]),
        loss=(float(first.mean_loss[0]), float(first.mean_loss[k])),
        spent=float(first.mean_spent[k]),
        priced=target.priced_by is not None,
        approvals=(1 - first.denied / first.people, float(first.approvals[k] / first.people)),
        displacement=np.nan,
        direction=frontier.candidates.directions[m],
        churn=float(first.churn[k]) if first.compared else None,
        outcome=frontier.candidates.decision.good_outcome,
        promoted_outcome=None if few or not up else float(first.outcomes[0][k]),
        denied_outcome=None if few or too_few(first.denied - up) else float(first.outcomes[1][k]),
        observed=frontier.observed,
        metrics={
            feature: {
                r.name: float(values[feature, r.name][k]) for r in target.fairness_requirements
            }
            for feature in frontier.dials[m]
        },
    )


def margin_in_errors(requirement: Requirement, dial: StrengthCurve) -> Floats:
    """At every step of a dial; below 0 where the limit is not kept."""
    metric, limit, values = requirement.metric, requirement.limit, requirement.along(dial)
    if isinstance(metric, Metric):
        inside = values - limit if metric.at_least else limit - values
        return np.asarray(inside / np.maximum(metric.error_along(dial), 1e-12))
    spread = values * (1 - values)
    inside = limit - values
    if isinstance(metric, Places):
        inside = np.minimum(values - metric.low, metric.high - values)
        if metric.kept:  # promoted less demoted, of the same people twice
            spread = dial.changed / dial.people - values**2
    error = np.sqrt((np.maximum(spread, 0.0) + 1 / dial.people) / dial.people)
    return np.asarray(inside / error)


def safest_first(
    steps: Sequence[int], requirements: Sequence[Requirement], dials: Sequence[StrengthCurve]
) -> list[int]:
    """Places among some steps, of which the first is preferred: by the room of what has least.

    The preferred one comes last; what is no safer than it is left out, being dearer as well.
    """
    rooms = np.min([margin_in_errors(r, dial) for r in requirements for dial in dials], axis=0)
    safer = [i for i, k in enumerate(steps) if rooms[k] > rooms[steps[0]]]
    return [*sorted(safer, key=lambda i: -float(rooms[steps[i]])), 0]
