"""Regions: shares that say where changes lie, and tell of nobody."""

from hypothesis import given
from hypothesis import strategies as st

from fairpatch.report.change_section import coarse_share


@given(st.integers(40, 100_000), st.integers(0, 9), st.integers(0, 9))
def test_counts_of_few_cannot_be_told_apart(among, one, other):
    """One to nine people, and none: the same share; so it is of those who are not there."""
    assert coarse_share(one, among) == coarse_share(other, among) == 0.0
    assert coarse_share(among - one, among) == coarse_share(among - other, among)


@given(st.integers(1, 100_000), st.floats(0, 1))
def test_a_share_is_right_to_half_a_step(among, share):
    hits = round(share * among)
    told = coarse_share(hits, among)
    if told is None:
        assert among < 40
        return
    assert abs(told - hits / among) <= 0.25 + 1e-9
    if among >= 400:
        assert abs(told - hits / among) <= 0.025 + 1e-9
