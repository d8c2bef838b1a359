"""The fewest changes, against brute force on every small instance that hypothesis tries."""

import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairpatch.measure import Counts
from fairpatch.measure.bounds import fewest_for_gap, fewest_for_gaps
from fairpatch.measure.cells import cells
from fairpatch.measure.metric import FPR_GAP, MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP

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

    found = P_RULE.fewest(counted(people), tau, direction=direction)
    assert key(found) == brute_force(people, good, direction)


@DIRECTIONS
@settings(max_examples=40, deadline=None)
@given(st.lists(PERSON, min_size=2, max_size=12), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5]))
def test_rate_difference_bound_equals_brute_force(direction, people, e):
    assume(len({p[0] for p in people}) >= 2)

    def good(s, _, g):
        r = rates(s, g, lambda _: True)
        return max(r) - min(r) <= Fraction(e).limit_denominator(100)

    found = RATE_DIFFERENCE.fewest(counted(people), e, direction=direction)
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

    found = MISTREATMENT.fewest(counted(people), e, direction=direction)
    assert key(found) == brute_force(people, good, direction)


@DIRECTIONS
@pytest.mark.parametrize(("metric", "label"), [(TPR_GAP, 1), (FPR_GAP, 0)])
@settings(max_examples=25, deadline=None)
@given(labelled(), GAPS)
def test_gap_given_y_bound_equals_brute_force(direction, metric, label, people, e):
    def good(s, y, g):
        return gap(s, y, g, label) <= Fraction(e).limit_denominator(100)

    found = metric.fewest(counted(people), e, direction=direction)
    assert key(found) == brute_force(people, good, direction)


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
        assert abs(P_RULE.fewest(counts, tau).changes - expected) <= 1


LARGE = pytest.mark.parametrize(
    ("metric", "limit"),
    [(P_RULE, 0.9), (RATE_DIFFERENCE, 0.02), (TPR_GAP, 0.02), (MISTREATMENT, 0.04)],
)


def million(times=1):
    """A million people of three groups, each of them so many times."""
    random = np.random.default_rng(0)
    n = 1_000_000
    s = random.integers(0, 3, n)
    f = (random.random(n) < 0.3 + 0.1 * s).astype(int)
    counts = Counts.from_arrays(decision=f, y=random.integers(0, 2, n), sensitive_features=s)
    cells = (counts.n, counts.weight, counts.weight_sq)
    return Counts(counts.features, counts.groups, *(table * times for table in cells))


@LARGE
def test_ten_thousand_times_the_people_need_the_same_share(metric, limit):
    """A million people, and 10^10: the bound reads counts."""
    few, many = (metric.fewest(million(times), limit).change_rate for times in (1, 10_000))
    assert few > 0.01
    assert many == pytest.approx(few, abs=1e-5)


@pytest.mark.timing
@LARGE
def test_ten_thousand_times_the_people_take_hardly_longer(metric, limit):
    def seconds(counts):
        start = time.process_time()
        metric.fewest(counts, limit)
        return time.process_time() - start

    few, many = (min(seconds(million(times)) for _ in range(3)) for times in (1, 10_000))
    assert many < 20 * few + 0.1


def test_a_target_that_is_met_needs_no_change():
    counts = Counts.from_arrays(decision=[1, 0, 1, 0], sensitive_features=list("aabb"))
    bound = P_RULE.fewest(counts, 0.8)
    assert (bound.changes, bound.correct) == (0, None)


def test_a_gap_needs_people_of_every_group():
    three = Counts.from_arrays(decision=[1, 0, 1], y=[1, 1, 0], sensitive_features=list("abc"))
    assert MISTREATMENT.fewest(three, 0.1) is None
    assert TPR_GAP.fewest(three, 0.1) is None
    only_ones = ~cells()
    only_ones[1] = True
    with pytest.raises(ValueError, match="a group has nobody to compare"):
        fewest_for_gap(three, 0.1, among=only_ones)
    with pytest.raises(ValueError, match="a group has no people with this label"):
        fewest_for_gaps(three, 0.1)


def test_sizes_that_hardly_divide_each_other_do_not_hang():
    """Exactly equal rates of groups of 1,009 and 997 people: no whole-number search for ever."""
    random = np.random.default_rng(0)
    sizes = {("a", 0): 1_009, ("a", 1): 997, ("b", 0): 991, ("b", 1): 983}
    people = [(s, y, int(random.random() < 0.3 + 0.2 * (s == "b"))) for (s, y), n in sizes.items()
              for _ in range(n)]  # fmt: skip
    bound = MISTREATMENT.fewest(counted(people), 0.0)
    looser = MISTREATMENT.fewest(counted(people), 0.01)
    assert looser.changes < bound.changes <= len(people)


def test_where_the_search_is_stopped_the_bound_is_not_above_the_fewest(monkeypatch):
    random = np.random.default_rng(1)
    people = [(s, y, int(random.random() < 0.2 + 0.3 * (s == "b"))) for s in "ab" for y in (0, 1)
              for _ in range(37 + 8 * y + 6 * (s == "b"))]  # fmt: skip
    exact = MISTREATMENT.fewest(counted(people), 0.01)
    monkeypatch.setattr("fairpatch.measure.bounds.NODES", 0)
    stopped = MISTREATMENT.fewest(counted(people), 0.01)
    assert 0.5 * exact.changes < stopped.changes <= exact.changes


def test_a_rough_bound_is_not_above_the_fewest():
    """People may be broken for a line of bounds: that needs no more changes, often fewer."""
    random = np.random.default_rng(0)
    lower = 0
    for _ in range(12):
        s, y, f = random.integers(0, 2, (3, int(random.integers(20, 60))))
        people = {"s": s.astype(str)}
        counts = Counts.from_arrays(decision=f, y=y, sensitive_features=people).by("s")
        for limit in (0.0, 0.1, 0.3):
            exact, rough = (MISTREATMENT.fewest(counts, limit, roughly=r) for r in (False, True))
            if exact is not None:
                assert rough is not None
                assert rough.changes <= exact.changes
                lower += rough.changes < exact.changes
    assert lower > 0  # it is no second way to the same number
