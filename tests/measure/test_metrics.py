"""Metrics against hand-computed tables and fairlearn's, and what is undefined says why."""

import fairlearn.metrics as fl
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from fairpatch.measure import (
    Counts,
    accuracy,
    balanced_accuracy,
    change_rate,
    demographic_parity_difference,
    disparate_mistreatment,
    equal_opportunity_difference,
    fpr_gap,
    p_rule,
    tpr_gap,
)
from fairpatch.measure.intervals import wilson
from fairpatch.measure.metric import CHANGES, Metric
from fairpatch.measure.rates import (
    correct_rate,
    demoted_rate,
    promoted_rate,
    selection_rate,
    true_positive_rate,
)


def by_hand():
    """Two groups. White: 10 with y=1 (8 approved), 10 with y=0 (2). Black: 10 (5), 10 (1)."""
    rows = []
    for group, y, approved, denied in (
        ("w", 1, 8, 2), ("w", 0, 2, 8), ("b", 1, 5, 5), ("b", 0, 1, 9),
    ):  # fmt: skip
        rows += [(group, y, 1)] * approved + [(group, y, 0)] * denied
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def test_a_table_computed_by_hand():
    s, y, f = by_hand()
    g = f.copy()
    g[np.flatnonzero((s == "b") & (f == 0))[:2]] = 1  # promote two with y = 1
    g[np.flatnonzero((s == "w") & (f == 1))[:1]] = 0  # demote one with y = 1
    counts = Counts.from_arrays(decision=f, new_decision=g, y=y, sensitive_features={"race": s})
    assert float(p_rule(counts, model="f")) == pytest.approx((6 / 20) / (10 / 20))
    assert float(p_rule(counts)) == pytest.approx((8 / 20) / (9 / 20))
    assert float(demographic_parity_difference(counts)) == pytest.approx(1 / 20)
    assert float(tpr_gap(counts, model="f")) == pytest.approx(0.3)
    assert float(tpr_gap(counts)) == pytest.approx(0.0)
    assert float(fpr_gap(counts)) == pytest.approx(0.1)
    assert float(disparate_mistreatment(counts, model="f")) == pytest.approx(0.4)
    assert float(accuracy(counts, model="f")) == pytest.approx(30 / 40)
    assert float(accuracy(counts)) == pytest.approx(31 / 40)
    assert float(balanced_accuracy(counts, model="f")) == pytest.approx((13 / 20 + 17 / 20) / 2)
    assert float(change_rate(counts)) == pytest.approx(3 / 40)
    up, down = promoted_rate().by_group(counts), demoted_rate().by_group(counts)
    assert [float(up[name]) for name in "bw"] == pytest.approx([2 / 20, 0.0])
    assert [float(down[name]) for name in "bw"] == pytest.approx([0.0, 1 / 20])


@settings(max_examples=40)  # fairlearn takes 0.1 s each
@given(st.integers(0, 2**32), st.integers(2, 6), st.booleans())
def test_metrics_equal_fairlearns(seed, n_groups, weighted):
    random = np.random.default_rng(seed)
    n = 300
    s, y = random.integers(0, n_groups, n), random.integers(0, 2, n)
    d = (random.random(n) < 0.3 + 0.1 * s).astype(int)
    w = random.random(n) + 0.1 if weighted else None
    assume(all(((s == k) & (y == label)).any() for k in range(n_groups) for label in (0, 1)))
    counts = Counts.from_arrays(decision=d, y=y, sensitive_features=s, sample_weight=w)
    same = {"sensitive_features": s, "sample_weight": w}
    assert float(p_rule(counts)) == pytest.approx(fl.demographic_parity_ratio(y, d, **same))
    assert float(demographic_parity_difference(counts)) == pytest.approx(
        fl.demographic_parity_difference(y, d, **same)
    )
    assert float(equal_opportunity_difference(counts)) == pytest.approx(
        fl.equal_opportunity_difference(y, d, **same)
    )
    assert max(float(tpr_gap(counts)), float(fpr_gap(counts))) == pytest.approx(
        fl.equalized_odds_difference(y, d, **same)
    )
    assert float(accuracy(counts)) == pytest.approx(accuracy_score(y, d, sample_weight=w))
    assert float(balanced_accuracy(counts)) == pytest.approx(
        balanced_accuracy_score(y, d, sample_weight=w)
    )


