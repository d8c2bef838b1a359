"""Small counts are not shown: fewer than ten people could be recognised.

A hidden cell must not follow from its total and the other cells, so a second one is hidden with it;
and where all but a few of a group are in a cell, the few are told by it, so it is hidden too.
"""

from collections.abc import Sequence

from fairpatch.measure.floor import too_few


def hidden(cells: Sequence[int], totals: Sequence[int] | None = None) -> list[bool]:
    """Which cells of one published total to hide; ``totals`` are the groups the cells are part of.

    >>> hidden([50, 3, 20, 0])
    [False, True, True, False]
    >>> hidden([50, 97], totals=[200, 100])
    [True, True]
    """
    rest = [t - c for t, c in zip(totals, cells, strict=True)] if totals else [0] * len(cells)
    small = [too_few(cell) or too_few(others) for cell, others in zip(cells, rest, strict=True)]
    if sum(small) == 1 and len(cells) > 1:
        others = [i for i, is_small in enumerate(small) if not is_small]
        # an empty cell says nothing of anybody, so it hides nothing either
        candidates = [i for i in others if cells[i] > 0] or others
        small[min(candidates, key=lambda i: cells[i])] = True
    return small
