"""The terms of the objective against plain definitions, and the proximal step."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from fairpatch.commod import adversary, losses
from fairpatch.commod.train import Adam


def tensor(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights(n, seed=0):
    w = torch.rand(n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return w / w.sum()


def test_label_loss_is_weighted_cross_entropy():
    g, y, w = tensor(3, 20), (tensor(20, seed=1) > 0).double(), weights(20)
    for m in range(3):
        expected = (binary_cross_entropy_with_logits(g[m], y, reduction="none") * w).sum()
        assert losses.label_loss(g, y, w)[m] == pytest.approx(float(expected))


@given(st.integers(2, 6), st.integers(0, 1000))
def test_adversary_loss_is_softmax_cross_entropy_for_any_number_of_groups(k, seed):
    logits, w = tensor(2, 30, k - 1, seed=seed), weights(30, seed)
    s = torch.from_numpy(np.random.default_rng(seed).integers(0, k, 30))
    full = torch.cat([torch.zeros(2, 30, 1, dtype=torch.float64), logits], -1)
    for m in range(2):
        expected = (cross_entropy(full[m], s, reduction="none") * w).sum()
        assert losses.adversary_loss(logits, s, w)[m] == pytest.approx(float(expected))


def test_ratio_loss_is_zero_only_where_nothing_changes():
    r = torch.ones(1, 5, dtype=torch.float64)
    assert losses.ratio_loss(r, weights(5)) == 0
    r[0, 2] = 3
    assert losses.ratio_loss(r, weights(5)) == pytest.approx(4 * float(weights(5)[2]))


@given(st.integers(1, 5), st.integers(0, 1000))
def test_diversity_sums_squared_cosines_over_pairs_once(k, seed):
    W = tensor(2, k, 4, seed=seed)
    for m in range(2):
        expected = sum(
            float(torch.cosine_similarity(W[m, i], W[m, j], dim=0)) ** 2
            for i in range(k)
            for j in range(i + 1, k)
        )
        assert losses.diversity_loss(W)[m] == pytest.approx(expected, abs=1e-12)


def test_diversity_is_least_for_orthogonal_concepts_not_for_equal_ones():
    """The paper's cosine *distance* would prefer the opposite."""
    equal = torch.ones(1, 2, 2, dtype=torch.float64)
    assert losses.diversity_loss(equal) == pytest.approx(1)
    assert losses.diversity_loss(torch.eye(2, dtype=torch.float64)[None]) == 0


def test_the_adversary_reads_y_only_when_it_is_given():
    h = adversary.start([0, 1], 2, 4, 3)
    h = h._replace(u=tensor(2, 4, 3))
    g, y = tensor(2, 6), torch.tensor([0.0, 1, 0, 1, 0, 1], dtype=torch.float64)
    assert adversary.forward(h, g, y).shape == (2, 6, 3)
    assert not torch.allclose(adversary.forward(h, g, y), adversary.forward(h, g, 1 - y))


def test_adam_equals_torchs_and_the_proximal_step_solves_the_lasso():
    target = tensor(1, 8)
    mine, theirs = (torch.zeros(1, 8, dtype=torch.float64, requires_grad=True) for _ in range(2))
    adam, reference = Adam([mine.detach()], 0.05), torch.optim.Adam([theirs], 0.05)
    for _ in range(50):
        adam.step(torch.autograd.grad(((mine - target) ** 2).sum(), [mine]))
        reference.zero_grad()
        ((theirs - target) ** 2).sum().backward()
        reference.step()
    assert torch.allclose(mine, theirs, atol=1e-6)

    p = torch.zeros(1, 8, dtype=torch.float64, requires_grad=True)
    adam, penalty = Adam([p.detach()], 0.02), torch.tensor([[0.8]], dtype=torch.float64)
    for step in range(3_000):
        adam.rate = 0.02 * (1 - step / 3_000)
        adam.step(torch.autograd.grad(((p - target) ** 2).sum() / 2, [p]))
        adam.shrink(0, penalty)
    lasso = torch.sign(target) * torch.relu(target.abs() - 0.8)
    assert torch.allclose(p.detach(), lasso, atol=1e-2)
    assert torch.equal(p.detach() == 0, lasso == 0)  # exact zeros, not small numbers
