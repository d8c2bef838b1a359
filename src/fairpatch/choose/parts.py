"""The three parts of the data: one to learn from, one to choose on, one to certify on.

Rows in memory are parted here, tables in an engine by ``table_parts``. Only learning makes do with
a sample; what is certified is counted on every row there is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch.choose.rows import Rows
from fairpatch.measure.counts import Counts
from fairpatch.patch import Patch

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parts:
    """What a fit to a target needs to know of the data."""

    learn: Rows
    select: Rows
    """Each stands for one person, or for ``sample_weight`` people."""
    selected: Counts | None
    """Of f's decisions for everybody in the second part, where ``select`` is a sample of it."""
    certify: Callable[[list[Patch]], list[Counts]] | None
    """The counts of patches on the third part; None where there is none."""


def in_memory(
    rows: Rows,
    logits: Callable[[Any], Floats],
    shares: tuple[float, float, float],
    most: int | None,
    seed: int,
) -> Parts:
    """Part rows that are at hand. Choosing and certifying count people, each of them once."""
    learn, select, last = rows.split(shares, seed)

    def certify(patches: list[Patch]) -> list[Counts]:
        f_logit = logits(last.X)
        return [
            Counts.from_arrays(
                decision=f_logit > 0,
                new_decision=patch.decide(last.X, f_logit),
                y=last.y,
                sensitive_features=last.sensitive_features,
            )
            for patch in patches
        ]

    return Parts(
        learn.sample(most, seed),
        replace(select, sample_weight=None),
        None,
        certify if len(last) else None,
    )
