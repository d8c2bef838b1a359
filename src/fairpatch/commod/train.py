"""Algorithm 1: r and h trained against each other, M models at once, by a stacked Adam.

Every parameter has a leading axis of models. Losses are means per model, summed, so gradients stay
independent and Adam is elementwise: model m of a stack is the same model trained alone. Training is
in float64, because adversarial training amplifies rounding: in float32 stacks of different size
drift apart (docs/decisions/0003-float64.md).
"""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairpatch._tools.arrays import Floats
from fairpatch.commod import adversary as h
from fairpatch.commod import losses
from fairpatch.commod import ratio as r
from fairpatch.commod.losses import gain
from fairpatch.commod.problem import Grid, Problem, Ratios, Step, Training
from fairpatch.measure.cells import Direction, may_demote, may_promote, untouched

# How many threads torch should use: one for small tensors, and the process's own setting after.

SMALL = 2_000_000
"""Numbers in the largest tensor of a step below which more threads cost more than they bring."""


@contextmanager
def threads_for(size: int) -> Iterator[None]:
    """Choose the threads for tensors of ``size`` numbers, and restore what was set before."""
    before = torch.get_num_threads()
    wanted = 1 if size < SMALL else min(before, os.cpu_count() or 1)
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# Adam, elementwise, so that stacked models never meet; with the proximal step of an L1 penalty.
#
# torch.optim.Adam does not show its step size per weight, which the proximal step needs: with it a
# weight is exactly zero wherever the gradient is weaker than the penalty.


class Adam:
    """Adam over a fixed list of tensors, updated in place."""

    def __init__(self, parameters: list[Tensor], rate: float) -> None:
        self.parameters = parameters
        self.rate = rate
        self.steps = 0
        self.mean = [torch.zeros_like(p) for p in parameters]
        self.square = [torch.zeros_like(p) for p in parameters]

    def step(self, gradients: tuple[Tensor, ...]) -> None:
        """One step down the gradients."""
        self.steps += 1
        beta1, beta2 = 0.9, 0.999
        torch._foreach_lerp_(self.mean, gradients, 1 - beta1)
        torch._foreach_mul_(self.square, beta2)
        torch._foreach_addcmul_(self.square, gradients, gradients, 1 - beta2)
        scale = torch._foreach_div(self.square, 1 - beta2**self.steps)
        torch._foreach_sqrt_(scale)
        torch._foreach_add_(scale, 1e-8)
        torch._foreach_addcdiv_(
            self.parameters, self.mean, scale, -self.rate / (1 - beta1**self.steps)
        )
        self.scale = scale

    def shrink(self, i: int, penalty: Tensor) -> None:
        """Proximal step of penalty * |p| on parameter i: towards zero, and stop there."""
        p = self.parameters[i]
        p.copy_(torch.sign(p) * torch.relu(p.abs() - self.rate * penalty / self.scale[i]))


# Algorithm 1: r and h trained against each other, M models at once.

RESCALE_EVERY = 25
CHUNK = 1 << 19
"""Numbers in the largest tensor of a chunk: 128 models with the default training."""


