"""A retrained model: keep, rescale or learn; churn counted, budgeted, and made small."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import TARGET, month
from fairpatch import Card, FairPatch
from fairpatch._tools.verdict import Verdict
from fairpatch.data.rows import contents
from fairpatch.life import refit
from fairpatch.life.refit import churn
from fairpatch.measure.intervals import Estimate
from fairpatch.measure.strength_curve import trace


@pytest.fixture(scope="module")
def found(patched):
    rows = month(40, 5_000).drop(columns="id")
    return refit(patched, "new_score", rows, "y", sensitive_features=["group"], target=TARGET)


def test_three_ways_are_judged_on_the_same_fresh_people(found, patched):
    assert set(found.options) == {"keep", "rescale", "learn"}
    people = {o.certificate.counts.total for o in found.options.values()}
    assert people == {len(found.fresh)}
    held = (found.fitted.fresh_rows(), found.fresh)
    one, other = (sorted(contents(rows.X).tolist()) for rows in held)
    assert one == other
    for option in found.options.values():
        decided = option.model.patch.decide(found.fresh.X, found.fresh.f)
        past = patched.favoured(found.fresh.X)
        assert option.churn.value == pytest.approx(np.mean(decided != past))
        assert option.certificate.target.confidence == pytest.approx(1 - 0.05 / 3)
    assert found.recommended is not None
    assert "Recommended" in str(found)


def test_the_order_of_ways_costs_no_changes(found):
    """Kept, 3.0 % of decisions changed, rescaled 1.0 %: both certified, and the first was named."""

    def option(way, changes, verdict="certified"):
        certified = SimpleNamespace(verdict=Verdict(verdict))
        kind = type(found.options["keep"])
        return kind(way, None, certified, Estimate(changes), Estimate(0.1))

    def named(**changes):
        ways = {way: option(way, share) for way, share in changes.items()}
        return replace(found, options=ways).recommended.way

    assert named(keep=0.030, rescale=0.010) == "rescale"
    assert named(keep=0.030, rescale=0.025, learn=0.029) == "keep"
    assert named(keep=0.012, rescale=0.010) == "keep"
    dear = {"keep": option("keep", 0.03), "learn": option("learn", 0.01, "inconclusive")}
    assert replace(found, options=dear).recommended.way == "keep"


def test_a_kept_patch_knows_its_new_model(found):
    kept = found.options["keep"].model
    assert not kept.compare(found.fresh.X).refused
    assert "score" not in {c.name for o in found.options.values() for c in o.model.patch.columns}


@pytest.mark.slow
def test_learning_near_the_old_card_changes_fewer_of_yesterdays_decisions(patched):
    rows = month(41, 5_000).drop(columns="id")
    S = {"sensitive_features": ["group"]}
    own = {"exclude": ["score"], "splits": (0.6, 0.4, 0.0)}  # how far a certificate goes is luck
    free = FairPatch("new_score", TARGET, **own).fit(rows, "y", **S)
    near = FairPatch("new_score", TARGET, **own).fit(rows, "y", **S, previous=patched)
    test = month(42, 5_000)
    past = patched.favoured(test)
    apart = [np.mean(g.patched_.favoured(test) != past) for g in (free, near)]
    assert apart[1] < apart[0]
    assert near.choice_.churn is not None
    assert free.choice_.churn is None


def test_the_old_card_is_a_candidate_beside_new_ones(patched, monkeypatch):
    learned, learn = [], Card.learn

    def spy(self, task):
        learned.append(learn(self, task))
        return learned[-1]

    monkeypatch.setattr(Card, "learn", spy)
    rows = month(41, 5_000).drop(columns="id")
    g = FairPatch("new_score", TARGET, exclude=["score"])
    g.fit(rows, "y", sensitive_features=["group"], previous=patched)
    pool = learned[0].pool
    old = [m for m in range(len(pool)) if pool.about(m)["learner"] == "previous card"]
    assert old
    assert all(pool.patch(m).concepts == patched.patch.concepts for m in old)


def test_a_budget_for_churn_is_kept_or_said_to_be_missed(patched):
    rows = month(43, 3_000).drop(columns="id")
    tight = TARGET.replace(max_churn=0.0)
    found = refit(patched, "new_score", rows, "y", sensitive_features=["group"], target=tight)
    assert "learn" in found.not_possible
    assert not found.options["keep"].within
    assert found.recommended is None
    assert "over the budget" in str(found)


def test_people_without_yesterdays_score_are_left_out_of_churn(patched):
    rows = month(44, 2_000).drop(columns="id")
    rows.loc[rows.index[::2], "score"] = np.nan
    past = patched.favoured(rows)
    assert (past[::2] == -1).all()
    assert (past[1::2] >= 0).all()
    own = replace(
        patched.rows(month(44, 100).drop(columns=["id"]), "y", ["group"]),
        previous=np.full(100, -1),
    )
    assert churn(own, np.ones(100, int)).value is None


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.sampled_from(["both", "promote_only", "demote_only"]))
def test_churn_along_a_dial_is_what_counting_gives(seed, direction):
    rng, n = np.random.default_rng(seed), 40
    r, f = rng.normal(0.5, 1, n), rng.normal(size=n)
    y, group, past = rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(-1, 2, n)
    group[:2] = 0, 1
    dial = trace(r, f, y, group, direction=direction, previous=past)
    may = {"both": np.ones(n, bool), "promote_only": f <= 0, "demote_only": f > 0}[direction]
    for k, s in enumerate(dial.strength):
        flipped = (1 + s * (r - 1) < 0) & may
        decided = (f > 0) ^ flipped
        known = past >= 0
        assert dial.kept[k] == (decided[known] == past[known]).sum()
        expected = np.mean(decided[known] != past[known]) if known.any() else 0.0
        assert dial.churn[k] == pytest.approx(expected)
