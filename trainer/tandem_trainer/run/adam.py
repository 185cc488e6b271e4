"""AdamW over float32 copies of the trained weights.

A step of 2e-7 is far below the spacing of bfloat16 numbers (2^-8 of their size) and would be rounded away. So weights
of other types have a float32 original here, and gradients are summed in float32 over the micro-batches of a step.
Weights that are float32 already, such as those of adapters, are their own originals.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import Parameter

BETAS = (0.9, 0.95)  # the paper's settings


class Adam:
    """named: the trained weights, with the names under which their state is saved."""

    def __init__(self, named: Sequence[tuple[str, Parameter]], weight_decay: float):
        self.named = list(named)
        self.originals = [p if p.dtype == torch.float32 else p.detach().float().requires_grad_() for _, p in self.named]
        self.hooks = [
            parameter.register_post_accumulate_grad_hook(_add_to(original))
            for (_, parameter), original in zip(self.named, self.originals, strict=True)
            if parameter is not original
        ]
        self.fused = all(p.device.type in ("cpu", "cuda") for p in self.originals)
        self.adamw = torch.optim.AdamW(self.originals, lr=0.0, betas=BETAS, weight_decay=weight_decay, fused=self.fused)

    def close(self) -> None:
        """Stops collecting gradients, because the weights now belong to the next stage."""
        for hook in self.hooks:
            hook.remove()
        self.clear()

    def clear(self) -> None:
        """Clears the gradients, including those of an interrupted backward pass."""
        for (_, parameter), original in zip(self.named, self.originals, strict=True):
            parameter.grad = original.grad = None

    def gradients(self) -> list[Tensor]:
        """Returns the float32 gradients in the order of `named`; zero for weights that no example touched."""
        for original in self.originals:
            if original.grad is None:
                original.grad = torch.zeros_like(original)
        return [original.grad for original in self.originals]

    def step(self, learning_rate: float) -> None:
        """Makes one update by the present gradients and clears them."""
        for group in self.adamw.param_groups:
            group["lr"] = learning_rate
        self.adamw.step()
        torch.autograd.graph.increment_version(self.originals)  # the fused step does not, and `base.py` reads it
        with torch.no_grad():
            for (_, parameter), original in zip(self.named, self.originals, strict=True):
                if parameter is not original:
                    parameter.copy_(original)
        self.clear()

    def state(self) -> dict[str, Tensor]:
        """Returns moments, step counts and originals, by name."""
        tensors = {}
        for (name, parameter), original in zip(self.named, self.originals, strict=True):
            for key, value in self.adamw.state[original].items():
                tensors[f"{key}.{name}"] = value
            if parameter is not original:
                tensors[f"original.{name}"] = original.detach()
        return tensors

    def load_state(self, tensors: dict[str, Tensor]) -> None:
        """Restores the result of `state`, for the same names."""
        with torch.no_grad():
            for (name, parameter), original in zip(self.named, self.originals, strict=True):
                for key in ("step", "exp_avg", "exp_avg_sq"):
                    if f"{key}.{name}" in tensors:  # absent before the first step
                        on_cpu = key == "step" and not self.fused  # only the fused variant counts on the device
                        device = "cpu" if on_cpu else original.device
                        self.adamw.state[original][key] = tensors[f"{key}.{name}"].to(device)
                if parameter is not original:
                    original.copy_(tensors[f"original.{name}"])


def _add_to(original: Tensor):
    def collect(parameter: Tensor) -> None:
        gradient = parameter.grad.float()
        original.grad = gradient if original.grad is None else original.grad.add_(gradient)
        parameter.grad = None

    return collect
