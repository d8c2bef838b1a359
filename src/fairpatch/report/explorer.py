"""The explorer's data: every candidate at some strengths, by full tens of people.

Measured on the people whom candidates were chosen on, never on those who certify: whoever explores
chooses, and what was chosen must be certified on others.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from fairpatch.choose.dial import Dial
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.in_tens import InTens, groups_in_order
from fairpatch.choose.struck import Struck
from fairpatch.choose.target import Target
from fairpatch.floor import MIN_PEOPLE, full_tens
from fairpatch.measure.direction import DIRECTIONS, Direction
from fairpatch.measure.metric import Metric
from fairpatch.patch.words import ordered_lines, shown
from fairpatch.report.figures import Shown, Tens
from fairpatch.report.named import Names

STOPS = 14
"""Strengths of each candidate."""
LIMITS, BOUNDS = 26, 6
"""Limits that can be asked for, and those of them for which bounds are told."""


class Group(Shown):
    """A group that is compared."""

    name: str
    """What it is called."""
    people: int
    """Its share of the people who are shown, in percent."""


class ExploredFeature(Shown):
    """A sensitive feature and its groups."""

    name: str
    """What it is called."""
    groups: list[Group]
    """Those that are compared."""


class Point(Shown):
    """One candidate at one strength; every share is what it lies between, low then high."""

    candidate: int
    """Its number."""
    card: int | None
    """The number of its scorecard among the explorer's."""
    points_needed: int | None
    """Points at which a decision changes, of a card."""
    strength: float
    """How far the dial is turned."""
    direction: str
    """both, promote_only or demote_only."""
    struck: str | None
    """The line of the chosen card that is struck."""
    chosen: bool
    """Whether this is the patch that was chosen."""
    changed: tuple[float, float]
    """Share of changed decisions."""
    accuracy: tuple[float, float]
    """Share of decisions that equal the outcome."""
    promoted_outcome: tuple[float, float] | None
    """Of those promoted, the share with the good outcome; null where they are few."""
    left_outcome: tuple[float, float] | None
    """Of those left denied, the same share."""
    fairness: list[tuple[float, float]]
    """By feature, in the order of the features: what was asked for first."""
    rates: list[list[tuple[float, float]]]
    """By feature and group: share with the favourable decision."""


class Bounds(Shown):
    """The fewest changes for each limit, as shares."""

    direction: str
    """both, promote_only or demote_only."""
    feature: int
    """The number of the feature."""
    known: list[float | None]
    """For any method that knows everybody's group."""


class Explorer(Shown):
    """All candidates and strengths, and what bounds them."""

    metric: str
    """What was asked for first, as a target has it."""
    words: str
    """What it is called."""
    at_least: bool
    """Whether a limit of it is a floor."""
    limit: float
    """The limit that was asked for."""
    max_changes: float | None
    """The share of decisions that may change, where that was limited."""
    highest: float
    """The largest value it can have."""
    people: int
    """How many people it was measured on, full tens."""
    observed: bool
    """Whether everybody's outcome is known; accuracy and outcomes are expected ones otherwise."""
    features: list[ExploredFeature]
    """The sensitive features."""
    before: Point
    """The base model."""
    points: list[Point]
    """Every candidate and strength."""
    limits: list[float]
    """Limits that can be asked for."""
    bound_limits: list[float]
    """Those for which bounds are told."""
    bounds: list[Bounds]
    """By direction and feature."""
    cards: list[list[str]]
    """The scorecards of the points: their lines."""
    lines: list[str]
    """Lines of the chosen card."""
    protected_lines: list[str]
    """Lines of the card that read a protected column, or one that tells the group."""


def explorer_section(
    frontier: Frontier,
    target: Target,
    struck: Sequence[Struck],
    chosen: tuple[int, float] | None,
    protected_lines: Sequence[str],
    tens: Tens,
    names: Names | None = None,
) -> Explorer | None:
    """Everything that the explorer shows; None where too few people, or weights, forbid it.

    Groups of fewer than ten people are left out of it, in every figure and bound.
    """
    requirement = target.fairness_requirements[0]
    metric = requirement.metric
    if not isinstance(metric, Metric):
        raise TypeError("a requirement of the groups compares them")
    if frontier.candidates.roles.weight is not None:  # tens of weights are no tens of people
        return None
    if target.comparisons is not None:  # it draws groups, and not groups of every stratum
        return None
    shares = InTens.of(frontier, [metric], exact=tens.exact)
    large = shares.large
    if not large:
        return None
    first = next(iter(frontier.dials[0].values()))
    features = [
        ExploredFeature(name=name, groups=_groups(frontier, name, groups, names or {}))
        for name, groups in large.items()
    ]
    is_card = frontier.candidates.strengths is not None
    points: list[Point] = []
    cards: dict[tuple[str, ...], int] = {}
    groups = (metric, shares)
    for m, by_feature in enumerate(frontier.dials):
        direction = frontier.candidates.directions[m]
        dials = shares.only(by_feature)
        stops = _stops(dials, metric, card=is_card)
        needs = partial(_needs, frontier, cards, m, None)
        points += [_point(dials, k, m, direction, *groups, needs) for k in stops]
        if chosen is not None and chosen[0] == m:
            k = int(dials[0].at(chosen[1]))
            points.append(_point(dials, k, m, direction, *groups, needs, chosen=True))
    for each in struck:
        dials = shares.only(each.dials)
        needs = partial(_needs, frontier, cards, each.candidate, each.line)
        about = (each.candidate, each.direction, *groups, needs)
        points += [
            _point(dials, k, *about, struck=each.line) for k in _stops(dials, metric, card=True)
        ]
    nothing = (None, None)
    before = _point(shares.only(frontier.dials[0]), 0, -1, "both", *groups, lambda _: nothing)
    some = _limits(metric, BOUNDS)
    limits = sorted({*_limits(metric, LIMITS), requirement.limit})
    return Explorer(
        metric=metric.name,
        words=metric.words,
        at_least=metric.at_least,
        limit=requirement.limit,
        max_changes=target.max_changes,
        highest=metric.highest,
        people=full_tens(round(first.people)),
        observed=frontier.observed,
        features=features,
        before=before,
        points=points,
        limits=limits,
        bound_limits=some,
        bounds=_bounds(frontier, large, target, metric, some),
        cards=[list(lines) for lines in cards],
        lines=list(dict.fromkeys(each.line for each in struck)),
        protected_lines=list(protected_lines),
    )


