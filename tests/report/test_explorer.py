"""The explorer in a real browser: each control does what it says, by the frontier's own numbers."""

import shutil
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import sync_playwright

from fairpatch import Decision, FairPatch, Roles, Target
from fairpatch.datasets import load_loans
from fairpatch.measure.metric import P_RULE


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """A fit for two features, its review, and the page."""
    random = np.random.default_rng(0)
    n = 4_000
    sex, area = random.choice(["f", "m"], n), random.choice(["in", "out"], n, p=[0.3, 0.7])
    score = np.clip(
        random.random(n) * np.where(sex == "f", 0.75, 1) * np.where(area == "in", 0.85, 1),
        0.01,
        0.99,
    )
    X = pd.DataFrame(
        {
            "score": score,
            "job": np.where(random.random(n) < 0.8, sex, random.choice(["f", "m"], n)),
            "street": random.normal(size=n) + 1.5 * (area == "in"),
            "years": random.normal(size=n),
        }
    )
    y = (random.random(n) < score).astype(int)
    g = FairPatch("score", Target(p_rule=0.8))
    g.fit(X, y, sensitive_features={"sex": sex, "area": area})
    found = g.review(X, y, sensitive_features={"sex": sex, "area": area}, refits=0)
    path = found.to_html(tmp_path_factory.mktemp("explorer") / "review.html")
    return g, found.summary.explorer, path


@pytest.fixture(scope="module")
def page():
    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium.new_page(viewport={"width": 1280, "height": 900})
        chromium.close()


@pytest.fixture
def opened(page, explored):
    page.goto(explored[2].as_uri())
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    return page


def middle(ends):
    return sum(ends) / 2


def turn(page, control, value):
    page.locator(control).evaluate(
        "(el, v) => { el.value = v; el.dispatchEvent(new Event('input')); }", str(value)
    )


def chosen(explorer, *, limit, budget=1.0, feature=-1, direction="both", price=1, strike=None):
    """What the page should choose, worked out again from its data."""

    def fairness(p):
        return p.fairness[feature] if feature >= 0 else min(p.fairness, key=middle)

    allowed = [
        p for p in explorer.points if p.struck == strike and direction in ("both", p.direction)
    ]
    met = [p for p in allowed if middle(fairness(p)) >= limit and middle(p.changed) <= budget]
    best = min(met, key=lambda p: price * middle(p.changed) - middle(p.accuracy), default=None)
    return best, fairness


def figure_text(best, fairness):
    low, high = (f"{100 * v:.1f}" for v in best.changed)
    changed = f"{low} %" if low == high else f"{low} to {high} %"
    cent = Decimal("0.01")  # as a browser: of the number as it is held, halves upwards
    one, two = (f"{Decimal(v).quantize(cent, ROUND_HALF_UP)}" for v in fairness(best))
    return f"{changed} of decisions change; P-Rule {one if one == two else f'{one} to {two}'}"


def test_every_point_is_the_frontiers_own(explored):
    g, explorer, _ = explored
    assert len(explorer.points) > 50
    for point in explorer.points:
        if point.struck:
            continue
        dials = g.frontier_.dials[point.candidate]
        for i, dial in enumerate(dials.values()):
            k = int(np.abs(dial.strength - point.strength).argmin())
            assert point.changed[0] - 1e-3 <= dial.change_rate[k] <= point.changed[1] + 1e-3
            low, high = point.fairness[i]
            assert low - 1e-3 <= P_RULE.along(dial.only(k))[0] <= high + 1e-3
            assert point.accuracy[0] - 1e-3 <= dial.accuracy[k] <= point.accuracy[1] + 1e-3
    (own,) = [p for p in explorer.points if p.chosen]
    assert own.candidate == g.choice_.model
    assert own.strength == pytest.approx(g.choice_.strength, abs=1e-5)


def test_every_point_has_the_lines_of_its_own_scorecard(explored):
    g, explorer, _ = explored
    assert len({p.card for p in explorer.points}) > 3
    for point in explorer.points[::7]:
        patch = g.frontier_.candidates.patch(point.candidate, point.strength)
        lines = {f"{x.name} ({x.points:+g})" for x in patch.lines if x.name != point.struck}
        assert {*explorer.cards[point.card]} == lines


