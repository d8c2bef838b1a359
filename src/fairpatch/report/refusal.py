"""The record of a target that could not be met: what was asked, what was tried, what is nearest."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fairpatch.choose.findings import FEW, TargetNotReachedError
from fairpatch.choose.frontier import Frontier, fewest
from fairpatch.choose.target import Target
from fairpatch.files.atomic import write_whole
from fairpatch.files.strict_json import dumps_safely
from fairpatch.floor import MIN_PEOPLE, full_tens
from fairpatch.report.figures import Shown, Words, words_of
from fairpatch.report.identity import About
from fairpatch.report.in_tens import Ends, InTens
from fairpatch.report.page import render


class Point(Shown):
    """One candidate at one strength; every share is what it lies between, low then high."""

    changed: Ends
    """Share of changed decisions."""
    accuracy: Ends
    """Share of decisions that equal the outcome, or are expected to."""
    fairness: dict[str, Ends]
    """By feature: what was asked for first."""


class Refused(Shown):
    """A target that no candidate meets."""

    format: Literal["fairpatch.refusal"] = "fairpatch.refusal"
    """What this is."""
    version: Literal[2] = 2
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
    small_groups: bool
    """Whether a group of fewer than thirty people is among those compared: its rate is chance."""
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
        points = _points(frontier, target)
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
                why=_why(frontier, target, cheapest),
                small_groups=any(
                    int(frontier.counts.by(f).known().sizes.min()) < FEW
                    for f in frontier.counts.features
                ),
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


def _why(frontier: Frontier, target: Target, cheapest: Point | None) -> str:
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
    if cheapest is not None and cheapest.changed[0] > target.most_changes:
        return (
            f"A patch that meets it changes about {sum(cheapest.changed) / 2:.0%} of all "
            f"decisions, and at most {target.most_changes:.0%} may change. Methods that use the "
            f"sensitive feature to decide need {least:.1%} or more."
        )
    return (
        "No strength of any candidate reaches it: the columns that the patch may use do not tell "
        "the groups apart well enough."
    )


def _points(frontier: Frontier, target: Target) -> tuple[Point, Point, Point | None] | None:
    """The base model, the fairest within the changes allowed, and the cheapest that is fair.

    None where too few people, weights or comparisons of another kind forbid it.
    """
    metric, limit = target.metrics[0], target.fairness_requirements[0].limit
    tens = InTens.of(frontier, [metric])
    weighted = frontier.candidates.roles.weight is not None  # tens of weights are no tens of people
    if weighted or target.comparisons is not None or not tens.large:
        return None
    sign = 1 if metric.at_least else -1
    nearest, cheapest = (-np.inf, 0, 0), (np.inf, 0, 0)
    for m, by_feature in enumerate(frontier.dials):
        dials = tens.only(by_feature)
        worst = np.min([sign * metric.along(dial) for dial in dials], axis=0)
        rate = dials[0].change_rate
        within = np.flatnonzero((rate <= target.most_changes) & ~np.isnan(worst))
        met = np.flatnonzero(worst >= sign * limit)
        if len(within):
            k = int(within[worst[within].argmax()])
            nearest = max(nearest, (float(worst[k]), m, k))
        if len(met):
            k = int(met[rate[met].argmin()])
            cheapest = min(cheapest, (float(rate[k]), m, k))

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
        point(*cheapest[1:]) if np.isfinite(cheapest[0]) else None,
    )
