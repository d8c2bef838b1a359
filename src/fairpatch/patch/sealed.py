"""Whether a card's lines are those that were learned: a hash that goes with them."""

import hashlib
import json
from typing import Any

from fairpatch.patch.model import Patch


def lines_hash(patch: Patch) -> str:
    """Of everything that gives points; not of names, price or direction."""
    lines = [
        {
            "numbers": [n.model_dump() for n in concept.numbers],
            "ranges": [r.model_dump() for r in concept.ranges],
            "categories": [c.model_dump() for c in concept.categories],
            "everybody": concept.intercept,
        }
        for concept in patch.concepts
    ]
    text = json.dumps([patch.offset, lines], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def seal(patch: Patch, settings: dict[str, Any]) -> Patch:
    """The same patch as it was learned, with the settings that made it."""
    sealed = {
        "lines_sha256": lines_hash(patch),
        "settings": {**patch.provenance.settings, **settings},
    }
    provenance = patch.provenance.model_copy(update=sealed)
    return patch.model_copy(update={"provenance": provenance})


def is_as_learned(patch: Patch) -> bool:
    """Whether nobody has changed the lines; True where nothing is known of how they were."""
    return patch.provenance.lines_sha256 in (None, lines_hash(patch))
