"""What tells a sensitive feature, and how well: as many digits as may be told."""

from typing import Any

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.explain import proxy_risk
from fairpatch.explain.proxy import ProxyRisk
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.report.figures import Shown

REVEALING = 0.65
"""AUC from which on a column is said to tell the sensitive feature."""
MANY_VALUES = 50
"""Of a column whose AUC is told beside hidden counts, at least."""
MANY_PEOPLE = 100
"""Of the smallest group, so that one digit of an AUC is more than ten people wide."""


class Proxy(Shown):
    """How well something tells a sensitive feature."""

    what: str
    """A column, the points, or the change itself."""
    feature: str
    """The sensitive feature."""
    auc: float
    """0.5 is chance, 1 is certain."""
    read: bool
    """Whether the patch reads it."""


def proxy_section(patch: Patch, rows: Rows, changed: Bools, table: Protected) -> list[Proxy]:
    """Every column, the points and the change itself, strongest first."""
    return [
        Proxy(what=r.what, feature=r.feature, auc=auc, read=r.read_by_patch)
        for r in proxy_risk(patch, rows.X, changed, sensitive_features=rows.s)
        if (auc := _auc(r, patch, rows, table)) is not None
    ]


def _auc(risk: ProxyRisk, patch: Patch, rows: Rows, table: Protected) -> float | None:
    """As many digits of it as may be told beside hidden counts; none at all of few people.

    Of a yes or no, it is a difference of rates: one digit is five in a hundred of each group.
    """
    if table.whole or _has_many_values(patch, rows.X, risk.what):
        return round(risk.auc, 2)
    counts = table.by(risk.feature)
    smallest = min((counts.sizes[i] for i in table.compared(risk.feature)), default=0)
    return round(risk.auc, 1) if smallest >= MANY_PEOPLE else None


def _has_many_values(patch: Patch, X: Any, column: str) -> bool:
    """Whether an AUC of it is no count in disguise, as a difference of rates is: of a yes or no."""
    if column in ("the points", "the ratio"):
        return len(np.unique(patch.points(X))) > MANY_VALUES
    held = Columns.of(X)  # whether the decision changes is no column
    described = [c for c in held.described() if c.name == column]
    return bool(described) and len(np.unique(held.codes(described[0])[1])) > MANY_VALUES
