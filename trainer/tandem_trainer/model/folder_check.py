"""Checks a model folder before any of it is used: its files, its sizes and positions, its tokenizer and template.

`load_tokenizer` and `load_model` call this, so that plan, training, scoring, `onnx` and `convert` refuse the same
folders in the same sentences. src/core/model/local checks for play what concerns a graph.
"""

import json
import math
from pathlib import Path
from typing import Any

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import AutoConfig, PretrainedConfig, PreTrainedTokenizerBase

from ..data.template_check import check_template
from ..fault import Fault, UsageFault
from ..regular_file import read_text, require_regular_files
from .files import called

TEMPLATES = "additional_chat_templates"  # folder of transformers
MAX_LAYERS, MAX_POSITIONS, MAX_SIZE = 1_000, 1 << 24, 1 << 31
SIZES = {
    "num_hidden_layers": MAX_LAYERS,
    "max_position_embeddings": MAX_POSITIONS,
    **dict.fromkeys(
        ("vocab_size", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim"),
        MAX_SIZE,
    ),
}
# Kinds of scaling that transformers computes; "mrope" and "su" are older names in families that translate them.
ROPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "mrope", "su")
ROPE_NUMBERS = (
    "rope_theta",
    "factor",
    "attention_factor",
    "low_freq_factor",
    "high_freq_factor",
    "beta_fast",
    "beta_slow",
    "partial_rotary_factor",
    "original_max_position_embeddings",
)


def configuration_of(folder: Path) -> PretrainedConfig:
    """Errors: UsageFault for a file that is none, a damaged configuration, and positions that would be ignored."""
    require_regular_files((*folder.glob("*"), *folder.glob(f"{TEMPLATES}/*")))
    try:
        said = json.loads(read_text(folder / "config.json"))
        if not isinstance(said, dict):
            raise ValueError("config.json is no object")
        refuse_sizes(folder, said)
        config = AutoConfig.from_pretrained(folder)
        text = config.get_text_config()
    except Fault:
        raise
    except StrictDataclassError as error:  # whose own text only names the field
        raise cannot_load("configuration", folder, error.__cause__ or error) from error
    except Exception as error:  # transformers raises many types for unusable files
        raise cannot_load("configuration", folder, error) from error
    refuse_positions(folder, said if text is config else said.get("text_config") or {}, text)
    return config


def rows_of(folder: Path) -> int | None:
    """The rows of the embedding, one for each token; None when the configuration has no number."""
    return getattr(configuration_of(folder).get_text_config(), "vocab_size", None)


def refuse_sizes(folder: Path, said: dict[str, Any]) -> None:
    """A model of a billion layers would be built until memory ends, before its weights are missed."""
    for part in (said, said.get("text_config")):
        for key, most in SIZES.items():
            value = part.get(key) if isinstance(part, dict) else None
            if isinstance(value, int | float) and not 1 <= value <= most:
                raise UsageFault(
                    f"The config.json of {called(folder)} says {key} {value}, which no model has: download it again."
                )


def refuse_positions(folder: Path, said: dict[str, Any], config: PretrainedConfig) -> None:
    """Requires that what the file says of its rotary embedding is what transformers computes. Errors: UsageFault."""

    def refuse(what: str) -> Fault:
        return UsageFault(
            f"The config.json of {called(folder)} {what}: correct it as the model's publisher has it, or take another."
        )

    window = said.get("sliding_window") if config.model_type == "llama" else None
    if isinstance(window, int) and window < config.max_position_embeddings:
        raise refuse(f"says sliding_window {window}, by which a Llama attends in generation and not in training")
    rope = getattr(config, "rope_parameters", None) or {}
    parts = [part for part in rope.values() if isinstance(part, dict)] or [rope]
    for part in parts:
        kind = part.get("rope_type", "default")
        if kind not in ROPES:
            raise refuse(f"scales its rotary embedding by {json.dumps(kind)}, which is unknown")
        for key in ROPE_NUMBERS:
            value = part.get(key)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (is_number and math.isfinite(value) and value > 0):
                raise refuse(f"has a rotary embedding with the {key} {json.dumps(value)}, which is impossible")
        if kind == "default" and part.get("factor") not in (None, 1):
            raise refuse(
                f"gives its rotary embedding the factor {part['factor']} without the type of scaling (rope_type)"
            )
    for name in ("rope_parameters", "rope_scaling"):
        for key, value in (said.get(name) or {}).items():
            if key in ROPE_NUMBERS and value is not None and parts == [rope] and rope.get(key) != value:
                raise refuse(f"contradicts itself: {key} is {value} in {name} and {rope.get(key)} elsewhere")


def check_tokenizer(tokenizer: PreTrainedTokenizerBase, rows: int | None, folder: Path) -> None:
    """Requires a chat template, and a row of the embedding for each token of the vocabulary. Errors: UsageFault.

    An added token may be without a row if no conversation has it, such as that of pictures in a model without eyes:
    `Template` refuses it where it occurs.
    """
    template = tokenizer.chat_template
    if not template:
        raise UsageFault(
            f"The tokenizer of {called(folder)} has no chat template: take an instruction-tuned model, or set "
            "model.chat_template to a file with one."
        )
    if isinstance(template, dict) and not template.get("default"):
        raise UsageFault(
            f"The tokenizer of {called(folder)} has the chat templates {', '.join(sorted(template))} and none that is "
            "the default: name one of them default, or set model.chat_template to a file with one."
        )
    check_template(tokenizer.get_chat_template(), called(folder))
    added = tokenizer.added_tokens_decoder
    last = max((id for id in tokenizer.get_vocab().values() if id not in added), default=-1)
    if rows is not None and last >= rows:
        raise UsageFault(
            f"The tokenizer in {called(folder)} has {last + 1} tokens, its model {rows} rows for them: take the "
            "tokenizer that was published with the model."
        )


def cannot_load(what: str, model: Path, error: BaseException) -> Fault:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if isinstance(error, SafetensorError):
        return UsageFault(f"The weights of {called(model)} are damaged ({reason}): download the model again.")
    return UsageFault(f"The {what} of {called(model)} cannot be loaded, so check model.base: {reason.rstrip('.')}.")
