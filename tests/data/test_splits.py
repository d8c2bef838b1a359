"""Splits in memory: three parts of the people, and the last one seen by nothing but the judge."""

from dataclasses import replace

import numpy as np

from fairpatch import BaseModel, FairPatch, Target
from fairpatch.choose.certificate import certify
from fairpatch.data.rows import Rows
from fairpatch.data.splits import in_memory
from fairpatch.datasets import Population
from fairpatch.measure import Counts


def numbered(n=2_000):
    """People whose only column is their number."""
    random = np.random.default_rng(0)
    s = random.choice(["a", "b"], n)
    return Rows.of(np.arange(float(n))[:, None], random.integers(0, 2, n), s)


def test_whoever_certifies_was_neither_learned_from_nor_chosen_on():
    splits = in_memory(numbered(), (0.5, 0.3, 0.2), None, seed=0)
    learn, select, fresh = (
        set(rows.X[:, 0]) for rows in (splits.learn, splits.select, splits.fresh.rows)
    )
    assert not learn & select
    assert not fresh & (learn | select)
    assert len(learn | select | fresh) == splits.people == 2_000


def test_only_the_rows_to_learn_from_are_sampled_and_weighed():
    rows = numbered()
    weighed = Rows.of(rows.X, rows.y, rows.groups, None, np.linspace(1, 2, len(rows)))
    splits = in_memory(weighed, (0.5, 0.3, 0.2), 100, seed=0)
    assert len(splits.learn) == 100
    assert splits.learn.sample_weight is not None
    assert splits.select.sample_weight is splits.fresh.rows.sample_weight is None
    assert len(splits.select) + len(splits.fresh.rows) == 1_000


def test_the_certificate_of_a_fit_is_that_of_its_fresh_people(quick_fit):
    g, *_ = quick_fit
    fresh = g.fitted_.fresh_rows()
    counts = Counts.from_arrays(
        decision=fresh.f > 0, new_decision=g.patched_.decide(fresh.X), y=fresh.y,
        sensitive_features=fresh.groups,
    )  # fmt: skip
    assert certify(counts, g.target).results[0].estimate == g.certificate_.results[0].estimate


def test_groups_that_a_split_lacks_are_no_groups_of_it():
    s = np.array(["a"] * 5 + ["b"] * 5 + ["only one"])
    rows = Rows.of(np.zeros((11, 1)), np.zeros(11, int), s)
    some = rows.take(np.arange(10))
    assert some.s.values == (("a", "b"),)
    assert some.s.codes.max() == 1
    assert rows.take(np.array([10, 0])).s.codes.ravel().tolist() == [1, 0]


def test_f_is_asked_once_however_often_rows_are_scored():
    asked = []
    base = BaseModel(lambda X: asked.append(len(X)) or np.full(len(X), 0.3))
    splits = in_memory(numbered(), (0.5, 0.3, 0.2), None, seed=0).scored(base).scored(base)
    assert sum(asked) == splits.people
    assert (splits.select.f < 0).all()


def test_nobody_certifies_whom_the_model_was_trained_on():
    """Also not in exchange for people whose group is known by probabilities alone."""
    rows, random = numbered(), np.random.default_rng(1)
    told = random.random(len(rows)) < 0.5
    rows = replace(rows, told=told)
    known = random.random(len(rows)) < 0.4
    splits = in_memory(rows, (0.5, 0.3, 0.2), None, seed=0, known_to_f=known)
    fresh = splits.fresh.rows.X[:, 0].astype(int)
    assert len(fresh) > 100
    assert not known[fresh].any()
    assert told[fresh].all()


def test_weights_for_learning_do_not_certify():
    """Who counts for three when it is learned is one person to whoever certifies."""
    two = {"a": (0.6, 0.0), "b": (0.4, 1.0)}
    people = Population(p_rule=0.6, groups=two).sample(3_000, seed=2).to_pandas()
    X, y, s = people.drop(columns=["id", "y", "group"]), people["y"], people["group"]
    g = FairPatch("score", Target(p_rule=0.7))
    g.fit(X, y, sensitive_features=s, sample_weight=np.where(people["group"] == "b", 3.0, 1.0))
    counts = g.certificate_.counts
    assert counts.total == len(g.fitted_.fresh_rows())
    assert not counts.weighted
