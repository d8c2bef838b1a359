"""Learning a card: what is aimed at, the lines that are chosen, and the rules they keep."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairpatch.card.aim import Cells, Limit, multipliers
from fairpatch.card.cells import CellModel
from fairpatch.card.crossfit import Aim, PushProblem, cross_fitted, folds_of, learn_points
from fairpatch.card.fields import fields_of
from fairpatch.card.learner import Card
from fairpatch.card.points import rounded
from fairpatch.card.select import Seen, select
from fairpatch.measure.metric import MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP
from fairpatch.patch.columns import Columns
from fairpatch.patch.encoding import Encoder
from fairpatch.patch.lines import MOST_CATEGORIES, lines_of


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
            "age": np.where(random.random(n) < 0.05, np.nan, random.integers(18, 80, n) - 5 * s),
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


def problem(X, s, y, f, rules, weight=None):
    encoder, held = Encoder.fit(X), Columns.of(X)
    columns = list({c.column.name: c.column for c in encoder.features}.values())
    fields = fields_of(held, columns, rules)
    read = [field.read(held) for field in fields]
    seen = Seen(tuple(p for p, _ in read), tuple(a for _, a in read))
    groups = s[:, None] if s.ndim == 1 else s
    return PushProblem(
        encoder.transform(X), fields, seen, groups, y, f > 0, np.abs(np.tanh(f / 2)),
        np.ones(len(X)) if weight is None else weight,
    )  # fmt: skip


def learned(rules=None, **options):
    rules = rules or Card()
    X, s, y, f = table()
    own = problem(X, s, y, f, rules, **options)
    (aim,) = Aim.each(own, [[Limit(P_RULE, 0.9)]])
    return own, learn_points(own, aim, rules)


def names(points):
    columns = {f.column.name: f.column for f in points.fields}
    return [line for c in points.concepts() for line in lines_of(c, columns)]


def test_lines_are_few_disjoint_whole_and_name_at_most_eight_levels():
    own, points = learned(Card(max_lines=6))
    assert 1 < len(points.lines) <= 6
    for j in {line.field for line in points.lines}:
        members = [m for line in points.lines if line.field == j for m in line.members]
        assert len(members) == len(set(members))
    for line, value in zip(points.lines, points.points, strict=True):
        assert len(line.members) <= max(MOST_CATEGORIES, 10)
        assert value
        if line.members:
            assert value % 10 == 0
        own_column = own.fields[line.field].column
        if own_column.kind == "category":
            assert len(line.members) <= MOST_CATEGORIES
    assert points.everybody == round(points.everybody)


def test_a_card_is_the_same_every_time_and_rows_in_any_order_give_it():
    own, points = learned()
    _, again = learned()
    assert points.lines == again.lines
    assert points.points == again.points
    order = np.random.default_rng(5).permutation(len(own.y))
    (aim,) = Aim.each(own, [(Limit(P_RULE, 0.9),)])
    shuffled = learn_points(own.take(order), aim, Card())
    assert [line.name for line in names(points)] == [line.name for line in names(shuffled)]


def test_the_points_of_rows_are_those_of_the_patch():
    from fairpatch.patch import CardScale, Patch

    X, *_ = table()
    own, points = learned()
    patch = Patch(
        columns=[f.column for f in points.fields], concepts=points.concepts(),
        offset=points.everybody, card=CardScale(points_needed=1, confidence_points=0),
    )  # fmt: skip
    assert patch.points(X) == pytest.approx(points.of(own.seen))


@pytest.mark.parametrize("way", [1, -1])
def test_a_column_never_counts_the_wrong_way(way):
    rules = Card(monotonic={"street": way, "age": way}, signs={"job": way}, max_lines=12)
    own, points = learned(rules)
    for concept in points.concepts():
        for r in concept.ranges:
            edges = np.unique([e for part in r.ranges for e in (part.at_least, part.below) if e])
            tried = (*(edges - 0.01), edges[-1])
            at = [sum(p.weight for p in r.ranges if _in(p, x)) for x in tried]
            assert (np.diff(at) * way >= 0).all()
        assert all(n.coefficient * way > 0 for n in concept.numbers if n.column != "always")
        for c in concept.categories:
            if c.column == "job":
                assert all(e.weight * way > 0 for e in c.categories)
    assert "always" not in {own.fields[line.field].column.name for line in points.lines}


def _in(part, x):
    above = part.at_least is None or x >= part.at_least
    return above and (part.below is None or x < part.below)


def test_codes_stay_together_under_the_name_that_people_give():
    rules = Card(
        groupings={"job": {"manual": [f"job {i}" for i in range(3, 12)]}},
        names={"street": "street noise"}, category_names={"home": {"rent": "rented"}},
    )  # fmt: skip
    _, points = learned(rules)
    said = [line.name for line in names(points)]
    assert any("manual" in name for name in said)
    assert not any("job 3" in name for name in said)
    assert any(name.startswith("street noise") for name in said)
    with pytest.raises(ValueError, match="'strete', which the patch cannot read. Did you mean"):
        Card(signs={"strete": 1}).check_columns(["street"])
    with pytest.raises(ValueError, match="signs of 'street' must be 1 or -1; got 0"):
        Card(signs={"street": 0})
    with pytest.raises(ValueError, match="max_lines"):
        Card(max_lines=0)


def test_a_weight_of_two_is_the_row_twice():
    X, s, y, f = table()
    times = np.random.default_rng(1).integers(1, 3, len(X))
    rules, many = Card(), np.repeat(np.arange(len(X)), times)
    one = problem(X, s, y, f, rules, weight=times.astype(float))
    two = one.take(many)
    two = PushProblem(**{**vars(two), "weight": np.ones(len(many))})
    push = one.seen.pieces[0] / 3.0 + one.sure
    a = select(one.fields, one.seen, push, one.weight, rules)
    b = select(two.fields, two.seen, push[many], two.weight, rules)
    assert a.lines == b.lines
    assert a.weights == pytest.approx(b.weights)
    assert a.constant == pytest.approx(b.constant)


def test_nobodys_points_come_from_a_card_that_has_seen_them():
    """Noise: a card that knew the rows would tell their groups apart."""
    random = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame({f"x{i}": random.normal(size=n) for i in range(40)})
    s, y, f = random.integers(0, 2, n), random.integers(0, 2, n), random.normal(size=n)
    rules = Card(max_lines=None)
    own = problem(X, s, y, f, rules)
    (aim,) = Aim.each(own, [(Limit(P_RULE, 0.99),)])
    seen = learn_points(own, aim, rules).of(own.seen)
    crossed = cross_fitted(own, aim, rules, folds_of(s, 5, 0))
    apart = [abs(np.mean(p[s == 1]) - np.mean(p[s == 0])) / p.std() for p in (seen, crossed)]
    assert apart[0] > 0.5
    assert apart[1] < 0.35


def test_a_line_that_says_nothing_is_struck():
    own, _ = learned()
    push = np.where(own.seen.pieces[0] > 5, 1.0, 0.0) + 1e-9 * own.sure
    chosen = select(own.fields, own.seen, push, own.weight, Card())
    points = rounded(chosen, own.fields, own.seen, push, own.weight)
    assert len(points.lines) <= 2
    assert all(points.points)


def test_ranges_of_one_column_never_overlap():
    own, _ = learned()
    piece = own.seen.pieces[0]
    push = 1.0 * ((piece >= 2) & (piece <= 6)) + 1.0 * ((piece >= 4) & (piece <= 5))
    chosen = select(own.fields, own.seen, push, own.weight, Card())
    members = [m for line in chosen.lines if line.field == 0 for m in line.members]
    assert len(members) == len(set(members))


def test_a_bump_is_not_said_of_a_column_that_must_rise():
    own, _ = learned()
    piece = own.seen.pieces[0]
    push = 1.0 * ((piece >= 3) & (piece <= 5))
    name = own.fields[0].column.name
    free = select(own.fields, own.seen, push, own.weight, Card())
    assert (3, 4, 5) in [line.members for line in free.lines]
    bound = select(own.fields, own.seen, push, own.weight, Card(monotonic={name: 1}))
    for line, weight in zip(bound.lines, bound.weights, strict=True):
        if line.field == 0 and line.members:
            assert 0 in line.members or max(line.members) == own.fields[0].pieces - 1
            assert weight * (-1 if 0 in line.members else 1) >= 0
