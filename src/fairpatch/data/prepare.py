"""What a patch may read, and the base model: the first two things that a fit needs."""

from collections.abc import Collection
from typing import Any

import numpy as np

from fairpatch._arrays import Floats
from fairpatch.base import BaseModel, Estimator
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.inputs.roles import Roles
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder


def prepare(
    rows: Rows,
    f: Estimator,
    decision: Decision,
    roles: Roles,
    exclude: Collection[str],
    categories: Collection[str] = (),
    *,
    reads_groups: bool = False,
) -> tuple[Encoder, BaseModel]:
    """Encode what the patch may read, never f's score, nor S by its name unless it may; and f.

    Where there is no f, a logistic regression on the same columns stands in, for trying things out.
    """
    hidden = {f} if isinstance(f, str) else set()
    hidden |= set() if rows.groups is None or reads_groups else set(rows.groups.features)
    names = set(Columns.of(rows.X).names)
    encoder = Encoder.fit(rows.X, exclude={*exclude, *(hidden & names)}, categories=categories)
    base = BaseModel(
        _StandIn(encoder, rows, decision) if f is None else f, decision=decision, roles=roles
    )
    return encoder, base


class _StandIn:
    """A logistic regression on the encoded columns, fitted on the rows that are learned from."""

    def __init__(self, encoder: Encoder, rows: Rows, decision: Decision) -> None:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 two seconds to import

        self.encoder = encoder
        self.model = LogisticRegression()
        y = rows.y if decision.favourable else 1 - rows.y  # 1 is the positive label
        self.model.fit(encoder.transform(rows.X), y, sample_weight=rows.sample_weight)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two classes."""
        return np.asarray(self.model.predict_proba(self.encoder.transform(X)))
