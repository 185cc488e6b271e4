"""Reads the parts of a model's configuration that its graph depends on, and refuses models that cannot be exported."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from transformers import PretrainedConfig

from ...config import ExportConfig
from ...fault import UsageFault
from ...model.files import called
from ...model.folder_check import configuration_of

if TYPE_CHECKING:
    import torch

FAMILIES = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen 2", "qwen3": "Qwen 3"}
ROPES = ("default", "linear", "llama3", "yarn")  # others depend on the length of the text


@dataclass(frozen=True)
class Shape:
    """A decoder of grouped-query attention, RMS norms and gated SiLU; the weights show biases and query norms.

    windows: number of tokens that a token attends to in each layer, itself included; None for all.
    cos, sin: (max_position, head_dim / 2) float32, rotations by position.
    """

    vocabulary: int
    width: int
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    epsilon: float
    tied: bool
    windows: tuple[int | None, ...]
    cos: torch.Tensor
    sin: torch.Tensor


def read_shape(folder: Path) -> Shape:
    """Errors: UsageFault for a missing configuration or an unsupported model."""
    from ...model.flops import windows  # `check` uses this module without torch

    config = exportable(folder)
    heads = config.num_attention_heads
    cos, sin = rotations(config)
    return Shape(
        vocabulary=config.vocab_size,
        width=config.hidden_size,
        layers=config.num_hidden_layers,
        heads=heads,
        key_heads=config.num_key_value_heads or heads,
        head_dim=head_dim(config),
        epsilon=config.rms_norm_eps,
        tied=config.tie_word_embeddings,
        windows=windows(config),
        cos=cos,
        sin=sin,
    )


def require_exportable(config: ExportConfig, model: Path) -> None:
    """Refuses such a run before training. Errors: UsageFault."""
    if config.onnx:
        exportable(model)


def exportable(folder: Path) -> PretrainedConfig:
    config = configuration_of(folder)
    if config.model_type not in FAMILIES:
        raise UsageFault(
            f"The model {called(folder)} is a {config.model_type}, and only {', '.join(FAMILIES.values())} and models "
            "built like them can be written as ONNX: take another base."
        )
    rope = config.rope_parameters or {}
    for name, value, known in (
        ("activation", config.hidden_act, ("silu",)),
        ("rotary embedding", rope.get("rope_type"), ROPES),
        ("share of a head that is rotated", rope.get("partial_rotary_factor", 1.0), (1.0,)),
        ("remainder of its head size by 16", head_dim(config) % 16, (0,)),  # requirement of GroupQueryAttention
    ):
        if value not in known:
            raise UsageFault(
                f"The model {called(folder)} has the {name} {json.dumps(value)}, which cannot be written as ONNX here: "
                "take another base."
            )
    return config


def head_dim(config: PretrainedConfig) -> int:
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def rotations(config: PretrainedConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """(positions, head_dim / 2) cos and sin with the configured scaling. The four families share Llama's code."""
    import torch
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    embedding = LlamaRotaryEmbedding(config)
    positions = torch.arange(config.max_position_embeddings)[None]
    halves = (table[0].chunk(2, dim=-1)[0].contiguous() for table in embedding(torch.zeros(1), positions))
    cos, sin = halves
    return cos, sin
