"""What a card's points can bring about at all, whoever comes: their most against those needed."""

from collections.abc import Iterator
from typing import Protocol

from fairpatch.measure.direction import Direction, may_demote, may_promote
from fairpatch.patch.lines import Line
from fairpatch.patch.parts import CardScale, Concept, ScoreBand


class Reaching(Protocol):
    """What is asked of a patch."""

    concepts: tuple[Concept, ...]
    card: CardScale | None
    strength: float
    direction: Direction


def within_reach(patch: Reaching, band: ScoreBand, *, denied: bool) -> bool:
    """Whether anybody can have the points that such a score asks for."""
    if patch.card is None or band.points is None:
        return False
    most = sum(most for _, most in _each_column(patch, denied=denied))
    return most - band.points >= _needed(patch.card, denied=denied) or not patch.strength


def can_matter(patch: Reaching, line: Line) -> bool:
    """Whether somebody's decision could depend on a line, with the most of all other columns."""
    if patch.card is None or not patch.strength:
        return True
    for denied, may in ((True, may_promote), (False, may_demote)):
        others = sum(
            most
            for column, most in _each_column(patch, denied=denied)
            if column not in line.part.columns
        )
        own = max(0.0, line.points if denied else -line.points)
        if may(patch.direction) and own + others >= _needed(patch.card, denied=denied):
            return True
    return False


def _needed(card: CardScale, *, denied: bool) -> int:
    return card.approve_at if denied else -card.deny_at


def _each_column(patch: Reaching, *, denied: bool) -> Iterator[tuple[str, float]]:
    """The most points that each column gives: towards an approval, or towards a denial."""
    sign = 1.0 if denied else -1.0
    for concept in patch.concepts:
        listed = [(n.column, [n.missing]) for n in concept.numbers]
        listed += [(p.column, [p.missing, *(r.weight for r in p.ranges)]) for p in concept.ranges]
        listed += [
            (c.column, [c.missing, c.other, *(e.weight for e in c.categories)])
            for c in concept.categories
        ]
        for column, points in listed:
            yield column, max(0.0, *(sign * worth for worth in points))
