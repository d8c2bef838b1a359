"""What a review hides: fewer than ten people, and what would tell them."""

import pytest

from fairpatch.report.suppress import hidden


@pytest.mark.parametrize(("count", "hides"), [(0, False), (1, True), (9, True), (10, False)])
def test_nine_people_are_hidden_ten_are_not(count, hides):
    assert hidden([count])[0] == hides
    assert hidden([100 - count], totals=[100])[0] == hides  # all but a few tells the few


def test_one_hidden_cell_takes_the_smallest_other_with_it():
    assert hidden([50, 3, 20, 0]) == [False, True, True, False]
    assert hidden([50, 3, 2, 20]) == [False, True, True, False]
    assert hidden([0, 3, 0]) == [True, True, False]
    assert hidden([3]) == [True]
