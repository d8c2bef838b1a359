"""What is told beside the protected table never narrows it."""

from types import SimpleNamespace

import numpy as np
import pytest

from fairpatch.measure.disclose import Told
from fairpatch.measure.rates import demoted_rate, promoted_rate
from fairpatch.report.coarse import Beside
from fairpatch.report.figures import Tens


def beside(promoted, demoted=(0, 0)):
    told = {promoted_rate().hits.tobytes(): promoted, demoted_rate().hits.tobytes(): demoted}

    def number(cells, *_, **__):
        return Told(*told.get(np.ascontiguousarray(cells).tobytes(), (1_000, 1_000)))

    return Beside(SimpleNamespace(number=number), Tens())


@pytest.mark.parametrize(
    ("parent", "part", "told"),
    [
        ((57, 57), 43, (40, 49)),  # told exactly: its parts by tens
        ((20, 39), 12, (10, 19)),  # no more than is certain
        ((20, 39), 34, (20, 39)),  # thirty would show that it is not twenty
        ((0, 19), 11, (0, 19)),
        ((1, 9), 4, (0, 9)),
    ],
)
def test_a_part_of_a_range(parent, part, told):
    found = beside(parent).moved(part)
    assert (found.at_least, found.at_most) == told
    assert found.at_least <= max(parent[0], 0)


def test_what_is_left_is_told_only_of_an_exact_count():
    assert beside((57, 57)).rest(30).at_least == 30
    assert beside((50, 69)).rest(30).at_most is None
