"""The blind bound and the Bayes rule against linear programs solved by HiGHS."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fairpatch.measure.bounds import bayes_changes, bayes_multiplier, fewest_blind, helpfulness


def instance(seed, n=40):
    random = np.random.default_rng(seed)
    q = random.beta(0.7, 0.7, n)
    decided = random.random(n) < 0.2 + 0.6 * q
    return q, random.random(n), decided


def solve(c, h, decided, direction="both"):
    """min c . change over change in [0, 1] with E[decision h] >= 0 after the changes."""
    step = np.where(decided, -1.0, 1.0)
    allowed = {
        "both": np.ones(len(h), bool), "promote_only": ~decided, "demote_only": decided,
    }[direction]  # fmt: skip
    return linprog(
        c, A_ub=[-(step * h)], b_ub=[float((h * decided).sum())],
        bounds=[(0, float(a)) for a in allowed],
    )  # fmt: skip


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([0.7, 0.8, 0.95]))
@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
def test_the_blind_bound_is_the_linear_programs_optimum(direction, seed, tau):
    q, _, decided = instance(seed)
    h = helpfulness(q, decided, tau)
    program = solve(np.ones(len(q)), h, decided, direction)
    found = fewest_blind(q, decided, tau, direction=direction)
    if program.status == 2:
        assert found is None
    else:
        assert found == pytest.approx(program.fun / len(q), abs=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2, 1.0, 5.0]))
def test_the_bayes_rule_is_optimal_but_for_one_person(seed, lambda_ratio):
    """It minimises errors + lambda_ratio * changes; the program may change part of a person."""
    q, eta, decided = instance(seed)
    h = helpfulness(q, decided, 0.8)
    delta = np.where(decided, -1.0, 1.0)
    cost = lambda_ratio + delta * (1 - 2 * eta)
    program = solve(cost, h, decided)
    changed = bayes_changes(q, eta, decided, 0.8, lambda_ratio=lambda_ratio)
    if program.status == 2:
        assert changed is None
        return
    value = float(cost[changed].sum())
    after = np.where(changed, ~decided, decided)
    assert (h * after).sum() >= -1e-9
    assert program.fun - 1e-9 <= value <= program.fun + float(np.abs(cost).max()) + 1e-9


def test_knowing_s_is_never_worse_than_guessing_it():
    from fairpatch.measure import Counts
    from fairpatch.measure.metric import P_RULE

    random = np.random.default_rng(0)
    n = 20_000
    s = random.integers(0, 2, n)
    decided = random.random(n) < 0.3 + 0.3 * s
    known = P_RULE.fewest(
        Counts.from_arrays(decision=decided, sensitive_features=s), 0.8
    ).change_rate
    certain = fewest_blind(s.astype(float), decided, 0.8)
    assert certain == pytest.approx(known, abs=1e-4)
    blurred = fewest_blind(np.where(s == 1, 0.85, 0.15), decided, 0.8)
    assert blurred > 0


def test_with_s_known_and_slack_it_is_the_bound_for_a_rate_difference():
    from fairpatch.measure import Counts
    from fairpatch.measure.metric import RATE_DIFFERENCE

    s, decided = np.repeat([0, 1], [600, 400]), np.zeros(1_000, bool)
    decided[:360], decided[600:680] = True, True
    counts = Counts.from_arrays(decision=decided, sensitive_features=s)
    for slack in (0.05, 0.1, 0.3):
        known = RATE_DIFFERENCE.fewest(counts, slack)
        blind = RATE_DIFFERENCE.fewest_blind(s.astype(float), decided, slack)
        assert blind == pytest.approx(known.change_rate, abs=0.0011)


def test_a_weight_of_three_is_three_people():
    from fairpatch.measure.bounds import helpfulness
    from fairpatch.measure.metric import P_RULE

    random = np.random.default_rng(0)
    q, times = random.random(200), random.integers(1, 4, 200)
    decided = random.random(200) < 0.2 + 0.5 * (1 - q)
    for direction in ("both", "promote_only", "demote_only"):
        few = P_RULE.fewest_blind(q, decided, 0.9, direction=direction, weight=times.astype(float))
        many = P_RULE.fewest_blind(
            np.repeat(q, times), np.repeat(decided, times), 0.9, direction=direction
        )
        assert few == pytest.approx(many)
        assert few > 0
    one = helpfulness(q, decided, 0.9, weight=times.astype(float))
    assert np.allclose(
        np.repeat(one, times), helpfulness(*(np.repeat(a, times) for a in (q, decided)), 0.9)
    )


def test_a_target_that_is_just_met_needs_no_push():
    """Two alike groups at tau = 1: the deficit is exactly 0."""
    q, decided = np.array([0.0, 0.0, 1.0, 1.0]), np.array([True, False, True, False])
    eta = np.where(decided, 0.9, 0.1)
    assert bayes_multiplier(q, eta, decided, 1.0, lambda_ratio=1.0) == 0.0
    assert not bayes_changes(q, eta, decided, 1.0, lambda_ratio=1.0).any()
    assert fewest_blind(q, decided, 1.0) == 0.0