def test_the_lines_to_strike_are_those_of_the_card(explored):
    """Also where a column of the chosen card counts from another value than at strength 1."""
    g, explorer, _ = explored
    assert set(explorer.lines) <= {line.name for line in g.patch_.lines}
    loans = load_loans()[:6_000]
    bank = FairPatch("score", Target(p_rule=0.8), decision=Decision(threshold=0.8))
    bank.fit(loans.drop(columns=["id", "age"]), "repaid", sensitive_features=["sex"])
    struck = {each.line for each in bank.fitted_.struck}
    assert struck == {line.name for line in bank.patch_.lines}


def test_no_point_is_narrower_than_ten_people(explored):
    _, explorer, _ = explored
    for point in explorer.points:
        assert point.changed[1] - point.changed[0] >= 9 / 4_000 - 2e-3


def test_it_starts_with_what_was_chosen(opened, explored):
    _, explorer, _ = explored
    (own,) = [p for p in explorer.points if p.chosen]
    assert opened.inner_text("#f-sentence").startswith("As chosen, on the selection set: ")
    assert figure_text(own, lambda p: min(p.fairness, key=middle)) in opened.inner_text(
        "#f-sentence"
    )


@pytest.mark.parametrize("limit", [0.6, 0.8, 0.9])
def test_the_target(opened, explored, limit):
    _, explorer, _ = explored
    k = explorer.limits.index(limit)
    turn(opened, "#x-limit", k)
    best, fairness = chosen(explorer, limit=limit)
    assert opened.inner_text("#o-limit") == f"{limit:.2f}"
    text = opened.inner_text("#f-sentence")
    if best is None:
        assert text.startswith("Nearest: ")
        assert "No candidate meets this" in opened.inner_text("#f-flags")
    else:
        assert figure_text(best, fairness) in text
    asked = 260 - 240 * limit
    assert float(opened.get_attribute("#asked", "y1")) == pytest.approx(asked)


@pytest.mark.parametrize("limit", [0.6, 0.9])
def test_the_scorecard_that_it_shows_is_the_one_whose_figures_it_shows(opened, explored, limit):
    g, explorer, _ = explored
    turn(opened, "#x-limit", explorer.limits.index(limit))
    best, _ = chosen(explorer, limit=limit)
    patch = g.frontier_.candidates.patch(best.candidate, best.strength)
    lines = [f"{line.name} ({line.points:+g})" for line in patch.lines]
    shown = opened.locator("#f-card span").all_inner_texts()
    assert sorted(shown) == sorted(lines)
    assert opened.inner_text("#f-price") == f"{patch.changes_at} points"
    (own,) = [p for p in explorer.points if p.chosen]
    assert ("Another scorecard" in opened.inner_text("#f-card")) == (best.card != own.card)


def test_what_exceeds_the_budget_is_grey(opened, explored):
    _, explorer, _ = explored
    most = max(p.changed[1] for p in explorer.points)
    turn(opened, "#x-budget", 30)
    classes = opened.locator("#dots circle").evaluate_all(
        "all => all.map(c => c.getAttribute('class'))"
    )
    for point, name in zip(explorer.points, classes, strict=True):
        if not point.struck:
            assert ("off" in name) == (middle(point.changed) > 0.3 * most)


def test_budget_feature_direction_preference(opened, explored):
    _, explorer, _ = explored
    limit = explorer.limits[12]
    turn(opened, "#x-limit", 12)
    free = opened.inner_text("#f-sentence")
    turn(opened, "#x-feature", 0)
    best, fairness = chosen(explorer, limit=limit, feature=0)
    assert figure_text(best, fairness) in opened.inner_text("#f-sentence")
    assert opened.locator("#f-flow .group").count() == 2  # of that feature alone
    turn(opened, "#x-direction", "promote_only")
    best, fairness = chosen(explorer, limit=limit, feature=0, direction="promote_only")
    assert figure_text(best, fairness) in opened.inner_text("#f-sentence")
    turn(opened, "#x-prefer", 1000)
    best, fairness = chosen(explorer, limit=limit, feature=0, direction="promote_only", price=1000)
    assert figure_text(best, fairness) in opened.inner_text("#f-sentence")
    turn(opened, "#x-budget", 1)
    assert "Nearest: " in opened.inner_text("#f-sentence")
    assert "any" not in opened.inner_text("#o-budget")
    turn(opened, "#x-budget", 100)
    turn(opened, "#x-prefer", 1)
    turn(opened, "#x-direction", "both")
    turn(opened, "#x-feature", -1)
    assert opened.inner_text("#f-sentence") == free


