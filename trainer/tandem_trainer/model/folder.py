"""Finds the folder of a model, and reads of it what needs no weights: tokenizer, template, length of context.

Nothing here needs torch, so that `check` can do without it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import transformers
from huggingface_hub.utils import disable_progress_bars
from safetensors import SafetensorError
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerBase

from ..config import ModelConfig
from ..fault import Fault
from .files import called, missing, not_gguf, only_gguf
from .hub import snapshot


def quiet() -> None:
    """Loading prints no progress bars and no reports; what matters of them becomes a Fault."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    disable_progress_bars()
    # PEFT asks transformers by a name that is about to change.
    warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`", category=FutureWarning)


def find_model(config: ModelConfig, run_folder: Path, *, weights: bool = True) -> Path:
    """The folder of `config.base`, seen to hold a model; for a name on the hub the download at `config.revision`.

    weights: whether those of a name on the hub are downloaded as well. Errors: Fault.
    """
    folder = _local(config, run_folder)
    if folder is None:
        folder = snapshot(config.base, config.revision, weights=weights)
        if (lack := missing(folder, weights=weights)) is not None:
            raise Fault(
                f"What was downloaded of {config.base} has no {lack}: it is not a model that transformers reads, or "
                "not all of it came. Connect this machine and try again, or take another.",
                usage=True,
            )
    elif (lack := missing(folder)) is not None:
        remedy = (
            "so it is not a model: check model.base"
            if lack == "config.json"
            else "which a model needs: download it again"
        )
        raise Fault(f"The folder {folder} has no {lack}, {remedy}.", usage=True)
    return folder


def pinned(config: ModelConfig, run_folder: Path) -> ModelConfig:
    """The same with the commit for which `revision` stands at this moment, where the base is a name on the hub."""
    if _local(config, run_folder) is not None:
        return config
    return replace(config, revision=snapshot(config.base, config.revision, weights=False).name)


def _local(config: ModelConfig, run_folder: Path) -> Path | None:
    """The folder that `config.base` names; None when it is a name on the hub. Errors: Fault."""
    given = Path(config.base).expanduser()
    if (file := next((gguf for path in (given, run_folder / given) if (gguf := only_gguf(path))), None)) is not None:
        raise Fault(f"model.base is {config.base}: {not_gguf(file)}", usage=True)
    folder = next((path for path in (given, run_folder / given) if path.is_dir()), None)
    if folder is None and (given.is_absolute() or config.base.startswith((".", "~"))):
        raise Fault(f"model.base is {config.base}, but there is no such folder.", usage=True)
    return folder


def load_tokenizer(config: ModelConfig, model: Path, run_folder: Path) -> PreTrainedTokenizerBase:
    """The tokenizer with the chat template of its folder `model`, or of `config.chat_template`."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
    except Exception as error:  # whatever transformers and its parsers raise for files that they cannot use
        raise cannot_load("tokenizer", model, error) from error
    tokenizer.name_or_path = called(model)
    if config.chat_template is not None:
        file = run_folder / config.chat_template
        try:
            tokenizer.chat_template = file.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise Fault(f"The chat template {file} cannot be read: {error}.", usage=True) from error
    if not tokenizer.chat_template:
        raise Fault(
            f"The tokenizer of {called(model)} has no chat template: take an instruction-tuned model, or set "
            "model.chat_template to a file with one.",
            usage=True,
        )
    return tokenizer


def context_length(model: Path) -> int | None:
    """How many tokens the model was made to read; None when its configuration does not say. Errors: Fault."""
    try:
        config = AutoConfig.from_pretrained(model).get_text_config()
    except (OSError, ValueError) as error:
        raise cannot_load("configuration", model, error) from error
    return getattr(config, "max_position_embeddings", None)


def cannot_load(what: str, model: Path, error: Exception) -> Fault:
    """One sentence for the ways in which loading goes wrong."""
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if isinstance(error, SafetensorError):
        return Fault(f"The weights of {called(model)} are damaged ({reason}): download the model again.", usage=True)
    return Fault(
        f"The {what} of {called(model)} cannot be loaded, so check model.base: {reason.rstrip('.')}.", usage=True
    )
