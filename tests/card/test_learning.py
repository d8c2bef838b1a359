"""Learning a card: what is aimed at, the lines that are chosen, and the rules they keep."""

from dataclasses import replace
from itertools import pairwise

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairpatch import FairPatch, Target
from fairpatch.card.aim import CellModel, CellModelOptions, Cells, FactoredModel, Limit, multipliers
from fairpatch.card.bins import Field, bin_edges, fields_of, left_out
from fairpatch.card.confidence import bands_of, orders_of, with_values
from fairpatch.card.learner import Card
from fairpatch.card.problem import (
    Aim,
    columns_for,
    cross_fitted,
    folds_of,
    parted,
    scorecard_problem,
    scores_for,
)
from fairpatch.card.scorecard import (
    Rules,
    Scores,
    choose_columns,
    learn_scores,
    rounded,
    steadied,
)
from fairpatch.data.rows import Rows
from fairpatch.datasets import Population
from fairpatch.decision import Decision
from fairpatch.inputs.base import BaseModel
from fairpatch.measure.cells import DIRECTIONS
from fairpatch.measure.metric import MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP
from fairpatch.patch import CardScale, Column, Patch
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.lines import lines_of

NOISY = Population(p_rule=0.6, accuracy=0.8, groups={"a": (0.6, 0.0), "b": (0.4, 1.0)})


def chances(n, groups, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(groups), n)


@settings(max_examples=25, deadline=None)
@given(tau=st.floats(0.7, 1.0), seed=st.integers(0, 50))
def test_two_groups_give_the_h_of_the_bayes_rule(tau, seed):
    """alpha is 1 / share for the disadvantaged and -tau / share for the other, up to a factor."""
    q = chances(400, 2, seed)
    decided = q[:, 1] + np.random.default_rng(seed).normal(0, 0.2, 400) > 0.6
    rates = [(q[:, g] * decided).sum() / q[:, g].sum() for g in (0, 1)]
    if min(rates) >= (tau - 0.05) * max(rates):
        return
    (alpha,) = multipliers(
        [q], [Cells(2, by_label=False)], [Limit(P_RULE, tau)], decided, np.ones(400), np.ones(400)
    )
    low = int(np.argmin(rates))
    wanted = np.where(np.arange(2) == low, 1.0, -tau) / q.mean(0)
    assert alpha / np.abs(alpha).max() == pytest.approx(wanted / np.abs(wanted).max(), abs=1e-6)


@pytest.mark.parametrize("metric", [P_RULE, RATE_DIFFERENCE, TPR_GAP, MISTREATMENT])
def test_the_worst_off_of_three_groups_is_pushed_up_and_the_best_off_down(metric):
    random, n = np.random.default_rng(0), 900
    group, y = random.integers(0, 3, n), random.integers(0, 2, n)
    by_label = metric.given_y
    cells = Cells(3, by_label)
    q = np.eye(cells.n)[cells.code(group, y)]  # known for certain
    decided = random.random(n) < np.array([0.2, 0.5, 0.8])[group]
    limit = 0.9 if metric is P_RULE else 0.05
    (alpha,) = multipliers([q], [cells], [Limit(metric, limit)], decided, np.ones(n), np.ones(n))
    by_group = alpha.reshape(3, -1)
    used = by_group[:, 1] if metric is TPR_GAP else by_group.sum(1)
    assert used[0] > 0 > used[2]
    if metric is TPR_GAP:
        assert not by_group[:, 0].any()


def test_a_target_that_is_met_still_has_a_direction():
    q = np.eye(2)[np.arange(100) % 2]
    decided = np.arange(100) < 52
    (alpha,) = multipliers(
        [q], [Cells(2, by_label=False)], [Limit(P_RULE, 0.1)], decided, np.ones(100), np.ones(100)
    )
    assert alpha.any()


