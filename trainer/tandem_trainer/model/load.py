"""From a folder or a name on the hub to a model and a tokenizer, or to one sentence about what is wrong with it."""

from __future__ import annotations

import errno
import importlib.util
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import transformers
from huggingface_hub.utils import disable_progress_bars
from safetensors import SafetensorError
from torch import nn
from transformers import AutoConfig, AutoTokenizer, BitsAndBytesConfig, PreTrainedTokenizerBase

from ..config import ModelConfig
from ..fault import Fault
from .hub import hub_fault

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def quiet() -> None:
    """Loading prints no progress bars and no reports; what matters of them becomes a Fault."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    disable_progress_bars()
    # PEFT asks transformers by a name that is about to change.
    warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`", category=FutureWarning)


def choose_device(asked: str) -> torch.device:
    """The device of this process; with several processes each takes the one of its LOCAL_RANK."""
    have = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if asked == "auto":
        asked = next(name for name in ("cuda", "mps", "cpu") if have[name])
    if not have[asked]:
        raise Fault(
            f"model.device is {asked}, but torch {torch.__version__} finds no such device: run `doctor`, or set "
            "model.device to cpu.",
            usage=True,
        )
    if asked != "cuda":
        return torch.device(asked)
    index = int(os.environ.get("LOCAL_RANK", "0"))
    if index >= torch.cuda.device_count():
        raise Fault(
            f"Process {index} of this machine has no GPU of its own: there are {torch.cuda.device_count()}, so start "
            "no more processes than that.",
            usage=True,
        )
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def choose_dtype(asked: str, device: torch.device) -> torch.dtype:
    """bfloat16 on CUDA, float32 elsewhere, unless another is asked for."""
    if asked == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    return DTYPES[asked]


def find_model(config: ModelConfig, run_folder: Path) -> str:
    """The folder of `config.base`, seen to hold a model, or its name on the hub."""
    given = Path(config.base).expanduser()
    folder = next((path for path in (given, run_folder / given) if path.is_dir()), None)
    if folder is None:
        if given.is_absolute() or config.base.startswith((".", "~")):
            raise Fault(f"model.base is {config.base}, but there is no such folder.", usage=True)
        return config.base
    if not (folder / "config.json").is_file():
        raise Fault(f"The folder {folder} has no config.json, so it is not a model: check model.base.", usage=True)
    if not any(path.suffix in (".safetensors", ".bin") for path in folder.iterdir()):
        raise Fault(f"The folder {folder} has no weights (model.safetensors): download the model again.", usage=True)
    if not any(path.name.startswith(("tokenizer", "vocab", "tekken")) for path in folder.iterdir()):
        raise Fault(f"The folder {folder} has no tokenizer (tokenizer.json): download the model again.", usage=True)
    return str(folder)


def load_tokenizer(config: ModelConfig, model: str, run_folder: Path) -> PreTrainedTokenizerBase:
    """The tokenizer with the chat template of its folder, or of `config.chat_template`."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
    except Exception as error:  # whatever transformers and its parsers raise for files that they cannot use
        raise _cannot_load("tokenizer", model, error) from error
    if config.chat_template is not None:
        file = run_folder / config.chat_template
        try:
            tokenizer.chat_template = file.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise Fault(f"The chat template {file} cannot be read: {error}.", usage=True) from error
    if not tokenizer.chat_template:
        raise Fault(
            f"The tokenizer of {model} has no chat template: take an instruction-tuned model, or set "
            "model.chat_template to a file with one.",
            usage=True,
        )
    return tokenizer


def context_length(model: str) -> int | None:
    """How many tokens the model was made to read; None when its configuration does not say. Errors: Fault."""
    try:
        config = AutoConfig.from_pretrained(model).get_text_config()
    except (OSError, ValueError) as error:
        raise _cannot_load("configuration", model, error) from error
    return getattr(config, "max_position_embeddings", None)


def load_model(config: ModelConfig, model: str, device: torch.device, dtype: torch.dtype) -> PreTrainedModel:
    """The model with every weight from its files, without dropout, on `device`; quantised to NF4 for QLoRA."""
    # Only where there are weights to load: `check` has none, and is twice as fast without it.
    from transformers import AutoModelForCausalLM

    settings = {"dtype": dtype, "output_loading_info": True, "ignore_mismatched_sizes": True}  # told below
    if config.training == "qlora":
        settings["quantization_config"] = _nf4(device, dtype)
    if device.type == "cuda":
        settings["device_map"] = {"": device}  # weights go straight to the GPU
    try:
        loaded, report = AutoModelForCausalLM.from_pretrained(model, **settings)
    except Exception as error:  # whatever transformers, safetensors and the hub raise for files that they cannot use
        raise _cannot_load("model", model, error) from error
    wrong = sorted({*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])})
    if wrong:
        raise Fault(
            f"Of {model}, {len(wrong)} tensors that its config.json asks for are not in its files or have another "
            f"shape, such as {wrong[0]}: download the model again.",
            usage=True,
        )
    if getattr(loaded.config.get_text_config(), "attn_logit_softcapping", None) is not None:
        loaded.set_attn_implementation("eager")  # transformers 5.18 passes over the cap otherwise
    _without_noise(loaded)
    return loaded if device.type == "cuda" else loaded.to(device)


def require_nvidia(device: torch.device) -> None:
    """For weights in 4 bits. Errors: Fault."""
    if device.type != "cuda":
        raise Fault("model.training is qlora, which needs an NVIDIA GPU, and none is used: set it to lora.", usage=True)


def _nf4(device: torch.device, dtype: torch.dtype) -> BitsAndBytesConfig:
    """4-bit NormalFloat with double quantisation (QLoRA, arXiv 2305.14314, section 3)."""
    require_nvidia(device)
    if importlib.util.find_spec("bitsandbytes") is None:
        raise Fault(
            "model.training is qlora, which needs bitsandbytes: install it (`pip install bitsandbytes`), or set it to "
            "lora.",
            usage=True,
        )
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )


def _without_noise(model: nn.Module) -> None:
    """Policy and reference are compared token by token, so no noise may come between them."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        for name in ("attention_dropout", "router_jitter_noise", "input_jitter_noise"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)


def _cannot_load(what: str, model: str, error: Exception) -> Fault:
    """One sentence for the ways in which loading goes wrong."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return Fault(f"The model {model} does not fit into memory: take a smaller one, or qlora on a GPU.")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return Fault(f"The disk is full while {model} is downloaded: make room and start again.")
    if (refused := hub_fault(model, error)) is not None:
        return refused
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if isinstance(error, SafetensorError):
        return Fault(f"The weights of {model} are damaged ({reason}): download the model again.", usage=True)
    return Fault(f"The {what} of {model} cannot be loaded, so check model.base: {reason.rstrip('.')}.", usage=True)
