"""What tells a sensitive feature, and whether the same would be learned again."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairpatch._tools.arrays import Bools
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Protected
from fairpatch.explain import proxy_risk
from fairpatch.explain.proxy import ProxyRisk
from fairpatch.explain.stability import Stability
from fairpatch.measure.groups import Groups
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import Metric
from fairpatch.patch import Patch
from fairpatch.report.figures import Figure, ReviewPart, RoundedContext, decided, figure

REVEALING = 0.65
"""AUC from which on a column is said to tell the sensitive feature."""
TWO_DIGITS_FROM = 1_000
"""People of the smallest group from whom on an AUC has two digits."""
STEPS = {0.02: 500, 0.05: 200, 0.1: 100}
"""The steps of an AUC, and people of the smallest group from whom on: each step is ten of them."""
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
    """Every column, the points and the change itself, strongest first; of groups that are shown."""
    smallest = {f: _smallest(table, f) for f in rows.s.features}
    return [
        Proxy(
            what=r.what, feature=r.feature, auc=told, read=r.read_by_patch,
            may_reveal=r.auc + SURE * r.error >= REVEALING,
        )
        for r in proxy_risk(patch, rows.X, changed, sensitive_features=_shown(rows.s, table))
        if (told := _auc(r, smallest[r.feature], table)) is not None
    ]  # fmt: skip


def _smallest(table: Protected, feature: str) -> float:
    """People of the smallest group that is shown."""
    counts = table.by(feature)
    return min((counts.sizes[i] for i in table.compared(feature)), default=0)


def _shown(s: Groups, table: Protected) -> Groups:
    """Who is in a group that is shown; of the others nothing is told, not even beside the rest.

    The largest AUC of all groups is one person's rank where that person is a group.
    """
    codes = s.codes.copy()
    for j, (feature, values) in enumerate(zip(s.features, s.values, strict=True)):
        named = table.by(feature).groups
        kept = {str(named[i][0]) for i in table.compared(feature)}
        hidden = [code for code, value in enumerate(values) if str(value) not in kept]
        codes[np.isin(codes[:, j], hidden), j] = -1
    return replace(s, codes=codes)


def _auc(risk: ProxyRisk, smallest: float, table: Protected) -> Figure | None:
    """As much of it as may be told beside hidden counts; none at all of few people.

    A person of a group of n moves it by at most 1 / n: a step is what ten people could move.
    """
    low, high = max(0.5, risk.auc - SURE * risk.error), min(1.0, risk.auc + SURE * risk.error)
    if table.small_shown or smallest >= TWO_DIGITS_FROM:
        return figure(Estimate(risk.auc, low, high), digits=2)
    step = next((step for step, people in STEPS.items() if smallest >= people), None)
    if step is None:
        return None
    down = min(round(np.floor(risk.auc / step + 1e-9) * step, 2), 1 - step)
    return figure(Estimate.from_range(down, round(down + step, 2)), digits=2)


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
