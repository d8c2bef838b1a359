"""Rows whose decision is a matter of policy: never changed, by anything."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from fairpatch import FairPatch, Patch, Roles, Target, review
from fairpatch.commod import Adversarial, Training
from fairpatch.data.engine import count_table
from fairpatch.datasets import Population
from fairpatch.inputs.base import BaseModel
from fairpatch.measure import p_rule
from fairpatch.measure.counts import Counts
from fairpatch.patch import CardScale, Column, Lock, edit, load, save
from fairpatch.patch.apply import apply
from fairpatch.patch.edit import difference

LOCKED = {"policy": ["knock-out", "guaranteed"], "amount": {"at_least": 45_000}}


def people(n=4_000, seed=3):
    random = np.random.default_rng(seed)
    frame = Population(p_rule=0.6, accuracy=0.8).sample(n, seed=seed).to_pandas()
    frame["policy"] = random.choice(
        ["open", "knock-out", "guaranteed", None], n, p=[0.8, 0.1, 0.05, 0.05]
    )
    frame["amount"] = random.integers(1, 51, n) * 1_000.0
    return frame


def taken_apart(frame):
    return frame.drop(columns=["id", "y", "group"]), frame["y"], frame["group"]


@pytest.fixture(scope="module")
def fitted():
    X, y, s = taken_apart(people())
    return FairPatch("score", Target(p_rule=0.75, locked=LOCKED)).fit(X, y, sensitive_features=s)


def test_nobody_who_is_locked_changes(fitted):
    X, _, _ = taken_apart(people(seed=4))
    changed = (fitted.predict(X) == 1) != (X["score"] > 0.5)
    locked = X["policy"].isin(LOCKED["policy"]) | (X["amount"] >= 45_000)
    assert 0.2 < locked.mean() < 0.4
    assert changed[~locked].mean() > 0.02
    assert not changed[locked].any()
    assert (fitted.patch_.locks(X) == locked).all()
    assert fitted.predict_proba(X[locked])[:, 1] == pytest.approx(X["score"][locked])


def test_it_is_counted_as_it_is_applied(fitted):
    X, y, s = taken_apart(people(seed=5))
    counts = fitted.patched_.count(X, y, sensitive_features=s)
    rates = [(fitted.predict(X) == 1)[s == g].mean() for g in sorted(set(s))]
    assert p_rule(counts).value == pytest.approx(min(rates) / max(rates))


def test_columns_that_lock_give_no_points(fitted):
    patch = fitted.patch_
    assert {lock.column for lock in patch.card.locked} == {"policy", "amount"}
    assert {"policy", "amount"} <= {column.name for column in patch.columns}
    assert not {"policy", "amount"} & {c for concept in patch.concepts for c in concept.columns}
    assert "Locked, never changed: policy is knock-out or guaranteed; amount from 45000." in str(
        patch
    )
    assert fitted.choice_.left_out["policy"] == "it locks decisions"


def test_counts_are_the_same_in_an_engine(fitted):
    frame = people(seed=6)
    (found,) = count_table(
        duckdb.sql("select * from frame"), [fitted.patch_], BaseModel("score"),
        y="y", sensitive_features=["group"],
    )  # fmt: skip
    f = BaseModel("score").logits(frame)
    assert found == Counts.from_arrays(
        decision=f > 0, new_decision=fitted.patch_.decide(frame, f), y=frame["y"],
        sensitive_features={"group": frame["group"]},
    )  # fmt: skip


def test_a_fit_to_a_table_in_an_engine_locks_too():
    frame = people(6_000, seed=7)
    table = duckdb.from_df(frame.assign(knocked_out=frame["policy"] == "knock-out"))
    few = {"group": ["D"]}
    g = FairPatch("score", Target(p_rule=0.75, locked={"knocked_out": True}, not_compared=few),
                  roles=Roles(key="id"))  # fmt: skip
    g.fit(table, "y", sensitive_features=["group"])
    decided = g.patched_.apply(table).df()
    assert decided["fairpatch_changed"].any()
    assert not decided["fairpatch_changed"][decided["knocked_out"]].any()


def test_locks_are_kept_in_the_file_in_edits_and_told_by_a_diff(fitted, tmp_path):
    patch = load(save(fitted.patch_, tmp_path / "patch.json"))
    assert patch == fitted.patch_
    line = patch.lines[0].name
    assert edit(patch, strike=[line]).card.locked == patch.card.locked
    free = Patch.model_validate(
        {**patch.model_dump(), "card": {**patch.card.model_dump(), "locked": ()}}
    )
    assert "locked, policy is knock-out" in str(difference(patch, free))


def test_the_review_counts_them(fitted):
    X, y, s = taken_apart(people(seed=8))
    found = review(fitted.patched_, X, y, sensitive_features=s)
    page = found.html()
    locked = fitted.patch_.locks(X).sum()
    said = page.split("Locked by policy: about ")[1].split()[0]
    assert abs(int(said.replace(",", "")) - locked) <= 5


def test_a_gap_where_a_lock_looks_is_said(fitted):
    X, y, s = taken_apart(people(seed=8))
    page = review(fitted.patched_, X, y, sensitive_features=s).html()
    said = page.split("Where a lock looks, ")[1].split()[0]
    assert abs(int(said.replace(",", "")) - X["policy"].isna().sum()) < 10


def test_a_refit_locks_what_is_policy_now(fitted):
    X, y, s = taken_apart(people(seed=9))
    again = FairPatch("score", Target(p_rule=0.75, locked={"policy": "knock-out"}))
    again.fit(X, y, sensitive_features=s, previous=fitted.patched_)
    assert again.patch_.card.locked == (Lock(column="policy", values=("knock-out",)),)


@pytest.mark.parametrize(
    ("locked", "said"),
    [
        ({"policy_": "open"}, "no such column.*'policy'"),
        ({"policy": "knockout"}, "no row is locked by policy is knockout: the column has"),
        ({"amount": {"at_least": 99_000}}, "no row is locked by amount from 99000"),
        ({"group": "a"}, "it is a sensitive feature"),
        ({"amount": {"from": 3}}, "locked must name columns"),
        ({"amount": {"at_least": 3, "values": [1]}}, "locked must name columns"),
    ],
)
def test_what_cannot_be_meant_is_refused(locked, said):
    X, y, s = taken_apart(people(500))
    with pytest.raises(ValueError, match=said):
        FairPatch("score", Target(p_rule=0.75, locked=locked)).fit(X, y, sensitive_features=s)


def test_other_learners_refuse_to_lock():
    X, y, s = taken_apart(people(500))
    few = {"group": ["C"]}
    target = Target(p_rule=0.75, locked={"policy": "knock-out"}, not_compared=few)
    quick = Adversarial(training=Training(n_steps=10))
    with pytest.raises(ValueError, match="only a scorecard locks rows"):
        FairPatch("score", target, learner=quick).fit(X, y, sensitive_features=s)


def test_locked_is_a_mapping():
    with pytest.raises(TypeError, match="locked must name columns"):
        Target(p_rule=0.8, locked="policy")
    assert "locked where policy is open" in str(Target(p_rule=0.8, locked={"policy": "open"}))


def test_a_lock_that_no_type_can_hold_is_refused():
    """Dropped, it would unlock everybody."""
    card = CardScale(approve_at=1, locked=[Lock(column="k", values=["yes"])])
    patch = Patch(columns=[Column(name="k", kind="category")], concepts=[], card=card)
    for values in ([True, False], [1, 0]):
        frame = pd.DataFrame({"k": values, "p": 0.3})
        with pytest.raises(TypeError, match="no lock of it could hold"):
            apply(patch, frame, "p")
        with pytest.raises(TypeError, match="no lock of it could hold"):
            apply(patch, duckdb.sql("SELECT * FROM frame"), "p")
