"""AdamW over float32 copies of what is trained.

A step of 2e-7 is far below the spacing of bfloat16 numbers (2^-8 of their size) and would be rounded away. So weights
that are not float32 have a float32 original here, and gradients are added up in float32 however many micro-batches a
step has. Weights that are float32 already, as those of adapters are, are their own originals.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import Parameter

BETAS = (0.9, 0.95)  # the paper's settings


class Adam:
    """named: what is trained, with names under which its state is saved."""

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
        """Gradients are no longer collected: the weights belong to the next stage."""
        for hook in self.hooks:
            hook.remove()
        self.clear()

    def clear(self) -> None:
        """Forgets the gradients, those of a broken-off backward pass included."""
        for (_, parameter), original in zip(self.named, self.originals, strict=True):
            parameter.grad = original.grad = None

    def gradients(self) -> list[Tensor]:
        """The float32 gradients, in the order of `named`; zero where no example touched a weight."""
        for original in self.originals:
            if original.grad is None:
                original.grad = torch.zeros_like(original)
        return [original.grad for original in self.originals]

    def step(self, learning_rate: float) -> None:
        """One update by the gradients as they are, which are forgotten after it."""
        for group in self.adamw.param_groups:
            group["lr"] = learning_rate
        self.adamw.step()
        torch.autograd.graph.increment_version(self.originals)  # the fused step does not, and `base.py` looks at it
        with torch.no_grad():
            for (_, parameter), original in zip(self.named, self.originals, strict=True):
                if parameter is not original:
                    parameter.copy_(original)
        self.clear()

    def state(self) -> dict[str, Tensor]:
        """Moments, step counts and originals, by name."""
        tensors = {}
        for (name, parameter), original in zip(self.named, self.originals, strict=True):
            for key, value in self.adamw.state[original].items():
                tensors[f"{key}.{name}"] = value
            if parameter is not original:
                tensors[f"original.{name}"] = original.detach()
        return tensors

    def load_state(self, tensors: dict[str, Tensor]) -> None:
        """What `state` gave, for the same names."""
        with torch.no_grad():
            for (name, parameter), original in zip(self.named, self.originals, strict=True):
                for key in ("step", "exp_avg", "exp_avg_sq"):
                    if f"{key}.{name}" in tensors:  # none before the first step
                        on_cpu = key == "step" and not self.fused  # where torch counts depends on the variant
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
