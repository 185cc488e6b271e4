"""Translates configuration and tensor names between a GGUF file and a Hugging Face folder."""

import math
import re
from typing import Any

import numpy as np

from ...fault import Fault, UsageFault
from ...model.folder_check import MAX_LAYERS
from .container import GgufFile

FAMILIES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
KNOWN = "only Llama and Mistral, Qwen 2, Qwen 3 are converted"

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


# Keys of a family that change nothing with these values. Other keys of attention, positions and scales are refused.
WITHOUT_EFFECT = {
    "attention.causal": (True,),
    "attention.clamp_kqv": (0.0,),
    "attention.max_alibi_bias": (0.0,),
    "attention.sliding_window": (0,),
    "attention.temperature_scale": (0.0,),
    "rope.scaling.finetuned": (True, False),
    "rope.scaling.yarn_ext_factor": (1.0,),
    "rope.scaling.yarn_attn_factor": (1.0,),
    "rope.scaling.yarn_log_multiplier": (0.0,),
    "attn_logit_softcapping": (0.0,),
    "final_logit_softcapping": (0.0,),
    "logit_scale": (0.0, 1.0),
    "residual_scale": (0.0, 1.0),
    "embedding_scale": (0.0, 1.0),
}
READ = {
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "attention.scale",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.attn_factor",
    "rope.scaling.original_context_length",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
}
MAX_SIZE = 2**31 - 1


class _Values:
    """The metadata of a model, by keys without its family."""

    def __init__(self, file: GgufFile, family: str):
        self.file, self.family = file, family

    def whole(self, key: str, *default: Any) -> Any:
        found = self._value(key, int, *default)
        if found is not None and not 1 <= found <= MAX_SIZE:
            raise UsageFault(f"{self.file.path} has an unusable {self.family}.{key} ({found}).")
        return found

    def real(self, key: str, *default: Any) -> Any:
        return self._value(key, float, *default)

    def _value(self, key: str, kind: type, *default: Any) -> Any:
        name = f"{self.family}.{key}"
        if isinstance(self.file.metadata.get(name), list):
            raise UsageFault(f"The layers of {self.file.path} differ in {key}, and {KNOWN}: take another.")
        found = self.file.value(name, kind)
        if found is None and not default:
            raise UsageFault(f"{self.file.path} does not say {name}: download it again.")
        return default[0] if found is None else found


