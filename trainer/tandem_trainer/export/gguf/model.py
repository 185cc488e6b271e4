"""Translates configuration and tensor names between a GGUF file and a Hugging Face folder."""

import math
import re
from typing import Any

import numpy as np

from ...fault import Fault
from .container import GgufFile

FAMILIES = {"llama": "Llama and Mistral", "qwen2": "Qwen 2", "qwen3": "Qwen 3"}
KNOWN = f"only {', '.join(FAMILIES.values())} are converted"

TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
IN_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
BACK = {theirs: ours for ours, theirs in {**TOP, **IN_LAYER}.items()}
FREQUENCIES = "rope_freqs.weight"  # divisors of the rotary frequencies in Llama 3.1 and later
LOW, HIGH, ORIGINAL = 1.0, 4.0, 8192  # constants of Llama 3's rope scaling, equal in all its models


def folder_name(name: str) -> str | None:
    """`blk.0.attn_q.weight` becomes `model.layers.0.self_attn.q_proj.weight`; None for an unknown tensor."""
    found = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)", name)
    if found is None:
        return None
    layer, part, kind = found.groups()
    if layer is None:
        return f"{TOP[part]}.{kind}" if part in TOP else None
    return f"model.layers.{layer}.{IN_LAYER[part]}.{kind}" if part in IN_LAYER else None


def gguf_name(name: str) -> str:
    """Errors: KeyError for an unknown tensor."""
    found = re.fullmatch(r"model\.layers\.(\d+)\.(.+)\.(weight|bias)", name)
    if found is None:
        part, kind = name.rsplit(".", 1)
        return f"{BACK[part]}.{kind}"
    layer, part, kind = found.groups()
    return f"blk.{layer}.{BACK[part]}.{kind}"


def heads_of(name: str, config: dict[str, Any]) -> int | None:
    """The heads of a Llama's query or key weight, because GGUF orders their rows differently; None for others."""
    if config["model_type"] != "llama":
        return None
    part = name.rsplit(".", 2)[-2]
    return {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}.get(part)


def halves_apart(numbers: np.ndarray, heads: int) -> np.ndarray:
    """Reorders rows from GGUF, where a rotated pair is adjacent, to the folder, where it is half a head apart."""
    return numbers.reshape(heads, -1, 2, *numbers.shape[1:]).swapaxes(1, 2).reshape(numbers.shape)


def halves_together(numbers: np.ndarray, heads: int) -> np.ndarray:
    return numbers.reshape(heads, 2, -1, *numbers.shape[1:]).swapaxes(1, 2).reshape(numbers.shape)