@pytest.mark.parametrize(
    ("metric", "rows", "reason"),
    [
        (p_rule, {"decision": [1, 0], "sensitive_features": ["a", "a"]}, "needs two groups"),
        (p_rule, {"decision": [0, 0], "sensitive_features": ["a", "b"]}, "0 / 0"),
        (p_rule, {"decision": [1, 0], "sensitive_features": ["a", None]}, "needs two groups"),
        (
            tpr_gap,
            {"decision": [1, 0], "y": [1, 0], "sensitive_features": ["a", "b"]},
            "'b'.*y = 1",
        ),
        (
            fpr_gap,
            {"decision": [1, 0], "y": [1, 0], "sensitive_features": ["a", "b"]},
            "'a'.*y = 0",
        ),
        (
            disparate_mistreatment,
            {"decision": [1, 0], "sensitive_features": ["a", "b"]},
            "no rows with y = 1",
        ),
        (accuracy, {"decision": [1, 0], "sensitive_features": ["a", "b"]}, "no row has a label"),
        (
            balanced_accuracy,
            {"decision": [1, 0], "y": [1, 1], "sensitive_features": ["a", "b"]},
            "no rows with y = 0",
        ),
    ],
)
def test_undefined_metrics_say_why_and_never_become_a_number(metric, rows, reason):
    estimate = metric(Counts.from_arrays(**rows))
    assert estimate.value is None
    assert not estimate.defined
    with pytest.raises(ValueError, match=reason):
        float(estimate)


def test_one_empty_group_with_rate_zero_is_a_p_rule_of_zero_not_undefined():
    counts = Counts.from_arrays(decision=[1, 0, 0, 0], sensitive_features=list("aabb"))
    assert float(p_rule(counts)) == 0.0


def test_missing_groups_count_for_accuracy_but_are_not_compared():
    counts = Counts.from_arrays(
        decision=[1, 1, 0, 1], y=[1, 0, 0, 0], sensitive_features=np.array(["a", "a", "b", None])
    )
    assert float(accuracy(counts)) == 0.5
    assert float(p_rule(counts)) == 0.0
    assert list(selection_rate().by_group(counts)) == ["a", "b", "(missing)"]


def test_an_unknown_model_is_refused():
    counts = Counts.from_arrays(decision=[1, 0], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="'f' .the base model. or 'g'"):
        p_rule(counts, model="h")


def test_each_gap_of_dm_has_half_of_the_error():
    random = np.random.default_rng(0)
    counts = Counts.from_arrays(
        decision=random.integers(0, 2, 400), y=random.integers(0, 2, 400),
        sensitive_features=random.integers(0, 2, 400),
    )  # fmt: skip
    found = disparate_mistreatment(counts, confidence=0.9)
    halves = [gap(counts, confidence=0.95) for gap in (tpr_gap, fpr_gap)]
    assert found.low == pytest.approx(sum(h.low for h in halves))
    assert found.high == pytest.approx(sum(h.high for h in halves))
    assert found.value == pytest.approx(sum(h.value for h in halves))


def test_bounds_are_claimed_only_for_rates_of_decisions():
    random = np.random.default_rng(0)
    counts = Counts.from_arrays(
        decision=random.integers(0, 2, 100), y=random.integers(0, 2, 100),
        sensitive_features=random.integers(0, 2, 100),
    )  # fmt: skip
    accuracies = Metric("accuracy_gap", "accuracy gap", "accuracy gap", "gap", (correct_rate,))
    assert accuracies.of(counts).defined
    assert accuracies.fewest(counts, 0.01) is None
    assert accuracies.fewest_blind(np.full(100, 0.5), np.ones(100, bool), 0.01) is None
    odd = Metric("odd", "odd", "odd", "gap", (selection_rate, true_positive_rate))
    assert odd.fewest(counts, 0.01) is None
    with pytest.raises(ValueError, match="a ratio is of one rate; there are 2"):
        Metric("odd", "odd", "odd", "ratio", (selection_rate, true_positive_rate))


def test_who_goes_up_and_who_goes_down_by_group():
    counts = Counts.from_arrays(
        decision=[1, 1, 1, 0, 0, 1, 0, 0], new_decision=[0, 1, 1, 0, 1, 1, 1, 0],
        sensitive_features=list("aaaabbbb"),
    )  # fmt: skip
    up, down = promoted_rate().by_group(counts), demoted_rate().by_group(counts)
    assert [up["a"].value, down["a"].value] == [0.0, 0.25]
    assert [up["b"].value, down["b"].value] == [0.5, 0.0]
    rate = change_rate(counts)
    assert (rate.low, rate.high) == pytest.approx((0.0852, 0.7551), abs=1e-4)  # 3 of 8, 95 %


def test_a_limit_on_changes_is_kept_where_it_is_just_reached():
    assert CHANGES.met(np.array([0.1, 0.2]), 0.1).tolist() == [True, False]
    assert CHANGES.side == "at most"


def test_the_interval_of_balanced_accuracy_is_that_of_two_rates_of_different_people():
    counts = Counts.from_arrays(
        decision=np.repeat([1, 0, 1, 0], [60, 20, 15, 45]), y=np.repeat([1, 0], [80, 60]),
        sensitive_features=np.tile(["a", "b"], 70),
    )  # fmt: skip
    found = balanced_accuracy(counts)
    (t_low, t_high), (s_low, s_high) = wilson(60, 80, 0.95), wilson(45, 60, 0.95)
    t, s = 60 / 80, 45 / 60
    assert found.value == pytest.approx((t + s) / 2)
    assert found.low == pytest.approx((t + s) / 2 - np.hypot(t - t_low, s - s_low) / 2)
    assert found.high == pytest.approx((t + s) / 2 + np.hypot(t_high - t, s_high - s) / 2)
