"""How a scorecard may look: how fine, whose order it keeps, what people call things."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fairpatch import _checks as check
from fairpatch._hints import did_you_mean

WAYS = (1, -1)
KeepOrder = Literal["auto", "numbers", "all"]
ORDERS: dict[KeepOrder | None, tuple[KeepOrder | None, ...]] = {"auto": ("all", "numbers", None)}
"""By what is asked, the orders that are tried; the others are themselves."""


@dataclass(frozen=True)
class CardOptions:
    """How a scorecard may look; see ``Card``, which has the same parameters."""

    keep_order: KeepOrder | None = "auto"
    max_bins: int = 5
    points_step: int = 5
    monotonic: Mapping[str, int] = field(default_factory=dict)
    free: Sequence[str] = ()
    signs: Mapping[str, int] = field(default_factory=dict)
    ordered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    category_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    groupings: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.keep_order is not None:
            check.one_of("keep_order", self.keep_order, ("auto", "numbers", "all"))
        check.whole("max_bins", self.max_bins, 2)
        check.whole("points_step", self.points_step, 1)
        for name in ("monotonic", "signs"):
            for column, way in getattr(self, name).items():
                if way not in WAYS:
                    raise ValueError(f"{name} of {column!r} must be 1 or -1; got {way!r}")

    @property
    def tried(self) -> tuple["CardOptions", ...]:
        """The same for each order that is to be tried."""
        orders = ORDERS.get(self.keep_order, (self.keep_order,))
        return tuple(replace(self, keep_order=order) for order in orders)

    @property
    def columns(self) -> set[str]:
        """Every column that a rule is about."""
        named = (
            self.monotonic, self.signs, self.ordered, self.names, self.category_names,
            self.groupings,
        )  # fmt: skip
        return {*self.free, *(column for rule in named for column in rule)}

    def check_columns(self, known: Sequence[str]) -> None:
        """Refuse a rule about a column that the patch cannot read: it would go unread."""
        for column in sorted(self.columns):
            if column not in known:
                hint = did_you_mean(column, known)
                raise ValueError(
                    f"the card's rules name column {column!r}, which the patch cannot read{hint}"
                )
