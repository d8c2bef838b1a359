"""What a review would stop is seen before anything is chosen."""

import numpy as np
import pytest

from fairpatch import FairPatch, Target
from fairpatch.card.candidates import keeps_order
from fairpatch.card.fields import Field
from fairpatch.card.learner import Card
from fairpatch.card.points import Points
from fairpatch.choose.dial import trace
from fairpatch.choose.findings import outcome_gap, stops_of, too_many, worst_outcome
from fairpatch.datasets import Population
from fairpatch.patch.parts import Column


def test_a_gap_between_outcomes_in_standard_errors():
    better, worse = np.array([20, 80]), np.array([50, 50])  # by label: 0, 1
    pooled = 130 / 200
    error = np.sqrt(pooled * (1 - pooled) * (1 / 100 + 1 / 100))
    assert outcome_gap(better, worse) == pytest.approx(0.3 / error)
    assert outcome_gap(worse, better) == pytest.approx(-0.3 / error)
    assert outcome_gap(np.array([3, 4]), worse) is None


@pytest.mark.parametrize("direction", ["both", "promote_only", "demote_only"])
def test_who_rises_in_a_group_is_counted_along_the_dial(direction):
    r = np.random.default_rng(0)
    n = 400
    ratio, f = r.normal(0.5, 1, n), r.normal(0, 1, n)
    y, group = r.integers(0, 2, n), r.integers(-1, 2, n)
    dial = trace(ratio, f, y.astype(float), group, direction=direction)
    for strength in (0.3, 1.0, 2.5):
        k = int(dial.at(strength))
        changed = (1 + strength * (ratio - 1) < 0) & (ratio < 1)
        up = changed & (f <= 0) if direction != "demote_only" else np.zeros(n, bool)
        for g in (0, 1):
            for label in (0, 1):
                here = (group == g) & (y == label)
                assert dial.risen[k, g, label] == (up & here).sum()
                assert dial.below[g, label] == ((f <= 0) & here).sum()
    k = int(dial.at(2.5))
    gap = outcome_gap(dial.risen[k, 1], dial.below[1] - dial.risen[k, 1])
    assert worst_outcome({"s": dial.of_groups([1])}, 2.5) == (0.0 if gap is None else gap)


def test_too_many_changes_are_beyond_two_limits():
    assert too_many(0.25, 0.05) == ["share", "times"]
    assert too_many(0.25, 0.2) == ["share"]
    assert too_many(0.1, 0.02) == ["times"]
    assert too_many(0.1, None) == []


def test_what_stops_a_patch():
    assert stops_of(0.0, 0.1, 0.05, in_order=True) == ()
    assert len(stops_of(-1.5, 0.3, 0.05, in_order=False)) == 3


@pytest.mark.parametrize(
    ("points", "kept"),
    [([0, 0, 5], True), ([5, 0, 0], False), ([0, 5, 0], False), ([0, 0, 0], True)],
)
def test_points_keep_an_order_or_turn_it_round(points, kept):
    field = Field(Column(name="x", kind="number"), np.array([1.0, 2.0]), in_order=True)
    card = Points([field], {0: np.array([*map(float, points), 0.0])}, 0)
    assert keeps_order(card, [((0,), (1,), (2,))]) is kept
    assert keeps_order(card, [()])  # f says nothing of it


def test_points_turn_no_order_round_where_others_would_do():
    groups = {"a": (0.6, 0.0), "b": (0.4, 1.0)}
    found = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=groups).sample(8_000, seed=0)
    table = found.to_pandas().drop(columns="id")
    auto, kept = (
        FairPatch("score", Target(p_rule=0.75), learner=learner).fit(
            table, "y", sensitive_features=["group"]
        )
        for learner in (Card(), Card(keep_order="numbers"))
    )
    pool = auto.frontier_.candidates
    assert any(pool.in_order(m) for m in range(len(pool)))
    in_order = pool.in_order(auto.choice_.model)
    assert in_order == ("order round" not in " ".join(auto.choice_.stops))
    assert len(auto.choice_.stops) <= len(kept.choice_.stops)
    many = "so many decisions change that it is another model"
    assert set(auto.preferred_.stops) <= {*auto.choice_.stops, many}  # whichever is certified
    if auto.choice_.stops:
        assert "Think twice" in str(auto.choice_)
