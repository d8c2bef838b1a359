"""The terms of the objective (equation 5 of the paper), and the unit of lambda_fair.

L_Y - lambda_fair L_S + lambda_ratio L_ratio + lambda_concepts (L_sparsity + L_diversity)
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from fairpatch._tools.arrays import Floats, Ints


def label_loss(g_logit: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """L_Y: cross-entropy of g against y, (M,). ``weight`` sums to 1."""
    return (softplus(g_logit) - y * g_logit) @ weight


def adversary_loss(logits: Tensor, s: Tensor, weight: Tensor) -> Tensor:
    """L_S of one sensitive feature of K values: cross-entropy of h against s, (M,).

    ``logits`` (M, rows, K - 1) has the first value's logit, 0, left out; rows where S is missing
    have weight 0 and serve the other losses only.
    """
    if logits.shape[-1] == 1:
        logit = logits[..., 0]
        return (softplus(logit) - s * logit) @ weight
    full = torch.cat([torch.zeros_like(logits[..., :1]), logits], -1)
    chosen = full.gather(-1, s.long()[None, :, None].expand(len(full), -1, 1))[..., 0]
    return (full.logsumexp(-1) - chosen) @ weight


def ratio_loss(r: Tensor, weight: Tensor) -> Tensor:
    """L_ratio: weighted mean of (r - 1)^2, (M,).

    The weight is what is left of the paper's M: r is one number a row, so M can only weight rows.
    """
    return (r - 1) ** 2 @ weight


def sparsity_loss(W: Tensor) -> Tensor:
    """L_sparsity: the L1 norm of W, (M,), as a term of the loss."""
    return W.abs().sum((1, 2))


def diversity_loss(W: Tensor, *, squared: bool = True) -> Tensor:
    """L_diversity: sum over pairs i < j of cos^2(W_i, W_j), (M,).

    As printed it is the cosine distance 1 - cos over all i, j: least where concepts are equal.
    """
    unit = W / W.norm(dim=-1, keepdim=True).clamp_min(1e-8)
    cosines = unit @ unit.transpose(1, 2)
    if not squared:
        distance: Tensor = (1 - cosines).sum((1, 2))
        return distance
    return torch.triu(cosines**2, diagonal=1).sum((1, 2))


# What an adversary can gain on f itself: the unit in which lambda_fair is measured.
#
#     gain = H(S) - loss of the best h on f_logit = I(S; f_logit)    (given y, for equalized odds)
#
# On one data set the score says much about S, on another next to nothing, and the same lambda would
# be too much here and nothing there. Divided by the gain, one grid of lambdas serves all (METHOD
# 3).

BINS = 16


def gain(
    f_logit: Floats,
    s: Ints,
    weight: Floats,
    y: Floats | None = None,
) -> float:
    """I(S; f_logit), or I(S; f_logit | y), in nats, by quantile bins; never below its own noise."""
    known = s >= 0
    f_logit, s, weight = f_logit[known], s[known], weight[known]
    strata = np.zeros(len(s), int) if y is None else y[known].astype(int)
    inner = np.quantile(f_logit, np.linspace(0, 1, BINS + 1)[1:-1])
    bins = np.searchsorted(inner, f_logit)
    total, noise = 0.0, 0.0
    for stratum in np.unique(strata):
        here = strata == stratum
        table = np.zeros((BINS, int(s.max()) + 1))
        np.add.at(table, (bins[here], s[here]), weight[here])
        total += weight[here].sum() / weight.sum() * _mutual_information(table)
        used_bins, used_values = (int((table.sum(axis) > 0).sum()) for axis in (1, 0))
        noise += (used_bins - 1) * (used_values - 1) / (2 * len(s))  # Miller and Madow's bias
    return max(total - noise, noise, 1e-6)


def _mutual_information(table: Floats) -> float:
    p = table / table.sum()
    independent = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    there = p > 0
    return float((p[there] * np.log(p[there] / independent[there])).sum())
