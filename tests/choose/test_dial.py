"""The dial's dial against brute force: applying the ratio at each strength."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpatch.measure import (
    Counts,
    accuracy,
    change_rate,
    demographic_parity_difference,
    disparate_mistreatment,
    p_rule,
    tpr_gap,
)
from fairpatch.measure.metric import MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP
from fairpatch.measure.strength_curve import trace
from fairpatch.patch import Column, Concept, NumberWeight, Patch

PERSON = st.tuples(
    st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.3, 0.9, 1.0, 1.5]),  # r, with ties and edges
    st.sampled_from([-1.0, 0.0, 2.0]),  # f_logit
    st.integers(0, 1),
    st.integers(-1, 2),
)
WEIGHT = NumberWeight(column="x0", coefficient=1.0, missing=0.0)
PATCH = Patch(
    columns=[Column(name="x0", kind="number", position=0)],
    concepts=[Concept(name="c", weight=1.0, intercept=0.0, numbers=[WEIGHT])],
)


@given(
    st.lists(PERSON, min_size=1, max_size=25),
    st.sampled_from(["both", "promote_only", "demote_only"]),
)
def test_every_stretch_of_the_path_equals_applying_the_patch(people, direction):
    r, f, y, group = (np.array(column) for column in zip(*people, strict=True))
    dial = trace(r, f, y, group, direction=direction)
    patch = PATCH.model_copy(update={"direction": direction})
    assert dial.strength[0] == 0
    assert (np.diff(dial.strength) > 0).all()
    for k, s in enumerate(dial.strength):
        decided = patch.with_strength(s).decide((r - 1)[:, None], f)
        assert dial.changed[k] == (decided != (f > 0)).sum()
        assert dial.correct[k] == (decided == (y == 1)).sum()
        for g in range(group.max() + 1):
            for label in (0, 1):
                here = (group == g) & (y == label)
                assert dial.positive[k, g, label] == decided[here].sum()
    # nobody changes between the strengths that the dial does not list
    fine = np.linspace(0, dial.strength[-1], 200)
    seen = {
        int((patch.with_strength(s).decide((r - 1)[:, None], f) != (f > 0)).sum()) for s in fine
    }
    inside = {int(c) for c in dial.changed}
    on_the_edge = {
        int((patch.with_strength(1 / (1 - v)).decide((r - 1)[:, None], f) != (f > 0)).sum())
        for v in r[r < 1]
    }
    assert seen <= inside | on_the_edge


def test_metrics_of_the_path_equal_the_metrics_of_counts():
    random = np.random.default_rng(0)
    n = 400
    r, f = random.normal(0.5, 1, n), random.normal(size=n)
    y, group = random.integers(0, 2, n), random.integers(0, 3, n)
    dial = trace(r, f, y, group)
    for k in range(0, len(dial.strength), 37):
        decided = PATCH.with_strength(dial.strength[k]).decide((r - 1)[:, None], f)
        counts = Counts.from_arrays(
            decision=f > 0, new_decision=decided, y=y, sensitive_features=group
        )
        assert P_RULE.along(dial)[k] == pytest.approx(float(p_rule(counts)))
        assert RATE_DIFFERENCE.along(dial)[k] == pytest.approx(
            float(demographic_parity_difference(counts))
        )
        assert TPR_GAP.along(dial)[k] == pytest.approx(float(tpr_gap(counts)))
        assert MISTREATMENT.along(dial)[k] == pytest.approx(float(disparate_mistreatment(counts)))
        assert dial.accuracy[k] == pytest.approx(float(accuracy(counts)))
        assert dial.change_rate[k] == pytest.approx(float(change_rate(counts)))


def test_most_ends_the_path():
    r, f = np.array([0.5, -1.0]), np.array([1.0, 1.0])
    dial = trace(r, f, np.array([0, 1]), np.array([0, 1]), most=1.0)
    assert dial.changed.tolist() == [0, 1]
    assert dial.strength[-1] < 1.0


def test_a_strength_lies_in_the_stretch_that_it_decides():
    random = np.random.default_rng(1)
    r, f = random.normal(0.3, 1, 60), random.normal(size=60)
    y, group = random.integers(0, 2, 60), random.integers(0, 2, 60)
    dial = trace(r, f, y, group)
    for s in np.linspace(0, 3, 97):
        decided = PATCH.with_strength(s).decide((r - 1)[:, None], f)
        assert dial.changed[dial.at(s)] == (decided != (f > 0)).sum()


@given(
    st.lists(PERSON, min_size=1, max_size=25),
    st.sampled_from(["both", "promote_only", "demote_only"]),
    st.sets(st.sampled_from([0.2, 1 / 3, 0.4, 0.5, 0.51, 2 / 3, 1.0, 1.7, 10.0, 30.0])),
    st.booleans(),
)
def test_a_dial_that_stands_at_some_strengths_is_the_whole_one_there(people, way, stops, weigh):
    r, f, y, group = (np.array(column) for column in zip(*people, strict=True))
    strengths = np.array([0.0, *sorted(stops)])
    options = {"direction": way, "weight": 0.5 + y + 2.0 * (f > 0) if weigh else None}
    options["previous"] = (np.arange(len(y)) % 3) - 1
    whole, some = (
        trace(r, f, y, group, **options),
        trace(r, f, y, group, strengths=strengths, **options),
    )
    there = whole.only(whole.at(strengths))
    names = ("positive", "changed", "correct", "promoted", "promoted_good", "kept")
    for name in names:
        assert np.allclose(getattr(some, name), getattr(there, name)), name
    assert some.strength.tolist() == strengths.tolist()
    assert (some.at(strengths) == np.arange(len(strengths))).all()


def test_a_strength_on_the_edge_belongs_to_the_stretch_before():
    """Somebody changes when the strength passes 1 / (1 - r), not when it gets there."""
    dial = trace(np.array([0.5, -1.0, -1.0]), np.array([-1.0, -1.0, -1.0]), *np.zeros((2, 3), int))
    assert dial.start.tolist() == [0.0, 0.5, 2.0]
    assert dial.at([0.0, 0.5, 2.0]).tolist() == [0, 0, 1]
    assert dial.at([0.51, 1.9, 2.01, 99.0]).tolist() == [1, 1, 2, 2]
    assert dial.changed[dial.at([0.0, 0.5, 0.51, 2.0, 2.01])].tolist() == [0, 0, 2, 2, 3]
    assert dial.only([2]).changed.tolist() == [3]


def test_rows_with_weights_are_so_many_people():
    random = np.random.default_rng(1)
    n = 60
    r, f = random.normal(0.5, 1, n), random.normal(size=n)
    y, group, times = random.integers(0, 2, n), random.integers(0, 2, n), random.integers(1, 4, n)
    one = trace(r, f, y, group, weight=times.astype(float))
    many = trace(*(np.repeat(a, times) for a in (r, f, y, group)))
    for name in ("start", "strength", "positive", "size", "changed", "people", "correct"):
        assert np.allclose(getattr(one, name), getattr(many, name)), name
    for metric in (P_RULE, RATE_DIFFERENCE, MISTREATMENT):
        assert np.allclose(metric.along(one), metric.along(many), equal_nan=True)


@pytest.mark.parametrize("group", [[0, 0, 0], [-1, -1, -1]])
def test_one_group_or_none_is_no_comparison(group):
    dial = trace(np.array([0.5, -1.0, 2.0]), np.full(3, -1.0), np.array([0, 1, 0]), np.array(group))
    for metric in (P_RULE, TPR_GAP, MISTREATMENT):
        assert np.isnan(metric.along(dial)).all()
        assert not metric.met(metric.along(dial), 0.5).any()
