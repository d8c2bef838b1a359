"""Reasons for a notice: of everybody who is declined, why, and by whom.

Who is declined by the patched model was declined by the base model and the patch left that, so the
base model's own reasons stay true; or the patch declines them, and its lines are the reasons. Some
of the first would be approved but for points that a line takes: that line is a reason, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairpatch.explain.reasons import reasons
from fairpatch.patch.columns import Columns
from fairpatch.patch.held_back import held_back, taken
from fairpatch.patch.parts import Column
from fairpatch.patched import PatchedModel

BaseReasons = str | Callable[[Any], Sequence[Any]] | Sequence[Any]
"""The base model's own reasons: a column, a function of the rows, or one entry a row."""


@dataclass(frozen=True)
class Notice:
    """One person who is declined.

    >>> print(Notice(3, "base model", ("R1", "R7")))
    declined by the base model: R1; R7
    """

    row: int
    decided_by: Literal["base model", "patch"]
    reasons: tuple[str, ...]
    held_back_by: tuple[str, ...] = ()
    """Columns in which the patch takes points, without which it would approve this person."""

    def __str__(self) -> str:
        text = f"declined by the {self.decided_by}: {'; '.join(self.reasons)}"
        return text + (
            f"; held back by {', '.join(self.held_back_by)}" if self.held_back_by else ""
        )


def notices(model: PatchedModel, X: Any, base_reasons: BaseReasons) -> list[Notice]:
    """A notice for everybody whom the patched model declines.

    Parameters
    ----------
    model : PatchedModel
        f with its patch.
    X : frame or array
        Rows as f takes them.
    base_reasons : str, callable or sequence
        The base model's reasons for declining each row: the name of a column of X, a function of
        X, or one entry a row. An entry is a text, or several.

    Returns
    -------
    list of Notice
        In the order of the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpatch.base import BaseModel
    >>> from fairpatch.patch import CardScale, Column, Concept, Patch, Range, RangesWeight
    >>> part = RangesWeight(column="income", ranges=[Range(below=20, weight=60)])
    >>> patch = Patch(
    ...     columns=[Column(name="income", kind="number")],
    ...     concepts=[Concept(name="income", weight=1, intercept=0, ranges=[part])],
    ...     card=CardScale(approve_at=50), direction="promote_only")
    >>> X = pd.DataFrame({"income": [15, 30], "score": [0.4, 0.4], "why": ["R1", "R2"]})
    >>> for notice in notices(PatchedModel(BaseModel("score"), patch), X, "why"):
    ...     print(notice.row, notice)
    1 declined by the base model: R2
    """
    f = model.logits(X)
    before, after = f > 0, model.patch.decide(X, f)
    own = _of_base(X, base_reasons, len(f))
    by_patch = {
        reason.row: reason.names
        for reason in reasons(model, X, rows=np.flatnonzero(before & ~after).tolist())
    }
    held, less = held_back(model.patch, X, f), taken(model.patch, X)
    called = {column.name: column.words or column.name for column in model.patch.columns}
    return [
        Notice(row, "patch", by_patch[row]) if row in by_patch
        else Notice(row, "base model", own[row], tuple(
            called[name] for name, points in less.items() if held[row] and points[row] < 0
        ))
        for row in np.flatnonzero(~after).tolist()
    ]  # fmt: skip


def _of_base(X: Any, given: BaseReasons, rows: int) -> list[tuple[str, ...]]:
    """Everybody's reasons as texts."""
    if isinstance(given, str):
        given = Columns.of(X).values(Column(name=given, kind="category")).tolist()
    entries = list(given(X)) if callable(given) else list(given)
    if len(entries) != rows:
        raise ValueError(f"base_reasons must have one entry for each of {rows} rows; got "
                         f"{len(entries)}")  # fmt: skip
    return [
        (entry,) if isinstance(entry, str) else tuple(map(str, entry)) if entry is not None else ()
        for entry in entries
    ]
