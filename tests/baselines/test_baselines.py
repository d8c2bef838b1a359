"""One conformance suite for COMMOD and every baseline."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.baselines import (
    AdvDebias,
    AwareLpp,
    BayesRule,
    Coin,
    EqualizedThresholds,
    FairBayes,
    Frappe,
    Lpp,
    Oxon,
    PlugIn,
    Reductions,
    Roc,
)
from fairpatch.baselines.programs import solve
from fairpatch.commod import Commod, Training

BASELINES = [
    AdvDebias,
    AwareLpp,
    BayesRule,
    Coin,
    EqualizedThresholds,
    FairBayes,
    Frappe,
    Lpp,
    Oxon,
    PlugIn,
    Reductions,
    Roc,
]
STRONG = {
    "share": 0.5,
    "delta": 0.02,
    "alpha": 0.05,
    "lambda_kl": 0.01,
    "bound": 0.02,
    "gap": 0.02,
    "band": 0.15,
    "tol": 0.0,
}


@pytest.fixture(scope="module")
def people():
    """1,500 people whose group shows in x; f reads x and disadvantages group b."""
    random = np.random.default_rng(20)  # a seed that no method has: its chances are its own
    s = random.choice(["a", "b"], 1_500, p=[0.6, 0.4])
    X = pd.DataFrame(
        {
            "skill": random.normal(size=1_500) - 0.8 * (s == "b"),
            "street": random.normal(size=1_500) + 2.0 * (s == "b"),
            "job": random.choice(["x", "y"], 1_500),
        }
    )
    y = np.where(X["skill"] + random.normal(size=1_500) > 0, "yes", "no")
    f = LogisticRegression().fit(X[["skill", "street"]], y)
    return X, y, s, lambda rows: f.predict_proba(rows[["skill", "street"]])


def made(kind, f, **options):
    if kind is Commod:
        return Commod(
            f, training=Training(n_steps=150), lambda_fair=10.0, lambda_ratio=0.3, **options
        )
    strong = {kind.dial: STRONG.get(kind.dial, 0.95)}
    if kind is AdvDebias:
        strong = {"alpha": 3.0}
    return kind(f, **strong | options) if kind.post_processing else kind(**strong | options)


def ask(model, X, s):
    if getattr(model, "needs_sensitive_features", False):
        return model.predict(X, sensitive_features=s)
    return model.predict(X)


def p_rule(decided, s):
    rates = [np.mean(decided[s == v] == "yes") for v in ("a", "b")]
    return min(rates) / max(rates)


def dm(decided, y, s):
    return sum(
        abs(np.subtract(*[np.mean(decided[(s == v) & (y == label)] == "yes") for v in "ab"]))
        for label in ("yes", "no")
    )


def test_fair_bayes_meets_its_gap_on_the_rows_it_learned_from(people):
    X, y, s, f = people
    for delta in (0.3, 0.1, 0.0):
        model = FairBayes(f, delta).fit(X, y, sensitive_features=s)
        decided = np.mean(
            [model.set_params(random_state=k).decide(X, s) for k in range(200)], axis=0
        )
        gap = abs(decided[s == "a"].mean() - decided[s == "b"].mean())
        assert gap == pytest.approx(delta, abs=0.01)


def test_the_plug_in_rule_meets_its_ratio_on_the_rows_it_searched(people):
    X, y, s, f = people
    half = np.random.default_rng(0).permutation(len(y)) >= len(y) // 2
    for level in (0.7, 0.9):
        decided = PlugIn(f, level).fit(X, y, sensitive_features=s).decide(X)[half]
        rates = [decided[s[half] == v].mean() for v in "ab"]
        assert level <= min(rates) / decided.mean() <= level + 0.05


QUICK = [pytest.param(k, marks=pytest.mark.slow) if k is Frappe else k for k in BASELINES]
"""Frappe trains for seconds each time: once in `make check`, in full in `make check-slow`."""
every = pytest.mark.parametrize("kind", [Commod, *BASELINES], ids=lambda k: k.__name__)


@every
def test_it_is_fairer_than_f_by_what_it_works_towards(kind, people):
    X, y, s, f = people
    decided_f = np.where(f(X)[:, 1] > 0.5, "yes", "no")
    by_rule = ask(made(kind, f).fit(X, y, sensitive_features=s), X, s)
    assert p_rule(by_rule, s) > p_rule(decided_f, s) + 0.25
    by_odds = made(kind, f, fairness="equalized_odds")
    if "equalized_odds" not in getattr(kind, "notions", ("equalized_odds",)):
        with pytest.raises(ValueError, match="fairness must be"):
            by_odds.fit(X, y, sensitive_features=s)
    else:
        by_odds.fit(X, y, sensitive_features=s)
        assert dm(ask(by_odds, X, s), y, s) < dm(decided_f, y, s) - 0.1
    assert set(by_rule) <= {"yes", "no"}
    assert np.mean(by_rule == y) > 0.55


@pytest.mark.parametrize("kind", [Commod, *QUICK], ids=lambda k: k.__name__)
def test_same_seed_same_decisions(kind, people):
    X, y, s, f = people
    one, two = (ask(made(kind, f).fit(X, y, sensitive_features=s), X, s) for _ in range(2))
    assert (one == two).all()


@pytest.mark.parametrize("kind", QUICK, ids=lambda k: k.__name__)
def test_it_says_whether_it_reads_s_at_prediction(kind, people):
    X, y, s, f = people
    model = made(kind, f).fit(X, y, sensitive_features=s)
    if kind.needs_sensitive_features:
        with pytest.raises(ValueError, match="needs sensitive_features to predict"):
            model.predict(X)
        other = model.predict(X, sensitive_features=np.where(s == "a", "b", "a"))
        assert (other != model.predict(X, sensitive_features=s)).any()
        with pytest.raises(ValueError, match="not there in fit"):
            model.predict(X, sensitive_features=np.full(len(s), "c"))
    else:
        assert (model.predict(X) == model.predict(X, sensitive_features=s[::-1])).all()


@pytest.mark.parametrize("kind", QUICK, ids=lambda k: k.__name__)
def test_a_sweep_is_one_model_for_each_value(kind, people):
    X, y, s, f = people
    dial = (0.2, 0.1, 0.0) if kind is EqualizedThresholds else kind.values
    values = [dial[1 if len(dial) > 3 else 0], dial[len(dial) // 2], dial[-1]]
    models = made(kind, f).sweep(values, X, y, sensitive_features=s)
    assert [getattr(m, kind.dial) for m in models] == values
    alone = made(kind, f, **{kind.dial: values[1]}).fit(X, y, sensitive_features=s)
    agree = ask(models[1], X, s) == ask(alone, X, s)
    assert agree.mean() > 0.99  # float32 in the stacked ones
    decided = [ask(m, X, s) for m in models]
    assert (decided[0] != decided[2]).any()


def test_a_rival_refuses_what_it_cannot_do(people):
    X, y, s, f = people
    with pytest.raises(ValueError, match="one sensitive feature without gaps"):
        Roc(f).fit(X, y, sensitive_features={"one": s, "two": s})
    with pytest.raises(ValueError, match="two values"):
        BayesRule(f).fit(X, y, sensitive_features=np.arange(1_500) % 3)


def test_lpps_program_against_brute_force():
    """Six people, known groups, cost of decision 1: the best decisions with equal rates."""
    random = np.random.default_rng(1)
    for _ in range(20):
        cost = random.normal(size=6)
        gamma = np.eye(2)[[0, 0, 0, 1, 1, 1]] / 0.5
        decided = cost - gamma @ solve(cost, gamma, 0.0, 1) < 0
        best = min(
            sum(np.sort(cost[:3])[:k]) + sum(np.sort(cost[3:])[:k]) for k in range(4)
        )  # the k cheapest of each group
        # the program may stop inside a person; its rule then gives that person one way or the other
        assert abs(decided[:3].sum() - decided[3:].sum()) <= 1
        assert cost[decided].sum() <= best + np.abs(cost).max()


def test_the_bayes_rule_with_dear_changes_changes_least(people):
    X, y, s, f = people
    decided = np.where(f(X)[:, 1] > 0.5, "yes", "no")
    shares = []
    for lambda_ratio in (0.0, 0.3, 5.0):
        rule = BayesRule(f, 0.8, lambda_ratio=lambda_ratio).fit(X, y, sensitive_features=s)
        new = rule.predict(X)
        assert p_rule(new, s) == pytest.approx(0.8, abs=0.06)
        shares.append(np.mean(new != decided))
    assert shares == sorted(shares, reverse=True)
