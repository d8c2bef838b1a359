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


def start(
    seeds: Sequence[int], n_inputs: int, hidden: int, n_outputs: int, *, without_guess: bool = True
) -> Adversary:  # fmt: skip
    """Adversaries by their seeds alone, ``without_guess`` of S; else as small networks start.

    That is evenly within one over the root of a unit's inputs.
    """
    w, b, u, c = [], [], [], []
    for seed in seeds:
        random = torch.Generator().manual_seed(seed + 1)

        def even(*shape: int, inputs: int, by: torch.Generator = random) -> Tensor:
            drawn = torch.rand(*shape, generator=by, dtype=torch.float64)
            scaled: Tensor = (drawn * 2 - 1) / inputs**0.5
            return scaled

        if without_guess:
            w.append(torch.randn(n_inputs, hidden, generator=random, dtype=torch.float64))
            b.append(torch.randn(1, hidden, generator=random, dtype=torch.float64))
            continue
        w.append(even(n_inputs, hidden, inputs=n_inputs))
        b.append(even(1, hidden, inputs=n_inputs))
        u.append(even(hidden, n_outputs, inputs=hidden))
        c.append(even(1, n_outputs, inputs=hidden))
    if not without_guess:
        return Adversary(*(torch.stack(each) for each in (w, b, u, c)))
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
