"""The record of a target that could not be met: what was asked, what was tried, what is nearest."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from fairpatch.choose.choice import fewest
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.not_reached import FEW, TargetNotReachedError
from fairpatch.choose.target import Target
from fairpatch.files.atomic import write_whole
from fairpatch.files.strict_json import dumps_safely
from fairpatch.floor import MIN_PEOPLE, full_tens
from fairpatch.report.explorer import Explorer, Point, explorer_section
from fairpatch.report.figures import Shown, Tens, Words, words_of
from fairpatch.report.identity import About
from fairpatch.report.page import for_script, render


class Refused(Shown):
    """A target that no candidate meets."""

    format: Literal["fairpatch.refusal"] = "fairpatch.refusal"
    """What this is."""
    version: Literal[1] = 1
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
    explorer: Explorer | None
    """All of them, on the people whom they were to be chosen on; null where these are too few."""


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
        explorer = explorer_section(frontier, target, (), None, (), Tens(), about.group_names)
        cheapest = None if explorer is None else _cheapest(explorer)
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
                nearest=None if explorer is None else _nearest(explorer, target.most_changes),
                cheapest=cheapest,
                explorer=explorer,
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
        explorer = self.record.explorer
        shown = SimpleNamespace(
            patch=SimpleNamespace(card=None), explorer=explorer, decision=self.record.decision
        )
        data = "" if explorer is None else for_script(explorer.model_dump(mode="json"))
        return write_whole(
            path, render("refused.html", refused=self.record, review=shown, explorer_json=data)
        )


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


def _nearest(explorer: Explorer, most: float) -> Point:
    """The fairest point within the budget, by the feature that is worst off."""
    within = [p for p in explorer.points if sum(p.changed) / 2 <= most]
    return max(within or [explorer.before], key=lambda p: _worst(explorer, p))


def _cheapest(explorer: Explorer) -> Point | None:
    """The point of the fewest changes that meets the limit, whatever else was asked."""
    sign = 1 if explorer.at_least else -1
    met = [p for p in explorer.points if _worst(explorer, p) >= sign * explorer.limit]
    return min(met, key=lambda p: sum(p.changed), default=None)


def _worst(explorer: Explorer, point: Point) -> float:
    sign = 1 if explorer.at_least else -1
    return min(sign * sum(ends) / 2 for ends in point.fairness)
