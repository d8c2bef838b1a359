"""What a choice weighs: prices, safety margins, and the advice where no patch meets the target."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpatch import Target
from fairpatch.choose.choice import _cost, _with_margin
from fairpatch.choose.objections import _best
from fairpatch.measure.metric import MISTREATMENT, P_RULE, RATE_DIFFERENCE, TPR_GAP


@given(st.floats(0, 5))
def test_changes_cost_what_the_target_says_and_churn_as_much_as_errors(per_change):
    target = Target(p_rule=0.8, price_per_change=per_change)
    cost = _cost(target, 0.1, 0.3, 0.2)  # changes, wrong decisions, churn
    assert cost == pytest.approx(0.1 * per_change + 0.3 + 0.2)


def steps(positive, size):
    """One step of counts: decisions of 1 and people, by group and label."""
    positive, size = np.asarray([positive], float), np.asarray(size, float)
    return SimpleNamespace(positive=positive, size=size, changed=np.zeros(1), people=size.sum())


TWO = steps([[120, 180], [60, 90]], [[400, 300], [250, 200]])


@pytest.mark.parametrize("metric", [P_RULE, RATE_DIFFERENCE, TPR_GAP, MISTREATMENT])
def test_a_margin_makes_a_limit_harder_whichever_side_it_is_on(metric):
    (requirement,) = Target(**{metric.name: 0.5}).requirements
    value = metric.along(TWO)
    moved = _with_margin(requirement, value, TWO, 2.0)
    error = metric.error_along(TWO)
    assert error[0] > 0
    expected = value - 2 * error if metric.at_least else value + 2 * error
    assert moved == pytest.approx(expected)
    # nothing becomes easier to meet: what passes with a margin passes without one
    assert requirement.met(value)[0] or not requirement.met(moved)[0]
    assert _with_margin(requirement, value, TWO, 0.0) == pytest.approx(value)


@pytest.mark.parametrize("metric", [P_RULE, RATE_DIFFERENCE, TPR_GAP])
def test_the_standard_error_is_that_of_drawing_again(metric):
    """Against 20,000 draws of both groups, at rates that are far apart."""
    random = np.random.default_rng(0)
    share = TWO.positive[0] / TWO.size
    drawn = random.binomial(TWO.size.astype(int), share, (20_000, 2, 2)).astype(float)
    again = SimpleNamespace(
        positive=drawn, size=TWO.size, changed=np.zeros(len(drawn)), people=TWO.people
    )
    spread = float(metric.along(again).std())
    assert float(metric.error_along(TWO)[0]) == pytest.approx(spread, rel=0.03)


class Frontier:
    """Two features along one candidate's strengths."""

    def __init__(self, first, second):
        self.dials = [{"a": self._dial(first), "b": self._dial(second)}]

    @staticmethod
    def _dial(values):
        return SimpleNamespace(
            strength=np.arange(len(values)), values=np.array(values),
            change_rate=np.zeros(len(values)),
        )  # fmt: skip

    def met(self, *_):
        raise AssertionError("there is nothing else that is asked")


@pytest.mark.parametrize(
    ("name", "first", "second", "best"),
    [
        ("p_rule", [0.5, 0.9, 0.7], [0.6, 0.4, 0.65], 0.65),
        ("demographic_parity_difference", [0.3, 0.1, 0.2], [0.2, 0.4, 0.25], 0.25),
    ],
)
def test_advice_is_about_the_feature_that_is_worst(name, first, second, best, monkeypatch):
    """A patch helps no more than it helps the worst feature at the same strength."""
    target = Target(**{name: 0.5})
    (asked,) = target.requirements
    monkeypatch.setattr(type(asked), "along", lambda _, dial: dial.values)
    assert _best(Frontier(first, second), target, asked) == best
