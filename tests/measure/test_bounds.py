"""The fewest changes, against brute force on every small instance that hypothesis tries."""

import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairpatch.measure import Counts
from fairpatch.measure.bounds import (
    fewest_for_mistreatment,
    fewest_for_p_rule,
    fewest_for_rate_difference,
)

PERSON = st.tuples(st.sampled_from("abc"), st.integers(0, 1), st.integers(0, 1))
TARGETS = st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0])


def brute_force(people, good, allowed=lambda _old, _new: True):
    """Fewest flips over all 2^n decisions for which the exact metric is good."""
    s, y, f = zip(*people, strict=True)
    best = None
    for g in product((0, 1), repeat=len(f)):
        changes = sum(a != b for a, b in zip(f, g, strict=True))
        if (best is None or changes < best) and allowed(f, g) and good(s, y, g):
            best = changes
    return best


def rates(s, g, keep):
    return [
        Fraction(sum(g[i] for i in rows), len(rows))
        for v in sorted(set(s))
        if (rows := [i for i in range(len(s)) if s[i] == v and keep(i)])
    ]


def counted(people):
    s, y, f = zip(*people, strict=True)
    return Counts.from_arrays(decision=f, y=y, sensitive_features=list(s))


@settings(max_examples=60)
@given(st.lists(PERSON, min_size=2, max_size=10), TARGETS)
@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
def test_p_rule_bound_equals_brute_force(direction, people, tau):
    assume(len({p[0] for p in people}) >= 2)

    def good(s, _, g):
        r = rates(s, g, lambda _: True)
        return max(r) > 0 and min(r) >= Fraction(tau).limit_denominator(100) * max(r)

    def allowed(old, new):
        moved = [b - a for a, b in zip(old, new, strict=True)]
        return direction == "both" or (
            min(moved) >= 0 if direction == "promote_only" else max(moved) <= 0
        )

    expected = brute_force(people, good, allowed)
    found = fewest_for_p_rule(counted(people), tau, direction=direction)
    assert (found.changes if found else None) == expected
    if found:
        assert sum(found.promotions) + sum(found.demotions) == found.changes


@settings(max_examples=60)
@given(st.lists(PERSON, min_size=2, max_size=10), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5]))
def test_rate_difference_bound_equals_brute_force(people, e):
    assume(len({p[0] for p in people}) >= 2)

    def good(s, _, g):
        r = rates(s, g, lambda _: True)
        return max(r) - min(r) <= Fraction(e).limit_denominator(100)

    assert fewest_for_rate_difference(counted(people), e).changes == brute_force(people, good)


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 1)),
        min_size=4,
        max_size=12,
    ),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8]),
)
def test_mistreatment_bound_equals_brute_force(people, e):
    assume(all((g, y) in {p[:2] for p in people} for g in "ab" for y in (0, 1)))

    def good(s, y, g):
        gaps = []
        for label in (0, 1):
            r = rates(s, g, lambda i, label=label: y[i] == label)
            gaps.append(max(r) - min(r))
        return sum(gaps) <= Fraction(e).limit_denominator(100)

    assert fewest_for_mistreatment(counted(people), e) == brute_force(people, good)


def test_methods_closed_form_for_two_large_groups():
    """K = ceil(D / max(N_a, tau N_d)), D = tau N_d G_a - N_a G_d (METHOD section 6)."""
    random = np.random.default_rng(0)
    for _ in range(150):
        n_a, n_d = random.integers(40, 2_000, 2)
        g_a = int(n_a * random.uniform(0.4, 0.9))
        g_d = int(n_d * random.uniform(0.05, 0.3))
        tau = random.choice([0.7, 0.8, 0.9])
        deficit = tau * n_d * g_a - n_a * g_d
        expected = int(np.ceil(deficit / max(n_a, tau * n_d) - 1e-9))
        counts = Counts.from_arrays(
            decision=[1] * g_a + [0] * (n_a - g_a) + [1] * g_d + [0] * (n_d - g_d),
            sensitive_features=["a"] * n_a + ["d"] * n_d,
        )
        assert abs(fewest_for_p_rule(counts, tau).changes - expected) <= 1


def test_a_million_people_take_little_time():
    random = np.random.default_rng(0)
    n = 1_000_000
    s = random.integers(0, 3, n)
    f = (random.random(n) < 0.3 + 0.1 * s).astype(int)
    y = random.integers(0, 2, n)
    start = time.perf_counter()
    counts = Counts.from_arrays(decision=f, y=y, sensitive_features=s)
    bound = fewest_for_p_rule(counts, 0.9)
    fewest_for_mistreatment(counts.where([True, True, False]), 0.01)
    assert time.perf_counter() - start < 10
    assert 0.05 < bound.change_rate < 0.2


def test_a_target_that_is_met_needs_no_change():
    counts = Counts.from_arrays(decision=[1, 0, 1, 0], sensitive_features=list("aabb"))
    assert fewest_for_p_rule(counts, 0.8).changes == 0
    three = Counts.from_arrays(decision=[1, 0, 1], y=[1, 1, 1], sensitive_features=list("abc"))
    with pytest.raises(ValueError, match="two groups, there are 3"):
        fewest_for_mistreatment(three, 0.1)
