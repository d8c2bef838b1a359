"""The card in force until now as a candidate beside new ones: same lines, any price and direction.

A retrained f rarely needs other lines. Where the old card serves the new f as well as a new one,
fewer decisions differ from yesterday's, and a reader knows it already.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.cards import SURENESS, Cards
from fairpatch.choose.prices import priced, strengths_of
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.learn.push.points import HUNDRED
from fairpatch.measure.direction import DIRECTIONS, Direction
from fairpatch.patch import Card, Patch
from fairpatch.patch.sealed import seal


@dataclass(frozen=True, eq=False)
class Joined:
    """New cards, and after them the old one at several weights of sureness in each direction."""

    new: Cards
    old: tuple[Patch, ...]
    """At a price of a hundred points."""
    ratios: Floats
    own_ratios: Floats
    strengths: Floats

    @property
    def decision(self) -> Decision:
        """What f decides."""
        return self.new.decision

    @property
    def directions(self) -> list[Direction]:
        """Of each candidate."""
        return [*self.new.directions, *(patch.direction for patch in self.old)]

    @property
    def strongest(self) -> float:
        """A price of one point."""
        return float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return len(self.new) + len(self.old)

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m at a price of a hundred points over the strength."""
        if m < len(self.new):
            return self.new.patch(m, strength)
        own = priced(self.old[m - len(self.new)], HUNDRED, strength)
        return seal(own, self.about(m)) if strength else own

    def about(self, m: int) -> dict[str, Any]:
        """Its settings."""
        if m < len(self.new):
            return self.new.about(m)
        own = self.old[m - len(self.new)]
        sure = own.card.sureness if own.card else 0.0
        return {"learner": "old card", "sureness": sure, "direction": own.direction}

    def size(self, m: int) -> int:
        """Its lines."""
        return self.new.size(m) if m < len(self.new) else len(self.old[m - len(self.new)].lines)


def beside_old(new: Cards, old: Patch, rows: Rows, direction: Direction) -> Joined:
    """New candidates and the old card on the same rows, on one scale of prices."""
    if old.card is None:
        raise ValueError(
            "only a card of points can be a candidate again; this is the paper's patch"
        )
    sure = sorted({*SURENESS, old.card.sureness})
    directions = DIRECTIONS if direction == "both" else (direction,)
    provenance = new.provenance.model_copy(update={"edits": old.provenance.edits})
    at_hundred = {"strength": 1.0, "decision": new.decision, "provenance": provenance}
    cards = tuple(
        old.model_copy(
            update={**at_hundred, "card": Card(price=HUNDRED, sureness=s), "direction": d}
        )
        for s in sure
        for d in directions
    )
    points = old.points(rows.X)
    effects = [card.effect(rows.f) for card in cards]
    ratios = np.array([1 + each * points + rest for each, rest in effects])
    strengths = np.union1d(new.strengths, strengths_of(points, HUNDRED))
    crossed, own = (np.concatenate([x, ratios]) for x in (new.ratios, new.own_ratios))
    return Joined(new, cards, crossed, own, strengths)