def config_of(file: GgufFile) -> dict[str, Any]:
    """Without token ids. Errors: Fault(usage) for an unsupported model or a missing value."""
    family = file.metadata.get("general.architecture")
    if family not in FAMILIES:
        raise Fault(f"{file.path} is a model of the architecture {family}, and {KNOWN}: take another.", usage=True)

    def value(key: str, *default: Any) -> Any:
        found = file.metadata.get(f"{family}.{key}", *default)
        if found is None and not default:
            raise Fault(f"{file.path} does not say {family}.{key}: download it again.", usage=True)
        if isinstance(found, list):
            raise Fault(f"The layers of {file.path} differ in {key}, and {KNOWN}: take another.", usage=True)
        return found

    if value("expert_count", 0):
        raise Fault(f"{file.path} is a mixture of experts, and {KNOWN}: take another.", usage=True)
    width, heads = value("embedding_length"), value("attention.head_count")
    tensors = file.tensors
    if "token_embd.weight" not in tensors:
        raise Fault(f"{file.path} has no token_embd.weight: it is no whole model; download it again.", usage=True)
    head_dim = value("attention.key_length", None) or value("rope.dimension_count", None) or width // heads
    config = {
        "architectures": [
            {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}[family]
        ],
        "model_type": family,
        "vocab_size": tensors["token_embd.weight"].shape[0],
        "hidden_size": width,
        "intermediate_size": value("feed_forward_length"),
        "num_hidden_layers": value("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": value("attention.head_count_kv", None) or heads,
        "head_dim": head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": value("context_length"),
        "rms_norm_eps": float(f"{value('attention.layer_norm_rms_epsilon'):.6g}"),  # undoes float32 rounding of 1e-05
        "tie_word_embeddings": "output.weight" not in tensors,
        "rope_parameters": rope_of(file, value, head_dim),
    }
    if family != "qwen2":  # qwen2 always has biases
        config["attention_bias"] = "blk.0.attn_q.bias" in tensors
    if family == "llama":
        config["mlp_bias"] = "blk.0.ffn_up.bias" in tensors
    return config


def rope_of(file: GgufFile, value, head_dim: int) -> dict[str, Any]:
    theta = float(f"{value('rope.freq_base', 10000.0):.7g}")
    kind = value("rope.scaling.type", "none")
    if FREQUENCIES in file.tensors:
        divisors = file.numbers(FREQUENCIES)
        factor = float(divisors.max())
        if not np.allclose(divisors, llama3_divisors(theta, head_dim, factor), rtol=1e-3):
            raise Fault(f"{file.path} scales its rotary embedding in a way of its own: take another.", usage=True)
        about = {"low_freq_factor": LOW, "high_freq_factor": HIGH, "original_max_position_embeddings": ORIGINAL}
        return {"rope_type": "llama3", "rope_theta": theta, "factor": factor, **about}
    if kind == "none":
        return {"rope_type": "default", "rope_theta": theta}
    if kind not in ("linear", "yarn"):
        raise Fault(f"{file.path} scales its rotary embedding by {kind}, and linear and yarn are known.", usage=True)
    rope = {"rope_type": kind, "rope_theta": theta, "factor": value("rope.scaling.factor")}
    if kind == "yarn":
        rope["original_max_position_embeddings"] = value("rope.scaling.original_context_length")
    return rope


def llama3_divisors(theta: float, head_dim: int, factor: float) -> np.ndarray:
    """Returns (head_dim / 2,) float32: `factor` for long wavelengths, 1 for short ones, values between for others."""
    waves = 2 * math.pi * theta ** (np.arange(0, head_dim, 2) / head_dim)
    smooth = np.clip((ORIGINAL / waves - LOW) / (HIGH - LOW), 0, 1)
    return (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)


def metadata_of(config: dict[str, Any], folder: str) -> dict[str, Any]:
    """config: as transformers reads it. Errors: Fault(usage)."""
    family, rope = config["model_type"], config["rope_parameters"]
    name = {"mistral": "llama"}.get(family, family)
    if name not in FAMILIES:
        raise Fault(f"The model in {folder} is a {family}, and {KNOWN}: take another.", usage=True)
    head_dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    about = {
        "block_count": config["num_hidden_layers"],
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "feed_forward_length": config["intermediate_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": config.get("num_key_value_heads") or config["num_attention_heads"],
        "attention.layer_norm_rms_epsilon": float(config["rms_norm_eps"]),
        "attention.key_length": head_dim,
        "attention.value_length": head_dim,
        "rope.dimension_count": head_dim,
        "rope.freq_base": float(rope["rope_theta"]),
        "vocab_size": config["vocab_size"],
    }
    kind = rope["rope_type"]
    if kind in ("linear", "yarn"):
        about |= {"rope.scaling.type": kind, "rope.scaling.factor": float(rope["factor"])}
        if kind == "yarn":
            about["rope.scaling.original_context_length"] = rope["original_max_position_embeddings"]
    elif kind == "llama3":
        own = (rope["low_freq_factor"], rope["high_freq_factor"], rope["original_max_position_embeddings"])
        if own != (LOW, HIGH, ORIGINAL):
            raise Fault(f"The model in {folder} scales its rotary embedding in a way of its own.", usage=True)
    elif kind != "default":
        raise Fault(f"The model in {folder} scales its rotary embedding by {kind}: take another.", usage=True)
    if config.get("sliding_window") and config.get("use_sliding_window", True):
        raise Fault(f"The model in {folder} has a sliding window, which is not converted: take another.", usage=True)
    return {"general.architecture": name, **{f"{name}.{key}": value for key, value in about.items()}}
