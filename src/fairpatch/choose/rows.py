"""The rows that are given to learn from, and how they are parted."""

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fairpatch.measure.sensitive import factorize, named_columns

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Features, labels 0 / 1, and what goes with them; all but X and y may be absent."""

    X: Any
    y: Ints
    sensitive_features: Any = None
    sample_weight: Any = None
    change_cost: Any = None
    """What a changed decision costs in each row, relative to the others."""

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: NDArray[np.intp]) -> "Rows":
        """Some of the rows."""
        return replace(self, **{name: take(value, rows) for name, value in vars(self).items()})

    def sample(self, most: int | None, seed: int) -> "Rows":
        """At most so many of the rows, drawn at random."""
        if most is None or len(self) <= most:
            return self
        return self.take(
            np.sort(np.random.default_rng(seed).choice(len(self), most, replace=False))
        )

    def split(self, shares: tuple[float, float, float], seed: int) -> tuple["Rows", "Rows", "Rows"]:
        """Rows to learn from, to choose on and to certify on: every group and label in each."""
        check_shares(shares)
        _, s = codes(self.sensitive_features, len(self))
        _, stratum = np.unique(np.column_stack([s, self.y]), axis=0, return_inverse=True)
        random = np.random.default_rng(seed)
        place = np.empty(len(self))
        for value in np.unique(stratum):  # spread each stratum evenly over 0 to 1, in random order
            rows = np.flatnonzero(stratum == value)
            place[random.permutation(rows)] = (np.arange(len(rows)) + random.random()) / len(rows)
        part = np.searchsorted(np.cumsum(shares)[:2], place, side="right")
        learn, select, certify = (self.take(np.flatnonzero(part == k)) for k in range(3))
        return learn, select, certify


def check_shares(shares: tuple[float, float, float]) -> None:
    """Say what is wrong with splits."""
    if len(shares) != 3 or min(shares) < 0 or 0 in shares[:2] or abs(sum(shares) - 1) > 1e-9:
        raise ValueError(
            f"splits must be three shares that sum to 1, the first two above 0; got {shares!r}"
        )


def codes(sensitive_features: Any, n: int) -> tuple[list[str], Ints]:
    """Names and codes of the sensitive features, (rows, features); -1 where one is missing."""
    if sensitive_features is None:
        return [], np.empty((n, 0), np.int64)
    columns = named_columns(sensitive_features)
    found = []
    for name, column in columns.items():
        if len(column) != n:
            raise ValueError(f"sensitive feature {name!r} has {len(column)} rows, X has {n}")
        values, inverse = factorize(column)
        order = sorted(
            (i for i, v in enumerate(values) if v is not None), key=lambda i: str(values[i])
        )
        if len(order) < 2:
            raise ValueError(
                f"sensitive feature {name!r} has {len(order)} known value, at least 2 are needed "
                "to compare groups"
            )
        if len(order) > 100:
            raise ValueError(
                f"sensitive feature {name!r} has {len(order)} values; cut it into bands first"
            )
        rank = np.full(len(values), -1)
        rank[order] = np.arange(len(order))
        found.append(rank[inverse])
    return list(columns), np.stack(found, 1).astype(np.int64)


def take(values: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array or frame, whatever kind it is."""
    if values is None:
        return None
    if isinstance(values, dict):
        return {k: np.asarray(v)[rows] for k, v in values.items()}
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[rows].to_native()
    return np.asarray(values)[rows]
