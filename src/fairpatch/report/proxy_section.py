"""What tells a sensitive feature, and whether the same would be learned again."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpatch._tools.arrays import Bools
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.explain import proxy_risk
from fairpatch.explain.proxy import ProxyRisk
from fairpatch.explain.stability import Stability
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import Metric
from fairpatch.patch import Patch
from fairpatch.patch.columns import Columns
from fairpatch.report.figures import Figure, ReviewPart, RoundedContext, decided, figure

REVEALING = 0.65
"""AUC from which on a column is said to tell the sensitive feature."""
MANY_VALUES = 50
"""Of a column whose AUC is told beside hidden counts, at least."""
DIGITS_FROM = {1: 100, 2: 1_000}
"""By digits of an AUC that are told, people of the smallest group: each step is ten of them."""
SURE = 1.96
"""Standard errors of an interval at 95 %."""


class Proxy(ReviewPart):
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
    if table.whole or smallest >= DIGITS_FROM[2] or _has_many_values(patch, rows.X, risk.what):
        return figure(Estimate(risk.auc, low, high), digits=2)
    if smallest < DIGITS_FROM[1]:
        return None
    down = min(float(np.floor(risk.auc * 10) / 10), 0.9)
    return figure(Estimate.from_range(down, down + 0.1), digits=1)


def _has_many_values(patch: Patch, X: Any, column: str) -> bool:
    """Whether an AUC of it is no count in disguise, as a difference of rates is: of a yes or no."""
    if column in ("the points", "the ratio"):
        return len(np.unique(patch.points(X))) > MANY_VALUES
    held = Columns.of(X)  # whether the decision changes is no column
    described = [c for c in held.described() if c.name == column]
    return bool(described) and len(np.unique(held.codes(described[0])[1])) > MANY_VALUES


# Whether the same people would change if it were learned again, and what search could gain.

CONFIDENCE = 0.95
MANY_PEOPLE = 100
"""Who change, at least, so that a share of them to two digits counts nobody."""


class StabilitySection(ReviewPart):
    """Learned again on bootstraps of these people, turned to as many changes each time."""

    refits: int
    """How often."""
    of_changed: float
    """Of the changes, the share that a refit makes too, on average."""
    firm: float
    """Of the changes, the share that at least 4 of 5 refits make too."""
    reached: list[Figure]
    """What was asked for first, in each refit, with as many changes."""
    better: int
    """How many refits reach more than the patch does, with as many changes."""
    chance: float
    """With 95 % confidence, one more refit reaches more than the best so far at most this often."""


def stability_section(
    again: Stability, rows: Rows, metric: Metric, after: Figure, beside: RoundedContext
) -> StabilitySection:
    """How far refits agree, and how good they get."""
    before = rows.f > 0
    reached = [
        beside.compared(metric, decided(rows, before ^ changed_rows)) for changed_rows in again.sets
    ]
    return StabilitySection(
        refits=again.refits,
        of_changed=round(again.of_changed, 2),
        firm=round(again.firm, 2),
        reached=reached,
        better=_better(reached, after, metric),
        chance=chance_of_better(again.refits),
    )


def enough_change(changed: Bools, table: Protected) -> bool:
    """Whether a share of those who change would tell of no few people; else nobody need refit."""
    return bool(changed.sum() >= (2 * MIN_PEOPLE if table.whole else MANY_PEOPLE))


def chance_of_better(tries: int) -> float:
    """How often one more try may beat the best of so many, with 95 % confidence, rounded up.

    Tries that are drawn alike fall above the best of k with a chance p that is below
    1 - 0.05 ** (1 / k) in 95 of 100 searches: were p larger, k misses in a row would be rarer.

    >>> [chance_of_better(k) for k in (5, 20, 100)]
    [0.46, 0.14, 0.03]
    """
    return float(np.ceil((1 - (1 - CONFIDENCE) ** (1 / tries)) * 100 - 1e-9) / 100)


def _better(reached: Sequence[Figure], after: Figure, metric: Metric) -> int:
    """Refits whose middle is clearly beyond what the patch reaches."""
    if after.middle is None:
        return 0
    sign = 1 if metric.at_least else -1
    return sum(r.middle is not None and sign * (r.middle - after.middle) > 0.005 for r in reached)
