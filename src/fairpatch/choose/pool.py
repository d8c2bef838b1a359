"""What a frontier is made of: candidates of any learner, each of them a patch to be."""

from collections.abc import Sequence
from typing import Any, Protocol

from fairpatch._arrays import Floats
from fairpatch.decision import Decision
from fairpatch.measure.direction import Direction
from fairpatch.patch import Patch


class Pool(Protocol):
    """M candidates. Each has a dial: r_s = 1 + s (r - 1)."""

    @property
    def decision(self) -> Decision:
        """What f decides."""

    @property
    def directions(self) -> Sequence[Direction]:
        """Of each candidate."""

    @property
    def strengths(self) -> Floats | None:
        """Where the dials may stand; None for anywhere up to ``strongest``."""

    @property
    def strongest(self) -> float:
        """How far the dials are turned."""

    def __len__(self) -> int:
        """How many candidates."""

    def patch(self, m: int, strength: float = 1.0) -> Patch:
        """Candidate m with its dial turned."""

    def about(self, m: int) -> dict[str, Any]:
        """The settings that make candidate m, for people to read."""

    def size(self, m: int) -> int:
        """How many concepts or lines candidate m has."""
