"""Adam, elementwise, so that stacked models never meet; with the proximal step of an L1 penalty.

torch.optim.Adam does not show its step size per weight, which the proximal step needs: with it a
weight is exactly zero wherever the gradient is weaker than the penalty.
"""

import torch
from torch import Tensor


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
