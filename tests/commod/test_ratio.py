"""r and its concepts: starts at 1, unit variance changes nothing but the scale."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairpatch.commod import ratio


def random_ratio(seed, M=3, k=2, d=4):
    r = ratio.start(range(seed, seed + M), k, d)
    g = torch.Generator().manual_seed(seed)
    return r._replace(
        v=torch.randn(M, k, generator=g, dtype=torch.float64),
        a=torch.randn(M, 1, generator=g, dtype=torch.float64),
    )


def test_it_starts_as_the_patch_that_changes_nothing():
    Z = torch.randn(10, 4, dtype=torch.float64)
    assert torch.equal(ratio.forward(ratio.start([0, 1], 3, 4), Z), torch.ones(2, 10).double())


@given(st.integers(0, 1000))
def test_forward_is_one_plus_the_weighted_concepts(seed):
    r = random_ratio(seed)
    Z = torch.from_numpy(np.random.default_rng(seed).normal(size=(7, 4)))
    for m in range(3):
        concepts = Z @ r.W[m].T
        assert torch.allclose(ratio.forward(r, Z)[m], 1 + r.a[m] + concepts @ r.v[m])


@given(st.integers(0, 1000))
def test_unit_variance_keeps_r_and_fixes_the_scale(seed):
    r = random_ratio(seed)
    r.W[0, 0] = 0  # an unused concept
    Z = torch.from_numpy(np.random.default_rng(seed).normal(size=(50, 4)) * [1, 5, 0.1, 2])
    scaled = ratio.unit_variance(r, torch.cov(Z.T, correction=0))
    assert torch.allclose(ratio.forward(r, Z), ratio.forward(scaled, Z))
    spread = torch.einsum("mkd,nd->mkn", scaled.W, Z).std(-1, correction=0)
    assert spread[0, 0] == 0
    assert torch.allclose(spread.flatten()[1:], torch.ones(5).double())


def test_model_m_depends_on_its_own_seed_only():
    alone, stacked = ratio.start([7], 2, 3), ratio.start([1, 7], 2, 3)
    assert torch.equal(alone.W[0], stacked.W[1])
    assert not torch.equal(stacked.W[0], stacked.W[1])
