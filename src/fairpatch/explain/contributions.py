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
from fairpatch.patch.terms import by_column

CONFIDENCE = "confidence of the base model"
"""What a card adds beside its columns: the points of the score's band."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """Of every column, row by row: ``values`` is (rows, columns)."""

    columns: tuple[str, ...]
    values: Floats
    baseline: float

    @property
    def ratio(self) -> Floats:
        """r(x), put together again; a card's before it is kept within -1 and 1."""
        return np.asarray(1 + self.baseline + self.values.sum(1))


def contributions(
    patch: Patch, X: Any, reference: Any = None, *, f_logit: Any = None
) -> Contributions:
    """Contributions of the rows of X, measured from the average row of ``reference`` (or of X).

    On a card nobody is compared with an average person: a line's points count as they are, and how
    sure f is stands beside them, from f's log-odds.

    Parameters
    ----------
    patch : Patch
        The patch.
    X : frame or array
        Rows with the patch's columns.
    reference : frame or array, optional
        Rows whose average is the zero; X where they are not given.
    f_logit : array, optional
        Log-odds of the base model, which a card needs.

    Returns
    -------
    Contributions
        What each column adds to the ratio, row by row.
    """
    whole = merge(patch.concepts, patch.offset)
    each, rest = patch.effect(f_logit, X)
    held = Columns.of(X)
    by_name = {k: each * v for k, v in by_column(whole, patch.columns, held).items()}
    if patch.card is not None:  # a card's points count from 0, and confidence beside them
        return Contributions(
            (*by_name, CONFIDENCE), _table({**by_name, CONFIDENCE: rest}, held.rows), 0.0
        )
    others = by_name
    if reference is not None:
        there = by_column(whole, patch.columns, Columns.of(reference))
        others = {k: each * v for k, v in there.items()}
    means = {name: float(values.mean()) for name, values in others.items()}
    moved = {name: values - means[name] for name, values in by_name.items()}
    baseline = each * whole.intercept + sum(means.values())
    return Contributions(tuple(moved), _table(moved, held.rows), baseline)


def _table(columns: dict[str, Floats], rows: int) -> Floats:
    return np.column_stack([*columns.values()]) if columns else np.empty((rows, 0))
