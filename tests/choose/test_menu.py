"""The menu: patches side by side, each a fit of its own, and what conditions cost."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from fairpatch import Card, Decision, FairPatch, Roles, Target
from fairpatch._tools.verdict import Verdict
from fairpatch.choose import menu
from fairpatch.choose.menu import FEWEST, IN_ORDER, KNOWN, SCORECARD
from fairpatch.datasets import Population
from fairpatch.patch.edit import held_back


@pytest.fixture(scope="module")
def people():
    groups = {"a": (0.6, 0.0), "b": (0.4, 1.0)}
    found = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=groups).sample(9_000, seed=3)
    return found.to_pandas().drop(columns="id")


@pytest.fixture(scope="module")
def fitted(people):
    return FairPatch("score", Target(p_rule=0.8)).fit(people, "y", sensitive_features=["group"])


def test_every_entry_says_what_its_own_patch_does(fitted):
    rows = fitted.fitted_.search.learned.rows
    assert [entry.name for entry in fitted.menu_] == [SCORECARD, IN_ORDER, FEWEST, KNOWN]
    assert fitted.menu_[0].fit is fitted.fitted_
    for entry in fitted.menu_[:3]:
        patch = entry.fit.patch
        changed = patch.decide(rows.X, rows.f) != (rows.f > 0)
        assert entry.change_rate == pytest.approx(changed.mean())
        right = patch.decide(rows.X, rows.f) == (rows.y == 1)
        assert entry.accuracy == pytest.approx(right.mean())
        up = changed & (rows.f <= 0)
        group = rows.s.columns["group"] == entry.outcomes.group
        assert entry.outcomes.promoted == pytest.approx(rows.y[up & group].mean())
        left = (rows.f <= 0) & ~up & group
        assert entry.outcomes.denied == pytest.approx(rows.y[left].mean())
        assert "group" not in {c.name for c in patch.columns}
    assert not fitted.menu_.named(IN_ORDER).turned


def test_a_known_group_needs_the_fewest_changes_and_is_not_picked(fitted):
    known = fitted.menu_[-1]
    assert known.change_rate <= fitted.preferred_.change_rate
    assert known.verdict is None
    with pytest.raises(ValueError, match="may_use_sensitive"):
        fitted.pick(KNOWN)
    with pytest.raises(ValueError, match="The menu has 'scorecard', 'in order'"):
        fitted.pick("in ordre")


def test_what_is_picked_is_a_fit_with_a_certificate_at_its_own_level(people, fitted):
    before = fitted.patch_
    picked = fitted.pick(IN_ORDER)
    assert fitted.patch_ == before
    assert picked.certificate_.target.confidence == pytest.approx(0.975)
    assert picked.choice_.change_rate == fitted.menu_.named(IN_ORDER).change_rate
    assert (picked.predict(people) == picked.patched_.decide(people)).all()
    again = pickle.loads(pickle.dumps(picked))
    assert (again.predict(people) == picked.predict(people)).all()


def test_a_fit_that_was_saved_before_it_had_a_menu_says_so(people):
    g = FairPatch("score", Target(p_rule=0.8)).fit(people, "y", sensitive_features=["group"])
    again = pickle.loads(pickle.dumps(g))
    with pytest.raises(ValueError, match="before it was made"):
        _ = again.menu_


def test_the_price_list_says_what_the_order_costs(people):
    """The group's proxies count for people what f counts against them: order is dear."""
    r = np.random.default_rng(0)
    table = people.copy()
    b = (table["group"] == "b").to_numpy()
    table["priors"] = r.poisson(1 + 3 * b)
    table["score"] = 1 / (
        1 + np.exp(-(np.log(table["score"] / (1 - table["score"])) - 0.5 * table["priors"] + 1))
    )
    kept = table[["score", "priors", "group", "y"]].assign(noise=r.normal(size=len(table)))

    def f(X):
        odds = 1.2 - 0.8 * np.asarray(X["priors"], float) + np.asarray(X["noise"], float)
        return 1 / (1 + np.exp(-odds))

    g = FairPatch(f, Target(p_rule=0.8), learner=Card(keep_order=None), roles=Roles())
    g.fit(kept.drop(columns="score"), "y", sensitive_features=["group"])
    assert g.menu_[0].turned == ("priors",)
    first, *rest = g.menu_.prices
    assert g.menu_.named(SCORECARD).stops
    assert first.words in g.menu_.price_list()
    assert all(p.change_rate <= first.change_rate for p in rest)


