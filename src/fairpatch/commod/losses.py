"""The terms of the objective (equation 5 of the paper), one number a model: pure functions.

L_Y - lambda_fair L_S + lambda_ratio L_ratio + lambda_concepts (L_sparsity + L_diversity)
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus


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
