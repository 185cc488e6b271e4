"""Two LoRA adapters on one frozen base (arXiv 2106.09685), by PEFT, which only this module imports.

Adapter layers add their part to the output of the base layer in place. PEFT computes y + (x Aᵀ Bᵀ)·s with new arrays of
the size of y in every linear layer; one matrix product that accumulates into y gives the same (equation 3).
"""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora import LoraLayer
from torch import Tensor, nn

from ..config import ModelConfig


def with_adapters(model: nn.Module, config: ModelConfig, dtype: torch.dtype, seed: int) -> PeftModel:
    """Adds adapters for critic and policy; the policy's is live."""
    for weight in model.parameters():
        weight.requires_grad_(False)
    lora = lora_of(config)
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        peft = get_peft_model(model, lora, adapter_name="policy", autocast_adapter_dtype=False)
        peft.add_adapter("critic", lora, autocast_adapter_dtype=False)
    for name, weight in peft.named_parameters():
        if ".lora_" in name:
            weight.data = weight.data.to(dtype)
    peft.set_adapter("policy")
    add_in_place(peft)
    return peft


def lora_of(config: ModelConfig) -> LoraConfig:
    """Adapters go on every linear layer but the output layer."""
    return LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def adapted(model: PeftModel) -> Iterator[tuple[str, LoraLayer]]:
    for name, module in model.get_base_model().named_modules():
        if isinstance(module, LoraLayer):
            yield name, module


def add_in_place(model: PeftModel) -> None:
    """While adapters are disabled or merged, PEFT's own forward pass runs."""
    for _, layer in adapted(model):
        if type(layer.get_base_layer()) is nn.Linear and not layer.lora_variant:
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
