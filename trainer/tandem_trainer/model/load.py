"""Loads a model from its folder to a device, or fails with one sentence."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn
from transformers import BitsAndBytesConfig

from ..config import ModelConfig
from ..fault import Fault, UsageFault
from .files import called
from .folder_check import cannot_load, configuration_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def choose_device(asked: str) -> torch.device:
    """Of several processes each takes the device of its LOCAL_RANK."""
    have = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if asked == "auto":
        asked = next(name for name in ("cuda", "mps", "cpu") if have[name])
    if not have[asked]:
        raise UsageFault(
            f"model.device is {asked}, but torch {torch.__version__} finds no such device: run `doctor`, or set "
            "model.device to cpu."
        )
    if asked != "cuda":
        return torch.device(asked)
    index = int(os.environ.get("LOCAL_RANK", "0"))
    if index >= torch.cuda.device_count():
        raise UsageFault(
            f"Process {index} of this machine has no GPU of its own: there are {torch.cuda.device_count()}, so start "
            "no more processes than that."
        )
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def choose_dtype(asked: str, device: torch.device) -> torch.dtype:
    """bfloat16 on CUDA and float32 elsewhere, unless another dtype is requested."""
    if asked == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    return DTYPES[asked]


def load_model(config: ModelConfig, model: Path, device: torch.device, dtype: torch.dtype) -> PreTrainedModel:
    """Loads without dropout; every weight must be in the files. For QLoRA it is quantised to NF4. Errors: Fault."""
    # Imported here because it takes seconds.
    from transformers import AutoModelForCausalLM

    settings = {"dtype": dtype, "output_loading_info": True, "ignore_mismatched_sizes": True}  # mismatches: see below
    if config.training == "qlora":
        settings["quantization_config"] = _nf4(device, dtype)
    if device.type == "cuda":
        settings["device_map"] = {"": device}  # weights go straight to the GPU
    configuration_of(model)
    try:
        loaded, report = AutoModelForCausalLM.from_pretrained(model, **settings)
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise Fault(
            f"The model {called(model)} does not fit into memory: take a smaller one, or qlora on a GPU."
        ) from error
    except Exception as error:  # transformers, safetensors and the hub raise many types for unusable files
        raise cannot_load("model", model, error) from error
    wrong = sorted({*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])})
    if wrong:
        raise UsageFault(
            f"Of {called(model)}, {len(wrong)} tensors that its config.json asks for are not in its files or have "
            f"another shape, such as {wrong[0]}: download the model again."
        )
    _as_trained(loaded)
    return loaded if device.type == "cuda" else loaded.to(device)


def skeleton(model: Path, dtype: torch.dtype) -> PreTrainedModel:
    """On the meta device, without weights."""
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        made = AutoModelForCausalLM.from_config(configuration_of(model), dtype=dtype)
    _as_trained(made)
    return made


def _as_trained(model: PreTrainedModel) -> None:
    if getattr(model.config.get_text_config(), "attn_logit_softcapping", None) is not None:
        model.set_attn_implementation("eager")  # transformers 5.18 ignores the cap otherwise
    for module in model.modules():  # without noise, because policy and reference are compared token by token
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        for name in ("attention_dropout", "router_jitter_noise", "input_jitter_noise"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)


def require_nvidia(device: torch.device) -> None:
    """4-bit weights need an NVIDIA GPU. Errors: Fault."""
    if device.type != "cuda":
        raise UsageFault("model.training is qlora, which needs an NVIDIA GPU, and none is used: set it to lora.")


def _nf4(device: torch.device, dtype: torch.dtype) -> BitsAndBytesConfig:
    """4-bit NormalFloat with double quantisation (QLoRA, arXiv 2305.14314, section 3)."""
    require_nvidia(device)
    if importlib.util.find_spec("bitsandbytes") is None:
        raise UsageFault(
            "model.training is qlora, which needs bitsandbytes: install it (`pip install bitsandbytes`), or set it to "
            "lora."
        )
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=dtype
    )
