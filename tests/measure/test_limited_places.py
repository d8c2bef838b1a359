"""Limited places: what is asked for, the fewest swaps by brute force, and the test of a range."""

from itertools import product

import numpy as np
import pytest

from fairpatch._tools.verdict import Verdict
from fairpatch.measure.counts import Counts
from fairpatch.measure.fewest_together import fewest_together
from fairpatch.measure.hypothesis_tests import two_sided
from fairpatch.measure.metric import MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP
from fairpatch.measure.places import Places


def brute_force(f, s, y, limits, places, direction="both"):
    """Every set of decisions there is."""
    best = None
    for g in map(np.array, product((0, 1), repeat=len(f))):
        if (direction == "promote_only" and (g < f).any()) or not (
            places[0] - 1e-9 <= g.mean() <= places[1] + 1e-9
        ):
            continue
        counts = Counts.from_arrays(decision=f, new_decision=g, y=y, sensitive_features=s)
        values = [metric.of(counts).value for metric, _ in limits]
        if any(
            v is None or not metric.met(v + (1e-9 if metric.at_least else -1e-9), limit)
            for v, (metric, limit) in zip(values, limits, strict=True)
        ):
            continue
        changed = int((g != f).sum())
        best = changed if best is None else min(best, changed)
    return best


CASES = [(metrics, seed) for seed in range(50) for metrics in range(4)]


@pytest.mark.parametrize(("metrics", "seed"), CASES)
def test_the_fewest_swaps_are_those_of_brute_force(metrics, seed):
    """200 small tables: all of four metrics, with and without people of no group."""
    random = np.random.default_rng([seed, metrics])
    n = int(random.integers(7, 10))
    f, y = random.integers(0, 2, (2, n))
    s = random.choice(["a", "b", "c"] if seed % 2 else ["a", "b"], n).astype(object)
    if seed % 3 == 0:
        s[0] = None
    limits = [
        [(P_RULE, 0.8)], [(RATE_DIFFERENCE, 0.1)], [(TPR_GAP, 0.2)],
        [(MISTREATMENT, 0.3), (P_RULE, 0.5)],
    ][metrics]  # fmt: skip
    places = (f.mean(), f.mean()) if seed % 4 else (0.3, 0.6)
    direction = "promote_only" if seed % 5 == 4 else "both"
    counts = Counts.from_arrays(decision=f, y=y, sensitive_features={"s": s})
    found = fewest_together(counts, limits, places, direction)
    expected = brute_force(f, {"s": s}, y, limits, places, direction)
    assert (None if found is None else found.changes) == expected


def test_of_many_people_it_is_the_same_in_parts():
    """Lots that may be broken: a bound, and of tables that divide evenly the very number."""
    one = {"decision": [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8,
           "sensitive_features": ["a"] * 10 + ["b"] * 10}  # fmt: skip
    small = fewest_together(Counts.from_arrays(**one), [(P_RULE, 0.8)], (0.4, 0.4))
    times = 5_000
    large = Counts.from_arrays(
        decision=np.repeat(one["decision"], times),
        sensitive_features=np.repeat(one["sensitive_features"], times),
    )
    found = fewest_together(large, [(P_RULE, 0.8)], (0.4, 0.4))
    assert small.changes == 4
    # 4/9 and 0.8 x 4/9 of them: what whole people could not keep
    assert found.changes == pytest.approx(times * 2 * (6 - 40 / 9), abs=2)
    assert sum(found.promotions) == pytest.approx(sum(found.demotions), abs=2)


def counts_of(before, after):
    return Counts.from_arrays(
        decision=before, new_decision=after, sensitive_features=np.arange(len(before)) % 2
    )


@pytest.mark.parametrize(
    ("up", "down", "verdict"),
    [(60, 60, Verdict.CERTIFIED), (90, 60, Verdict.INCONCLUSIVE), (105, 60, Verdict.NOT_MET),
     (160, 60, Verdict.REFUTED)],
)  # fmt: skip
def test_as_many_as_before_is_judged_by_who_changes(up, down, verdict):
    before = np.arange(2_000) < 900
    after = before.copy()
    after[:down], after[-up:] = False, True
    judged = Places.of("keep").judge(counts_of(before, after), 0.0, 0.95)
    assert judged.verdict is verdict
    assert judged.estimate.value == pytest.approx((up - down) / 2_000)
    assert (judged.people_needed is not None) == (verdict is Verdict.INCONCLUSIVE)


def test_the_level_is_kept():
    """Population at the very end of the range: certified in at most one of twenty samples."""
    random, wrong = np.random.default_rng(0), 0
    for _ in range(2_000):
        moved = random.choice([-1, 0, 1], 600, p=[0.05, 0.88, 0.07])  # 2 points more
        before = np.where(moved == 0, random.random(600) < 0.4, moved < 0)
        after = np.where(moved == 0, before, moved > 0)
        judged = Places.of("keep").judge(counts_of(before, after), 0.0, 0.95)
        wrong += judged.verdict is Verdict.CERTIFIED
    assert wrong <= 0.05 * 2_000 + 2 * np.sqrt(2_000 * 0.05 * 0.95)


def test_a_rate_is_judged_as_a_rate():
    before = np.arange(10_000) < 4_500
    judged = Places.of((0.43, 0.47)).judge(counts_of(before, before), 0.0, 0.95)
    assert judged.verdict is Verdict.CERTIFIED
    assert judged.estimate.low > 0.43
    assert two_sided(0.95) == pytest.approx(0.9)


def test_weights_count():
    before, after = np.repeat([True, False], 50), np.repeat([False, True], 50)
    counts = Counts.from_arrays(
        decision=before, new_decision=after, sensitive_features=np.arange(100) % 2,
        sample_weight=np.repeat([3.0, 1.0], 50),
    )  # fmt: skip
    assert Places.of("keep").estimate(counts, 0.95).value == pytest.approx(-0.5)
