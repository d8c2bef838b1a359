"""r(x), the ratio, and its concepts, stacked over M models (section 5.2 of the paper).

    c_j(x) = W_j . z + b_j          a concept: linear in the encoded features z
    r(x)   = 1 + sum_j v_j c_j(x)   so r = 1, the patch that changes nothing, is v = 0

Linear on linear is not identifiable: (W_j / a, a v_j) is the same r. The scale is fixed by giving
every concept unit variance on the training rows, so that v_j is its importance.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Ratio(NamedTuple):
    """Parameters of M ratios; every tensor has the models on its first axis."""

    W: Tensor  # (M, k, d)
    b: Tensor  # (M, k)
    v: Tensor  # (M, k)


def start(seeds: Sequence[int], n_concepts: int, n_columns: int) -> Ratio:
    """Ratios of 1 everywhere: random directions without weight, by each model's own seed."""
    directions = []
    for seed in seeds:
        random = torch.Generator().manual_seed(seed)
        directions.append(torch.randn(n_concepts, n_columns, generator=random, dtype=torch.float64))
    W = torch.stack(directions) / n_columns**0.5
    return Ratio(W, torch.zeros_like(W[..., 0]), torch.zeros_like(W[..., 0]))


def forward(ratio: Ratio, Z: Tensor) -> Tensor:
    """R of every row of Z by every model: (M, rows).

    r is linear in z, so the concepts are summed up first: the cost does not grow with their number.
    """
    weights = torch.einsum("mk,mkd->md", ratio.v, ratio.W)
    offset = 1 + (ratio.v * ratio.b).sum(1, keepdim=True)
    return torch.addmm(offset, weights, Z.T)


def unit_variance(ratio: Ratio, covariance: Tensor) -> Ratio:
    """The same r, with concepts of unit variance, given z's covariance; an unused one stays 0."""
    variance = ((ratio.W @ covariance) * ratio.W).sum(-1)
    spread = torch.where(variance > 1e-12, variance, 1.0).sqrt()
    return Ratio(ratio.W / spread[..., None], ratio.b / spread, ratio.v * spread)
