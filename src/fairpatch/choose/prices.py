"""The prices of a card: whole points, each of which is a strength of its ratio."""

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.patch import Card, Patch


def strengths_of(points: Floats, price: float) -> Floats:
    """0, and the strengths at which a card of this price costs whole points: the dearest first.

    >>> strengths_of(np.array([-2.5, 1.0]), 100.0).round(1).tolist()
    [0.0, 25.0, 33.3, 50.0, 100.0]
    """
    dearest = int(np.ceil(np.abs(points).max(initial=0.0))) + 1
    return np.append(0.0, price / np.arange(dearest, 0, -1))


def priced(card: Patch, price: float, strength: float) -> Patch:
    """A card of some price at a strength: a price of so much less; at 0 it changes nobody."""
    if card.card is None or not strength:
        return card.with_strength(strength)
    own = Card(price=round(price / strength, 6), sureness=card.card.sureness)
    return card.model_copy(update={"card": own})
