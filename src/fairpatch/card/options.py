"""How a card may look: how long, which way a column counts, what people call things."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairpatch import _checks as check
from fairpatch._hints import did_you_mean

WAYS = (1, -1)


@dataclass(frozen=True)
class CardOptions:
    """How the lines of a card may look; see ``Card``, which has the same parameters."""

    max_lines: int | None = 10
    monotonic: Mapping[str, int] = field(default_factory=dict)
    signs: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    category_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    groupings: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.max_lines is not None:
            check.whole("max_lines", self.max_lines, 1)
        for name in ("monotonic", "signs"):
            for column, way in getattr(self, name).items():
                if way not in WAYS:
                    raise ValueError(f"{name} of {column!r} must be 1 or -1; got {way!r}")

    @property
    def columns(self) -> set[str]:
        """Every column that a rule is about."""
        named = (self.monotonic, self.signs, self.names, self.category_names, self.groupings)
        return {column for rule in named for column in rule}

    def check_columns(self, known: Sequence[str]) -> None:
        """Refuse a rule about a column that the patch cannot read: it would go unread."""
        for column in sorted(self.columns):
            if column not in known:
                hint = did_you_mean(column, known)
                raise ValueError(
                    f"the card's rules name column {column!r}, which the patch cannot read{hint}"
                )