def test_people_of_no_group_are_not_learned_from_and_cells_sum_to_one():
    random = np.random.default_rng(0)
    Z = random.normal(size=(600, 3))
    cell = np.where(random.random(600) < 0.1, -1, (Z[:, 0] > 0) + (Z[:, 1] > 0.5))
    for cells in (3, 2):
        known = np.where(cell >= cells, -1, cell)
        p = CellModel.fit(Z, known, np.ones(600), cells).probabilities(Z)
        assert p.sum(1) == pytest.approx(np.ones(600))
        assert np.mean(p.argmax(1) == known) > 0.7 * np.mean(known >= 0)
    alone = CellModel.fit(Z, np.zeros(600, int), np.ones(600), 2).probabilities(Z)
    assert (alone[:, 0] == 1).all()


def table(n=2_000, seed=0):
    random = np.random.default_rng(seed)
    s = random.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "years": np.where(random.random(n) < 0.05, np.nan, random.integers(18, 80, n) - 5 * s),
            "street": (random.normal(size=n) + s).round(2),
            "job": random.choice([f"job {i}" for i in range(30)], n),
            "home": np.where(random.random(n) < 0.3 + 0.4 * s, "rent", "own"),
            "always": 1.0,
        }
    )
    X.loc[random.random(n) < 0.5 * s, "job"] = "job 3"
    f = random.normal(size=n) - s
    y = (random.normal(size=n) + f > 0).astype(int)
    return X, s, y, f


def problem(X, s, y, f, rules, weight=None, ask=None):
    rows = Rows.of(X, y, {f"s{k}": column for k, column in enumerate(np.atleast_2d(s.T))}, f)
    return scorecard_problem(rows, Encoder.fit(X), rules, weight=weight, ask=ask)[0]


def aim_of(own, tau=0.9):
    return Aim.each(own, [[Limit(P_RULE, tau)]], CellModelOptions())[0]


def learned(rules=None, columns=6, **options):
    rules = rules or Card()
    own = problem(*table(), rules, **options)
    aim = aim_of(own)
    scores = scores_for(own, aim, columns_for(own, aim, columns))
    return own, rounded(scores, own.fields, own.pieces, 1.0, rules)


def points_by_value(own, card, name):
    j = next(k for k, f in enumerate(own.fields) if f.column.name == name)
    return card.points.get(j, np.zeros(own.fields[j].pieces + 1))[: own.fields[j].pieces]


@pytest.mark.parametrize(("step", "bins"), [(5, 5), (10, 3), (1, 8)])
def test_a_scorecard_has_few_columns_few_bins_and_whole_points(step, bins):
    own, card = learned(Card(points_step=step, max_bins=bins), columns=3)
    assert 0 < len(card.points) <= 3
    for j, points in card.points.items():
        assert (points % step == 0).all()
        assert points[own.fields[j].reference] == 0
        people = np.bincount(own.pieces[j], minlength=own.fields[j].pieces)
        assert people[own.fields[j].reference] == people[: own.fields[j].pieces].max()
        assert len(np.unique(points)) <= bins
        if own.fields[j].number:
            assert own.fields[j].pieces <= bins
    assert card.concepts


def test_a_card_is_the_same_every_time_and_rows_in_any_order_give_it():
    own, card = learned()
    _, again = learned()
    assert card.concepts == again.concepts
    order = np.random.default_rng(5).permutation(len(own.y))
    aim = aim_of(own)
    some = own.take(order)
    scores = scores_for(some, aim, columns_for(some, aim, 6))
    assert rounded(scores, own.fields, some.pieces, 1.0, Card()).concepts == card.concepts


def test_the_points_of_rows_are_those_of_the_patch():
    X, *_ = table()
    own, card = learned()
    patch = Patch(
        columns=[f.column for f in own.fields], concepts=card.concepts,
        card=CardScale(approve_at=1),
    )  # fmt: skip
    assert (patch.points(X) == card.of(own.pieces)).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 200), kept=st.sampled_from(["numbers", "all"]))
