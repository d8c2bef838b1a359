"""Candidates: what training is given, and the matrices against the patches."""

import numpy as np
import pytest
from scipy.special import expit, logit

from fairpatch.choose.candidates import train_candidates
from fairpatch.data.rows import Rows
from fairpatch.learn.problem import Grid, Settings

GRID = Grid.of((1.0, 10.0), (0.3,), (0.01,))
SETTINGS = Settings(n_steps=40)


def rows(n=400, **more):
    random = np.random.default_rng(0)
    s = random.integers(0, 2, n)
    X = random.normal(size=(n, 3)) + s[:, None]
    return Rows.of(X, random.integers(0, 2, n), s, X[:, 0] - 0.5, **more)


@pytest.mark.parametrize("cutoff", [0.5, 0.2])
def test_fishers_weight_is_the_local_divergence_of_f_and_g(cutoff, monkeypatch):
    """KL(f || g) for r near 1 is (r - 1)^2 f_logit^2 p (1 - p) / 2: checked by differences."""
    given = rows()
    seen = []
    trained = train_candidates(given, GRID, SETTINGS).ratios
    monkeypatch.setattr(
        "fairpatch.choose.candidates.train", lambda p, *_: seen.append(p) or trained
    )
    train_candidates(given, GRID, SETTINGS, ratio_loss="fisher", cutoff=cutoff)
    step, t = 1e-4, logit(cutoff)
    p, q = expit(given.f + t), expit((1 + step) * given.f + t)
    divergence = (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))) / step**2 * 2
    weight = seen[0].ratio_weight
    assert weight.mean() == pytest.approx(1.0)
    assert np.allclose(weight / weight.mean(), divergence / divergence.mean(), rtol=2e-3, atol=1e-3)


def test_a_dear_change_weighs_so_much_more(monkeypatch):
    cost, weight = np.linspace(1, 3, 400), np.linspace(2, 1, 400)
    given, seen = rows(change_cost=cost, sample_weight=weight), []
    trained = train_candidates(given, GRID, SETTINGS).ratios
    monkeypatch.setattr(
        "fairpatch.choose.candidates.train", lambda p, *_: seen.append(p) or trained
    )
    train_candidates(given, GRID, SETTINGS)
    assert np.allclose(seen[0].ratio_weight, cost / np.average(cost, weights=weight))
    assert np.array_equal(seen[0].weight, weight)


def test_matrices_and_patches_decide_alike():
    given = rows()
    candidates = train_candidates(given, GRID, SETTINGS)
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
    candidates = train_candidates(rows(), GRID, SETTINGS, cutoff=0.3)
    patch = candidates.patch(1)
    assert patch.cutoff == 0.3
    assert [c.name for c in patch.concepts] == [
        f"concept {i + 1}" for i in range(len(patch.concepts))
    ]
    weights = [abs(c.weight) for c in patch.concepts]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) > 1
    assert patch.provenance.training_rows == 400
    assert patch.provenance.sensitive_features == ("sensitive",)
    assert set(patch.provenance.versions) == {"python", "fairpatch", "numpy", "torch"}
