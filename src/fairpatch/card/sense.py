"""What speaks against the lines of a card: whom they reward, and for what.

Each is a question to the points and to the people who have them. What can be asked before anything
is learned is prevented: a piece of a column that is as good as a group has no points of its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fairpatch._tools.arrays import Bools, Floats, Ints
from fairpatch._tools.smallest_count import MIN_PEOPLE
from fairpatch.card.bins import Field
from fairpatch.card.confidence import Levels
from fairpatch.card.scorecard import Points
from fairpatch.choose.objections import SURE, outcome_gap
from fairpatch.measure.intervals import wilson

ONE_GROUP = 0.95
"""Of the people who have a value, the share of one group from which on it stands for that group."""
ENOUGH = 2 * MIN_PEOPLE
"""People of a value, from which on it is asked for precaution."""
LIKE = 10
"""Bands of scores within which people are compared."""


def turned_fields(card: Points, orders: Sequence[Levels]) -> tuple[int, ...]:
    """Fields by which somebody has more points for what f likes less, or for an empty field."""
    found = []
    for j, points in card.points.items():
        ends = [(points[list(level)].min(), points[list(level)].max()) for level in orders[j]]
        if any(high > low for (_, high), (low, _) in pairwise(ends)):
            found.append(j)
    return tuple(found)


def perverse_points(
    card: Points, orders: Sequence[Levels], pieces: Sequence[Ints], y: Ints, f: Floats
) -> Floats | None:
    """What everybody earns by categories that f likes less and that turn out worse; None if nobody.

    Worse than the commonest category, whose points are 0. Where f likes a category even less than
    its outcomes warrant, points mend that, and are not perverse.
    """
    total, found = np.zeros(len(y)), False
    for j, points in card.points.items():
        field = card.fields[j]
        if field.in_order:
            continue
        by_label = np.stack([np.bincount(pieces[j][y == label], minlength=field.pieces + 1)
                             for label in (0, 1)])  # fmt: skip
        for k in liked_less(orders[j], field):
            gap = outcome_gap(*by_label[:, [k, field.reference]].T.astype(np.float64))
            worse = gap is not None and gap < -SURE
            if points[k] > 0 and worse and not underrated(pieces[j] == k, y, f):
                total += points[k] * (pieces[j] == k)
                found = True
    return total if found else None


def liked_less(order: Levels, field: Field) -> set[int]:
    """Pieces that f likes less than the commonest one."""
    at = next((i for i, level in enumerate(order) if field.reference in level), 0)
    return {k for level in order[:at] for k in level}


def underrated(who: Bools, y: Ints, f: Floats) -> bool:
    """Whether some people turn out better than others with scores like theirs."""
    known = (y == 0) | (y == 1)
    like = np.digitize(f, np.quantile(f[known], np.linspace(0, 1, LIKE + 1)[1:-1]))
    others = [np.bincount(like[known & ~who & (y == label)], minlength=LIKE) for label in (0, 1)]
    rate = (others[1] + 0.5) / (others[0] + others[1] + 1)
    mine, expected = y[known & who], rate[like[known & who]]
    return bool(np.sum(mine - expected) > SURE * np.sqrt(np.sum(expected * (1 - expected))))


def of_no_group(
    fields: Sequence[Field],
    pieces: Sequence[Ints],
    groups: Ints,
    person: Ints | None = None,
    meant: Collection[str] = (),
) -> tuple[list[Field], dict[str, str]]:
    """The fields without what stands for one group, and the columns of which nothing is left.

    A category that 95 % of one group have earns points of its own for being of that group, whatever
    it is called, and a reason for the column is none for that. Those who have it count as everybody
    whose category is rare. Only the group itself, where it is ``meant`` to decide, stays as it is.
    """
    kept, why = [], {}
    for field, piece in zip(fields, pieces, strict=True):
        if field.column.name in meant:
            kept.append(field)
            continue
        stand = stand_for(piece, field.pieces, groups, person, proven=False)
        own = np.isin(np.arange(field.pieces), list(stand))
        if field.in_order or not own.any():
            if field.in_order and own[: field.bins].all():
                why[field.column.name] = "each of its values stands for one group"
            else:
                kept.append(field)
            continue
        left = tuple(c for c, out in zip(field.categories, own, strict=True) if not out)
        if len(left) < 2:
            who = "all of its values but one stand" if left else "each of its values stands"
            why[field.column.name] = f"{who} for one group"
            continue
        people = [np.sum(piece == k) for k in np.flatnonzero(~own)]
        kept.append(replace(field, categories=left, reference=int(np.argmax(people))))
    return kept, why


def stand_for(
    piece: Ints, many: int, groups: Ints, person: Ints | None = None, *, proven: bool = True
) -> dict[int, tuple[int, int]]:
    """Pieces that stand for one group: its feature and number, by piece.

    Those who have the piece are nearly all of one group, and others are not. The lower end of an
    interval has it ``proven``; for precaution twenty people are enough of whom all are: seventy
    wives who are all women prove 94.8 %.
    """
    found: dict[int, tuple[int, int]] = {}
    once = np.ones(len(piece), bool)
    if person is not None:
        once[:] = False
        once[np.unique(np.stack([person, piece]), axis=1, return_index=True)[1]] = True
    for k, code in enumerate(groups.T):
        known = once & (code >= 0)
        values = int(code.max(initial=-1)) + 1
        table = np.zeros((many + 1, values))
        np.add.at(table, (piece[known], code[known]), 1.0)
        sizes = table.sum(1, keepdims=True)
        least, _ = wilson(table, np.broadcast_to(sizes, table.shape), 0.95)
        if not proven:
            least = np.where((table == sizes) & (sizes >= ENOUGH), 1.0, least)
        rare = table.sum(0) < ONE_GROUP * table.sum()  # of nearly everybody's group all are
        nearly = (np.nan_to_num(least[:many]) >= ONE_GROUP) & rare
        found |= {int(j): (k, int(g)) for j, g in np.argwhere(nearly)}
    return found
