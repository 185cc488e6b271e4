"""Implements Muon for matrices (Keller Jordan and others, 2024, https://kellerjordan.github.io/posts/muon).

PyTorch's own Muon always orthogonalises in bfloat16, which is twenty times slower without AVX-512.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # steep at zero; brings singular values to between 0.7 and 1.2
ITERATIONS = 5


class Muon(torch.optim.Optimizer):
    """Orthogonalised Nesterov momentum, for matrices only. The learning rate is in units of their spectral norm."""

    def __init__(self, matrices: Iterable[Tensor], lr: float, weight_decay: float, momentum: float = 0.95):
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for matrix in group["params"]:
                state = self.state[matrix]
                if not state:
                    state["mean"] = torch.zeros_like(matrix)
                mean = state["mean"]
                mean.lerp_(matrix.grad, 1 - group["momentum"])
                direction = orthogonal(matrix.grad.lerp(mean, group["momentum"]))
                rate = group["lr"] * math.sqrt(max(1.0, matrix.shape[0] / matrix.shape[1]))
                matrix.mul_(1 - group["lr"] * group["weight_decay"]).add_(direction, alpha=-rate)


def orthogonal(matrix: Tensor) -> Tensor:
    """Approximates UVᵀ of the matrix USVᵀ by Newton–Schulz iteration. (A, B) → (A, B)"""
    if matrix.shape[0] > matrix.shape[1]:
        return orthogonal(matrix.T).T
    a, b, c = NEWTON_SCHULZ
    x = matrix / matrix.norm().clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x
