"""AdamW over float32 copies of the trained weights; each of several processes has its own parts of them.

A step of 2e-7 is far below the spacing of bfloat16 numbers (2^-8 of their size) and would be rounded away. So weights
of other types have a float32 original here, and gradients are summed in float32 over the micro-batches of a step.
Weights that are float32 already, such as those of adapters, are their own originals.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.nn import Parameter

from ..model.fsdp import like, part_of
from .distributed import Ranks

BETAS = (0.9, 0.95)  # the paper's settings


class Adam:
    """named: the trained weights, with the names under which their state is saved."""

    def __init__(self, named: Sequence[tuple[str, Parameter]], weight_decay: float, ranks: Ranks = Ranks()):  # noqa: B008  it is frozen
        self.named, self.ranks = list(named), ranks
        self.originals = [_original(parameter) for _, parameter in self.named]
        self.hooks = [
            parameter.register_post_accumulate_grad_hook(_add_to(original))
            for (_, parameter), original in zip(self.named, self.originals, strict=True)
            if parameter is not original
        ]
        fused = all(original.device.type in ("cpu", "cuda") for original in self.originals)
        self.adamw = torch.optim.AdamW(self.originals, lr=0.0, betas=BETAS, weight_decay=weight_decay, fused=fused)
        for original in self.originals:
            step = torch.zeros((), device=original.device if fused else "cpu")  # only the fused variant counts there
            moments = {name: torch.zeros_like(original, requires_grad=False) for name in ("exp_avg", "exp_avg_sq")}
            self.adamw.state[original] = {"step": step, **moments}

    def close(self) -> None:
        """The weights now belong to the next stage."""
        for hook in self.hooks:
            hook.remove()
        self.clear()

    def clear(self) -> None:
        """Clears also the gradients of an interrupted backward pass."""
        for (_, parameter), original in zip(self.named, self.originals, strict=True):
            parameter.grad = original.grad = None

    def gradients(self) -> list[Tensor]:
        """Float32, in the order of `named`, summed over all processes; zero for weights that no example touched."""
        for (_, parameter), original in zip(self.named, self.originals, strict=True):
            if original.grad is None:
                original.grad = torch.zeros_like(original)
            if not isinstance(parameter, DTensor):  # such as a value head, which every process has whole
                self.ranks.sum(original.grad)
        return [original.grad for original in self.originals]

    def norm(self) -> float:
        """The norm of all gradients, over all processes; after `gradients`."""
        parts = [o.grad for (_, p), o in zip(self.named, self.originals, strict=True) if isinstance(p, DTensor)]
        wholes = [o.grad for (_, p), o in zip(self.named, self.originals, strict=True) if not isinstance(p, DTensor)]
        square = torch.nn.utils.get_total_norm(parts).square().double().cpu()
        self.ranks.sum(square)
        return float((square + torch.nn.utils.get_total_norm(wholes).square().double().cpu()).sqrt())

    def step(self, learning_rate: float) -> None:
        for group in self.adamw.param_groups:
            group["lr"] = learning_rate
        self.adamw.step()
        torch.autograd.graph.increment_version(self.originals)  # the fused step does not, and `base.py` reads it
        with torch.no_grad():
            for (_, parameter), original in zip(self.named, self.originals, strict=True):
                if parameter.dtype != torch.float32:
                    part_of(parameter).copy_(original)
        self.clear()

    def state(self) -> dict[str, Tensor]:
        """Moments, step counts and originals by name, not copied."""
        tensors = {}
        for (name, parameter), original in zip(self.named, self.originals, strict=True):
            for key, value in self.adamw.state[original].items():
                tensors[f"{key}.{name}"] = value if key == "step" else like(parameter, value)
            if parameter.dtype != torch.float32:
                tensors[f"original.{name}"] = like(parameter, original.detach())
        return tensors


def _original(parameter: Parameter) -> Tensor:
    """A weight itself is optimised if it is float32 and whole, else its part in float32."""
    if parameter.dtype == torch.float32 and not isinstance(parameter, DTensor):
        return parameter
    return part_of(parameter.detach()).float().requires_grad_()


def _add_to(original: Tensor):
    def collect(parameter: Tensor) -> None:
        gradient = part_of(parameter.grad).float()
        original.grad = gradient if original.grad is None else original.grad.add_(gradient)
        parameter.grad = None

    return collect
