"""What a change report must answer (AXA's FRAME), and the swap set.

How many decisions change, in which direction, the decision rates before and after, who is affected,
and who of the disadvantaged is left out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.disclose.reviewed import outcome
from fairpatch.explain.change_tree import ChangeTree, Leaf
from fairpatch.floor import MIN_PEOPLE
from fairpatch.measure.cells import UNKNOWN
from fairpatch.measure.changes import Changes, changes_by_group
from fairpatch.measure.counts import Counts
from fairpatch.measure.estimate import Estimate
from fairpatch.measure.rates import changed_rate, selection_rate, share


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
    rows: Rows, after: Bools, feature: str, *, places_on: NDArray[np.intp] | None = None
) -> ChangeAudit:
    """Compare f's decisions with those ``after`` it, by the groups of one sensitive feature.

    Places are found on some of the rows where there are very many: ``places_on``.

    Parameters
    ----------
    rows : Rows
        Rows that f has scored.
    after : array of bool
        Decisions of the patched model.
    feature : str
        A sensitive feature.
    places_on : array of int, optional
        Rows on which regions are looked for.

    Returns
    -------
    ChangeAudit
    """
    before = rows.f > 0
    counts = Counts.from_arrays(
        decision=before,
        new_decision=after,
        y=rows.labels,
        sensitive_features=rows.s,
        outcomes=rows.outcomes,
    ).by(feature)
    some = rows if places_on is None else rows.take(places_on)
    then = after if places_on is None else after[places_on]
    return ChangeAudit(
        feature,
        int(counts.total),
        int(np.sum(before != after)),
        changed_rate().of(counts),
        changes_by_group(counts),
        {name: int(n) for name, n in zip(counts.group_names, counts.sizes, strict=True)},
        selection_rate("f").by_group(counts),
        selection_rate("g").by_group(counts),
        swap_set(counts),
        tuple(leaf for leaf in ChangeTree.fit(some.X, (some.f > 0) != then).leaves if leaf.changed),
        neglected(some, then, feature)[2],
    )


def swap_set(counts: Counts) -> tuple[Swap, ...]:
    """Who comes in, who goes out and who stays, with their outcome rates."""
    table = counts.along("label", "before", "after")
    names = {
        (0, 1): "promoted",
        (1, 0): "demoted",
        (1, 1): "left approved",
        (0, 0): "left denied",
    }
    moves = []
    for (f, g), what in names.items():
        people, ones = int(table[:, f, g].sum()), int(table[1, f, g])
        labelled = people - int(table[UNKNOWN, f, g])
        why = None if f or counts.outcomes == "everybody" else outcome(what).refused(counts)
        known = share(ones, labelled, "nobody") if why is None else Estimate.undefined(why)
        moves.append(Swap(what, people, known))
    return tuple(moves)


def neglected(
    rows: Rows, after: Bools, feature: str
) -> tuple[int, NDArray[np.intp], tuple[Leaf, ...]]:
    """Leaves with hardly any promotion among the people of the lowest group whom f denies.

    First which group that is, and who these people are, among the rows.
    """
    group, before = rows.s.of_feature(feature), rows.f > 0
    rates = [before[group == g].mean() for g in range(group.max() + 1)]
    lowest = int(np.argmin(rates))
    here = np.flatnonzero((group == lowest) & ~before)
    if len(here) < 2 * MIN_PEOPLE:
        return lowest, here, ()
    promoted = after[here]
    tree = ChangeTree.fit(rows.take(here).X, promoted, max_depth=2)
    average = promoted.mean()
    left_out = [leaf for leaf in tree.leaves if leaf.change_rate < average / 2]
    return lowest, here, tuple(sorted(left_out, key=lambda leaf: -leaf.people))