def test_a_line_is_struck_and_the_command_says_so(opened, explored):
    g, explorer, _ = explored
    line = next(p.struck for p in explorer.points if p.struck)
    turn(opened, "#x-limit", 5)
    turn(opened, "#x-strike", explorer.lines.index(line))
    best, fairness = chosen(explorer, limit=explorer.limits[5], strike=line)
    text = opened.inner_text("#f-sentence")
    assert figure_text(best, fairness) in text if best else text.startswith("Nearest: ")
    assert opened.locator("#f-card .struck").all_inner_texts() == [line]
    opened.locator("#freeze").click()
    assert f"fairpatch edit RUN --strike '{line}'" in opened.inner_text("#command")
    assert line in [own.name for own in g.patch_.lines]


def test_a_frozen_state_is_a_command_that_the_program_takes(opened, explored):
    _, explorer, _ = explored
    turn(opened, "#x-limit", 10)
    turn(opened, "#x-budget", 50)
    turn(opened, "#x-direction", "promote_only")
    turn(opened, "#x-prefer", 0)
    opened.locator("#freeze").click()
    text = opened.inner_text("#command").splitlines()[-1]
    limit = f"{explorer.limits[10]:g}"
    assert text.startswith(
        f"fairpatch fit --config RUN/config.yaml --p-rule {limit} --max-changes "
    )
    assert text.endswith("--direction promote_only --target price_per_change=0 --out RUN-2")


def test_the_keyboard_moves_it(opened):
    before = opened.inner_text("#o-limit")
    opened.locator("#x-limit").focus()
    opened.keyboard.press("ArrowRight")
    assert opened.inner_text("#o-limit") != before


def test_groups_below_ten_are_nowhere_in_it():
    """Neither named nor counted, and no bound hangs on what was decided of them."""
    random = np.random.default_rng(0)
    s = np.array(["A", "B"] * 600 + ["C"] * 8)
    X = pd.DataFrame(
        {
            "score": random.random(len(s)) * np.where(s == "B", 0.8, 1),
            "x": random.normal(size=len(s)),
        }
    )
    X.loc[s == "C", "score"] = 0.6 + 0.1 * random.random(8)
    y = (random.random(len(s)) < X["score"]).astype(int)
    g = FairPatch("score", Target(p_rule=0.3)).fit(X, y, sensitive_features={"s": s})
    found = g.review(X, y, sensitive_features={"s": s}, refits=0).summary.explorer
    assert [group.name for group in found.features[0].groups] == ["A", "B"]
    for point in found.points:
        assert len(point.rates[0]) == 2
        assert point.fairness[0][0] > 0
    counts = g.frontier_.counts.by("s").known()
    large = counts.where([group != ("C",) for group in counts.groups])
    for bound in found.bounds:
        for limit, known in zip(found.bound_limits, bound.known, strict=True):
            fewest = P_RULE.fewest(large, limit, direction=bound.direction)
            assert (known is None) == (fewest is None)
            if known is not None:
                assert known <= fewest.change_rate < known + 0.02


def test_weights_have_no_explorer():
    """Tens of weights are no tens of people."""
    random = np.random.default_rng(0)
    s = np.array(["A", "B"] * 500)
    X = pd.DataFrame(
        {"score": random.random(1_000) * np.where(s == "B", 0.7, 1),
         "w": random.uniform(5, 60, 1_000),
         "x": random.normal(size=1_000) + (s == "B")}
    )  # fmt: skip
    y = (random.random(1_000) < X["score"]).astype(int)
    g = FairPatch("score", Target(p_rule=0.7), roles=Roles(weight="w"))
    g.fit(X, y, sensitive_features={"s": s})
    found = g.review(X, y, sensitive_features={"s": s}, refits=0)
    assert found.summary.explorer is None
    assert found.summary.alternatives is None
    assert found.html()
