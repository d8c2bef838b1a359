"""What a review would stop is seen before anything is chosen."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Roles, Target
from fairpatch.card.bins import Field
from fairpatch.card.learner import Card
from fairpatch.card.scorecard import Points
from fairpatch.card.sense import of_no_group, perverse_points, turned_fields
from fairpatch.choose.objections import (
    FAR_BELOW,
    Seen,
    outcome_gap,
    stops_of,
    too_many,
    worst_outcomes,
)
from fairpatch.datasets import Population
from fairpatch.measure.strength_curve import trace
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
                down = changed & (f > 0) if direction != "promote_only" else np.zeros(n, bool)
                assert dial.fallen[k, g, label] == (down & here).sum()
                assert dial.above[g, label] == ((f > 0) & here).sum()
    k = int(dial.at(2.5))
    gap = outcome_gap(dial.risen[k, 1], dial.below[1] - dial.risen[k, 1])
    down = dial.fallen[k, 1]
    other = outcome_gap(dial.above[1] - down, down)
    assert worst_outcomes({"s": dial.of_groups([1])}, 2.5) == (gap or 0.0, other or 0.0)


def test_too_many_changes_are_beyond_two_limits():
    assert too_many(0.25, 0.05) == ["share", "times"]
    assert too_many(0.25, 0.2) == ["share"]
    assert too_many(0.1, 0.02) == ["times"]
    assert too_many(0.1, None) == []


def test_what_stops_a_patch():
    assert stops_of(Seen(0.1, 0.05)) == ()
    assert len(stops_of(Seen(0.3, 0.05, (-1.5, -1.5), only_down=True, lines=("lines",)))) == 5


@pytest.mark.parametrize(
    ("points", "kept"),
    [([0, 0, 5], True), ([5, 0, 0], False), ([0, 5, 0], False), ([0, 0, 0], True)],
)
def test_points_keep_an_order_or_turn_it_round(points, kept):
    field = Field(Column(name="x", kind="number"), np.array([1.0, 2.0]), in_order=True)
    card = Points([field], {0: np.array([*map(float, points), 0.0])}, 0)
    assert turned_fields(card, [((0,), (1,), (2,))]) == (() if kept else (0,))
    assert turned_fields(card, [()]) == ()  # f says nothing of it


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
    assert any(not pool.turned(m) for m in range(len(pool)))
    turned = pool.turned(auto.choice_.model)  # of categories too, which stop nobody
    assert turned or "order round" not in " ".join(auto.choice_.stops)
    assert len(auto.choice_.stops) <= len(kept.choice_.stops)
    many = "so many decisions change that it is another model"
    assert set(auto.preferred_.stops) <= {*auto.choice_.stops, many}  # whichever is certified
    if auto.choice_.stops:
        assert "Think twice" in str(auto.choice_)


def test_an_empty_field_earns_no_more_than_what_the_model_likes_better():
    field = Field(
        Column(name="x", kind="number"), np.array([1.0]), in_order=True, gaps=True,
    )  # fmt: skip
    order = ((0,), (2,), (1,))  # f likes a gap better than the first bin, less than the second
    for points, turned in (([0, 10, 5], ()), ([0, 10, 15], (0,)), ([0, 10, -5], (0,))):
        card = Points([field], {0: np.array(points, float)}, 0)
        assert turned_fields(card, [order]) == turned


def _charges(n, worse):
    """Half have a charge of each degree; those of the second turn out as said."""
    r = np.random.default_rng(0)
    piece = np.arange(n) % 2
    y = (r.random(n) < np.where(piece == 1, worse, 0.6)).astype(int)
    return piece, y


def test_a_category_that_is_worse_by_model_and_outcomes_earns_perverse_points():
    field = Field(Column(name="charge", kind="category"), categories=(("M",), ("F",)))
    card = Points([field], {0: np.array([0.0, 35.0, 0.0])}, 0)
    piece, y = _charges(2_000, 0.4)
    noise = np.random.default_rng(1).normal(size=2_000)
    fair = noise - 0.8 * (piece == 1)  # the log-odds of .4 beside those of .6
    earned = perverse_points(card, [((1,), (0,))], [piece], y, fair)
    assert earned.tolist() == (35.0 * (piece == 1)).tolist()
    assert perverse_points(card, [((0,), (1,))], [piece], y, fair) is None  # f likes it better
    unfair = noise - 3 * (piece == 1)  # those of F who score as M do turn out better
    y_of_unfair = np.where(piece == 1, np.random.default_rng(2).random(2_000) < 0.4, noise > 0)
    assert perverse_points(card, [((1,), (0,))], [piece], y_of_unfair * 1, unfair) is None
    taken = Points([field], {0: np.array([0.0, -35.0, 0.0])}, 0)
    assert perverse_points(taken, [((1,), (0,))], [piece], y, fair) is None
    piece, y = _charges(2_000, 0.6)
    assert perverse_points(card, [((1,), (0,))], [piece], y, fair) is None  # turns out no worse


def test_a_category_that_stands_for_one_group_has_no_points_of_its_own():
    r = np.random.default_rng(0)
    sex = r.integers(0, 2, 2_000)
    kin = np.where(r.random(2_000) < 0.2, np.where(sex == 0, 2, 1), 0)  # wife and husband
    field = Field(Column(name="kin", kind="category"), categories=(("none",), ("h",), ("w",)))
    other = Field(Column(name="job", kind="category"), categories=(("a",), ("b",)))
    job = r.integers(0, 2, 2_000)
    kept, why = of_no_group([field, other], [kin, job], sex[:, None])
    assert [f.column.name for f in kept] == ["job"]
    assert why["kin"] == "all of its values but one stand for one group"
    three = Field(
        Column(name="kin", kind="category"), categories=(("none",), ("h",), ("child",))
    )  # fmt: skip
    kin = np.where(kin == 2, 0, kin)
    kin = np.where(r.random(2_000) < 0.2, 2, kin)
    (left,), why = of_no_group([three], [kin], sex[:, None])
    assert left.categories == (("none",), ("child",))
    assert not why
    (left,), _ = of_no_group([three], [kin], sex[:, None], meant=["kin"])
    assert left is three  # the law lets the group decide
    few = slice(0, 40)  # ten of one group are no proof
    (left,), _ = of_no_group([three], [kin[few]], sex[few, None])
    assert left is three


def test_who_is_promoted_far_below_the_threshold_is_seen_where_no_outcome_is():
    groups = {"a": (0.7, 0.0), "b": (0.3, 1.0)}
    people = Population(p_rule=0.4, rate=0.2, groups=groups).sample(5_000).to_pandas()
    y = people["y"].astype(float).where(people["score"] > 0.5)
    g = FairPatch("score", Target(p_rule=0.8), roles=Roles(outcomes="approved"),
                  splits=(0.6, 0.4, 0.0))  # fmt: skip
    g.fit(people.drop(columns=["id", "y", "group"]), y, sensitive_features=people["group"])
    frontier, rows = g.frontier_, g.fitted_.search.learned.rows
    pool, said = frontier.candidates, set()
    for m in range(0, len(pool), 5):
        for strength in pool.strengths[[-20, -1]]:
            up = pool.patch(m, strength).decide(rows.X, rows.f) & (rows.f <= 0)
            far = np.sum(up & (rows.f < -np.log(9))) > 0.25 * np.sum(up)
            said.add(far)
            assert (FAR_BELOW in pool.sense(m, strength)) == far
    assert said == {True, False}


def test_a_reason_for_a_column_is_none_for_a_line_that_stands_for_one_group():
    r = np.random.default_rng(3)
    n = 4_000
    woman, married = r.random(n) < 0.4, r.random(n) < 0.5
    alone = np.where(r.random(n) < np.where(woman, 0.7, 0.3), "alone", "with others")
    X = pd.DataFrame({
        "kin": np.where(married, np.where(woman, "Wife", "Husband"), alone),
        "score": np.clip(r.normal(0.5 - 0.12 * woman, 0.2, n), 0.01, 0.99),
    })  # fmt: skip
    y, sex = (r.random(n) < X["score"]).astype(int), np.where(woman, "f", "m")
    roles = Roles(reasons={"kin": "other methods read it"})
    g = FairPatch("score", Target(p_rule=0.8), roles=roles)
    g.fit(X, y, sensitive_features={"sex": sex})
    parts = [part for c in g.patch_.concepts for part in c.categories]
    assert not {e.category for part in parts for e in part.categories} & {"Wife", "Husband"}
    found = g.review(X, y, sensitive_features={"sex": sex}, refits=0)
    assert "a line for one group" not in {f.name for f in found.summary.findings}
