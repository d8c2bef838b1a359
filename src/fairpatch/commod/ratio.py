"""r(x), the ratio, and its concepts, stacked over M models (section 5.2 of the paper).

    c_j(x) = W_j . z                    a concept: linear in the encoded features z
    r(x)   = 1 + a + sum_j v_j c_j(x)   so r = 1, the patch that changes nothing, is v = a = 0

Linear on linear is not identifiable: (W_j / t, t v_j) is the same r, and of the concepts'
intercepts only their weighted sum a counts. Both are fixed by giving every concept mean 0 and
variance 1 on the training rows: v_j is its importance, 1 + a the average person's ratio.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Ratio(NamedTuple):
    """Parameters of M ratios; every tensor has the models on its first axis."""

    W: Tensor  # (M, k, d)
    v: Tensor  # (M, k)
    a: Tensor  # (M, 1)


def start(seeds: Sequence[int], n_concepts: int, n_columns: int, *, at_one: bool = True) -> Ratio:
    """Ratios of 1 everywhere: random directions without weight, by each model's own seed.

    Not ``at_one``, a linear network as it is usually started: random weights, r around 0.
    """
    directions, weights = [], []
    for seed in seeds:
        random = torch.Generator().manual_seed(seed)
        directions.append(torch.randn(n_concepts, n_columns, generator=random, dtype=torch.float64))
        weights.append(torch.randn(n_concepts, generator=random, dtype=torch.float64))
    W = torch.stack(directions) / n_columns**0.5
    if not at_one:
        v = torch.stack(weights) / n_concepts**0.5
        return Ratio(W, v, torch.full_like(v[:, :1], -1.0))
    return Ratio(W, torch.zeros_like(W[..., 0]), torch.zeros_like(W[:, :1, 0]))


def forward(ratio: Ratio, Z: Tensor) -> Tensor:
    """r of every row of Z by every model: (M, rows).

    r is linear in z, so the concepts are summed up first: the cost does not grow with their number.
    """
    weights = torch.einsum("mk,mkd->md", ratio.v, ratio.W)
    return torch.addmm(1 + ratio.a, weights, Z.T)


def unit_variance(ratio: Ratio, covariance: Tensor) -> Ratio:
    """The same r, with concepts of unit variance, given z's covariance; an unused one stays 0."""
    variance = ((ratio.W @ covariance) * ratio.W).sum(-1)
    spread = torch.where(variance > 1e-24, variance, 1.0).sqrt()
    return Ratio(ratio.W / spread[..., None], ratio.v * spread, ratio.a)
