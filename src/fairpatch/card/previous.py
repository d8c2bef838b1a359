"""The card in force until now as a candidate beside new ones: same lines, any points needed.

A retrained f rarely needs other lines. Where the previous card serves the new f as well as a new
one, fewer decisions differ from those so far, and a reader knows it already.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.card.candidates import CONFIDENCE_POINTS, Cards
from fairpatch.card.points import HUNDRED
from fairpatch.choose.pool import Patches
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.measure.direction import DIRECTIONS, Direction
from fairpatch.patch import CardScale, Patch
from fairpatch.patch.sealed import seal


@dataclass(frozen=True, eq=False)
class Joined:
    """New cards, and after them the previous one at several confidence points and directions."""

    new: Cards
    previous: Patches
    """Each needs a hundred points at strength 1."""
    ratios: Floats
    final: Floats
    strengths: Floats

    @property
    def decision(self) -> Decision:
        """What f decides."""
        return self.new.decision

    @property
    def directions(self) -> list[Direction]:
        """Of each candidate."""
        return [*self.new.directions, *self.previous.directions]

    @property
    def strongest(self) -> float:
        """Fewer than one point needed."""
        return float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return len(self.new) + len(self.previous)

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m, which needs a hundred points over the strength."""
        if m < len(self.new):
            return self.new.patch(m, strength)
        patch = self.previous.patch(m - len(self.new), strength)
        return seal(patch, self.about(m)) if strength else patch

    def about(self, m: int) -> dict[str, Any]:
        """Its settings."""
        if m < len(self.new):
            return self.new.about(m)
        patch = self.previous.patches[m - len(self.new)]
        confidence = patch.card.confidence_points if patch.card else 0.0
        return {
            "learner": "previous card",
            "confidence_points": confidence,
            "direction": patch.direction,
        }

    def size(self, m: int) -> int:
        """Its lines."""
        return self.new.size(m) if m < len(self.new) else self.previous.size(m - len(self.new))


def beside_previous(new: Cards, previous: Patch, rows: Rows, direction: Direction) -> Joined:
    """New candidates and the previous card on the same rows, on one scale of points."""
    known = previous.card.confidence_points if previous.card else 0.0
    directions = DIRECTIONS if direction == "both" else (direction,)
    provenance = new.provenance.model_copy(update={"edits": previous.provenance.edits})
    same = {"strength": 1.0, "decision": new.decision, "provenance": provenance}
    cards = [
        previous.model_copy(
            update={
                **same,
                "card": CardScale(points_needed=HUNDRED, confidence_points=confidence),
                "direction": one,
            }
        )
        for confidence in sorted({*CONFIDENCE_POINTS, known})
        for one in directions
    ]
    pool, ratios = Patches.of(cards, rows)
    strengths = np.union1d(new.strengths, pool.strengths if pool.strengths is not None else ())
    crossed, final = (np.concatenate([x, ratios]) for x in (new.ratios, new.final))
    return Joined(new, pool, crossed, final, strengths)
