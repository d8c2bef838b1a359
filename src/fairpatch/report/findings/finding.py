"""One thing that a validator should look at before signing, and how grave it is."""

from collections.abc import Sequence
from typing import Literal

from fairpatch.report.figures import Shown

Level = Literal["stop", "look", "not judged", "note", "fine"]
LEVELS: tuple[Level, ...] = ("stop", "look", "not judged", "note", "fine")
"""The gravest first."""
OPEN: tuple[Level, ...] = ("stop", "look", "not judged")
"""Those that somebody must decide on."""


class Finding(Shown):
    """One thing to look at, or one that was looked at and is fine."""

    name: str
    """Which check."""
    level: Level
    """stop: it speaks against signing; look: decide on it; not judged: nobody could tell, here;
    note: know it; fine: nothing found."""
    text: str
    """What was found."""
    todo: str = ""
    """What to do about it."""

    @property
    def open(self) -> bool:
        """Whether somebody must decide on it before the patch is signed."""
        return self.level in OPEN


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """The gravest first."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))