def config_of(file: GgufFile) -> dict[str, Any]:
    """Without token ids. Errors: UsageFault for an unsupported model or a missing value."""
    family = file.value("general.architecture", str)
    if family not in FAMILIES:
        raise UsageFault(f"{file.path} is a model of the architecture {family}, and {KNOWN}: take another.")
    values = _Values(file, family)
    if values.real("expert_count", 0):
        raise UsageFault(f"{file.path} is a mixture of experts, and {KNOWN}: take another.")
    width, heads = values.whole("embedding_length"), values.whole("attention.head_count")
    layers, context = values.whole("block_count"), values.whole("context_length")
    tensors = file.tensors
    if "token_embd.weight" not in tensors:
        raise UsageFault(f"{file.path} has no token_embd.weight: it is no whole model; download it again.")
    if layers > min(len(tensors), MAX_LAYERS):  # checked before a model of that many layers is made
        raise file.damaged()
    rotated = values.whole("rope.dimension_count", None)
    head_dim = values.whole("attention.key_length", None) or rotated or width // heads
    require_plain_attention(values, head_dim, rotated or head_dim, context)
    config = {
        "architectures": [FAMILIES[family]],
        "model_type": family,
        "vocab_size": tensors["token_embd.weight"].shape[0],
        "hidden_size": width,
        "intermediate_size": values.whole("feed_forward_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": values.whole("attention.head_count_kv", None) or heads,
        "head_dim": head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": context,
        # Undoes float32 rounding of 1e-05.
        "rms_norm_eps": float(f"{values.real('attention.layer_norm_rms_epsilon'):.6g}"),
        "tie_word_embeddings": "output.weight" not in tensors,
        "rope_parameters": rope_of(values, head_dim, context),
    }
    if family != "qwen2":  # qwen2 always has biases
        config["attention_bias"] = "blk.0.attn_q.bias" in tensors
    if family == "llama":
        config["mlp_bias"] = "blk.0.ffn_up.bias" in tensors
    return config


def require_plain_attention(values: _Values, head_dim: int, rotated: int, context: int) -> None:
    """Refuses by name what a file says of attention and positions and a folder could not. Errors: UsageFault."""
    file = values.file
    if rotated != head_dim:
        raise UsageFault(
            f"{file.path} rotates {rotated} of the {head_dim} numbers of a head, and all are rotated here: take "
            "another."
        )
    for name, found in file.metadata.items():
        family, _, key = name.partition(".")
        if family != values.family or key in READ:
            continue
        matters = key.startswith(("attention.", "rope.")) or key in WITHOUT_EFFECT
        is_plain = found in WITHOUT_EFFECT.get(key, ())
        if key == "attention.sliding_window" and isinstance(found, int) and found >= context:
            is_plain = True
        if matters and not is_plain:
            raise UsageFault(f"{file.path} has {name} = {str(found)[:40]}, which is not converted: take another.")
    if values.whole("attention.value_length", head_dim) != head_dim:
        raise UsageFault(f"The keys and values of {file.path} differ in length, and {KNOWN}: take another.")
    scale = values.real("attention.scale", 0.0)
    if scale and not math.isclose(scale, head_dim**-0.5, rel_tol=1e-5):
        raise UsageFault(f"{file.path} scales its attention by {scale}, which is not converted: take another.")


def rope_of(values: _Values, head_dim: int, context: int) -> dict[str, Any]:
    """Reads the scaling as llama.cpp does: without a type it is linear, and its factor may have the old key."""
    file, family = values.file, values.family
    theta = float(f"{values.real('rope.freq_base', 10000.0):.7g}")
    kind = file.value(f"{family}.rope.scaling.type", str, "linear")
    factor = values.real("rope.scaling.factor", None)
    if factor is None:
        factor = values.real("rope.scale_linear", 0.0)
    attention = values.real("rope.scaling.attn_factor", 1.0)
    if theta <= 0 or factor < 0 or attention <= 0:
        raise file.damaged()
    is_scaled = kind != "none" and factor not in (0.0, 1.0)
    if attention != 1.0 and not (is_scaled and kind == "yarn"):
        raise UsageFault(f"{file.path} scales its rotated numbers by {attention:g}, which is not converted.")
    if FREQUENCIES in file.tensors:
        divisors = file.numbers(FREQUENCIES)
        factor = float(divisors.max())
        is_known = not is_scaled and divisors.shape == (head_dim // 2,)
        if not (is_known and np.allclose(divisors, llama3_divisors(theta, head_dim, factor), rtol=1e-3)):
            raise UsageFault(f"{file.path} scales its rotary embedding in a way of its own: take another.")
        about = {"low_freq_factor": LOW, "high_freq_factor": HIGH, "original_max_position_embeddings": ORIGINAL}
        return {"rope_type": "llama3", "rope_theta": theta, "factor": factor, **about}
    if kind not in ("none", "linear", "yarn"):
        raise UsageFault(f"{file.path} scales its rotary embedding by {kind}, and linear and yarn are known.")
    if not is_scaled:
        return {"rope_type": "default", "rope_theta": theta}
    rope: dict[str, Any] = {"rope_type": kind, "rope_theta": theta, "factor": float(f"{factor:.7g}")}
    if kind == "yarn":
        rope["original_max_position_embeddings"] = values.whole("rope.scaling.original_context_length", context)
        for key in ("beta_fast", "beta_slow"):
            if (beta := values.real(f"rope.scaling.yarn_{key}", None)) is not None:
                rope[key] = beta
        if attention != 1.0:
            rope["attention_factor"] = attention * yarn_attention(factor)
    return rope


def yarn_attention(factor: float) -> float:
    """The attention factor that yarn has if none is given; a GGUF file's own is in units of it."""
    return 0.1 * math.log(factor) + 1 if factor > 1 else 1.0


def llama3_divisors(theta: float, head_dim: int, factor: float) -> np.ndarray:
    """Returns (head_dim / 2,) float32: `factor` for long wavelengths, 1 for short ones, values between for others."""
    waves = 2 * math.pi * theta ** (np.arange(0, head_dim, 2) / head_dim)
    smooth = np.clip((ORIGINAL / waves - LOW) / (HIGH - LOW), 0, 1)
    return (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)


def metadata_of(config: dict[str, Any], folder: str) -> dict[str, Any]:
    """config: as transformers reads it. Errors: UsageFault."""
    family, rope = config["model_type"], dict(config["rope_parameters"])
    name = {"mistral": "llama"}.get(family, family)
    if name not in FAMILIES:
        raise UsageFault(f"The model in {folder} is a {family}, and {KNOWN}: take another.")
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
    if (activation := config.get("hidden_act", "silu")) != "silu":
        raise UsageFault(f"The model in {folder} has the activation {activation}, which is not converted.")
    about |= scaling_metadata(rope, folder)
    if config.get("sliding_window") and config.get("use_sliding_window", True):
        raise UsageFault(f"The model in {folder} has a sliding window, which is not converted: take another.")
    return {"general.architecture": name, **{f"{name}.{key}": value for key, value in about.items()}}


def scaling_metadata(rope: dict[str, Any], folder: str) -> dict[str, Any]:
    """Errors: UsageFault for a scaling that the format cannot say, or not in a way that llama.cpp reads."""

    def refuse(what: str) -> Fault:
        return UsageFault(f"The model in {folder} {what}, which is not converted: take another.")

    about: dict[str, Any] = {}
    kind = rope.pop("rope_type")
    theta, own = rope.pop("rope_theta"), rope.pop("type", kind)
    if own != kind or not isinstance(theta, int | float):
        raise refuse(f"has a rotary embedding of the type {own} and of the type {kind}")
    if (share := rope.pop("partial_rotary_factor", 1.0)) != 1.0:
        raise refuse(f"rotates a share of {share} of each head")
    if kind in ("linear", "yarn"):
        factor = float(rope.pop("factor"))
        about |= {"rope.scaling.type": kind, "rope.scaling.factor": factor}
        if kind == "yarn":
            about["rope.scaling.original_context_length"] = rope.pop("original_max_position_embeddings")
            if (attention := rope.pop("attention_factor", None)) is not None:
                about["rope.scaling.attn_factor"] = attention / yarn_attention(factor)
            for key in ("beta_fast", "beta_slow"):
                if (beta := rope.pop(key, None)) is not None:
                    about[f"rope.scaling.yarn_{key}"] = float(beta)
            if rope.get("truncate") is True:
                del rope["truncate"]
    elif kind == "llama3":
        keys = ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
        if tuple(rope.pop(key) for key in keys) != (LOW, HIGH, ORIGINAL):
            raise refuse("scales its rotary embedding in a way of its own")
        rope.pop("factor")
    elif kind != "default":
        raise refuse(f"scales its rotary embedding by {kind}")
    if rest := sorted(key for key, value in rope.items() if value is not None):
        raise refuse(f"says {rest[0]} of its rotary embedding")
    return about
