"""A card as the review shows it: its lines, and the sentence that says when a decision changes."""

from typing import Any

from fairpatch.patch import Patch
from fairpatch.patch.sealed import is_as_learned
from fairpatch.patch.words import sentences, shown


def card_section(patch: Patch) -> dict[str, Any]:
    """Lines by concept, strongest first; everybody's points; price and sureness; who edited it."""
    card = patch.card
    if card is None:
        raise ValueError("the patch is no card")
    everybody = patch.offset + sum(c.weight * c.intercept for c in patch.concepts)
    return {
        "price": card.price / patch.strength if patch.strength else None,
        "sureness": card.sureness,
        "everybody": everybody,
        "lines": [
            {
                "concept": line.concept,
                "who": line.name,
                "points": line.points,
                "shown": shown(line.points),
            }
            for line in sorted(patch.lines, key=lambda line: -abs(line.points))
        ],
        "sentences": sentences(patch),
        "as_learned": is_as_learned(patch) and not patch.provenance.edits,
        "edits": list(patch.provenance.edits),
    }
