"""What is told beside the protected table never narrows it."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpatch.disclose.suppress import PublishedCount
from fairpatch.measure.rates import demoted_rate, promoted_rate
from fairpatch.report.figures import CountRounding, RoundedContext


def beside(promoted, demoted=(0, 0)):
    told = {promoted_rate().hits.tobytes(): promoted, demoted_rate().hits.tobytes(): demoted}

    def number(cells, *_, **__):
        return PublishedCount(*told.get(np.ascontiguousarray(cells).tobytes(), (1_000, 1_000)))

    return RoundedContext(SimpleNamespace(number=number), CountRounding())


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
    found = beside(parent).part(part, "promoted")
    assert (found.at_least, found.at_most) == told
    assert found.at_least <= max(parent[0], 0)


def test_what_is_left_is_told_only_of_an_exact_count():
    assert beside((57, 57)).rest(30).at_least == 30
    assert beside((50, 69)).rest(30).at_most is None


@pytest.mark.parametrize(
    ("hits", "among", "low", "high"),
    [(34, 87, 30 / 89, 39 / 80), (30, 80, 30 / 89, 39 / 80), (0, 19, 0.0, 9 / 10), (9, 9, 0, 1)],
)
def test_tens_show_a_share_by_the_widest_ends_that_they_leave(hits, among, low, high):
    """Thirty of at most 89, to 39 of at least 80."""
    assert CountRounding().ends(hits, among) == pytest.approx((low, min(high, 1.0)))
    assert CountRounding(exact=True).ends(hits, among) == pytest.approx((hits / among,) * 2)
    known = CountRounding().ends(hits, among, known=True)
    assert known[0] <= hits / among <= known[1] or not hits // 10


@given(st.integers(0, 500), st.integers(1, 500))
def test_no_share_lies_outside_of_its_ends(hits, more):
    low, high = CountRounding().ends(hits, hits + more)
    assert low <= hits / (hits + more) <= high
    # and nobody learns more than the tens: the same ends for every count of the same ten
    assert CountRounding().ends(10 * (hits // 10), hits + more) == (low, high)
