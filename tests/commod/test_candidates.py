"""Candidates: what training is given, and the matrices against the patches."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from fairpatch.choose.frontier import Frontier, group_probabilities
from fairpatch.choose.learner import Learned
from fairpatch.commod import Commod
from fairpatch.commod.adversarial import train_candidates
from fairpatch.commod.problem import Grid, Training
from fairpatch.data.rows import Rows
from fairpatch.decision import Decision
from fairpatch.estimator import seed_of
from fairpatch.patch.encoding import Encoder

GRID = Grid.of((1.0, 10.0), (0.3,), (0.01,))
TRAINING = Training(n_steps=40)


def rows(n=400, **more):
    random = np.random.default_rng(0)
    s = random.integers(0, 2, n)
    X = random.normal(size=(n, 3)) + s[:, None]
    return Rows.of(X, random.integers(0, 2, n), s, X[:, 0] - 0.5, **more)


@pytest.mark.parametrize("threshold", [0.5, 0.2])
def test_fishers_weight_is_the_local_divergence_of_f_and_g(threshold, monkeypatch):
    """KL(f || g) for r near 1 is (r - 1)^2 f_logit^2 p (1 - p) / 2: checked by differences."""
    given = rows()
    seen = []
    trained = train_candidates(given, GRID, TRAINING).ratios
    monkeypatch.setattr(
        "fairpatch.commod.adversarial._trainer", lambda: lambda p, *_: seen.append(p) or trained
    )
    train_candidates(
        given, GRID, replace(TRAINING, ratio_loss="fisher"), decision=Decision(threshold=threshold)
    )
    step, t = 1e-4, logit(threshold)
    p, q = expit(given.f + t), expit((1 + step) * given.f + t)
    divergence = (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))) / step**2 * 2
    weight = seen[0].ratio_weight
    assert weight.mean() == pytest.approx(1.0)
    assert np.allclose(weight / weight.mean(), divergence / divergence.mean(), rtol=2e-3, atol=1e-3)


def test_a_dear_change_weighs_so_much_more(monkeypatch):
    cost, weight = np.linspace(1, 3, 400), np.linspace(2, 1, 400)
    given, seen = rows(change_cost=cost, sample_weight=weight), []
    trained = train_candidates(given, GRID, TRAINING).ratios
    monkeypatch.setattr(
        "fairpatch.commod.adversarial._trainer", lambda: lambda p, *_: seen.append(p) or trained
    )
    train_candidates(given, GRID, TRAINING)
    assert np.allclose(seen[0].ratio_weight, cost / np.average(cost, weights=weight))
    assert np.array_equal(seen[0].weight, weight)


def test_matrices_and_patches_decide_alike():
    given = rows()
    candidates = train_candidates(given, GRID, TRAINING)
    decided, ratio = candidates.decide(given.X, given.f), candidates.ratio(given.X)
    for m in range(len(candidates)):
        patch = candidates.patch(m)
        assert np.allclose(patch.ratio(given.X), ratio[m])
        assert np.array_equal(patch.decide(given.X, given.f), decided[m])
        assert patch.provenance.settings["lambda_fair"] == GRID.fair[m]
    moved = candidates.importance()
    assert set(moved) == {"x0", "x1", "x2"}
    assert all(v >= 0 for v in moved.values())


def test_a_patch_has_the_candidates_cut_off_and_its_concepts_by_importance():
    candidates = train_candidates(rows(), GRID, TRAINING, decision=Decision(threshold=0.3))
    patch = candidates.patch(1)
    assert patch.threshold == 0.3
    assert [c.name for c in patch.concepts] == [
        f"concept {i + 1}" for i in range(len(patch.concepts))
    ]
    weights = [abs(c.weight) for c in patch.concepts]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) > 1
    assert patch.provenance.training_rows == 400
    assert patch.provenance.sensitive_features == ("sensitive",)
    assert set(patch.provenance.versions) == {"python", "fairpatch", "numpy", "torch"}


def test_a_concept_without_weight_or_columns_is_left_out():
    candidates = train_candidates(rows(), GRID, TRAINING)
    trained = candidates.ratios
    v, W = trained.v.copy(), trained.W.copy()
    v[0, 0], W[0, 1] = 0.0, 0.0
    some = replace(candidates, ratios=replace(trained, v=v, W=W))
    assert len(some.patch(0).concepts) == len(candidates.patch(0).concepts) - 2
    assert np.allclose(some.patch(0).ratio(rows().X), some.ratio(rows().X)[0])


def traced(candidates, given):
    learned = Learned(candidates, given, candidates.ratio(given.X))
    return Frontier.trace(learned, candidates.encoder)


def test_rows_that_stand_for_several_people_are_traced_as_so_many():
    given, times = rows(), np.random.default_rng(1).integers(1, 4, 400)
    candidates = train_candidates(given, GRID, TRAINING)
    one = traced(candidates, replace(given, sample_weight=times.astype(float)))
    many = traced(candidates, given.take(np.repeat(np.arange(400), times)))
    assert one.weight is not None
    assert many.weight is None
    for a, b in zip(one.records(), many.records(), strict=True):
        assert a.change_rate == pytest.approx(b.change_rate)
        assert a.metrics["sensitive"] == pytest.approx(b.metrics["sensitive"])
    assert one.displacement(1, 1.5) == pytest.approx(many.displacement(1, 1.5))


@pytest.mark.parametrize(("few", "known"), [(9, False), (10, True)])
def test_p_of_s_given_x_needs_ten_people_of_a_group(few, known):
    x = np.random.default_rng(0).normal(size=(100, 1))
    given = Rows.of(x, np.zeros(100, int), np.where(np.arange(100) < few, "a", "b"))
    assert bool(group_probabilities(given, Encoder.fit(x))) == known
    three = Rows.of(x, np.zeros(100, int), np.arange(100) % 3)
    assert group_probabilities(three, Encoder.fit(x)) == {}


def test_one_number_for_all_that_is_drawn():
    assert seed_of(7) == seed_of(np.int64(7)) == 7
    state = np.random.RandomState(0)
    first = seed_of(state)
    assert first == seed_of(np.random.RandomState(0)) != seed_of(state)
    assert 0 <= first < 2**31


def test_a_columns_importance_is_that_of_all_its_levels():
    given = rows()
    X = pd.DataFrame(given.X, columns=list("abc"))
    X["level"] = np.where(given.s.codes[:, 0] == 1, "x", np.where(X["a"] > 0, "y", "z"))
    candidates = train_candidates(replace(given, X=X), GRID, TRAINING)
    by_feature = np.abs(np.einsum("mk,mkd->md", candidates.ratios.v, candidates.ratios.W)).mean(0)
    found = candidates.importance()
    assert list(found) == ["a", "b", "c", "level"]
    assert found["level"] == pytest.approx(by_feature[3:].sum())
    assert found["a"] == pytest.approx(by_feature[0])


def test_displacement_is_between_probabilities_at_any_cut_off():
    given, t = rows(), logit(0.3)
    candidates = train_candidates(given, GRID, TRAINING, decision=Decision(threshold=0.3))
    frontier = traced(candidates, given)
    patch = candidates.patch(1).with_strength(0.7)
    before, after = expit(given.f + t), expit(patch.logits(given.X, given.f) + t)
    assert frontier.displacement(1, 0.7) == pytest.approx(np.abs(after - before).mean())
    assert (
        frontier.counts.along("label")[2] == 0
    )  # labels are known, so bounds can count correct ones
    assert patch.provenance.settings["ratio_loss"] == "uniform"


def test_what_a_change_costs_reaches_the_training(monkeypatch):
    """Nobody's decision changes whose change is priced beyond all others."""
    given, seen = rows(), []

    class SeenError(Exception):
        pass

    def stop(problem, *_, **__):
        seen.append(problem.change_cost)
        raise SeenError

    monkeypatch.setattr("fairpatch.commod.estimator.train_candidates", stop)
    cost = np.linspace(1, 3, len(given.labels))
    with pytest.raises(SeenError):
        Commod(lambda X: np.full(len(X), 0.5)).fit(
            np.asarray(given.X), given.labels, sensitive_features=given.s.codes[:, 0],
            change_cost=cost,
        )  # fmt: skip
    assert np.array_equal(seen[0], cost)