def test_points_never_rank_two_values_against_f(seed, kept):
    """Whatever the push wants: along f's own order the points never fall."""
    random = np.random.default_rng(seed)
    X, s, y, f = table(600, seed)
    f = f + random.choice([-1, 1]) * X["street"].to_numpy() + (X["home"] == "own") * random.normal()
    rules = Card(keep_order=kept)
    own = problem(X, s, y, f, rules)
    orders = orders_of(None, X, f, own.fields, own.pieces)
    push = random.normal(size=len(y)) + random.normal() * X["street"].to_numpy()
    used = list(range(len(own.fields)))
    scores = learn_scores(own.fields, own.rules, own.pieces, push, own.near, used)
    card = rounded(scores, own.fields, own.pieces, 1.0, rules)
    for j, points in card.points.items():
        if own.fields[j].in_order or kept == "all":
            along = [k for level in orders[j] for k in level]
            assert (np.diff(points[along]) >= 0).all()


def test_a_number_that_f_counts_against_people_earns_no_points():
    """The disadvantaged group has more of what f counts against people: free, it is rewarded."""
    random = np.random.default_rng(0)
    n = 3_000
    s = random.integers(0, 2, n)
    X = pd.DataFrame({"priors": random.poisson(1 + 3 * s), "noise": random.normal(size=n)})

    def ask(rows):
        return 1.0 - 0.6 * np.asarray(rows["priors"], float) + np.asarray(rows["noise"])

    f = ask(X)
    y = (f + random.normal(size=n) > 0).astype(int)
    found = {}
    for rule in ("numbers", None):
        own = problem(X, s, y, f, Card(keep_order=rule), ask=ask)
        aim = aim_of(own)
        assert own.fields[0].column.name == "priors"
        scores = scores_for(own, aim, [0])
        found[rule] = rounded(scores, own.fields, own.pieces, 1.0, Card(keep_order=rule))
    assert (np.diff(found[None].points[0][:-1]) >= 0).all()  # the last is of those missing
    assert np.ptp(found[None].points[0]) > 50
    assert not found["numbers"].points


def test_f_is_asked_where_it_can_be():
    X, s, y, f = table(800)
    field, held = fields_of(Columns.of(X), [Column(name="years", kind="number")], Card())[0], X
    asked = orders_of(
        lambda rows: -rows["years"].to_numpy(), held, f, [field], [field.read(Columns.of(X))]
    )
    assert asked[0] == tuple((k,) for k in range(field.pieces))[::-1]
    ignored = orders_of(
        lambda rows: np.zeros(len(rows)), held, f, [field], [field.read(Columns.of(X))]
    )
    assert ignored[0] == ()
    assert len(s) == len(y)


def test_bins_whose_answers_overlap_have_the_same_points():
    """f goes up and down inside its bins: no order of two of them is right for every value."""
    X, s, y, _ = table(2_000)

    def ask(rows):
        age = np.nan_to_num(np.asarray(rows["years"], float))
        return np.where(age < 40, np.sin(age), 5.0 + np.sin(age))

    own = problem(X, s, y, ask(X), Card(), ask=ask)
    j = next(j for j, field in enumerate(own.fields) if field.column.name == "years")
    assert any(len(level) > 1 for level in own.orders[j])
    push = np.random.default_rng(0).normal(size=len(y)) + X["years"].fillna(0).to_numpy() / 10
    scores = learn_scores(own.fields, own.rules, own.pieces, push, own.near, [j])
    for level in own.orders[j]:
        assert len(set(scores.values[j][list(level)])) == 1
    assert np.ptp(scores.values[j]) > 0


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "numpy"])
def test_a_column_is_set_in_its_own_type_in_every_frame(backend):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", "x"])})
    some = np.array([2, 0])
    if backend == "numpy":
        rows = with_values(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]), some,
                          Field(Column(name="x1", kind="number", position=1)), [9.0])  # fmt: skip
        assert rows.tolist() == [[3.0, 9.0], [1.0, 9.0]]
        return
    held = {"pandas": frame, "polars": pl.from_pandas(frame),
            "pyarrow": pl.from_pandas(frame).to_arrow()}[backend]  # fmt: skip
    rows = nw.from_native(
        with_values(held, some, Field(Column(name="a", kind="number")), [np.int64(7)])
    )
    assert rows["a"].to_list() == [7, 7]
    assert rows["a"].dtype == nw.from_native(held)["a"].dtype
    assert rows["b"].to_list() == ["x", "x"]
    rows = nw.from_native(with_values(held, some, Field(Column(name="b", kind="category")), ["y"]))
    assert rows["b"].to_list() == ["y", "y"]


