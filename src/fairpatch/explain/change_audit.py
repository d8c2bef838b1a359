"""What a change report must answer (AXA's FRAME), and the swap set.

How many decisions change, in which direction, the decision rates before and after, who is affected,
and who of the disadvantaged is left out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpatch.choose.rows import codes, take
from fairpatch.explain.change_tree import ChangeTree, Leaf
from fairpatch.explain.conditions import MIN_PEOPLE
from fairpatch.measure.changes import Changes, changes_by_group
from fairpatch.measure.counts import UNKNOWN, Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import changed_rate, selection_rate, share

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Swap:
    """People whose decision goes one way, and how their outcomes turned out."""

    what: str
    people: int
    outcome_rate: Estimate
    """Share of them with y = 1."""


@dataclass(frozen=True)
class ChangeAudit:
    """The five answers, for one sensitive feature."""

    feature: str
    people: int
    changed: int
    change_rate: Estimate
    by_group: dict[str, Changes]
    sizes: dict[str, int]
    rates_before: dict[str, Estimate]
    rates_after: dict[str, Estimate]
    swap: tuple[Swap, ...]
    affected: tuple[Leaf, ...]
    """Where changes gather: leaves of the change tree."""
    neglected: tuple[Leaf, ...]
    """Of the group that f approves least, people it denies and the patch leaves denied."""


def change_audit(
    X: Any,
    before: Bools,
    after: Bools,
    y: Any,
    *,
    sensitive_features: Any,
    feature: str,
    sample: NDArray[np.intp] | None = None,
) -> ChangeAudit:
    """Compare decisions before and after on some rows; places are found on a sample of them."""
    counts = Counts.from_arrays(
        decision=before, new_decision=after, y=y, sensitive_features=sensitive_features
    ).by(feature)
    rates = selection_rate("f").by_group(counts)
    changed = int(np.sum(before != after))
    if sample is not None:
        X, before, after = take(X, sample), before[sample], after[sample]
        sensitive_features = take(sensitive_features, sample)
    return ChangeAudit(
        feature,
        int(counts.total),
        changed,
        changed_rate().of(counts),
        changes_by_group(counts),
        {name: int(n) for name, n in zip(counts.group_names, counts.sizes, strict=True)},
        rates,
        selection_rate("g").by_group(counts),
        swap_set(counts),
        tuple(leaf for leaf in ChangeTree.fit(X, before != after).leaves if leaf.changed),
        _neglected(X, before, after, sensitive_features, feature),
    )


def swap_set(counts: Counts) -> tuple[Swap, ...]:
    """Who comes in, who goes out and who stays, with their outcome rates."""
    table = counts.n.sum(0)  # (y, f, g)
    names = {
        (0, 1): "promoted",
        (1, 0): "demoted",
        (1, 1): "kept at decision 1",
        (0, 0): "kept at decision 0",
    }
    found = []
    for (f, g), what in names.items():
        people, ones = int(table[:, f, g].sum()), int(table[1, f, g])
        labelled = people - int(table[UNKNOWN, f, g])
        found.append(Swap(what, people, share(ones, labelled, "nobody")))
    return tuple(found)


def _neglected(
    X: Any, before: Bools, after: Bools, sensitive_features: Any, feature: str
) -> tuple[Leaf, ...]:
    """Leaves with hardly any promotion among the people of the lowest group whom f denies."""
    names, s = codes(sensitive_features, len(before))
    group = s[:, names.index(feature)]
    rates = [before[group == g].mean() for g in range(group.max() + 1)]
    here = np.flatnonzero((group == int(np.argmin(rates))) & ~before)
    if len(here) < 2 * MIN_PEOPLE:
        return ()
    promoted = after[here]
    tree = ChangeTree.fit(take(X, here), promoted, max_depth=2)
    average = promoted.mean()
    left_out = [leaf for leaf in tree.leaves if leaf.change_rate < average / 2]
    return tuple(sorted(left_out, key=lambda leaf: -leaf.people))
