"""What tells a sensitive feature, and how well: as many digits as may be told."""

from typing import Any

import numpy as np

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.explain import proxy_risk
from fairpatch.explain.proxy import ProxyRisk
from fairpatch.measure.estimate import Estimate
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.report.figures import Figure, Shown, figure

REVEALING = 0.65
"""AUC from which on a column is said to tell the sensitive feature."""
MANY_VALUES = 50
"""Of a column whose AUC is told beside hidden counts, at least."""
MANY_PEOPLE = {1: 100, 2: 1_000}
"""By digits of an AUC that are told, people of the smallest group: each step is ten of them."""
SURE = 1.96
"""Standard errors of an interval at 95 %."""


class Proxy(Shown):
    """How well something tells a sensitive feature."""

    what: str
    """A column, the points, or the change itself."""
    feature: str
    """The sensitive feature."""
    auc: Figure
    """0.5 is chance, 1 is certain; with its interval at 95 %."""
    may_reveal: bool
    """Whether its interval, before any rounding, reaches what is said to tell the feature."""
    read: bool
    """Whether the patch reads it."""


def auc_text(proxy: Proxy) -> str:
    """An AUC with its interval, as much of it as may be told."""
    auc = proxy.auc
    if auc.value is not None:
        return f"AUC {auc.value:.2f}, {auc.low:.2f} to {auc.high:.2f}"
    return f"AUC between {auc.at_least:g} and {auc.at_most:g}"


def proxy_section(patch: Patch, rows: Rows, changed: Bools, table: Protected) -> list[Proxy]:
    """Every column, the points and the change itself, strongest first."""
    return [
        Proxy(
            what=r.what, feature=r.feature, auc=told, read=r.read_by_patch,
            may_reveal=r.auc + SURE * r.error >= REVEALING,
        )
        for r in proxy_risk(patch, rows.X, changed, sensitive_features=rows.s)
        if (told := _auc(r, patch, rows, table)) is not None
    ]  # fmt: skip


def _auc(risk: ProxyRisk, patch: Patch, rows: Rows, table: Protected) -> Figure | None:
    """As many digits of it as may be told beside hidden counts; none at all of few people.

    Of a yes or no, it is a difference of rates: one digit is five in a hundred of each group.
    """
    low, high = max(0.5, risk.auc - SURE * risk.error), min(1.0, risk.auc + SURE * risk.error)
    counts = table.by(risk.feature)
    smallest = min((counts.sizes[i] for i in table.compared(risk.feature)), default=0)
    if table.whole or smallest >= MANY_PEOPLE[2] or _has_many_values(patch, rows.X, risk.what):
        return figure(Estimate(risk.auc, low, high), digits=2)
    if smallest < MANY_PEOPLE[1]:
        return None
    down = min(float(np.floor(risk.auc * 10) / 10), 0.9)
    return figure(Estimate.somewhere(down, down + 0.1), digits=1)


def _has_many_values(patch: Patch, X: Any, column: str) -> bool:
    """Whether an AUC of it is no count in disguise, as a difference of rates is: of a yes or no."""
    if column in ("the points", "the ratio"):
        return len(np.unique(patch.points(X))) > MANY_VALUES
    held = Columns.of(X)  # whether the decision changes is no column
    described = [c for c in held.described() if c.name == column]
    return bool(described) and len(np.unique(held.codes(described[0])[1])) > MANY_VALUES
