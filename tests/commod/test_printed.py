"""The paper as printed: every departure has a switch, and each does what it says."""

from dataclasses import fields, replace

import numpy as np
import pytest

from fairpatch.commod import Commod, Training
from fairpatch.commod import ratio as r
from fairpatch.commod.losses import diversity_loss, sparsity_loss
from fairpatch.commod.problem import Departures, Grid, Problem
from fairpatch.commod.train import train

torch = pytest.importorskip("torch")
SHORT = {"n_steps": 60, "n_concepts": 2, "batch_size": 128}
GRID = Grid.of((1.0,), (0.1,), (0.01,))


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    s = random.integers(0, 2, (600, 1))
    Z = random.normal(size=(600, 4)) + 0.8 * s
    f = Z[:, 0] + 0.5 * Z[:, 1]
    y = (f + random.normal(size=600) > 0.5).astype(float)
    return Problem(Z, f, y, s, np.ones(600), np.ones(600))


@pytest.mark.parametrize("name", [f.name for f in fields(Departures)])
def test_every_departure_makes_a_difference(problem, name):
    printed = Training.as_printed(**SHORT)
    one = Training.as_printed(**SHORT, departures=Departures.none(**{name: True}))
    assert not np.allclose(*(train(problem, GRID, t).W for t in (printed, one)))


def test_as_printed_is_the_printed_loss():
    W = torch.tensor([[[3.0, 0.0], [3.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]]])
    assert sparsity_loss(W).tolist() == [6.0, 3.0]
    assert diversity_loss(W, squared=False).tolist() == [0.0, 2.0]  # equal concepts are best
    assert diversity_loss(W).tolist() == [1.0, 0.0]
    start = r.start([0], 2, 3, at_one=False)
    assert r.forward(start, torch.zeros(1, 3, dtype=torch.float64)).item() == 0.0
    assert not torch.equal(start.v, torch.zeros_like(start.v))


def test_groups_count_by_their_share_as_printed(problem):
    few = replace(problem, s=(np.arange(600) < 30).astype(int)[:, None])
    (share,), (root,) = few.s_weight(by_root=False), few.s_weight()
    assert share[:30].sum() / share.sum() == pytest.approx(0.05)
    assert root[:30].sum() / root.sum() > 0.15


def test_diversity_has_a_weight_of_its_own(problem):
    none = replace(Training(**SHORT), diversity=0.0)
    much = replace(none, diversity=50.0)
    cosines = []
    for training in (none, much):
        W = train(problem, Grid.of((1.0,), (0.1,), (0.1,)), training).W[0]
        size = np.linalg.norm(W, axis=1).clip(1e-9)
        cosines.append(abs(W[0] @ W[1]) / size.prod())
    assert cosines[1] <= cosines[0] + 1e-9


def test_the_estimator_runs_it_for_both_notions_of_fairness():
    random = np.random.default_rng(0)
    s = random.integers(0, 2, 800)
    X = random.normal(size=(800, 3)) + s[:, None]
    y = (X[:, 0] + random.normal(size=800) > 0.5).astype(int)

    def f(rows):
        return 1 / (1 + np.exp(-rows[:, 0] + 0.5))

    for fairness in ("demographic_parity", "equalized_odds"):
        g = Commod(f, lambda_fair=3.0, lambda_ratio=0.1, fairness=fairness,
                   training=Training.as_printed(n_steps=200))  # fmt: skip
        g.fit(X, y, sensitive_features=s)
        assert g.patch_.provenance.settings["departures"]["unit_variance"] is False
        assert np.isfinite(g.predict_ratio(X)).all()


def test_a_row_of_double_weight_is_two_people_for_the_adversary(problem):
    twice = np.where(np.arange(600) < 200, 2.0, 1.0)
    rows = np.concatenate([np.arange(600), np.arange(200)])
    (weighed,) = replace(problem, weight=twice).s_weight()
    (repeated,) = replace(problem, s=problem.s[rows], weight=np.ones(800)).s_weight()
    assert np.allclose(weighed[:200], repeated[:200] + repeated[600:])
    assert np.allclose(weighed[200:], repeated[200:600])
