"""The explorer's data: every candidate at some strengths, by full tens of people.

Measured on the people whom candidates were chosen on, never on those who certify: whoever explores
chooses, and what was chosen must be certified on others.
"""

from collections.abc import Sequence

import numpy as np

from fairpatch.choose.dial import Counted, Dial
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.struck import Struck
from fairpatch.choose.target import Target
from fairpatch.measure.direction import DIRECTIONS, Direction
from fairpatch.measure.metric import Metric
from fairpatch.report.figures import NOT_TOLD, Shown, Tens

STOPS = 14
"""Strengths of each candidate."""
LIMITS = 11
"""Limits for which bounds are told."""


class Group(Shown):
    """A group that is compared."""

    name: str
    """What it is called."""
    people: int
    """Its share of the people of its feature, in percent."""


class Feature(Shown):
    """A sensitive feature and its groups."""

    name: str
    """What it is called."""
    groups: list[Group]
    """Those that are compared."""


class Point(Shown):
    """One candidate at one strength; every share is what it lies between, low then high."""

    candidate: int
    """Its number."""
    price: float | None
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
    features: list[Feature]
    """The sensitive features."""
    before: Point
    """The base model."""
    points: list[Point]
    """Every candidate and strength."""
    limits: list[float]
    """Limits for which bounds are told."""
    bounds: list[Bounds]
    """By direction and feature."""
    protected_lines: list[str]
    """Lines of the card that read a protected column, or one that tells the group."""


def explorer_section(
    frontier: Frontier,
    target: Target,
    struck: Sequence[Struck],
    chosen: tuple[int, float] | None,
    protected_lines: Sequence[str],
    tens: Tens,
) -> Explorer:
    """Everything that the explorer shows."""
    requirement = target.fairness_requirements[0]
    metric = requirement.metric
    if not isinstance(metric, Metric):
        raise TypeError("a requirement of the groups compares them")
    first = next(iter(frontier.dials[0].values()))
    features = [
        Feature(name=name, groups=_groups(frontier, name)) for name in frontier.counts.features
    ]
    points: list[Point] = []
    own = (metric, tens)
    for m, by_feature in enumerate(frontier.dials):
        direction = frontier.candidates.directions[m]
        dials = list(by_feature.values())
        stops = _stops(dials, metric, card=frontier.candidates.strengths is not None)
        points += [_point(dials, k, m, direction, *own) for k in stops]
        if chosen is not None and chosen[0] == m:
            k = int(dials[0].at(chosen[1]))
            points.append(_point(dials, k, m, direction, *own, chosen=True))
    for each in struck:
        dials = list(each.dials.values())
        about = (each.candidate, each.direction, *own)
        points += [
            _point(dials, k, *about, struck=each.line) for k in _stops(dials, metric, card=True)
        ]
    before = _point(list(frontier.dials[0].values()), 0, -1, "both", *own)
    limits = _limits(metric)
    return Explorer(
        metric=metric.name,
        words=metric.words,
        at_least=metric.at_least,
        limit=requirement.limit,
        max_changes=target.max_changes,
        highest=metric.highest,
        people=int(round(first.people) // 10 * 10),
        features=features,
        before=before,
        points=points,
        limits=limits,
        bounds=_bounds(frontier, target, metric, limits),
        protected_lines=list(protected_lines),
    )


def _groups(frontier: Frontier, feature: str) -> list[Group]:
    own = frontier.counts.by(feature).known()
    everybody = max(int(own.sizes.sum()), 1)
    return [
        Group(name=name, people=round(100 * int(size) / everybody))
        for name, size in zip(own.group_names, own.sizes, strict=True)
    ]


def _stops(dials: Sequence[Dial], metric: Metric, *, card: bool) -> list[int]:
    """Stretches of a dial, evenly by changes, up to where it is fairest."""
    values = np.array([metric.along(dial) for dial in dials])
    worst = values.min(0) if metric.at_least else -values.max(0)
    fairest = int(np.nan_to_num(worst, nan=-np.inf).argmax())
    changed = np.asarray(dials[0].changed[: fairest + 1], np.float64)
    wanted = np.linspace(0, float(changed[-1]), STOPS + 1)[1:]
    found = {int(np.searchsorted(changed, n)) for n in wanted}
    return sorted(found | (set() if card else {int(dials[0].at(1.0))}))


def _point(
    dials: Sequence[Dial],
    k: int,
    candidate: int,
    direction: Direction,
    metric: Metric,
    tens: Tens,
    *,
    struck: str | None = None,
    chosen: bool = False,
) -> Point:
    first = dials[0]
    up, left = float(first.promoted[k]), float(first.denied - first.promoted[k])
    strength = float(first.strength[k])
    good = float(first.promoted_good[k])
    fairness, rates = [], []
    for dial in dials:
        own = dial.only(k)
        size = np.asarray(own.size, np.float64)
        own_rates = [
            _share(tens, float(own.positive[0, g].sum()), float(size[g].sum()))
            for g in range(len(size))
        ]
        rates.append(own_rates)
        fairness.append(_metric(metric, own.positive[0], size, tens))
    return Point(
        candidate=candidate,
        direction=direction,
        struck=struck,
        chosen=chosen,
        price=round(100 / strength, 6) if strength else None,
        strength=round(strength, 6),
        changed=_share(tens, float(first.changed[k]), first.people),
        accuracy=_share(tens, float(first.correct[k]), first.people),
        promoted_outcome=_told(tens, good, up),
        left_outcome=_told(tens, float(first.denied_good) - good, left),
        fairness=fairness,
        rates=rates,
    )


def _share(tens: Tens, hits: float, among: float, *, known: bool = True) -> tuple[float, float]:
    low, high = tens.ends(hits, among, known=known)
    return float(np.floor(low * 1000) / 1000), float(min(1.0, np.ceil(high * 1000) / 1000))


def _told(tens: Tens, hits: float, among: float) -> tuple[float, float] | None:
    return None if tens.share(hits, among) is NOT_TOLD else _share(tens, hits, among, known=False)


def _metric(metric: Metric, positive: Counted, size: Counted, tens: Tens) -> tuple[float, float]:
    """What the metric lies between at one stretch of a dial, (groups, labels)."""
    low = high = 0.0
    for make in metric.rates:
        labels = make("g").among[:2, 0].any(1)
        ends = metric.between(
            [
                tens.ends(float(p[labels].sum()), float(n[labels].sum()), known=True)
                for p, n in zip(positive, size, strict=True)
            ]
        )
        low, high = low + ends[0], high + ends[1]
    most = min(metric.highest, np.ceil(high * 1000) / 1000)
    return float(np.floor(low * 1000) / 1000), float(most)


def _limits(metric: Metric) -> list[float]:
    ends = (0.5, 1.0) if metric.at_least else (0.0, 0.4)
    return [round(float(v), 3) for v in np.linspace(*ends, LIMITS)]


def _bounds(
    frontier: Frontier, target: Target, metric: Metric, limits: Sequence[float]
) -> list[Bounds]:
    counts = {name: frontier.counts.by(name) for name in frontier.counts.features}
    directions = DIRECTIONS if target.direction == "both" else (target.direction,)
    found = []
    for direction in directions:
        for i, name in enumerate(counts):
            known = []
            for limit in limits:
                bound = metric.fewest(counts[name], limit, direction=direction)
                known.append(None if bound is None else _floor(bound.changes, bound.people))
            found.append(Bounds(direction=direction, feature=i, known=known))
    return found


def _floor(changes: int, people: int) -> float:
    """As a share, by full tens of people."""
    return float(np.floor(changes // 10 * 10 / max(people, 1) * 1000) / 1000)
