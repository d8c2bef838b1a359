"""The record of a target that could not be met: what was asked, what was tried, what is nearest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from fairpatch._tools.files import dumps_safely, write_whole
from fairpatch._tools.smallest_count import MIN_PEOPLE, ends_of, full_tens
from fairpatch.choose.frontier import Frontier, fewest
from fairpatch.choose.objections import TargetNotReachedError, cheapest_fair, small_groups
from fairpatch.measure.metric import Metric
from fairpatch.measure.strength_curve import Counted, StrengthCurve
from fairpatch.report.figures import ReviewPart, Words, words_of
from fairpatch.report.page import render
from fairpatch.report.signed import About
from fairpatch.target import Target

Ends = tuple[float, float]
"""What a share lies between, to three digits."""


@dataclass(frozen=True, eq=False)
class RoundedShares:
    """Which groups of a frontier may be shown, and shares of their people, by full tens.

    To the last digit, a ratio and a difference of two rates give a group of 24 its exact count.
    Whoever knows a person's columns knows at which strength they change: steps by one would tell
    their group.
    """

    large: dict[str, list[int]]
    """By feature, the groups of at least ten people, in the order of the dials; two or more."""
    sized: bool = False
    """Whether it is no secret how many people each group has."""

    @classmethod
    def of(cls, frontier: Frontier, metrics: Sequence[Metric]) -> Self:
        """What may be shown of a frontier, where these metrics are."""
        large = {}
        for name in frontier.counts.features:
            if name not in frontier.dials[0]:  # in strata, or against a reference
                continue
            counts = frontier.counts.by(name).known()
            both = zip(counts.groups, counts.sizes.tolist(), strict=True)  # dials order as text
            sizes = [size for _, size in sorted(both, key=lambda pair: str(pair[0][0]))]
            groups = [i for i, size in enumerate(sizes) if size >= MIN_PEOPLE]
            if len(groups) > 1:
                large[name] = groups
        whole = all(
            len(groups) == len(frontier.counts.by(name).groups) for name, groups in large.items()
        ) and len(large) == len(frontier.counts.features)
        # how many have each label is told nowhere
        sized = whole and not any(metric.given_y for metric in metrics)
        return cls(large, sized)

    def only(self, dials: Mapping[str, StrengthCurve]) -> list[StrengthCurve]:
        """Of each feature's dial, the groups that are shown."""
        return [dials[name].of_groups(groups) for name, groups in self.large.items()]

    def share(self, hits: float, among: float) -> Ends:
        """What a share lies between."""
        return self._outwards(*self._ends(hits, among))

    def metric(self, metric: Metric, positive: Counted, size: Counted) -> Ends:
        """What a metric lies between at one stretch of a dial, (groups, labels)."""
        low = high = 0.0
        for make in metric.rates:
            labels = make("g").labels
            ends = metric.between(
                [
                    self._ends(float(p[labels].sum()), float(n[labels].sum()))
                    for p, n in zip(positive, size, strict=True)
                ]
            )
            low, high = low + ends[0], high + ends[1]
        return self._outwards(low, high, metric.highest)

    def _ends(self, hits: float, among: float) -> Ends:
        return ends_of(hits, among, known=self.sized, exact=False)

    def _outwards(self, low: float, high: float, most: float = 1.0) -> Ends:
        return float(np.floor(low * 1000) / 1000), float(min(most, np.ceil(high * 1000) / 1000))


class Point(ReviewPart):
    """One candidate at one strength; every share is what it lies between, low then high."""

    changed: Ends
    """Share of changed decisions."""
    accuracy: Ends
    """Share of decisions that equal the outcome, or are expected to."""
    fairness: dict[str, Ends]
    """By feature: what was asked for first."""


class Refused(ReviewPart):
    """A target that no candidate meets."""

    format: Literal["fairpatch.refusal"] = "fairpatch.refusal"
    """What this is."""
    version: Literal[3] = 3
    """Of this format."""
    model: str | None
    """What the model is called."""
    owner: str | None
    """Who answers for it."""
    date: str | None
    """When it was tried."""
    command: str | None
    """How to try it again."""
    asked: str
    """What was asked for."""
    direction: str
    """Which decisions could change."""
    why: str
    """The decisive reason, in a sentence."""
    small_groups: list[str]
    """Features with a group so small that its rate is chance, in words."""
    decision: Words
    """What the decisions and outcomes are called."""
    tried: int
    """How many candidates were tried, each at every strength."""
    nearest: Point | None
    """The candidate and strength that come nearest within the changes that were allowed."""
    cheapest: Point | None
    """The one that meets what was asked of the groups with the fewest changes, where one does."""
    before: Point | None
    """The base model; null where the people it was tried on are too few, or weighed."""
    metric: str
    """What was asked for first."""
    limit: float
    """Its limit."""


