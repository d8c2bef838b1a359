"""One thing that a validator should look at before signing, and how grave it is."""

from collections.abc import Sequence
from typing import Literal

from fairpatch.report.figures import Shown

Level = Literal["stop", "look", "note", "fine"]
LEVELS: tuple[Level, ...] = ("stop", "look", "note", "fine")
"""The gravest first."""
OPEN: tuple[Level, ...] = ("stop", "look")
"""Those that somebody must decide on."""


class Flag(Shown):
    """One thing to look at, or one that was looked at and is fine."""

    name: str
    """Which check."""
    level: Level
    """stop: it speaks against signing; look: decide on it; note: know it; fine: nothing found."""
    text: str
    """What was found."""
    todo: str = ""
    """What to do about it."""

    @property
    def open(self) -> bool:
        """Whether somebody must decide on it before the patch is signed."""
        return self.level in OPEN


def in_order(flags: Sequence[Flag]) -> list[Flag]:
    """The gravest first."""
    return sorted(flags, key=lambda flag: LEVELS.index(flag.level))
