"""How many people a certificate needs: worked out by hand, and never rounded down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from fairpatch import Target
from fairpatch.choose.result import Result
from fairpatch.measure import Counts
from fairpatch.measure.hypothesis_tests import judge_ceiling, judge_ratio, score_test
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.metric import P_RULE

(REQUIREMENT,) = Target(p_rule=0.8).requirements


@pytest.mark.parametrize(
    ("needed", "about"),
    [(None, None), (7, 7), (99, 99), (100, 100), (101, 110), (1_200, 1_200), (1_201, 1_300),
     (1_234, 1_300), (99_001, 100_000), (123_456, 130_000)],
)  # fmt: skip
def test_two_digits_upwards(needed, about):
    result = Result(REQUIREMENT, "sex", "inconclusive", Estimate(0.9), 100, needed)
    assert result.people_needed_about == about


@given(st.integers(1, 10**7))
def test_what_is_shown_is_enough(needed):
    about = Result(REQUIREMENT, "s", "x", Estimate(0.9), 1, needed).people_needed_about
    assert needed <= about < 1.1 * needed + 1


def test_the_number_is_the_one_that_gives_eighty_percent_power():
    """z grows with the root of n: n' = n ((z_95 + z_80) / z)^2, upwards."""
    k, n = np.array([45.0, 50.0]), np.array([100.0, 100.0])
    found = judge_ratio(k, n, 0.8, Estimate(0.9), 200, 0.95)
    z = min(score_test(45, 100, 50, 100, 0.8), score_test(50, 100, 45, 100, 0.8))
    exact = 200 * ((norm.ppf(0.95) + norm.ppf(0.8)) / z) ** 2
    assert exact != int(exact)
    assert found.people_needed == int(exact) + 1


def test_of_a_ceiling_too():
    found = judge_ceiling(0.1, Estimate(0.05, 0.02, 0.12), 100, 0.95)
    longer = 1 + norm.ppf(0.8) / norm.ppf(0.95)
    exact = 100 * (longer * 0.07 / 0.05) ** 2
    assert found.people_needed == int(exact) + 1


def test_so_many_people_are_certified_four_times_in_five():
    random = np.random.default_rng(0)
    few = P_RULE.judge(
        Counts.from_arrays(
            decision=[1] * 45 + [0] * 55 + [1] * 50 + [0] * 50,
            sensitive_features=["a"] * 100 + ["b"] * 100,
        ),
        0.8, 0.95,
    )  # fmt: skip
    half = few.people_needed // 2
    certified = 0
    for _ in range(400):
        a, b = (random.random(half) < p for p in (0.45, 0.5))
        again = Counts.from_arrays(
            decision=np.concatenate([a, b]).astype(int),
            sensitive_features=["a"] * half + ["b"] * half,
        )
        certified += P_RULE.judge(again, 0.8, 0.95).verdict == "certified"
    assert 0.72 < certified / 400 < 0.9
