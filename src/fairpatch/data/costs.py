"""What a wrong decision costs, and what a change does: in place of accuracy, where they differ.

    loss = mean of  what approving costs   over those approved  (nothing where y = 1)
                    what refusing costs    over those denied    (nothing where y = 0)

Each is a number, or a column: the sum that is lost, the margin that is forgone. With costs of 1 the
loss is the share of wrong decisions, 1 - accuracy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fairpatch import _checks as check
from fairpatch._arrays import Floats
from fairpatch._hints import did_you_mean
from fairpatch.measure.dial import Priced
from fairpatch.patch.columns import Columns

EXPECTED = (
    "costs must say what a wrong approval, a wrong refusal and a change cost, as "
    "{'wrong_approval': 5, 'wrong_refusal': 1}; each is a number or a column"
)


@dataclass(frozen=True)
class Costs:
    """What decisions cost: numbers, or columns of the table."""

    wrong_approval: float | str = 1.0
    wrong_refusal: float | str = 1.0
    change: float | str = 1.0

    @classmethod
    def of(cls, given: Any) -> "Costs":
        """What a target says.

        >>> Costs.of({"wrong_approval": 5}).wrong_refusal
        1.0
        """
        known = [f.name for f in fields(cls)]
        if not isinstance(given, Mapping) or not given:
            raise TypeError(f"{EXPECTED}; got {given!r}")
        for name, value in given.items():
            if name not in known:
                raise ValueError(f"{EXPECTED}; got {name!r}{did_you_mean(str(name), known)}")
            if not isinstance(value, str):
                check.number(f"costs, {name}", value, 0)
        return cls(**given)

    def read(self, X: Any, good: Floats) -> "Priced":
        """What each row costs, of whom the good outcome is known, or expected by a chance."""
        approve, refuse, change = (self._values(f.name, X, len(good)) for f in fields(self))
        return Priced((1 - good) * approve, good * refuse, change)

    def _values(self, name: str, X: Any, rows: int) -> Floats:
        said = getattr(self, name)
        if not isinstance(said, str):
            return np.full(rows, float(said))
        held = Columns.of(X)
        if said not in held.names:
            raise ValueError(
                f"costs, {name}: there is no column {said!r}{did_you_mean(said, held.names)}"
            )
        try:
            values = np.array(held.raw(said), np.float64)
        except (TypeError, ValueError):
            values = np.array([np.nan])
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"costs, {name}: {said!r} must be finite numbers, at least 0")
        return values

    def __str__(self) -> str:
        named = (
            f"{f.name.replace('_', ' ')} {_number(getattr(self, f.name))}" for f in fields(self)
        )
        return f"costs: {', '.join(named)}"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
