"""h, the adversary: guesses S from the patched score (and from y, for equalized odds), stacked.

One hidden layer on g_logit; each sensitive feature has its own output, a softmax over its values
with the first one's logit fixed at 0. What h cannot guess from g, g does not tell.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Adversary(NamedTuple):
    """M adversaries with H hidden units, and K - 1 logits for a feature of K values."""

    w: Tensor  # (M, inputs, H)
    b: Tensor  # (M, 1, H)
    u: Tensor  # (M, H, outputs)
    c: Tensor  # (M, 1, outputs)


def start(seeds: Sequence[int], n_inputs: int, hidden: int, n_outputs: int) -> Adversary:
    """Adversaries that know nothing; model m depends on its seed only."""
    w, b = [], []
    for seed in seeds:
        random = torch.Generator().manual_seed(seed + 1)
        w.append(torch.randn(n_inputs, hidden, generator=random, dtype=torch.float64))
        b.append(torch.randn(1, hidden, generator=random, dtype=torch.float64))
    M = len(seeds)
    return Adversary(
        torch.stack(w),
        torch.stack(b),
        torch.zeros(M, hidden, n_outputs, dtype=torch.float64),
        torch.zeros(M, 1, n_outputs, dtype=torch.float64),
    )


def forward(adversary: Adversary, g_logit: Tensor, y: Tensor | None) -> Tensor:
    """Logits of S, (M, rows, outputs), from g_logit (M, rows) and, for equalized odds, y (rows)."""
    hidden = torch.addcmul(adversary.b, g_logit[..., None], adversary.w[:, :1])
    if y is not None:
        hidden = hidden + y[None, :, None] * adversary.w[:, 1:]
    return torch.baddbmm(adversary.c, torch.tanh(hidden), adversary.u)