def _groups(frontier: Frontier, feature: str, large: list[int], names: Names) -> list[Group]:
    group_names = [groups_in_order(frontier, feature)[i] for i in large]
    everybody = sum(size for _, size in group_names)
    called = names.get(feature, {})
    return [
        Group(name=called.get(name, name), people=round(100 * size / everybody))
        for name, size in group_names
    ]


def _stops(dials: Sequence[Dial], metric: Metric, *, card: bool) -> list[int]:
    """Stretches of a dial, evenly by changes, up to where it is fairest."""
    values = np.array([metric.along(dial) for dial in dials])
    worst = values.min(0) if metric.at_least else -values.max(0)
    fairest = int(np.nan_to_num(worst, nan=-np.inf).argmax())
    changed = np.asarray(dials[0].changed[: fairest + 1], np.float64)
    wanted = np.linspace(0, float(changed[-1]), STOPS + 1)[1:]
    stops = {int(np.searchsorted(changed, n)) for n in wanted}
    return sorted(stops | (set() if card else {int(dials[0].at(1.0))}))


def _point(
    dials: Sequence[Dial],
    k: int,
    candidate: int,
    direction: Direction,
    metric: Metric,
    tens: InTens,
    needs: Callable[[float], tuple[int | None, int | None]],
    *,
    struck: str | None = None,
    chosen: bool = False,
) -> Point:
    first = dials[0]
    up, left = float(first.promoted[k]), float(first.denied - first.promoted[k])
    strength = float(first.strength[k])
    good = float(first.promoted_good[k])
    points_needed, card = needs(strength) if strength else (None, None)
    fairness, rates = [], []
    for dial in dials:
        state = dial.only(k)
        size = np.asarray(state.size, np.float64)
        own_rates = [
            tens.share(float(state.positive[0, g].sum()), float(size[g].sum()))
            for g in range(len(size))
        ]
        rates.append(own_rates)
        fairness.append(tens.metric(metric, state.positive[0], size))
    return Point(
        candidate=candidate,
        direction=direction,
        struck=struck,
        chosen=chosen,
        card=card,
        points_needed=points_needed,
        strength=round(strength, 6),
        changed=tens.share(float(first.changed[k]), first.people),
        accuracy=tens.share(float(first.correct[k]), first.people),
        promoted_outcome=_published(tens, good, up),
        left_outcome=_published(tens, float(first.denied_good) - good, left),
        fairness=fairness,
        rates=rates,
    )


def _needs(
    frontier: Frontier,
    cards: dict[tuple[str, ...], int],
    m: int,
    struck: str | None,
    strength: float,
) -> tuple[int | None, int | None]:
    """The points at which a scorecard changes a decision, and its number; the paper's have none."""
    if frontier.candidates.strengths is None:
        return None, None
    patch = frontier.candidates.patch(m, strength)
    lines = tuple(
        f"{line.name} ({shown(line.points)})"
        for line in ordered_lines(patch)
        if line.name != struck
    )
    return patch.changes_at, cards.setdefault(lines, len(cards))


def _published(tens: InTens, hits: float, among: float) -> tuple[float, float] | None:
    """A share of people of whom nobody knows how many they are; None where they are few."""
    return (
        None if among < (1 if tens.exact else MIN_PEOPLE) else tens.share(hits, among, known=False)
    )


def _limits(metric: Metric, many: int) -> list[float]:
    ends = (0.5, 1.0) if metric.at_least else (0.0, 0.5)
    return [round(float(v), 3) for v in np.linspace(*ends, many)]


def _bounds(
    frontier: Frontier,
    large: Mapping[str, list[int]],
    target: Target,
    metric: Metric,
    limits: Sequence[float],
) -> list[Bounds]:
    counts = {name: frontier.counts.by(name).known().large(MIN_PEOPLE) for name in large}
    directions = DIRECTIONS if target.direction == "both" else (target.direction,)
    bounds = []
    for direction in directions:
        for i, name in enumerate(counts):
            known = []
            for limit in limits:
                bound = metric.fewest(counts[name], limit, direction=direction, roughly=True)
                known.append(None if bound is None else _floor(bound.changes, bound.people))
            bounds.append(Bounds(direction=direction, feature=i, known=known))
    return bounds


def _floor(changes: int, people: int) -> float:
    """As a share, by full tens of people."""
    return float(np.floor(full_tens(changes) / max(people, 1) * 1000) / 1000)
