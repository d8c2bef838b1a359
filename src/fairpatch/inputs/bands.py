"""A sensitive feature that is a number, cut into bands.

    bands={"age": [25, 40, 60]}      below 25, 25 to below 40, 40 to below 60, 60 and above

Inner edges leave nobody out.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

LARGEST = float(np.finfo(np.float64).max)
MOST = 20
"""Edges: beyond that, bands are no groups either."""


def check_edges(feature: str, edges: Any) -> tuple[float, ...]:
    """Some numbers, rising."""
    numbers = list(edges) if isinstance(edges, list | tuple) else []
    real = all(isinstance(e, int | float) and not isinstance(e, bool) for e in numbers)
    if not numbers or not real or len(numbers) > MOST or not np.isfinite(numbers).all():
        raise ValueError(
            f"bands of {feature!r} must be the numbers at which one ends and the next begins, as "
            f"[25, 40, 60]; got {edges!r}"
        )
    if any(low >= high for low, high in pairwise(numbers)):
        raise ValueError(f"bands of {feature!r} must rise, as [25, 40, 60]; got {edges!r}")
    return tuple(float(e) for e in numbers)


def proposed(values: Sequence[float]) -> list[float]:
    """Edges at round numbers, about a quarter of the distinct values in each band.

    >>> proposed(range(17, 85))
    [35, 50, 65]
    """
    numbers = np.array(values, np.float64)
    quarters = np.quantile(numbers, [0.25, 0.5, 0.75])
    spread = float(quarters[2] - quarters[0]) or 1.0
    size = 10.0 ** np.floor(np.log10(spread / 4))
    step = next(size * k for k in (1, 2, 5, 10) if size * k >= spread / 8)
    edges = sorted({float(np.round(q / step) * step) for q in quarters})
    return [int(e) if e == int(e) else round(e, 6) for e in edges]


def names_of(edges: Sequence[float]) -> list[str]:
    """What the bands are called, the lowest first.

    >>> names_of([25, 40])
    ['below 25', '25 to below 40', '40 and above']
    """
    inner = [f"{a:g} to below {b:g}" for a, b in pairwise(edges)]
    return [f"below {edges[0]:g}", *inner, f"{edges[-1]:g} and above"]


def band_values(feature: str, values: NDArray[Any], edges: Sequence[float]) -> NDArray[Any]:
    """The band of every value, None where it is missing.

    >>> band_values("age", np.array([24.5, 25, np.nan]), [25, 40]).tolist()
    ['below 25', '25 to below 40', None]
    """
    try:
        numbers = np.array([np.nan if v is None else v for v in values], np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{feature!r} is to be cut into bands, and has values that are no numbers: leave its "
            "bands out, or make numbers of it"
        ) from None
    labels = np.array([*names_of(edges), None], object)
    place = np.searchsorted(np.asarray(edges), numbers, side="right")
    return np.asarray(labels[np.where(np.isfinite(numbers), place, -1)])


def band_expr(column: nw.Expr, edges: Sequence[float]) -> nw.Expr:
    """The band of a number, null where it is missing."""
    x = column.cast(nw.Float64)
    names = names_of(edges)
    case = nw.when((x < edges[0]) & (x >= -LARGEST)).then(nw.lit(names[0]))  # no infinity
    for edge, name in zip(edges[1:], names[1:], strict=False):
        case = case.when((x < edge) & (x >= edges[0])).then(nw.lit(name))
    return case.when((x >= edges[-1]) & (x <= LARGEST)).then(nw.lit(names[-1]))  # nor NaN
