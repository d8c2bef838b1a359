"""The explorer's data: every candidate at some strengths, by full tens of people.

Measured on the people whom candidates were chosen on, never on those who certify: whoever explores
chooses, and what was chosen must be certified on others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from fairpatch.choose.dial import Counted, Dial
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.struck import Struck
from fairpatch.choose.target import Target
from fairpatch.floor import MIN_PEOPLE, full_tens
from fairpatch.measure.direction import DIRECTIONS, Direction
from fairpatch.measure.metric import Metric
from fairpatch.report.figures import WITHHELD_FIGURE, Shown, Tens
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
    if frontier.candidates.decision.weight is not None:  # tens of weights are no tens of people
        return None
    large = _large(frontier)
    if not large:
        return None
    first = next(iter(frontier.dials[0].values()))
    features = [
        ExploredFeature(name=name, groups=_groups(frontier, name, groups, names or {}))
        for name, groups in large.items()
    ]
    whole = all(
        len(groups) == len(frontier.counts.by(name).groups) for name, groups in large.items()
    ) and len(large) == len(frontier.counts.features)
    tens = tens.model_copy(update={"sized": whole and not metric.given_y})
    is_card = frontier.candidates.strengths is not None
    points: list[Point] = []
    groups = (metric, tens)
    for m, by_feature in enumerate(frontier.dials):
        direction = frontier.candidates.directions[m]
        dials = _only(by_feature, large)
        stops = _stops(dials, metric, card=is_card)
        needs = partial(_needs, frontier, m)
        points += [_point(dials, k, m, direction, *groups, needs) for k in stops]
        if chosen is not None and chosen[0] == m:
            k = int(dials[0].at(chosen[1]))
            points.append(_point(dials, k, m, direction, *groups, needs, chosen=True))
    for each in struck:
        dials = _only(each.dials, large)
        needs = partial(_needs, frontier, each.candidate)
        about = (each.candidate, each.direction, *groups, needs)
        points += [
            _point(dials, k, *about, struck=each.line) for k in _stops(dials, metric, card=True)
        ]
    before = _point(_only(frontier.dials[0], large), 0, -1, "both", *groups, lambda _: None)
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
        features=features,
        before=before,
        points=points,
        limits=limits,
        bound_limits=some,
        bounds=_bounds(frontier, large, target, metric, some),
        lines=list(dict.fromkeys(each.line for each in struck)),
        protected_lines=list(protected_lines),
    )


def _large(frontier: Frontier) -> dict[str, list[int]]:
    """By feature, the groups of at least ten people, in the order of the dials; two or more."""
    by_feature = {}
    for name in frontier.counts.features:
        sizes = [size for _, size in _in_order(frontier, name)]
        groups = [i for i, size in enumerate(sizes) if size >= MIN_PEOPLE]
        if len(groups) > 1:
            by_feature[name] = groups
    return by_feature


def _in_order(frontier: Frontier, feature: str) -> list[tuple[str, int]]:
    """The groups of a feature with their people, as dials have them: ordered as text."""
    counts = frontier.counts.by(feature).known()
    both = zip(counts.groups, counts.sizes.tolist(), strict=True)
    return sorted(((str(value), size) for (value,), size in both), key=lambda pair: pair[0])


def _groups(frontier: Frontier, feature: str, large: list[int], names: Names) -> list[Group]:
    group_names = [_in_order(frontier, feature)[i] for i in large]
    everybody = sum(size for _, size in group_names)
    called = names.get(feature, {})
    return [
        Group(name=called.get(name, name), people=round(100 * size / everybody))
        for name, size in group_names
    ]


def _only(dials: Mapping[str, Dial], large: Mapping[str, list[int]]) -> list[Dial]:
    """Of each feature's dial, the groups that are shown."""
    return [
        replace(
            dials[name], positive=dials[name].positive[:, groups], size=dials[name].size[groups]
        )
        for name, groups in large.items()
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
    tens: Tens,
    needs: Callable[[float], int | None],
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
        state = dial.only(k)
        size = np.asarray(state.size, np.float64)
        own_rates = [
            _share(
                tens,
                float(state.positive[0, g].sum()),
                float(size[g].sum()),
                known=tens.sized,
            )
            for g in range(len(size))
        ]
        rates.append(own_rates)
        fairness.append(_metric(metric, state.positive[0], size, tens))
    return Point(
        candidate=candidate,
        direction=direction,
        struck=struck,
        chosen=chosen,
        points_needed=needs(strength) if strength else None,
        strength=round(strength, 6),
        changed=_share(tens, float(first.changed[k]), first.people, known=tens.sized),
        accuracy=_share(tens, float(first.correct[k]), first.people, known=tens.sized),
        promoted_outcome=_published(tens, good, up),
        left_outcome=_published(tens, float(first.denied_good) - good, left),
        fairness=fairness,
        rates=rates,
    )


def _needs(frontier: Frontier, m: int, strength: float) -> int | None:
    """The points at which a scorecard changes a decision; the paper's patches have none."""
    if frontier.candidates.strengths is None:
        return None
    return frontier.candidates.patch(m, strength).changes_at


def _share(tens: Tens, hits: float, among: float, *, known: bool) -> tuple[float, float]:
    low, high = tens.ends(hits, among, known=known)
    return float(np.floor(low * 1000) / 1000), float(min(1.0, np.ceil(high * 1000) / 1000))


def _published(tens: Tens, hits: float, among: float) -> tuple[float, float] | None:
    return (
        None
        if tens.share(hits, among) is WITHHELD_FIGURE
        else _share(tens, hits, among, known=False)
    )


def _metric(metric: Metric, positive: Counted, size: Counted, tens: Tens) -> tuple[float, float]:
    """What the metric lies between at one stretch of a dial, (groups, labels)."""
    low = high = 0.0
    for make in metric.rates:
        labels = make("g").labels
        ends = metric.between(
            [
                tens.ends(float(p[labels].sum()), float(n[labels].sum()), known=tens.sized)
                for p, n in zip(positive, size, strict=True)
            ]
        )
        low, high = low + ends[0], high + ends[1]
    most = min(metric.highest, np.ceil(high * 1000) / 1000)
    return float(np.floor(low * 1000) / 1000), float(most)


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