def test_who_is_held_back_only_by_lines_that_take_points(fitted):
    patch, rows = fitted.patch_, fitted.fitted_.search.learned.rows
    taken = np.zeros(len(rows))
    for concept in patch.concepts:
        alone = patch.model_copy(update={"concepts": (concept,)}).points(rows.X)
        taken += np.minimum(alone, 0)
    points, sure = patch.points(rows.X), patch.confidence(rows.f, rows.X)
    denied, card = rows.f <= 0, patch.card
    now = patch.decide(rows.X, rows.f)
    gains = denied & (points - taken - sure >= card.approve_at) & (patch.direction != "demote_only")
    stays = ~denied & (points - taken + sure > card.deny_at)
    assert (held_back(patch, rows.X, rows.f) == (~now & (gains | stays))).all()


def test_the_law_may_let_a_group_decide(people):
    g = FairPatch("score", Target(p_rule=0.8), may_use_sensitive=True)
    g.fit(people, "y", sensitive_features=["group"])
    assert g.patch_.decides_by == ("group",)
    assert "It decides by group." in str(g.patch_)
    flags = g.review(people, "y", sensitive_features=["group"], refits=0).summary.findings
    assert any(f.level == "stop" and "No legal basis" in f.text for f in flags)
    plain = FairPatch("score", Target(p_rule=0.8)).fit(people, "y", sensitive_features=["group"])
    assert plain.patch_.decides_by == ()
    assert g.preferred_.change_rate < plain.preferred_.change_rate
    with pytest.raises(TypeError, match="names of columns"):
        FairPatch("score", Target(p_rule=0.8), may_use_sensitive=True).fit(
            people.drop(columns="group"), "y", sensitive_features=people["group"]
        )


def test_a_group_of_six_steers_nothing_and_is_said():
    groups = {"a": (0.6, 0.0), "b": (0.4, 1.0)}
    table = Population(p_rule=0.6, accuracy=0.8, proxy=2.0, groups=groups).sample(6_000, seed=1)
    table = table.to_pandas().drop(columns="id")
    plain = FairPatch("score", Target(p_rule=0.8)).fit(table, "y", sensitive_features=["group"])
    table["group"] = table["group"].astype(str)
    table.loc[table.index[:6], "group"] = "c"
    with_six = FairPatch("score", Target(p_rule=0.8)).fit(table, "y", sensitive_features=["group"])
    assert with_six.choice_.change_rate == pytest.approx(plain.choice_.change_rate, abs=0.02)
    assert with_six.certificate_.verdict is Verdict.CERTIFIED
    if "Not judged" not in str(with_six.certificate_):  # none of the six certifies
        assert len(with_six.certificate_.counts.by("group").known().groups) == 2


def test_a_certificate_makes_no_other_model_of_a_patch(people):
    g = FairPatch("score", Target(p_rule=0.9)).fit(
        people[:1_500], "y", sensitive_features=["group"]
    )
    least = g.choice_.bound.change_rate
    both = g.choice_.change_rate > 0.2 and g.choice_.change_rate > 3 * least
    was = g.preferred_.change_rate > 0.2 and g.preferred_.change_rate > 3 * least
    assert was or not both


@pytest.mark.parametrize(("may", "level"), [(False, 0.975), (True, 1 - 0.05 / 3)])
def test_the_error_is_shared_by_all_entries_that_can_be_picked(monkeypatch, may, level):
    monkeypatch.setattr(menu.MenuEntry, "of", lambda name, *_, **__: menu.MenuEntry(name, ""))
    monkeypatch.setattr(menu, "_may_read_groups", lambda _: may)
    monkeypatch.setattr(menu, "_prices", lambda *_: ())
    for make in ("_in_order", "_fewest", "_known"):
        monkeypatch.setattr(menu, make, lambda search: search)
    pool = SimpleNamespace(decision=Decision())
    search = SimpleNamespace(
        frontier=SimpleNamespace(candidates=pool), learner=Card(), ladder=[],
        task=SimpleNamespace(target=Target(p_rule=0.8)),
    )  # fmt: skip
    asked = []
    menu.menu_of(search, None, lambda *given: asked.append(given[2]))
    assert asked == pytest.approx([level] * 3)
