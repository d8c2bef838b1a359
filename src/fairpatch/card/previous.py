"""The scorecard in force until now as a candidate beside new ones: same points, or same columns.

A retrained f rarely needs other columns. Where the previous scorecard serves the new f as well as a
new one, fewer decisions differ from those so far, and a reader knows it already.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.card.candidates import Cards
from fairpatch.card.confidence import FEW, closed
from fairpatch.choose.learner import Patches
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.inputs.roles import Roles
from fairpatch.measure.direction import Direction
from fairpatch.measure.places import Places, Swaps
from fairpatch.patch import CardScale, Patch
from fairpatch.patch.locks import with_locked
from fairpatch.patch.sealed import seal


@dataclass(frozen=True, eq=False)
class Joined:
    """New scorecards, and after them the previous one in every direction."""

    new: Cards
    previous: Patches
    ratios: Floats
    final: Floats
    strengths: Floats

    @property
    def decision(self) -> Decision:
        """What f decides."""
        return self.new.decision

    @property
    def roles(self) -> Roles:
        """What the columns are."""
        return self.new.roles

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
        """Candidate m, with as many points needed as belong to a strength."""
        if m < len(self.new):
            return self.new.patch(m, strength)
        patch = self.previous.patch(m - len(self.new), strength)
        patch = patch if self.new.fine == self.new.bands else closed(patch)
        return seal(patch, self.about(m)) if strength else patch

    def about(self, m: int) -> dict[str, Any]:
        """Its settings."""
        if m < len(self.new):
            return self.new.about(m)
        patch = self.previous.patches[m - len(self.new)]
        return {"learner": "previous card", "direction": patch.direction}

    def caution(self, m: int) -> float:
        """Of new ones their own; the previous one keeps its confidence, and is as good as any."""
        return self.new.caution(m) if m < len(self.new) else 0.0

    def sense(self, m: int, strength: float) -> tuple[str, ...]:
        """What speaks against its lines; the previous one is in force already."""
        return self.new.sense(m, strength) if m < len(self.new) else ()

    def size(self, m: int) -> int:
        """Its attributes."""
        return self.new.size(m) if m < len(self.new) else self.previous.size(m - len(self.new))

    def swaps(self, m: int) -> Swaps | None:
        """How many points lose an approval where so many gain one."""
        return self.new.swaps(m) if m < len(self.new) else self.previous.swaps(m - len(self.new))


def beside_previous(
    new: Cards, previous: Patch, rows: Rows, places: Places | None = None
) -> Joined:
    """New candidates and the previous scorecard on the same rows, on one scale of points."""
    provenance = new.provenance.model_copy(update={"edits": previous.provenance.edits})
    same = {"strength": 1.0, "decision": new.decision, "roles": new.roles, "provenance": provenance}
    card = previous.card or CardScale(approve_at=1)
    by_direction = new.fine if len(previous.concepts) <= FEW else new.bands
    cards = [
        previous.model_copy(
            update={
                **same,
                "card": card.model_copy(update={"confidence": bands, "locked": new.locked}),
                "columns": with_locked(previous.columns, new.locked),
                "direction": one,
            }
        )
        for (one, _), bands in by_direction.items()
    ]
    pool, ratios = Patches.of(cards, rows, places)
    strengths = np.union1d(new.strengths, pool.strengths if pool.strengths is not None else ())
    crossed, final = (np.concatenate([x, ratios]) for x in (new.ratios, new.final))
    return Joined(new, pool, crossed, final, strengths)
