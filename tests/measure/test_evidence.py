"""Evidence that may be looked at every period: brute force, then streams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from fairpatch.measure.over_time import FROM_THE_START, SINCE_LATER, STAKES, edge, log_evidence

CLAIMS = {
    "ratio": (np.array([0.8, -1.0]), 0.0),
    "its opposite": (np.array([-0.8, 1.0]), 0.0),
    "gap": (np.array([1.0, -1.0]), 0.1),
    "one rate": (np.array([1.0, 0.0]), 0.2),
}


def outcomes(sizes):
    """Every outcome of a period: (outcomes, 1, 2), and a function that gives their chances."""
    every = np.stack(np.meshgrid(*(np.arange(n + 1.0) for n in sizes), indexing="ij"), -1)
    k = every.reshape(-1, 1, 2)

    def chance(p):
        return np.prod([binom.pmf(k[:, 0, i], sizes[i], p[i]) for i in range(2)], axis=0)

    return k, chance


@pytest.mark.quick
@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("sizes", [(3, 2), (10, 4), (20, 7)])
@pytest.mark.parametrize("past", [(3, 1), (30, 10), (0, 0), (90, 39)])
def test_a_bet_is_fair_at_best_where_the_claim_holds(claim, sizes, past):
    """E[e] <= 1 for every rate that keeps the claim, by every outcome there is."""
    (a, b), (k, chance) = CLAIMS[claim], outcomes(sizes)
    known = np.array(past, float), np.array([100.0, 40.0])
    n = np.broadcast_to(np.array(sizes, float), k.shape)
    e = np.exp(log_evidence(k, n, a, np.array(b), *known))[:, 0]
    for p in np.ndindex(21, 21):
        rates = np.array(p) / 20
        if a @ rates <= b + 1e-12:
            assert e @ chance(rates) <= 1 + 1e-9


def test_the_product_over_two_periods_is_fair_too():
    """The second period's bets come from the first: still at most 1, over all pairs of outcomes."""
    (a, b), (k, chance) = CLAIMS["ratio"], outcomes((6, 4))
    n = np.array([6.0, 4.0])
    both = np.concatenate(np.broadcast_arrays(k[:, None], k[None, :]), axis=-2)
    e = np.exp(log_evidence(both, np.broadcast_to(n, both.shape), a, np.array(b),
                            np.array([3.0, 2.0]), n))[..., -1]  # fmt: skip
    for one, two in (((0.5, 0.4), (0.5, 0.4)), ((0.9, 0.72), (0.1, 0.08)), ((0.2, 0.9), (1, 0.8))):
        assert chance(one) @ e @ chance(two) <= 1 + 1e-9


def test_weights_of_stakes_and_beginnings_sum_to_one():
    assert FROM_THE_START.sum() + SINCE_LATER.sum() == pytest.approx(1)
    assert len(STAKES) == len(FROM_THE_START) == len(SINCE_LATER)
    periods = np.arange(1, 100_000)
    assert (1 / (periods * (periods + 1))).sum() == pytest.approx(1, abs=1e-4)


@settings(max_examples=200)
@given(
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
    st.sampled_from(sorted(CLAIMS)),
    st.integers(1, 10_000),
)
def test_the_edge_is_never_inside_the_claim(p, claim, n):
    """a . q >= b is what makes the bet fair."""
    a, b = CLAIMS[claim]
    size = np.array([float(n), 5.0])
    q = edge(np.array(p) * size, size, size, a, np.array(b))
    assert ((q > 0) & (q < 1)).all()
    assert a @ q >= b - 1e-9


def test_one_broken_claim_a_period_is_enough_against_all():
    """Another pair is broken in each period: E of the least is at most 1 all the same."""
    k, chance = outcomes((8, 6))
    n = np.broadcast_to(np.array([8.0, 6.0]), k.shape)
    a = np.array([[-0.8, 1.0], [1.0, -0.8]])  # broken: p_b <= 0.8 p_a, or p_a <= 0.8 p_b
    own = (x[:, None] for x in (k, n))
    known = (np.array([4.0, 3.0]), np.array([8.0, 6.0]))
    e = np.exp(log_evidence(*own, a, np.zeros(2), *known, all_claims=True))[:, 0]
    for rates in ((0.5, 0.4), (0.4, 0.5), (0.9, 0.1), (0.0, 0.0), (0.2, 0.16)):
        assert e @ chance(rates) <= 1 + 1e-9


def test_a_kept_promise_is_seldom_called_broken_and_a_broken_one_is():
    rng, n = np.random.default_rng(1), np.array([700.0, 300.0])
    a, b, size = np.array([0.8, -1.0]), np.array(0.0), np.broadcast_to(n, (400, 60, 2))
    for ratio, least, most in ((0.8, 0.0, 0.05), (0.82, 0.0, 0.02), (0.66, 0.99, 1.0)):
        k = rng.binomial(size.astype(int), [0.3, 0.3 * ratio]).astype(float)
        alarmed = (log_evidence(k, size, a, b) >= np.log(20)).any(1).mean()
        assert least <= alarmed <= most
    # a monthly test at 95 % of the same streams cries wolf in nearly all of them
    k = rng.binomial(size.astype(int), [0.3, 0.24])
    p = k / size
    z = (p @ a) / np.sqrt((a * a * p * (1 - p) / size).sum(-1))
    assert (z > 1.645).any(1).mean() > 0.9


def test_a_change_after_good_years_is_found():
    rng, n = np.random.default_rng(2), np.array([2_800.0, 1_200.0])
    p = np.full((48, 2), [0.4, 0.36])
    p[36:, 1] = 0.4 * 0.6
    size = np.broadcast_to(n, (100, 48, 2))
    k = rng.binomial(size.astype(int), p).astype(float)
    over = log_evidence(k, size, np.array([0.8, -1.0]), np.array(0.0)) >= np.log(20)
    first = np.where(over.any(1), over.argmax(1), 99)
    assert (first >= 36).all()
    assert np.median(first) <= 38
