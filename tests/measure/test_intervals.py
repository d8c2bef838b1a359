"""Intervals: known values, edges, and that they cover the truth as often as they claim."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from fairpatch.measure import Counts, intervals, p_rule
from fairpatch.measure.metric import disparate_mistreatment

METHODS = ["wilson", "clopper_pearson"]
SCIPY = {"wilson": "wilson", "clopper_pearson": "exact"}


@given(st.integers(1, 500), st.data(), st.sampled_from(METHODS), st.sampled_from([0.8, 0.95, 0.99]))
def test_rates_equal_scipys(n, data, method, confidence):
    k = data.draw(st.integers(0, n))
    low, high = intervals.rate(np.array([k]), np.array([n]), confidence, method)
    expected = binomtest(k, n).proportion_ci(confidence, SCIPY[method])
    assert low[0] == pytest.approx(expected.low, abs=1e-9)
    assert high[0] == pytest.approx(expected.high, abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=2, max_size=5),
    st.sampled_from(METHODS),
)
def test_gap_and_ratio_limits_hold_their_estimate(pairs, method):
    n = np.array([b for _, b in pairs], float)
    k = np.minimum(np.array([a for a, _ in pairs], float), n)
    rates = k / n
    low, high = intervals.gap(k, n, 0.95, method)
    assert 0 <= low <= rates.max() - rates.min() + 1e-12
    assert rates.max() - rates.min() <= high + 1e-12 <= 1 + 1e-12
    if rates.max() > 0:
        low, high = intervals.ratio(k, n, 0.95, method)
        assert -1e-12 <= low <= rates.min() / rates.max() + 1e-12
        assert rates.min() / rates.max() <= high + 1e-12 <= 1 + 1e-12


def test_newcombes_published_example():
    """Newcombe (1998), method 10: 56/70 against 48/80 gives 0.0524 to 0.3339."""
    low, high = intervals.gap(np.array([56.0, 48.0]), np.array([70.0, 80.0]), 0.95, "wilson")
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


def test_law_schools_p_rule_of_0_8_has_a_wide_interval():
    """133 against 414 people, f's rates: about 0.67 to 0.96 (METHOD section 9)."""
    low, high = intervals.ratio(np.array([69.0, 270.0]), np.array([133.0, 414.0]), 0.95, "wilson")
    assert low == pytest.approx(0.67, abs=0.02)
    assert high == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("sizes", "rates"),
    [
        ((40, 200), (0.3, 0.5)),
        ((138, 409), (0.4, 0.5)),
        ((30, 30), (0.05, 0.1)),
        ((60, 60), (0.5, 0.5)),
        ((50, 100, 400), (0.2, 0.35, 0.5)),
    ],
)
def test_intervals_cover_the_truth(sizes, rates, method):
    random = np.random.default_rng(1)
    n, p = np.array(sizes, float), np.array(rates)
    trials = 2_000
    hits = {"gap": 0, "ratio": 0}
    for k in random.binomial(sizes, rates, (trials, len(sizes))):
        low, high = intervals.gap(k, n, 0.95, method)
        hits["gap"] += low - 1e-12 <= p.max() - p.min() <= high
        if k.any():
            low, high = intervals.ratio(k, n, 0.95, method)
            hits["ratio"] += low <= p.min() / p.max() <= high + 1e-12
        else:
            hits["ratio"] += 1  # undefined claims nothing
    for name, count in hits.items():
        # 95 % less four standard errors of the simulation
        assert count / trials >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / trials), name


def test_weights_widen_the_interval():
    random = np.random.default_rng(0)
    s, d = random.integers(0, 2, 400), random.integers(0, 2, 400)
    w = random.exponential(size=400)
    plain = p_rule(Counts.from_arrays(decision=d, sensitive_features=s))
    same = p_rule(
        Counts.from_arrays(decision=d, sensitive_features=s, sample_weight=np.full(400, 7))
    )
    weighted = p_rule(Counts.from_arrays(decision=d, sensitive_features=s, sample_weight=w))
    assert same.value == pytest.approx(plain.value)
    assert same.low == pytest.approx(plain.low)
    assert weighted.high - weighted.low > plain.high - plain.low


def test_higher_confidence_is_wider_and_dm_is_the_sum_of_gaps():
    random = np.random.default_rng(0)
    s, y, d = (random.integers(0, 2, 300) for _ in range(3))
    counts = Counts.from_arrays(decision=d, y=y, sensitive_features=s)
    narrow, wide = (disparate_mistreatment(counts, confidence=c) for c in (0.8, 0.99))
    assert wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high


@pytest.mark.parametrize("limits", [intervals.gap, intervals.ratio])
def test_over_several_groups_each_pair_has_its_share_of_the_error(limits):
    """The extreme pair's interval decides, at a third of the error for three pairs."""
    k, n = np.array([300.0, 500.0, 800.0]), np.array([1_000.0] * 3)
    found = limits(k, n, 0.95, "wilson")
    alone = limits(k[[0, 2]], n[[0, 2]], 1 - 0.05 / 3, "wilson")
    assert found == pytest.approx(alone)
    assert found != pytest.approx(limits(k[[0, 2]], n[[0, 2]], 0.95, "wilson"))
