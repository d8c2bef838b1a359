"""FRAPPE (Tifrea et al. 2024): an additive term on the frozen model's logit.

g = sigmoid(f_logit + T(x)), T linear or one hidden layer; loss MMD^2 between the groups'
probabilities + lambda KL(f || g), no label loss. Conditioned on y for equalized odds.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid

from fairpatch._tools.arrays import Floats, Ints
from fairpatch.baselines.baseline import Baseline
from fairpatch.commod.train import threads_for
from fairpatch.inputs.base import Estimator
from fairpatch.measure.metric import Fairness

LENGTH = 0.1


class Frappe(Baseline):
    """Trained as published: Adagrad 0.01, 32 rows of each group a step, 100 epochs.

    T is linear, or has a ``hidden`` layer; as a ``bottleneck`` that layer has no activation, which
    is the architecture of COMMOD's ratio.
    """

    dial: ClassVar[str] = "lambda_kl"
    values: ClassVar[Sequence[float]] = tuple(np.geomspace(3.0, 0.003, 16))

    def __init__(
        self,
        estimator: Estimator = None,
        lambda_kl: float = 0.1,
        *,
        fairness: Fairness = "demographic_parity",
        hidden: int = 0,
        bottleneck: bool = False,
        n_epochs: int = 100,
        batch_size: int = 32,
        rate: float = 0.01,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.lambda_kl = lambda_kl
        self.fairness = fairness
        self.hidden = hidden
        self.bottleneck = bottleneck
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.rate = rate
        self.random_state = random_state

    def _fit(self, models: list[Self], Z: Floats, f_logit: Floats, y: Ints, s: Ints) -> None:
        """All values of lambda in one stack."""
        with threads_for(len(models) * self.batch_size * (self.hidden or 32)):
            weights = _train(self, [m.lambda_kl for m in models], Z, f_logit, y, s)
        for m, model in enumerate(models):
            model.weights_ = [w[m].numpy() for w in weights]

    def _decide(self, Z: Floats, f_logit: Floats, s: Ints) -> Any:
        return f_logit + self.term(Z) > 0

    def term(self, Z: Floats) -> Floats:
        """T(x)."""
        values: NDArray[Any] = _forward_numpy(self.weights_, Z, self.bottleneck)
        return np.asarray(values, np.float64)


def _forward_numpy(weights: list[Any], Z: Floats, bottleneck: bool) -> Any:
    if len(weights) == 2:
        return Z @ weights[0][:, 0] + weights[1][0, 0]
    W, b, v, c = weights
    hidden = Z @ W + b
    return ((hidden if bottleneck else np.maximum(hidden, 0)) @ v + c)[:, 0]


def _forward(weights: Sequence[Tensor], Z: Tensor, bottleneck: bool) -> Tensor:
    if len(weights) == 2:
        return (Z @ weights[0] + weights[1])[..., 0]
    W, b, v, c = weights
    hidden = Z @ W + b
    return ((hidden if bottleneck else torch.relu(hidden)) @ v + c)[..., 0]


def _train(
    options: Frappe, lambdas: Sequence[float], Z: Floats, f_logit: Floats, y: Ints, s: Ints
) -> list[Tensor]:
    M, d, H = len(lambdas), Z.shape[1], options.hidden
    random = torch.Generator().manual_seed(options.random_state)
    if H:
        weights = [
            (torch.randn(1, d, H, generator=random) / d**0.5).repeat(M, 1, 1),
            torch.zeros(M, 1, H),
            torch.zeros(M, H, 1),
            torch.zeros(M, 1, 1),
        ]
    else:
        weights = [torch.zeros(M, d, 1), torch.zeros(M, 1, 1)]
    for w in weights:
        w.requires_grad_()
    optimizer = torch.optim.Adagrad(weights, options.rate)
    lambda_kl = torch.tensor(lambdas, dtype=torch.float32)
    data, base = torch.tensor(Z, dtype=torch.float32), torch.tensor(f_logit, dtype=torch.float32)
    labels = (0, 1) if options.fairness == "equalized_odds" else (None,)
    cells = [
        [np.flatnonzero((s == g) & ((y == label) if label is not None else True))
         for g in range(int(s.max()) + 1)]
        for label in labels
    ]  # fmt: skip
    draw = np.random.default_rng(options.random_state)
    n = options.batch_size
    per_step = n * sum(len(groups) for groups in cells)
    for _ in range(options.n_epochs * max(1, len(y) // per_step)):
        loss = torch.zeros(M)
        for groups in cells:
            rows = torch.from_numpy(np.concatenate([draw.choice(g, n) for g in groups]))
            g_logit = base[rows] + _forward(
                weights, data[rows].expand(M, -1, -1), options.bottleneck
            )
            p = torch.sigmoid(g_logit).view(M, len(groups), n)
            for i in range(1, len(groups)):
                loss = loss + _mmd(p[:, i - 1], p[:, i]) / (len(groups) - 1)
            loss = loss + lambda_kl * _kl(base[rows], g_logit) / len(cells)
        optimizer.zero_grad()
        loss.sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return [w.detach() for w in weights]


def _mmd(a: Tensor, b: Tensor) -> Tensor:
    """Squared maximum mean discrepancy of two samples, (M, rows) each, Gaussian kernel."""

    def kernel(x: Tensor, z: Tensor) -> Tensor:
        return torch.exp(-((x[:, :, None] - z[:, None]) ** 2) / LENGTH**2).mean((1, 2))

    return kernel(a, a) + kernel(b, b) - 2 * kernel(a, b)


def _kl(f_logit: Tensor, g_logit: Tensor) -> Tensor:
    """KL(f || g) of two Bernoulli probabilities, mean over the rows."""
    p = torch.sigmoid(f_logit)
    one = logsigmoid(f_logit) - logsigmoid(g_logit)
    zero = logsigmoid(-f_logit) - logsigmoid(-g_logit)
    return (p * one + (1 - p) * zero).mean(-1)
