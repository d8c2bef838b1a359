"""A card that a person has edited: its price is found again, on rows that are given."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.choose.certificate import Certificate
from fairpatch.choose.choice import choose
from fairpatch.choose.fit import certify_choice
from fairpatch.choose.frontier import Frontier
from fairpatch.choose.prices import priced, strengths_of
from fairpatch.choose.target import Target
from fairpatch.data.rows import Rows
from fairpatch.data.splits import Fresh
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction
from fairpatch.patch import Patch
from fairpatch.patch.encoding import Encoder
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
        return priced(self.card, self.price, strength)

    def about(self, m: int) -> dict[str, Any]:  # noqa: ARG002 there is one
        """What made it."""
        return dict(self.card.provenance.settings)

    def size(self, m: int) -> int:  # noqa: ARG002 there is one
        """Its lines."""
        return len(self.card.lines)


def along_prices(patch: Patch, X: Any, f_logit: Floats) -> tuple[Patch, Floats, Floats]:
    """A card as it was learned, its ratios of some rows, and the strengths at whole prices."""
    if patch.card is None:
        raise ValueError("only a card of points has a price; this is a patch of the paper's")
    whole = patch.with_strength(1.0)
    points = whole.points(X)
    each, rest = whole.effect(f_logit)
    return whole, 1 + each * points + rest, strengths_of(points, patch.card.price)


def redial(patch: Patch, rows: Rows, target: Target, fresh: Fresh) -> tuple[Patch, Certificate]:
    """The card at the weakest price that meets the target on these rows and fresh people certify.

    As in a fit; raises where no price meets the target.
    """
    whole, ratio, strengths = along_prices(patch, rows.X, rows.f)
    pool = OneCard(whole, whole.card.price if whole.card else 1.0, strengths)
    encoder = Encoder.fit(rows.X, strict=False)
    frontier = Frontier.trace(pool, rows, np.array([ratio]), encoder, asked=target.metrics)
    choice, certificate = certify_choice(choose(frontier, target), pool, target, fresh)
    found = pool.patch(0, choice.strength)
    if is_as_learned(found) or found.provenance.edits:
        return found, certificate
    noted = found.provenance.model_copy(update={"edits": (EDITED,)})
    return found.model_copy(update={"provenance": noted}), certificate
