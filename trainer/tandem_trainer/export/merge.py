"""Merges the training result into plain weights: W + s·BA (LoRA, arXiv 2106.09685, section 4.1), or the full weights.

Neighbouring bfloat16 numbers are 0.4 to 0.8 % apart, and a change by less than half of that is rounded away. A few
hundred steps at a rate of 2e-6 change weights by less, so rounding the merged weights undoes most of the training
(measured: nine tenths at B = 1e-4). The rounding loss is computed first; if it is too large the weights become float32.

QLoRA's adapters were trained on 4-bit weights, so they are merged into the unpacked 4-bit weights, not the original.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..fault import Fault
from ..model.base import Base
from ..model.fsdp import whole
from ..model.memory import available_memory

LOST = 0.25  # greatest fraction of the change that rounding may remove


@dataclass(frozen=True)
class Merged:
    """lost: the fraction of the change that rounding removed, 0 to 1, by norms over all changed weights. changed: the
    norm of the change. widened: whether the weights became float32 to keep it.
    """

    changed: float
    lost: float
    widened: bool


@torch.no_grad()
def merge(plain: nn.Module | None, base: Base) -> Merged | None:
    """Gives `plain`, the base loaded again on the CPU, the present weights of `base`.

    Of several processes only the first has `plain`; the others send their parts. Errors: Fault when float32 weights
    would be needed and the system's memory does not suffice.
    """
    if plain is None:
        for _ in range(2):  # as often as the first process reads them
            for _ in _weights(None, base):
                pass
        return None
    changed, lost = _norms(plain, base, plain.dtype)
    widened = lost > LOST
    if widened:
        _require_memory(plain, lost)
        plain.float()
        lost = 0.0
    for weight, value, _ in _weights(plain, base):
        weight.copy_(value)
    return Merged(changed, lost, widened)


def _norms(plain: nn.Module, base: Base, dtype: torch.dtype) -> tuple[float, float]:
    """Returns the norm of the change, and the fraction of it that `dtype` cannot hold."""
    change = lost = 0.0
    for _, value, before in _weights(plain, base):
        change += float((value - before).square().sum(dtype=torch.float64))
        lost += float((value.to(dtype).float() - value).square().sum(dtype=torch.float64))
    return math.sqrt(change), math.sqrt(lost / change) if change else 0.0


def _weights(plain: nn.Module | None, base: Base) -> Iterator[tuple[nn.Parameter, Tensor, Tensor]]:
    """Yields each changed weight of `plain`, its new and its old value (float32, CPU); without `plain` nothing.

    All processes must read it to its end.
    """
    if base.config.training == "full":
        for name, live in base.model.named_parameters():
            now = whole(live)
            if plain is not None:
                weight = plain.get_parameter(name)
                yield weight, now.float().cpu(), weight.to(base.dtype).float()
        return
    from ..model.adapters import adapted  # PEFT is imported already

    for name, module in adapted(base.model):
        a, b = whole(module.lora_A[base.live].weight), whole(module.lora_B[base.live].weight)
        if plain is None:
            continue
        change = (b.float() @ a.float()).cpu() * module.scaling[base.live]
        weight = plain.get_submodule(name).weight
        before = _unpacked(module.weight) if base.config.training == "qlora" else weight.float()
        yield weight, before + (change.T if module.fan_in_fan_out else change), before


def _unpacked(weight: Tensor) -> Tensor:
    """Returns the numbers that 4-bit weights represent in a multiplication."""
    from bitsandbytes.functional import dequantize_4bit

    return dequantize_4bit(weight.data, weight.quant_state).float().cpu()


def _require_memory(plain: nn.Module, lost: float) -> None:
    """Passes when the free memory is unknown."""
    free, needed = available_memory(), 4.5 * sum(weight.numel() for weight in plain.parameters())
    if free is not None and free < needed:
        raise Fault(
            f"Rounding to {str(plain.dtype).removeprefix('torch.')} would take {lost:.0%} of what was learnt, and as "
            f"float32 the result needs {needed / 2**30:.1f} GiB of the system's memory, where {free / 2**30:.1f} GiB "
            "are free: free some and start the run again, which then goes on with its export."
        )
