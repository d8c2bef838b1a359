"""A card that a person has edited: its price is found again, on rows that are given."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import choose
from fairpatch.choose.fit import certify_choice
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Fresh
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.parts import Card
from fairpatch.patch.sealed import is_as_learned

EDITED = "lines differ from those that were learned"


@dataclass(frozen=True, eq=False)
class OneCard:
    """One card as a pool of candidates: only its price is open. Strength 1 is its own price."""

    card: Patch
    price: float
    strengths: Floats

    @property
    def decision(self) -> Decision:
        """What f decides."""
        return self.card.decision

    @property
    def directions(self) -> list[Direction]:
        """Its own."""
        return [self.card.direction]

    @property
    def strongest(self) -> float:
        """A price of less than one point."""
        return float(self.strengths[-1]) * 2

    def __len__(self) -> int:
        return 1

    def patch(self, m: int, strength: float = 1.0) -> Patch:  # noqa: ARG002 there is one
        """The card at another price."""
        if self.card.card is None or not strength:
            return self.card.with_strength(strength)
        priced = Card(price=round(self.price / strength, 6), sureness=self.card.card.sureness)
        return self.card.model_copy(update={"card": priced})

    def about(self, m: int) -> dict[str, Any]:  # noqa: ARG002 there is one
        """What made it."""
        return dict(self.card.provenance.settings)

    def size(self, m: int) -> int:  # noqa: ARG002 there is one
        """Its lines."""
        return len(self.card.lines)


def redial(
    patch: Patch, rows: Rows, target: Target, fresh: Fresh | None = None
) -> tuple[Patch, Certificate | None]:
    """The card at the price at which it meets the target on these rows; raises where none does.

    With fresh people, at the weakest price that they certify, as in a fit, and their certificate.
    """
    if patch.card is None:
        raise ValueError("only a card of points has a price; this is a patch of the paper's")
    whole, price = patch.with_strength(1.0), patch.card.price
    points = whole.points(rows.X)
    each, rest = whole.effect(rows.f)
    ratios = np.array([1 + each * points + rest])
    dearest = int(np.ceil(np.abs(points).max(initial=0.0))) + 1
    pool = OneCard(whole, price, np.append(0.0, price / np.arange(dearest, 0, -1)))
    encoder = Encoder.fit(rows.X, strict=False)
    frontier = Frontier.trace(pool, rows, ratios, encoder, asked=target.metrics)
    ladder, certificate = choose(frontier, target), None
    choice = ladder[-1]
    if fresh is not None:
        choice, certificate = certify_choice(ladder, pool, target, fresh)
    found = pool.patch(0, choice.strength)
    if is_as_learned(found) or found.provenance.edits:
        return found, certificate
    noted = found.provenance.model_copy(update={"edits": (EDITED,)})
    return found.model_copy(update={"provenance": noted}), certificate