@dataclass(frozen=True, eq=False)
class Refusal:
    """The record, as data and page."""

    record: Refused

    @classmethod
    def of(cls, error: TargetNotReachedError, about: About | None = None) -> "Refusal":
        """Made of what the search found."""
        if error.frontier is None or error.target is None:
            raise ValueError("the search itself is not at hand")
        about, target, frontier = about or About(), error.target, error.frontier
        found = cheapest_fair(frontier, target)
        points = _points(frontier, target, found)
        before, nearest, cheapest = points or (None, None, None)
        requirement = target.fairness_requirements[0]
        return cls(
            Refused(
                model=about.model,
                owner=about.owner,
                date=about.date,
                command=about.command,
                asked=str(target),
                direction=target.direction,
                why=_why(frontier, target, found),
                small_groups=small_groups(frontier),
                decision=words_of(frontier.candidates.decision),
                tried=len(frontier.dials),
                nearest=nearest,
                cheapest=cheapest,
                before=before,
                metric=requirement.metric.words,
                limit=requirement.limit,
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return self.record.model_dump(mode="json")

    def to_json(self, path: str | Path) -> Path:
        """Write it as JSON."""
        return write_whole(path, dumps_safely(self.to_dict()))

    def to_html(self, path: str | Path) -> Path:
        """Write it as one page that needs no network."""
        return write_whole(path, render("refused.html", refused=self.record))


def _why(frontier: Frontier, target: Target, cheapest: tuple[float, int, int] | None) -> str:
    """Impossible for any method, too dear, or out of reach of a patch: what decides first."""
    large = {f: frontier.counts.by(f).known().large(MIN_PEOPLE) for f in frontier.counts.features}
    known, _ = fewest(target, large, {}, frontier.f_logit > 0, frontier.weight)
    # in full tens: an exact figure would tell of few people
    least = 0.0 if known is None else full_tens(known.changes) / max(known.people, 1)
    if least > target.most_changes:
        return (
            f"No method can: at least {least:.1%} of all decisions must change, whatever is used "
            f"to decide, and at most {target.most_changes:.1%} may."
        )
    if cheapest is not None and cheapest[0] > target.most_changes:
        return (
            f"A patch that meets it changes {cheapest[0]:.0%} of all decisions, and at most "
            f"{target.most_changes:.0%} may change. Methods that use the sensitive feature to "
            f"decide need {least:.1%} or more."
        )
    return (
        "No strength of any candidate reaches it: the columns that the patch may use do not tell "
        "the groups apart well enough."
    )


def _points(
    frontier: Frontier, target: Target, cheapest: tuple[float, int, int] | None
) -> tuple[Point, Point, Point | None] | None:
    """The base model, the fairest within the changes allowed, and the cheapest that is fair.

    None where too few people, weights or comparisons of another kind forbid it.
    """
    metric = target.metrics[0]
    tens = RoundedShares.of(frontier, [metric])
    weighted = frontier.candidates.roles.weight is not None  # tens of weights are no tens of people
    if weighted or target.comparisons is not None or not tens.large:
        return None
    sign = 1 if metric.at_least else -1
    nearest = (-np.inf, 0, 0)
    for m, by_feature in enumerate(frontier.dials):
        dials = tens.only(by_feature)
        worst = np.min([sign * metric.along(dial) for dial in dials], axis=0)
        rate = dials[0].change_rate
        within = np.flatnonzero((rate <= target.most_changes) & ~np.isnan(worst))
        if len(within):
            k = int(within[worst[within].argmax()])
            nearest = max(nearest, (float(worst[k]), m, k))

    def point(m: int, k: int) -> Point:
        dials = tens.only(frontier.dials[m])
        first = dials[0]
        return Point(
            changed=tens.share(float(first.changed[k]), first.people),
            accuracy=tens.share(float(first.correct[k]), first.people),
            fairness={
                name: tens.metric(metric, dial.positive[k], np.asarray(dial.size, np.float64))
                for name, dial in zip(tens.large, dials, strict=True)
            },
        )

    return (
        point(0, 0),
        point(*nearest[1:]),
        None if cheapest is None else point(*cheapest[1:]),
    )
