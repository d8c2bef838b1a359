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
    fewest_for_tpr_gap,
)

PERSON = st.tuples(st.sampled_from("abc"), st.integers(0, 1), st.integers(0, 1))
TARGETS = st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0])


def brute_force(people, good, direction="both"):
    """Fewest flips over all 2^n decisions with a good exact metric; most correct among those."""
    s, y, f = zip(*people, strict=True)
    best = None
    for g in product((0, 1), repeat=len(f)):
        moved = [b - a for a, b in zip(f, g, strict=True)]
        if (direction == "promote_only" and min(moved) < 0) or (
            direction == "demote_only" and max(moved) > 0
        ):
            continue
        key = sum(map(abs, moved)), -sum(m if v else -m for m, v in zip(moved, y, strict=True))
        if (best is None or key < best) and good(s, y, g):
            best = key
    return best


def key(bound):
    """What brute force finds, of a bound."""
    if bound is None:
        return None
    assert sum(bound.promotions) + sum(bound.demotions) == bound.changes
    return bound.changes, -bound.correct


def rates(s, g, keep):
    return [
        Fraction(sum(g[i] for i in rows), len(rows))
        for v in sorted(set(s))
        if (rows := [i for i in range(len(s)) if s[i] == v and keep(i)])
    ]


def counted(people):
    s, y, f = zip(*people, strict=True)
    return Counts.from_arrays(decision=f, y=y, sensitive_features=list(s))


DIRECTIONS = pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])


@DIRECTIONS
@settings(max_examples=40, deadline=None)
@given(st.lists(PERSON, min_size=2, max_size=12), TARGETS)
def test_p_rule_bound_equals_brute_force(direction, people, tau):
    assume(len({p[0] for p in people}) >= 2)

    def good(s, _, g):
        r = rates(s, g, lambda _: True)
        return max(r) > 0 and min(r) >= Fraction(tau).limit_denominator(100) * max(r)

    found = fewest_for_p_rule(counted(people), tau, direction=direction)
    assert key(found) == brute_force(people, good, direction)


@DIRECTIONS
@settings(max_examples=40, deadline=None)
@given(st.lists(PERSON, min_size=2, max_size=12), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5]))
def test_rate_difference_bound_equals_brute_force(direction, people, e):
    assume(len({p[0] for p in people}) >= 2)

    def good(s, _, g):
        r = rates(s, g, lambda _: True)
        return max(r) - min(r) <= Fraction(e).limit_denominator(100)

    found = fewest_for_rate_difference(counted(people), e, direction=direction)
    assert key(found) == brute_force(people, good, direction)


GAPS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8])


@st.composite
def labelled(draw):
    """Two or three groups, each with people of both labels."""
    groups = draw(st.sampled_from(["ab", "abc"]))
    decided = st.integers(0, 1)
    people = [(g, y, draw(decided)) for g in groups for y in (0, 1)]
    more = st.tuples(st.sampled_from(groups), decided, decided)
    return people + draw(st.lists(more, max_size=12 - len(people)))


def gap(s, y, g, label):
    r = rates(s, g, lambda i: y[i] == label)
    return max(r) - min(r)


@DIRECTIONS
@settings(max_examples=40, deadline=None)
@given(labelled(), GAPS)
def test_mistreatment_bound_equals_brute_force(direction, people, e):
    def good(s, y, g):
        return gap(s, y, g, 0) + gap(s, y, g, 1) <= Fraction(e).limit_denominator(100)

    found = fewest_for_mistreatment(counted(people), e, direction=direction)
    assert key(found) == brute_force(people, good, direction)


@settings(max_examples=40, deadline=None)
@given(labelled(), GAPS)
def test_tpr_gap_bound_equals_brute_force(people, e):
    def good(s, y, g):
        return gap(s, y, g, 1) <= Fraction(e).limit_denominator(100)

    assert key(fewest_for_tpr_gap(counted(people), e)) == brute_force(people, good)


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


@pytest.mark.parametrize("times", [1, 10_000])
@pytest.mark.parametrize(
    ("fewest", "limit"),
    [
        (fewest_for_p_rule, 0.9),
        (fewest_for_rate_difference, 0.02),
        (fewest_for_tpr_gap, 0.02),
        (fewest_for_mistreatment, 0.04),
    ],
)
def test_ten_thousand_times_the_people_take_no_longer(fewest, limit, times):
    """A million people, and 10^10: the bound reads counts."""
    random = np.random.default_rng(0)
    n = 1_000_000
    s = random.integers(0, 3, n)
    f = (random.random(n) < 0.3 + 0.1 * s).astype(int)
    counts = Counts.from_arrays(decision=f, y=random.integers(0, 2, n), sensitive_features=s)
    many = Counts(
        counts.features,
        counts.groups,
        counts.n * times,
        counts.weight * times,
        counts.weight_sq * times,
    )
    start = time.perf_counter()
    bound = fewest(many, limit)
    assert time.perf_counter() - start < 5
    assert bound.change_rate == pytest.approx(fewest(counts, limit).change_rate, abs=1e-5)


def test_a_target_that_is_met_needs_no_change():
    counts = Counts.from_arrays(decision=[1, 0, 1, 0], sensitive_features=list("aabb"))
    bound = fewest_for_p_rule(counts, 0.8)
    assert (bound.changes, bound.correct) == (0, None)


def test_a_gap_needs_people_of_every_group():
    three = Counts.from_arrays(decision=[1, 0, 1], y=[1, 1, 0], sensitive_features=list("abc"))
    for fewest in (fewest_for_mistreatment, fewest_for_tpr_gap):
        with pytest.raises(ValueError, match="a group has no people"):
            fewest(three, 0.1)
