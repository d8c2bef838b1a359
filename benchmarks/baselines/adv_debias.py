"""AdvDebias (Zhang, Lemoine and Mitchell 2018): a new classifier trained against an adversary.

The classifier's step has the part that would help the adversary projected out, and pushes against
it by alpha:   dW = gP - proj_gA(gP) - alpha gA.   It starts from the data, not from f.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.baselines.baseline import Baseline
from fairpatch.commod import adversary as h
from fairpatch.commod.losses import adversary_loss, label_loss
from fairpatch.commod.train import Adam, threads_for
from fairpatch.measure.metric import Fairness


class AdvDebias(Baseline):
    """A network of one hidden layer and an adversary on its logit (and y, for equalized odds)."""

    post_processing: ClassVar[bool] = False
    dial: ClassVar[str] = "alpha"
    values: ClassVar[Sequence[float]] = (0.0, *np.geomspace(0.03, 30, 19))

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fairness: Fairness = "demographic_parity",
        hidden: int = 32,
        n_steps: int = 600,
        batch_size: int = 256,
        rate: float = 5e-3,
        random_state: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fairness = fairness
        self.hidden = hidden
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.rate = rate
        self.random_state = random_state

    def _fit(self, models: list[Self], Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        """All values of alpha in one stack."""
        with threads_for(len(models) * self.batch_size * self.hidden):
            weights = _train(self, [m.alpha for m in models], Z, y, s)
        for m, model in enumerate(models):
            model.weights_ = [w[m].numpy() for w in weights]

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        return self.logits(Z) > 0

    def logits(self, Z: Floats) -> Floats:
        """The new classifier's log-odds."""
        W, b, v, c = self.weights_
        return np.asarray((np.maximum(Z @ W + b, 0) @ v + c)[:, 0])


def _train(
    options: AdvDebias, alphas: Sequence[float], Z: Floats, y: Ints, s: Ints
) -> list[Tensor]:
    M, d, H = len(alphas), Z.shape[1], options.hidden
    random = torch.Generator().manual_seed(options.random_state)
    groups = int(s.max()) + 1
    given_y = options.fairness == "equalized_odds"
    W = torch.randn(1, d, H, generator=random) / math.sqrt(d)
    v = torch.randn(1, H, 1, generator=random) / math.sqrt(H)
    predictor = [
        W.repeat(M, 1, 1), torch.zeros(M, 1, H), v.repeat(M, 1, 1), torch.zeros(M, 1, 1)
    ]  # fmt: skip
    adversary = h.Adversary(
        *(p.float() for p in h.start([options.random_state] * M, 1 + given_y, 16, groups - 1))
    )
    players = [p.requires_grad_() for p in predictor]
    against = h.Adversary(*(p.requires_grad_() for p in adversary))
    descend = Adam([p.detach() for p in players], options.rate)
    descend_adversary = Adam([p.detach() for p in against], 2 * options.rate)
    alpha = torch.tensor(alphas, dtype=torch.float32)
    data = torch.tensor(Z, dtype=torch.float32)
    labels, group = torch.tensor(y, dtype=torch.float32), torch.tensor(s, dtype=torch.float32)
    order = np.random.default_rng(options.random_state)
    size = min(options.batch_size, len(y))
    weight = torch.full((size,), 1 / size)
    for step in range(options.n_steps):
        rows = torch.from_numpy(order.integers(0, len(y), size))
        W, b, v, c = players
        logit = (torch.relu(torch.baddbmm(b, data[rows].expand(M, -1, -1), W)) @ v + c)[..., 0]
        own = label_loss(logit, labels[rows], weight).sum()
        guess = h.forward(against, logit, labels[rows] if given_y else None)
        theirs = adversary_loss(guess, group[rows], weight).sum()
        g_own = torch.autograd.grad(own, players, retain_graph=True)
        g_all = torch.autograd.grad(theirs, [*players, *against])
        descend.rate = options.rate * (1 + math.cos(math.pi * step / options.n_steps)) / 2
        descend.step(tuple(map(_project, g_own, g_all[:4], [alpha] * 4)))
        descend_adversary.step(g_all[4:])
    return [p.detach() for p in players]


def _project(own: Tensor, theirs: Tensor, alpha: Tensor) -> Tensor:
    """GP - proj_gA(gP) - alpha gA, each model for itself."""
    shape = (-1, *[1] * (own.dim() - 1))
    square = theirs.flatten(1).square().sum(1).clamp_min(1e-20)
    along = (own * theirs).flatten(1).sum(1) / square
    return own - (alpha.sign() * along + alpha).view(shape) * theirs
