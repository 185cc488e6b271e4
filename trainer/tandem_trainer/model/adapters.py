"""LoRA layers that add their part to the output of the layer below in place.

PEFT computes y + (x Aᵀ Bᵀ)·s with a new array of the size of y for the product, for the scaling and for the sum, of
every linear layer. One matrix product that accumulates into y does the same (arXiv 2106.09685, equation 3).
"""

from collections.abc import Callable

import torch.nn.functional as F
from peft import PeftModel
from peft.tuners.lora import LoraLayer
from torch import Tensor, nn


def add_in_place(model: PeftModel) -> None:
    """Replaces the forward pass of LoRA on plain linear layers; while disabled or merged, they go PEFT's way."""
    for layer in model.modules():
        if isinstance(layer, LoraLayer) and type(layer.get_base_layer()) is nn.Linear and not layer.lora_variant:
            layer.forward = _forward(layer, layer.forward)


def _forward(layer: LoraLayer, of_peft: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def forward(x: Tensor, *args, **kwargs) -> Tensor:
        if layer.disable_adapters or layer.merged or args or kwargs or len(layer.active_adapters) != 1:
            return of_peft(x, *args, **kwargs)
        (name,) = layer.active_adapters
        down, up = layer.lora_A[name].weight, layer.lora_B[name].weight
        output = layer.base_layer(x)
        rows = output.view(-1, output.shape[-1])
        rows.addmm_(F.linear(x, down).view(-1, len(down)), up.T, alpha=layer.scaling[name])
        return output

    return forward
