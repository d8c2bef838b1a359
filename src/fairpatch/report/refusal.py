"""The record of a target that could not be met: what was asked, what was tried, what is nearest."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from fairpatch.choose.not_reached import TargetNotReachedError
from fairpatch.patch.strict import dumps_safely
from fairpatch.patch.whole import write_whole
from fairpatch.report.explorer import Explorer, Point, explorer_section
from fairpatch.report.figures import Shown, Tens, Words
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
    """Why it cannot be had, and what could."""
    decision: Words
    """What the decisions and outcomes are called."""
    tried: int
    """How many candidates were tried, each at every strength."""
    nearest: Point
    """The candidate and strength that come nearest within the rest of what was asked."""
    explorer: Explorer
    """All of them, on the people whom they were to be chosen on."""


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
        own = explorer_section(frontier, target, (), None, (), Tens())
        decision = frontier.candidates.decision
        words = Words(
            favoured=decision.favoured,
            good_outcome=decision.good_outcome,
            approved=decision.sides[0],
            denied=decision.sides[1],
        )
        return cls(
            Refused(
                model=about.model,
                owner=about.owner,
                date=about.date,
                command=about.command,
                asked=str(target),
                direction=target.direction,
                why=str(error),
                decision=words,
                tried=len(frontier.dials),
                nearest=_nearest(own, target.max_changes),
                explorer=own,
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
        data = for_script(explorer.model_dump(mode="json"))
        return write_whole(
            path, render("refused.html", refused=self.record, review=shown, explorer_json=data)
        )


def _nearest(explorer: Explorer, most: float | None) -> Point:
    """The fairest point within the budget, by the feature that is worst off."""

    def worst(point: Point) -> float:
        sign = 1 if explorer.at_least else -1
        return min(sign * sum(ends) / 2 for ends in point.fairness)

    within = [p for p in explorer.points if most is None or sum(p.changed) / 2 <= most]
    return max(within or [explorer.before], key=worst)
