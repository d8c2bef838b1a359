"""The floor of ten."""

import pytest

from fairpatch._tools.smallest_count import MIN_PEOPLE, ends_of, too_few


def test_nobody_is_not_too_few_and_ten_are_enough():
    assert MIN_PEOPLE == 10
    assert [n for n in range(-1, 13) if too_few(n)] == list(range(1, 10))


@pytest.mark.parametrize("among", [10, 19, 24, 45, 61, 100, 109])
def test_no_share_by_tens_leaves_fewer_than_ten_numbers(among):
    """Of a group whose size is known, neither those inside nor those outside are told to be few."""
    told = {}
    for hits in range(among + 1):
        told.setdefault(ends_of(hits, among, known=True), []).append(hits)
    assert all(len(hits) >= 10 for hits in told.values())
    for (low, high), hits in told.items():
        assert low * among == pytest.approx(hits[0])
        assert high * among == pytest.approx(hits[-1])


@pytest.mark.parametrize("known", [False, True])
def test_a_share_by_tens_lies_between_its_ends(known):
    for among in range(1, 90):
        for hits in range(among + 1):
            low, high = ends_of(hits, among, known=known)
            assert low - 1e-12 <= hits / among <= high + 1e-12