@pytest.mark.parametrize("way", [1, -1])
def test_a_column_never_counts_the_wrong_way(way):
    rules = Card(monotonic={"street": way, "years": way}, signs={"job": way}, keep_order=None)
    own, card = learned(rules, columns=8)
    for name in ("street", "years"):
        assert (np.diff(points_by_value(own, card, name)) * way >= 0).all()
    assert (points_by_value(own, card, "job") * way >= 0).all()
    assert "always" not in {f.column.name for f in own.fields}
    assert points_by_value(own, card, "street").any() == (way == 1)  # the push wants it to rise


def test_ordered_categories_stay_in_their_order():
    random, n = np.random.default_rng(0), 4_000
    order = ["none", "school", "college", "bachelor", "master", "doctor", "other degree"]
    s = random.integers(0, 2, n)
    grade = np.minimum(random.integers(0, 7, n), random.integers(2, 8, n) - s).clip(0)
    X = pd.DataFrame({"grade": np.array(order)[grade], "x": random.normal(size=n)})
    f, y = random.normal(size=n) - s, random.integers(0, 2, n)
    for held, rules in (
        (X, Card(ordered={"grade": order}, keep_order=None)),
        (X.assign(grade=pd.Categorical(X["grade"], order, ordered=True)), Card(keep_order=None)),
    ):
        own = problem(held, s, y, f, rules)
        field = next(f for f in own.fields if f.column.name == "grade")
        said = [v for members in field.categories for v in members]
        assert said == [v for v in order if v in said]
        assert len(field.categories) <= 5
        assert field.in_order


