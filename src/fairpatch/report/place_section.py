"""Where changes lie: segments of the paper's concepts, and of each feature who is left out.

Regions are parts of counts that the tables show, so they have no counts of their own: a share in
steps of twenty people or more takes nothing away from a table, and says as much to a reader.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fairpatch._arrays import Bools
from fairpatch.data.rows import Rows
from fairpatch.explain import ConceptView, Segment, segments
from fairpatch.explain.change_audit import neglected
from fairpatch.explain.change_tree import Leaf
from fairpatch.floor import MIN_PEOPLE
from fairpatch.patch import Patch
from fairpatch.report.figures import Shown

STEPS = (0.05, 0.1, 0.2, 0.5)
"""Shares are given to one of these, the finest that has enough people."""


class Region(Shown):
    """People of whom some conditions hold; shares are null where few are there."""

    where: str
    """The conditions."""
    share: float | None
    """Their share of the people who are divided."""
    changed: float | None
    """Of them, the share that changes."""


class SegmentPlace(Shown):
    """Where a concept is most active."""

    concept: str
    """The concept."""
    where: str
    """The conditions."""
    towards_change: bool
    """Whether it pushes towards a change there, or holds."""
    share: float | None
    """The share of the people who are there; null where few are."""
    inside: float | None
    """Share of them who change."""
    outside: float | None
    """Share of all others who change."""


class LeftOut(Shown):
    """People for whom the patch does less than half of what it does for such people on average."""

    group: str
    """The group that the base model approves least."""
    places: list[Region]
    """Among those of it whom the base model denies."""


@dataclass(frozen=True, eq=False)
class ChangeRegions:
    """Where changes lie, as found on some rows."""

    segments: list[Segment]
    left_out: dict[str, LeftOut]
    """By feature: the group that f approves least, and those of it whom the patch leaves denied."""


def find(patch: Patch, rows: Rows, after: Bools) -> ChangeRegions:
    """Look for regions: by concept, by a tree, and among those whom f denies."""
    changed = (rows.f > 0) != after
    # a card says itself who gets how many points; only concepts need to be told by segments
    of_concepts = [] if patch.card else segments(patch, rows.X, changed, rows.f)
    left_out = {}
    for feature in rows.s.features:
        lowest, here, neglected_leaves = neglected(rows, after, feature)
        left_out[feature] = LeftOut(
            group=str(rows.s.values[rows.s.features.index(feature)][lowest]),
            places=_regions(neglected_leaves, len(here)),
        )
    return ChangeRegions(of_concepts, left_out)


def segment_section(places: ChangeRegions, views: Sequence[ConceptView]) -> list[SegmentPlace]:
    """Where each concept is most active, and how likely a change is there."""
    names = {view.name: view.plain_name for view in views}
    return [
        SegmentPlace(
            concept=names.get(segment.concept, segment.concept),
            where=segment.who,
            towards_change=segment.towards_change,
            share=coarse_share(segment.people, segment.people + segment.others),
            inside=coarse_share((segment.inside.value or 0.0) * segment.people, segment.people),
            outside=coarse_share((segment.outside.value or 0.0) * segment.others, segment.others),
        )
        for segment in places.segments
    ]


def _regions(leaves: Sequence[Leaf], among: int) -> list[Region]:
    return [
        Region(
            where=str(leaf),
            share=coarse_share(leaf.people, among),
            changed=coarse_share(leaf.changed, leaf.people),
        )
        for leaf in leaves
    ]


def coarse_share(hits: float, among: float) -> float | None:
    """A share to the finest step that twenty people or more are behind.

    Half a step is then ten people: a share of 0 may be nobody, or as many as are not shown.

    >>> coarse_share(7, 1000), coarse_share(130, 220), coarse_share(7, 30)
    (0.0, 0.6, None)
    """
    step = next((s for s in STEPS if s * among >= 2 * MIN_PEOPLE), None)
    return None if step is None else round(round(hits / among / step) * step, 2)
