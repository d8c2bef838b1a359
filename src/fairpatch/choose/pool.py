"""What a frontier is made of: candidates of any learner, each of them a patch to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction
from fairpatch.patch import CardScale, Patch

STRONGEST = 3.0
"""A weak patch turned up is a patch too: up to this strength, unless its points are counted."""


class Pool(Protocol):
    """M candidates, each of them at any strength: r_s = 1 + s (r - 1)."""

    @property
    def decision(self) -> Decision:
        """What f decides."""

    @property
    def directions(self) -> Sequence[Direction]:
        """Of each candidate."""

    @property
    def strengths(self) -> Floats | None:
        """The strengths a candidate may have; None for any up to ``strongest``."""

    @property
    def strongest(self) -> float:
        """The largest strength that is tried."""

    def __len__(self) -> int:
        """How many candidates."""

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m at a strength."""

    def about(self, m: int) -> dict[str, Any]:
        """The settings that make candidate m, for people to read."""

    def size(self, m: int) -> int:
        """How many concepts or lines candidate m has."""


@dataclass(frozen=True, eq=False)
class Patches:
    """Patches at hand as candidates: cards at every whole number of points, others at any strength.

    All of them are cards that need the same points, or none is one.
    """

    patches: tuple[Patch, ...]
    strengths: Floats | None

    @classmethod
    def of(cls, patches: Sequence[Patch], rows: Rows) -> tuple["Patches", Floats]:
        """Patches as they were learned, at strength 1, and their ratios of some rows."""
        whole = [patch.with_strength(1.0) for patch in patches]
        alike: dict[Any, Floats] = {}  # patches that differ in scale and direction share points
        for patch in whole:
            if (patch.concepts, patch.offset) not in alike:
                alike[patch.concepts, patch.offset] = patch.points(rows.X)
        points = [alike[patch.concepts, patch.offset] for patch in whole]
        ratios = [
            _ratio(patch, of_rows, rows.f) for patch, of_rows in zip(whole, points, strict=True)
        ]
        scale = whole[0].card
        strengths = None if scale is None else whole_points(np.abs(points), scale.points_needed)
        return cls(tuple(whole), strengths), np.array(ratios)

    @property
    def decision(self) -> Decision:
        """What f decides."""
        return self.patches[0].decision

    @property
    def directions(self) -> list[Direction]:
        """Of each patch."""
        return [patch.direction for patch in self.patches]

    @property
    def strongest(self) -> float:
        """Fewer than one point needed; or a few times as strong as it was learned."""
        return STRONGEST if self.strengths is None else float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return len(self.patches)

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Patch m at a strength."""
        return at_strength(self.patches[m], strength)

    def about(self, m: int) -> dict[str, Any]:
        """What made it."""
        return dict(self.patches[m].provenance.settings)

    def size(self, m: int) -> int:
        """Its lines, or its concepts."""
        patch = self.patches[m]
        return len(patch.concepts if patch.card is None else patch.lines)


def _ratio(patch: Patch, points: Floats, f_logit: Floats) -> Floats:
    """r before a card's is kept within -1 and 1: how far somebody is from a change."""
    each, rest = patch.effect(f_logit)
    return np.asarray(1 + each * points + rest)


def whole_points(points: Floats, needed: float) -> Floats:
    """0, and the strengths at which a card needs a whole number of points: the most first.

    >>> whole_points(np.array([2.5, 1.0]), 100.0).round(1).tolist()
    [0.0, 25.0, 33.3, 50.0, 100.0]
    """
    most = int(np.ceil(np.max(points, initial=0.0))) + 1
    return np.append(0.0, needed / np.arange(most, 0, -1))


def at_strength(patch: Patch, strength: float) -> Patch:
    """A patch turned up or down: a card then needs fewer or more points. At 0 it changes nobody."""
    if patch.card is None or not strength:
        return patch.with_strength(strength)
    needed = round(patch.card.points_needed / strength, 6)
    scale = CardScale(points_needed=needed, confidence_points=patch.card.confidence_points)
    return patch.model_copy(update={"card": scale})