def test_codes_stay_together_under_the_name_that_people_give():
    rules = Card(
        groupings={"job": {"manual": [f"job {i}" for i in range(3, 12)]}}, keep_order=None,
        names={"street": "street noise"}, category_names={"home": {"rent": "rented"}},
    )  # fmt: skip
    own, card = learned(rules)
    columns = {f.column.name: f.column for f in own.fields}
    said = [line.name for c in card.concepts for line in lines_of(c, columns)]
    job = next(f for f in own.fields if f.column.name == "job")
    assert tuple(f"job {i}" for i in range(3, 12)) in job.categories
    assert job.column.category_words["job 5"] == "manual"
    assert any(name.startswith("street noise") for name in said)
    with pytest.raises(ValueError, match="'strete', which the patch cannot read. Did you mean"):
        Card(signs={"strete": 1}).check_columns(["street"])
    for wrong, message in (
        ({"signs": {"street": 0}}, "signs of 'street' must be 1 or -1; got 0"),
        ({"max_bins": 1}, "max_bins"), ({"points_step": 0}, "points_step"),
        ({"keep_order": "some"}, "keep_order"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            Card(**wrong)


def test_a_weight_of_two_is_the_row_twice():
    X, s, y, f = table()
    times = np.random.default_rng(1).integers(1, 3, len(X))
    many = np.repeat(np.arange(len(X)), times)
    one = problem(X, s, y, f, Card(), weight=times.astype(float))
    two = replace(one.take(many), weight=np.ones(len(many)))
    push = one.pieces[0] / 3.0 + one.sure
    used = choose_columns(one.fields, one.rules, one.pieces, push, one.near, 3)
    assert used == choose_columns(two.fields, two.rules, two.pieces, push[many], two.near, 3)
    a = learn_scores(one.fields, one.rules, one.pieces, push, one.near, used)
    b = learn_scores(two.fields, two.rules, two.pieces, push[many], two.near, used)
    for j in used:
        assert a.values[j] == pytest.approx(b.values[j])
    assert a.constant == pytest.approx(b.constant)


def test_nobodys_points_come_from_scores_that_have_seen_them():
    """Noise: scores that knew the rows would tell their groups apart."""
    random = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame({f"x{i}": random.normal(size=n) for i in range(40)})
    s, y, f = random.integers(0, 2, n), random.integers(0, 2, n), random.normal(size=n)
    own = problem(X, s, y, f, Card(keep_order=None))
    aim, used = aim_of(own, 0.99), list(range(40))
    seen = scores_for(own, aim, used).of(own.pieces)
    crossed = np.zeros(n)
    for inside, scores in cross_fitted(parted(own, folds_of(s, 5, 0)), aim, used, own.rules):
        crossed[inside] = scores.of(own.pieces)[inside]
    apart = [abs(np.mean(p[s == 1]) - np.mean(p[s == 0])) / p.std() for p in (seen, crossed)]
    assert apart[0] > 0.5
    assert apart[1] < 0.35


def test_a_column_that_hardly_says_anything_is_left_out():
    own, _ = learned()
    street = next(k for k, f in enumerate(own.fields) if f.column.name == "street")
    push = np.where(own.pieces[street] > 2, 1.0, 0.0) + 1e-3 * own.sure
    free = Rules(((),) * len(own.fields), (0,) * len(own.fields))
    assert choose_columns(own.fields, free, own.pieces, push, own.near, 6) == [street]


def test_copies_of_the_score_and_names_of_people_are_no_columns():
    random, n = np.random.default_rng(0), 400
    f = random.normal(size=n)
    X = pd.DataFrame({
        "copy": np.exp(f) + random.normal(0, 1e-3, n), "customer_id": random.permutation(n) + 1,
        "note": [f"called on day {i} about the loan" for i in range(n)],
        "name": [f"person {i}" for i in range(n)], "income": random.normal(size=n).round(1),
        "amount": random.integers(1, 10**9, n),
    })  # fmt: skip
    held = Columns.of(X)
    why = left_out(held, held.described(), f)
    assert why["copy"] == "a copy of the base model's score"
    assert "identifier" in why["customer_id"]
    assert "identifier" in why["name"]
    assert why["note"] == "free text"
    assert set(why) == {"copy", "customer_id", "note", "name"}


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 1_000), most=st.integers(2, 6),
    kind=st.sampled_from(["normal", "whole", "money", "two", "spike"]),
)  # fmt: skip
def test_bins_are_few_have_people_and_begin_at_round_numbers(seed, most, kind):
    random = np.random.default_rng(seed)
    values = {
        "normal": random.normal(size=500), "whole": random.integers(18, 80, 500).astype(float),
        "money": np.exp(random.normal(10, 1, 500)), "two": random.integers(0, 2, 500).astype(float),
        "spike": np.where(random.random(500) < 0.9, 0.0, random.random(500) * 1e4),
    }[kind]  # fmt: skip
    edges = bin_edges(values, most)
    assert 1 <= len(edges) < most or kind == "two"
    inside = np.bincount(np.searchsorted(edges, values, side="right"))
    assert inside.min() >= 10
    if kind in ("normal", "whole", "money"):
        assert all(float(f"{e:.3g}") == e for e in edges)