def train(problem: Problem, grid: Grid, training: Training) -> Ratios:
    """Train every model of the grid on the problem, chunk by chunk of models.

    A chunk's tensors stay in the processor's cache, and memory does not grow with the grid.
    """
    if not training.departures.one_order:
        return _by_seed(problem, grid, training)
    per_model = training.batch_size * max(training.hidden, training.n_concepts)
    size = max(1, CHUNK // per_model)
    with threads_for(min(len(grid), size) * per_model):
        parts = [_train(problem, grid[i : i + size], training) for i in range(0, len(grid), size)]
    return Ratios(*(np.concatenate([getattr(p, k) for p in parts]) for k in ("W", "v", "a")))


def _by_seed(problem: Problem, grid: Grid, training: Training) -> Ratios:
    """Models of one seed as a stack, each stack with its own order of the minibatches."""
    one_order = replace(training, departures=replace(training.departures, one_order=True))
    parts: dict[str, list[Any]] = {name: [None] * len(grid) for name in ("W", "v", "a")}
    for seed in dict.fromkeys(grid.seeds):
        at = [m for m, own in enumerate(grid.seeds) if own == seed]
        own = Grid(*([column[m] for m in at] for column in astuple(grid)))
        found = train(replace(problem, seed=problem.seed + 1 + seed), own, one_order)
        for name, held in parts.items():
            for m, value in zip(at, getattr(found, name), strict=True):
                held[m] = value
    return Ratios(*(np.stack(held) for held in parts.values()))


def _train(problem: Problem, grid: Grid, training: Training) -> Ratios:
    fair, lambda_ratio, concepts = (
        torch.tensor(values, dtype=torch.float64)
        for values in (grid.fair, grid.ratio, grid.concepts)
    )
    given_y, ours = problem.fairness == "equalized_odds", training.departures
    outputs = [k - 1 for k in problem.n_values] if any(grid.fair) else []
    s_weight = problem.s_weight(by_root=ours.groups_by_root)
    gains = [
        gain(problem.f_logit, s, w, problem.y if given_y else None) if ours.fair_by_gain else 1.0
        for s, w in zip(problem.s.T, s_weight, strict=True)
    ]

    covariance = _covariance(problem)
    ratio = r.start(grid.seeds, training.n_concepts, problem.Z.shape[1], at_one=ours.start_at_one)
    if ours.unit_variance:
        ratio = r.unit_variance(ratio, covariance)
    ratio = r.Ratio(*(p.requires_grad_() for p in ratio))
    adversary = h.start(
        grid.seeds, 1 + given_y, training.hidden, sum(outputs), without_guess=ours.h_without_guess
    )
    adversary = h.Adversary(*(p.requires_grad_() for p in adversary))
    descend_ratio = Adam([p.detach() for p in ratio], training.rate)
    descend_adversary = Adam([p.detach() for p in adversary], training.adversary_rate)

    total = training.warm_up + training.n_steps
    for step, batch in enumerate(_batches(problem, training, s_weight, total)):
        done = (step - training.warm_up) / training.n_steps
        late = ours.concepts_late and done < training.concepts_from
        gated = concepts * (not late)
        ratios = _directed(r.forward(ratio, batch.Z), batch.f_logit, problem.direction)
        g_logit = ratios * batch.f_logit
        terms = {
            "label": losses.label_loss(g_logit + problem.offset, batch.y, batch.weight),
            "ratio": lambda_ratio * losses.ratio_loss(ratios, batch.ratio_weight),
            "diversity": gated
            * training.diversity
            * losses.diversity_loss(ratio.W, squared=ours.squared_cosine),
        }
        if not ours.exact_zeros:
            terms["sparsity"] = gated * losses.sparsity_loss(ratio.W)
        if outputs:
            # One backward pass serves both players: h descends L_S, r ascends it.
            # h sees g on its own scale: shrinking all scores would hide S and change nothing.
            size = g_logit.detach().square().mean(1, keepdim=True).sqrt().clamp_min(1e-6)
            scaled = g_logit / size if ours.score_by_its_size else g_logit
            given = batch.y if given_y else None
            if not ours.both_at_once:  # as printed: h first, on the g of r as it is
                guess = h.forward(adversary, scaled.detach(), given)
                guessed = _adversary_loss(guess, outputs, batch, gains).sum()
                descend_adversary.step(torch.autograd.grad(guessed, [*adversary]))
            guess = h.forward(adversary, _reverse(scaled, fair[:, None]), given)
            terms["adversary"] = _adversary_loss(guess, outputs, batch, gains)
        whole = torch.stack(list(terms.values())).sum()
        players = [*ratio, *adversary] if outputs else [*ratio]
        gradients = torch.autograd.grad(whole, players)
        if outputs and ours.both_at_once:
            descend_adversary.step(gradients[len(ratio) :])
        if step >= training.warm_up:
            if ours.falling_rate:
                descend_ratio.rate = training.rate * (1 + math.cos(math.pi * done)) / 2
            descend_ratio.step(gradients[: len(ratio)])
            if ours.exact_zeros:
                descend_ratio.shrink(0, gated[:, None, None])
            if ours.unit_variance and step % RESCALE_EVERY == 0:
                _rescale(ratio, covariance)
        for callback in training.callbacks:
            callback(Step(step + 1, total, {k: v.detach() for k, v in terms.items()}))
    _rescale(ratio, covariance)
    return Ratios(*(p.detach().numpy() for p in ratio))


def _adversary_loss(
    guess: Tensor, outputs: list[int], batch: "_Batch", gains: list[float]
) -> Tensor:
    """L_S of all sensitive features, each in its unit."""
    return torch.stack(
        [
            losses.adversary_loss(logits, s, w) / unit
            for logits, s, w, unit in zip(
                torch.split(guess, outputs, -1), batch.s, batch.s_weight, gains, strict=True
            )
        ]
    ).sum(0)


class _Reverse(torch.autograd.Function):
    """Identity forwards; backwards the gradient times -lambda_fair: what helps h, r undoes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, fair: Tensor) -> Tensor:
        ctx.save_for_backward(fair)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (fair,) = ctx.saved_tensors
        return -fair * gradient, None


def _reverse(x: Tensor, fair: Tensor) -> Tensor:
    reversed_: Tensor = _Reverse.apply(x, fair)  # type: ignore[no-untyped-call]
    return reversed_


def _directed(ratios: Tensor, f_logit: Tensor, direction: Direction) -> Tensor:
    """r = 1 for those whom the direction leaves alone."""
    if may_promote(direction) and may_demote(direction):
        return ratios
    kept = torch.from_numpy(untouched(direction, (f_logit > 0).numpy()))
    return torch.where(kept, 1.0, ratios)


def _rescale(ratio: r.Ratio, covariance: Tensor) -> None:
    """Give the concepts unit variance again, in place: r stays, and scale cannot cheat L1."""
    with torch.no_grad():
        for p, scaled in zip(ratio, r.unit_variance(ratio, covariance), strict=True):
            p.copy_(scaled)


def _covariance(problem: Problem) -> Tensor:
    share = problem.weight / problem.weight.sum()
    centred = problem.Z - share @ problem.Z
    return torch.from_numpy(centred.T @ (centred * share[:, None]))


@dataclass(frozen=True, eq=False)
class _Batch:
    Z: Tensor
    f_logit: Tensor
    y: Tensor
    weight: Tensor
    ratio_weight: Tensor
    s: list[Tensor]
    s_weight: list[Tensor]


def _batches(problem: Problem, training: Training, s_weights: Floats, n: int) -> Iterator[_Batch]:
    """n minibatches, from one shuffle of the rows after another; weights sum to 1 in each."""
    Z, f_logit, y, s, s_weight, weight, ratio_weight = (
        torch.from_numpy(np.ascontiguousarray(a))
        for a in (
            problem.Z, problem.f_logit, problem.y, problem.s.T, s_weights,
            problem.weight, problem.weight * problem.ratio_weight,
        )
    )  # fmt: skip
    size = min(training.batch_size, len(y))
    random = np.random.default_rng(problem.seed)
    order = np.empty(0, np.intp)
    for _ in range(n):
        if len(order) < size:
            order = np.concatenate([order, random.permutation(len(y))])
        rows, order = torch.from_numpy(order[:size]), order[size:]
        w = weight[rows]
        total = w.sum()
        yield _Batch(
            Z[rows],
            f_logit[rows],
            y[rows],
            w / total,
            ratio_weight[rows] / total,
            [column[rows].clamp_min(0) for column in s],
            [k[rows] / k[rows].sum().clamp_min(1e-12) for k in s_weight],
        )
