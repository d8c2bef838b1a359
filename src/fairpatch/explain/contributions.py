"""What each column adds to a person's ratio: r(x) - 1 = baseline + sum of contributions, exactly.

A contribution is measured from the average person of some reference rows, so that a positive one
says: this value makes the base model's decision safer than it is for most, a negative one the
opposite. The baseline is the average person's r - 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.parts import merge
from fairpatch.patch.terms import category_term, number_term


@dataclass(frozen=True, eq=False)
class Contributions:
    """Of every column, row by row: ``values`` is (rows, columns)."""

    columns: tuple[str, ...]
    values: Floats
    baseline: float

    @property
    def ratio(self) -> Floats:
        """r(x), put together again."""
        return np.asarray(1 + self.baseline + self.values.sum(1))


def contributions(patch: Patch, X: Any, reference: Any = None) -> Contributions:
    """Contributions of the rows of X, measured from the average row of ``reference`` (or of X)."""
    intercept, own = _parts(patch, X)
    _, others = (intercept, own) if reference is None else _parts(patch, reference)
    means = {name: float(values.mean()) for name, values in others.items()}
    values = [values - means[name] for name, values in own.items()]
    n = Columns.of(X).rows
    return Contributions(
        tuple(own),
        np.column_stack(values) if values else np.empty((n, 0)),
        intercept + sum(means.values()),
    )


def _parts(patch: Patch, X: Any) -> tuple[float, dict[str, Floats]]:
    """The intercept and each column's raw part of r - 1."""
    whole = merge(patch.concepts, patch.offset, patch.strength)
    held, by_name = Columns.of(X), {c.name: c for c in patch.columns}
    parts = {n.column: number_term(n, held.values(by_name[n.column])) for n in whole.numbers}
    parts |= {c.column: category_term(c, *held.codes(by_name[c.column])) for c in whole.categories}
    return whole.intercept, parts
