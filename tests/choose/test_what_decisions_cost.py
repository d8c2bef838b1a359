"""What decisions cost, in place of plain accuracy."""

import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Target
from fairpatch.data.outcomes import Costs
from fairpatch.measure.strength_curve import trace


def taken_apart(frame):
    return frame.drop(columns=["id", "y", "group"]), frame["y"], frame[["group"]]


@pytest.mark.parametrize("weighted", [False, True])
def test_a_dial_costs_what_its_decisions_do(weighted):
    random = np.random.default_rng(0)
    n = 300
    f, ratio = random.normal(size=n), random.normal(0.3, 1, n)
    y, s = random.integers(0, 2, n), random.integers(0, 2, n)
    weight = random.random(n) if weighted else None
    X = {"lost": random.random(n) * 9}
    priced = Costs.of({"wrong_approval": "lost", "wrong_refusal": 2, "change": 3}).read(
        pd.DataFrame(X), y
    )
    dial = trace(ratio, f, y, s, weight=weight, priced=priced)
    w = np.ones(n) if weight is None else weight
    for strength in (0.0, 0.5, 1.0, 2.5):
        after = np.where(1 + strength * (ratio - 1) < 0, f <= 0, f > 0)
        cost = np.where(after & (y == 0), X["lost"], 0) + np.where(~after & (y == 1), 2.0, 0)
        k = int(dial.at(strength))
        assert dial.loss[k] == pytest.approx(w @ cost)
        assert dial.spent[k] == pytest.approx(3 * (w @ (after != (f > 0))))


def test_without_costs_the_loss_is_the_share_of_wrong_decisions(quick_fit):
    choice = quick_fit[0].choice_
    assert choice.loss[1] == pytest.approx(1 - choice.accuracy)
    assert choice.spent == pytest.approx(choice.change_rate)
    assert "cost" not in str(choice)


def test_dear_approvals_are_given_to_fewer_people(two_groups):
    X, y, s = taken_apart(two_groups)
    cheap, dear = (
        FairPatch("score", Target(p_rule=0.75, costs={"wrong_approval": a, "wrong_refusal": r}))
        .fit(X, y, sensitive_features=s)
        .choice_
        for a, r in ((0.1, 5.0), (20.0, 0.1))
    )
    assert dear.approvals[1] < cheap.approvals[1]
    assert "Wrong decisions cost" in str(dear)


@pytest.mark.slow
def test_a_column_of_costs_and_the_review(two_groups):
    X, y, s = taken_apart(two_groups)
    X = X.assign(num_1=X["num_1"].abs().fillna(0.0), num_5=X["num_5"].abs().fillna(0.0))
    target = Target(
        p_rule=0.75, reads=[c for c in X if c.startswith(("num_0", "cat_0"))],
        costs={"wrong_approval": "num_1", "wrong_refusal": 100, "change": "num_5"},
    )  # fmt: skip
    g = FairPatch("score", target).fit(X, y, sensitive_features=s)
    review = g.review(X, y, sensitive_features=s, refits=0)
    cost = review.to_dict()["effect"]["cost"]
    after = g.predict(X) == 1
    expected = np.where(after & (y == 0), X["num_1"], 0) + np.where(~after & (y == 1), 100, 0)
    assert cost["after"]["value"] == pytest.approx(expected.mean(), rel=0.01)
    assert "cost of wrong decisions" in review.html()


@pytest.mark.parametrize(
    ("costs", "why"),
    [({}, "costs must say"), ({"wrong_aproval": 1}, "did you mean"),
     ({"wrong_approval": -1}, "at least 0"), (5, "costs must say")],
)  # fmt: skip
def test_costs_that_cannot_be_meant(costs, why):
    with pytest.raises((TypeError, ValueError), match=f"(?i){why}"):
        Target(p_rule=0.8, costs=costs)


def test_a_column_that_is_no_cost(two_groups):
    X, y, s = taken_apart(two_groups)
    for column, why in (("cat_0", "finite numbers"), ("lost", "there is no column")):
        with pytest.raises(ValueError, match=why):
            FairPatch("score", Target(p_rule=0.8, costs={"wrong_approval": column})).fit(
                X, y, sensitive_features=s
            )
