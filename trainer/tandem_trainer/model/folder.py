"""Reads of a model's folder, or of its name on the hub, what needs no weights: tokenizer, template, length of context.

Nothing here needs torch, so that `check` can do without it.
"""

from __future__ import annotations

import errno
import warnings
from pathlib import Path

import transformers
from huggingface_hub.utils import disable_progress_bars
from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerBase

from ..config import ModelConfig
from ..fault import Fault
from .hub import hub_fault


def quiet() -> None:
    """Loading prints no progress bars and no reports; what matters of them becomes a Fault."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    disable_progress_bars()
    # PEFT asks transformers by a name that is about to change.
    warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`", category=FutureWarning)


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
        raise cannot_load("tokenizer", model, error) from error
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
        raise cannot_load("configuration", model, error) from error
    return getattr(config, "max_position_embeddings", None)


def cannot_load(what: str, model: str, error: Exception) -> Fault:
    """One sentence for the ways in which loading goes wrong."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return Fault(f"The disk is full while {model} is downloaded: make room and start again.")
    if (refused := hub_fault(model, error)) is not None:
        return refused
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if isinstance(error, SafetensorError):
        return Fault(f"The weights of {model} are damaged ({reason}): download the model again.", usage=True)
    return Fault(f"The {what} of {model} cannot be loaded, so check model.base: {reason.rstrip('.')}.", usage=True)
