"""Ranks and how well a number tells groups apart, against scipy and by counting pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from fairpatch.measure.scores import mann_whitney, ranks

NUMBERS = st.lists(st.sampled_from([-1.5, 0.0, 0.1, 2.0, 7.0, 1e9]), min_size=2, max_size=40)


@given(NUMBERS)
def test_ranks_are_those_of_scipy(numbers):
    assert ranks(np.array(numbers)).tolist() == rankdata(numbers).tolist()


@given(NUMBERS, st.randoms(use_true_random=False))
def test_the_share_of_pairs_is_counted(numbers, random):
    score = np.array(numbers)
    inside = np.array([random.random() < 0.5 for _ in numbers])
    pairs = [(a > b) + (a == b) / 2 for a in score[inside] for b in score[~inside]]
    assert np.isclose(mann_whitney(score, inside), np.mean(pairs) if pairs else 0.5)
