"""The floor of ten."""

from fairpatch.floor import MIN_PEOPLE, too_few


def test_nobody_is_not_too_few_and_ten_are_enough():
    assert MIN_PEOPLE == 10
    assert [n for n in range(-1, 13) if too_few(n)] == list(range(1, 10))
