"""Where changes lie: the segments of the concepts, and a tree that tells who changes.

The people of a place and those who change there are counts like any other: they are protected
together with everything else that is told of the same people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpatch._arrays import Bools, Ints
from fairpatch.data.rows import Rows
from fairpatch.disclose.protected import Places, Protected
from fairpatch.disclose.suppress import PublishedCount
from fairpatch.explain import ChangeTree, ConceptView, Segment, f1_by_depth, segments
from fairpatch.explain.change_audit import neglected
from fairpatch.explain.change_tree import Leaf
from fairpatch.measure.counts import Counts
from fairpatch.measure.rates import changed_rate
from fairpatch.patch import Patch
from fairpatch.report.figures import Count, Figure, Shown, count, figure

MOST_TESTED = 5_000
"""People on whom trees of some depths are tried, at most."""
PLACE = "\x1f"
"""Begins the name of a division into places: no sensitive feature is called so."""


class Place(Shown):
    """People of whom some conditions hold."""

    where: str
    """The conditions."""
    people: Count
    """How many there are."""
    changed: Count
    """Of them, how many change."""
    change_rate: Figure | None
    """The same as a share."""


class SegmentPlace(Shown):
    """Where a concept is most active."""

    concept: str
    """The concept."""
    where: str
    """The conditions."""
    towards_change: bool
    """Whether it pushes towards a change there, or holds."""
    people: Count
    """How many there are."""
    inside: Figure | None
    """Share of them who change."""
    outside: Figure | None
    """Share of all others who change."""


class LeftOut(Shown):
    """People for whom the patch does less than half of what it does for such people on average."""

    group: str
    """The group that the base model approves least."""
    places: list[Place]
    """Among those of it whom the base model denies."""


class TreeSection(Shown):
    """A tree that tells the changes."""

    f1_by_depth: dict[str, float]
    """How well trees of some depths tell changes that they have not seen."""
    leaves: list[Place]
    """Of three questions."""


@dataclass(frozen=True, eq=False)
class ChangeRegions:
    """Where changes lie, as found on some rows."""

    segments: list[Segment]
    leaves: tuple[Leaf, ...]
    f1_by_depth: dict[str, float]
    left_out: dict[str, tuple[str, tuple[Leaf, ...]]]
    """By feature: the group that f approves least, and those of it whom the patch leaves denied."""
    places: list[Places]
    """The same as divisions of the people."""


def find(patch: Patch, rows: Rows, after: Bools) -> ChangeRegions:
    """Look for places: by concept, by a tree, and among those whom f denies."""
    changed = (rows.f > 0) != after
    # a card says itself who gets how many points; only concepts need to be told by segments
    of_concepts = [] if patch.card else segments(patch, rows.X, changed, rows.f)
    leaves = ChangeTree.fit(rows.X, changed, max_depth=3).leaves if changed.any() else ()
    places = [
        _places(f"{PLACE}segment {i}", [segment.leaf], rows, after)
        for i, segment in enumerate(of_concepts)
    ]
    places += [_places(f"{PLACE}tree", leaves, rows, after)] if leaves else []
    left_out = {}
    for feature in rows.s.features:
        lowest, here, neglected_tree = neglected(rows, after, feature)
        value = rows.s.values[rows.s.features.index(feature)][lowest]
        left_out[feature] = str(value), neglected_tree
        if neglected_tree:
            counts = Counts.from_arrays(decision=rows.f > 0, sensitive_features=rows.s).by(feature)
            of = (feature, counts.groups.index((value,)))
            denied = rows.take(here)
            places.append(
                _places(f"{PLACE}left out by {feature}", neglected_tree, denied, after[here], of)
            )
    return ChangeRegions(of_concepts, leaves, _f1(rows.X, changed), left_out, places)


def segment_section(
    places: ChangeRegions, views: Sequence[ConceptView], table: Protected
) -> list[SegmentPlace]:
    """Where each concept is most active, and how likely a change is there."""
    names = {view.name: view.plain_name for view in views}
    sections = []
    for i, segment in enumerate(places.segments):
        inside, outside = (
            _published(table, f"{PLACE}segment {i}", place, str(segment)) for place in (0, 1)
        )
        sections.append(
            SegmentPlace(
                concept=names.get(segment.concept, segment.concept),
                where=str(segment),
                towards_change=segment.towards_change,
                people=inside.people,
                inside=inside.change_rate,
                outside=outside.change_rate,
            )
        )
    return sections


def tree_section(places: ChangeRegions, table: Protected) -> TreeSection:
    """A tree that tells the changes, and its F1 on the half of the rows that it has not seen."""
    leaves = _leaves(f"{PLACE}tree", places.leaves, table)
    return TreeSection(f1_by_depth=places.f1_by_depth, leaves=leaves)


def left_out_section(places: ChangeRegions, table: Protected) -> dict[str, LeftOut]:
    """By feature, those for whom the patch does little."""
    return {
        feature: LeftOut(
            group=group, places=_leaves(f"{PLACE}left out by {feature}", leaves, table)
        )
        for feature, (group, leaves) in places.left_out.items()
    }


def _f1(X: Any, changed: Bools) -> dict[str, float]:
    half = (np.random.default_rng(0).permutation(len(changed)) < len(changed) // 2).astype(int)
    rows = Rows(X, changed.astype(np.int64))
    if len(changed) > MOST_TESTED:
        half[np.random.default_rng(1).permutation(len(changed))[MOST_TESTED:]] = 2
    one, two = (rows.take(np.flatnonzero(half == k)) for k in (1, 0))
    if not one.y.any() or not two.y.any():
        return {}
    f1 = f1_by_depth(one.X, one.y == 1, two.X, two.y == 1, (1, 2, 3, 4))
    return {str(depth): round(value, 2) for depth, value in f1.items()}


def _places(
    name: str,
    leaves: Sequence[Leaf],
    rows: Rows,
    after: Bools,
    denied_of: tuple[str, int] | None = None,
) -> Places:
    """The people by leaf; the last place is everybody else."""
    code: Ints = np.full(len(rows), len(leaves))
    for i, leaf in enumerate(leaves):
        code[leaf.holds(rows.X)] = i
    counts = Counts.from_arrays(
        decision=rows.f > 0, new_decision=after, y=rows.y, sensitive_features={name: code}
    )
    return Places(name, counts, denied_of)


def _leaves(name: str, leaves: Sequence[Leaf], table: Protected) -> list[Place]:
    return [_published(table, name, i, str(leaf)) for i, leaf in enumerate(leaves)]


def _published(table: Protected, name: str, place: int, where: str) -> Place:
    """People and changes of a place, as far as they may be told."""
    rate, groups = changed_rate(), table.by(name).groups
    if (place,) not in groups:
        return Place(where=where, people=0, changed=0, change_rate=None)
    group = groups.index((place,))
    people, changed = table.people(name, group=group), table.number(rate.hits, name, group=group)
    if people.high is not None and changed.high is not None:  # of so many, no more can change
        changed = PublishedCount(changed.low, min(changed.high, people.high))
    return Place(
        where=where,
        people=count(people),
        changed=count(changed),
        change_rate=figure(table.rate(rate, name, group=group)),
    )