@settings(max_examples=60, deadline=None)
@given(
    threshold=st.sampled_from([0.5, 0.2, 0.9]), favourable=st.sampled_from([0, 1]),
    direction=st.sampled_from(DIRECTIONS), spread=st.floats(0.05, 6),
    only=st.sampled_from([None, (0.1, 0.95), (0.19, 0.93)]), seed=st.integers(0, 20),
)  # fmt: skip
def test_bands_lie_side_by_side_and_grow_with_confidence(
    threshold, favourable, direction, spread, only, seed
):
    f = np.random.default_rng(seed).normal(0, spread, 500)
    decision = Decision(threshold=threshold, favourable=favourable)
    bands = bands_of(f, decision, direction, only)
    scale = CardScale(approve_at=1, confidence=bands)
    patch = Patch(columns=[], concepts=[], card=scale, decision=decision)
    points = patch.confidence(np.sort(np.abs(f)))
    if direction != "demote_only":
        assert (np.diff(patch.confidence(-np.sort(np.abs(f)))) >= 0).all()
    if direction != "promote_only":
        assert (np.diff(points) >= 0).all()
    for one, two in pairwise(bands):
        assert one.below == two.at_least or (one.below is None) == (two.at_least is None)
    if only is not None and direction == "both":
        p = np.array([only[0] - 1e-3, only[1] + 1e-3])
        away = BaseModel("p", decision).logits(pd.DataFrame({"p": p}))
        assert (patch.confidence(away) > 1e6).all()


def test_groups_with_outcomes_by_f_and_by_who_has_which():
    """The product of the two factors sums to one, and is what it is made of."""
    random, n = np.random.default_rng(0), 4_000
    Z, f = random.normal(size=(n, 2)), random.normal(size=n)
    y = (random.random(n) < 1 / (1 + np.exp(-f))).astype(int)
    group = (random.random(n) < 0.2 + 0.5 * (Z[:, 0] > 0)).astype(int)
    p = FactoredModel.fit(Z, f, group, y, np.ones(n), 2, 0.3).probabilities(Z, f)
    assert p.shape == (n, 4)
    assert p.sum(1) == pytest.approx(np.ones(n))
    outcome = p[:, [1, 3]].sum(1)
    assert np.abs(outcome - 1 / (1 + np.exp(-f))).max() < 0.1
    second = p[:, 2:].sum(1)
    assert abs(second[Z[:, 0] > 0.5].mean() - 0.7) < 0.1


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_columns_of_noise_earn_no_points(seed):
    """Sixty districts and thirty branches that have nothing to do with anything."""
    n, random = 4_000, np.random.default_rng(seed)
    table = NOISY.sample(n, seed=seed).to_pandas()
    table["Region"] = [f"R{i:02}" for i in random.integers(0, 60, n)]
    table["Branch"] = [f"B{i:02}" for i in np.minimum(random.geometric(0.1, n), 30)]
    noise = {f"noise{k}": random.normal(size=n) for k in range(6)}
    table = table.assign(**noise)
    X, y, s = table.drop(columns=["id", "y", "group"]), table["y"], table["group"]
    g = FairPatch("score", Target(p_rule=0.8)).fit(X, y, sensitive_features=s)
    assert not {"Region", "Branch", *noise} & {column.name for column in g.patch_.columns}


def test_a_category_within_two_standard_errors_has_no_points():
    whole = Scores({0: np.array([0.0, 0.3, 0.3])}, 0.0)
    near, far = np.array([0.28, 0.29, 0.3, 0.31, 0.32]), np.array([-0.2, 0.1, 0.3, 0.5, 0.8])
    parts = [Scores({0: np.array([0.0, a, b])}, 0.0) for a, b in zip(near, far, strict=True)]
    steady = steadied(whole, parts, Rules(((),), (0,)))[0].values[0]
    # v = 4/5 sum (p_k - mean)^2: 0.0008 and 0.464
    assert steady == pytest.approx([0.0, 0.3 * (1 - 4 * 0.0008 / 0.09), 0.0])
