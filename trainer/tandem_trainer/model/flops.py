"""FLOPs of a training step and peak FLOPs of the device, for model FLOPs utilization (MFU).

A multiplication with a weight matrix costs 2 FLOPs a weight and token forward. Backward it costs 2 for the gradient of
its input and 2 for the gradient of the weight; a frozen matrix has no second one. So a matrix costs 6 a weight and
token in full fine-tuning, 4 under adapters, 2 forward only (Kaplan et al., arXiv 2001.08361, table 1, where 6 is
derived; PaLM, arXiv 2204.02311, appendix B, for MFU). Recomputed activations do not count, nor do norms, activation
functions, the adapters themselves (about 1 % at rank 16) and the optimiser.

A prefix that several turns share counts once, and the output head counts for the scored tokens only.
"""

import math
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import torch

from ..fault import UsageFault
from ..turn import Turn
from .files import called
from .folder_check import configuration_of
from .prefix_tree import grow

Work = Literal["full", "lora", "qlora", "forward"]

# FLOPs a weight and token; the score and value products of attention have no weights, so every kind of training pays
# for both of their gradients.
MATRIX = {"full": 6, "lora": 4, "qlora": 4, "forward": 2}
ATTENTION = {"full": 12, "lora": 12, "qlora": 12, "forward": 4}


@dataclass(frozen=True)
class Shape:
    """The shape of a model, as far as its cost depends on it. Counts are numbers of weights."""

    parameters: int  # all weights, tied ones once
    matrices: int  # weights of the layers that one token uses (k of n experts)
    head: int  # vocabulary × hidden
    quantised: int  # weights of the layers' linear modules, which 4-bit loading quantises
    adapted: int  # Σ (inputs + outputs) of these modules; LoRA of rank r has r times as many weights
    layers: int
    hidden: int
    intermediate: int  # sum over the experts that one token uses
    heads: int
    key_heads: int
    head_size: int
    vocabulary: int
    normed: int  # numbers per token that are normalised in a layer
    windows: tuple[int | None, ...]  # attention window of each layer in tokens; None: unlimited
    capped: bool  # attention scores have a soft cap, which no fused kernel supports
    largest: int  # weights of the largest matrix in the layers


def shape_of(config) -> Shape:
    """Builds the model without memory, which works for every architecture."""
    from transformers import AutoModelForCausalLM

    config = config.get_text_config()
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    head = model.get_output_embeddings().weight
    embeddings = {id(head), id(model.get_input_embeddings().weight)}
    chosen = getattr(config, "num_experts_per_tok", None) or 1
    share = chosen / (getattr(config, "num_local_experts", None) or 1)
    layers = [(n, p) for n, p in model.named_parameters() if p.dim() >= 2 and id(p) not in embeddings]
    linear = [m for m in model.modules() if isinstance(m, torch.nn.Linear) and id(m.weight) not in embeddings]
    heads = config.num_attention_heads
    key_heads = getattr(config, "num_key_value_heads", None) or heads
    head_size = getattr(config, "head_dim", None) or config.hidden_size // heads
    return Shape(
        parameters=sum(p.numel() for p in model.parameters()),
        matrices=int(sum(p.numel() * (share if ".experts." in n else 1) for n, p in layers)),
        head=head.numel(),
        quantised=sum(m.weight.numel() for m in linear),
        adapted=sum(m.in_features + m.out_features for m in linear),
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        intermediate=chosen * (getattr(config, "moe_intermediate_size", None) or config.intermediate_size),
        heads=heads,
        key_heads=key_heads,
        head_size=head_size,
        vocabulary=head.shape[0],
        normed=_normed(model, config.num_hidden_layers, heads, key_heads, head_size),
        windows=windows(config),
        capped=getattr(config, "attn_logit_softcapping", None) is not None,
        largest=max(p.numel() for _, p in layers),
    )


def read_shape(folder: Path) -> Shape:
    """Reads no weights. Errors: Fault."""
    config = configuration_of(folder)
    try:
        if getattr(config, "quantization_config", None):
            raise UsageFault(
                f"The weights of {called(folder)} are quantised, so nothing can be merged into them: take the model "
                "that they were made from, with model.training set to qlora."
            )
        return shape_of(config)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UsageFault(f"The configuration of {called(folder)} cannot be read: {reason}") from error


def _normed(model, layers: int, heads: int, key_heads: int, head_size: int) -> int:
    """Counts normalised numbers per token and layer; a norm as wide as a head applies to each query or key."""
    total = 0
    for name, module in model.get_decoder().layers.named_modules():
        if type(module).__name__.endswith("Norm"):
            width, short = module.weight.numel(), name.rpartition(".")[2]
            total += width * (1 if width != head_size else key_heads if short.startswith("k") else heads)
    return total // layers


def windows(config) -> tuple[int | None, ...]:
    window = getattr(config, "sliding_window", None)
    if getattr(config, "use_sliding_window", True) is False:
        window = None
    kinds = getattr(config, "layer_types", None) or ["sliding_attention" if window else "full_attention"]
    kinds = list(kinds) * (config.num_hidden_layers if len(kinds) == 1 else 1)
    return tuple(window if kind == "sliding_attention" else None for kind in kinds)


def attended(first: int, last: int, window: int | None) -> int:
    """Counts pairs of query and key for the tokens at depths first ≤ d < last: Σ min(d + 1, window)."""
    if window is None or last <= window:
        return (last * (last + 1) - first * (first + 1)) // 2
    edge = max(first, window)
    return attended(first, edge, None) + (last - edge) * window if first < edge else (last - first) * window


def flops(shape: Shape, tokens: int, scored: int, spans: Iterable[tuple[int, int]], work: Work) -> float:
    """FLOPs of one forward pass, and of its backward pass unless `work` is "forward".

    tokens: number that passes the layers. scored: number that passes the output head. spans: (first, last) depths of
    each run of tokens in its own row, last excluded; a token at depth d attends to d + 1 tokens.
    """
    spans = list(spans)
    pairs = sum(attended(first, last, window) for window in shape.windows for first, last in spans)
    matrices = MATRIX[work] * (shape.matrices * tokens + shape.head * scored)
    return matrices + ATTENTION[work] * shape.heads * shape.head_size * pairs


def step_flops(shape: Shape, turns: Sequence[Turn], work: Work, *, shared: bool = True) -> float:
    """FLOPs of one pass of `token_log_probs` over `turns`; padding is not counted."""
    forest = grow(turns)
    depths = [int(forest.positions[segment.start]) for segment in forest.segments]
    spans = [(first, first + s.end - s.start) for first, s in zip(depths, forest.segments, strict=True)]
    if not shared:
        spans = [(0, last) for _, last in spans]
    return flops(shape, sum(last - first for first, last in spans), len(forest.targets), spans, work)


# Dense TFLOP/s by the makers' data sheets: 16 bit with sums in 32 bit, and 32 bit outside tensor cores. GeForce cards
# halve their 16-bit rate for sums in 32 bit, which is what training uses. The first match decides.
TFLOPS = [
    (r"GB200|B200", 2250.0, 75.0),
    (r"H100 PCIe", 756.0, 51.0),
    (r"H100 NVL", 835.0, 60.0),
    (r"GH200|H200|H100|H800", 989.0, 67.0),
    (r"H20", 148.0, 44.0),
    (r"A100|A800", 312.0, 19.5),
    (r"A10G", 70.0, 31.2),
    (r"A10", 125.0, 31.2),
    (r"A30", 165.0, 10.3),
    (r"A40", 150.0, 37.4),
    (r"RTX A6000", 155.0, 38.7),
    (r"RTX 6000 Ada", 364.0, 91.1),
    (r"L40S", 362.0, 91.6),
    (r"L40", 181.0, 90.5),
    (r"L4", 121.0, 30.3),
    (r"V100", 125.0, 15.7),
    (r"T4", 65.0, 8.1),
    (r"RTX 5090", 209.5, 104.8),
    (r"RTX 5080", 112.6, 56.3),
    (r"RTX 5070 Ti", 87.9, 43.9),
    (r"RTX 5070", 61.7, 30.9),
    (r"RTX 5060 Ti", 47.4, 23.7),
    (r"RTX 5060", 38.4, 19.2),
    (r"RTX 4090", 165.2, 82.6),
    (r"RTX 4080 SUPER", 104.4, 52.2),
    (r"RTX 4080", 97.5, 48.7),
    (r"RTX 4070 Ti SUPER", 88.2, 44.1),
    (r"RTX 4070 Ti", 80.2, 40.1),
    (r"RTX 4070 SUPER", 71.0, 35.5),
    (r"RTX 4070", 58.3, 29.1),
    (r"RTX 4060 Ti", 44.1, 22.1),
    (r"RTX 4060", 30.2, 15.1),
    (r"RTX 3090 Ti", 80.0, 40.0),
    (r"RTX 3090", 71.0, 35.6),
    (r"RTX 3080 Ti", 68.2, 34.1),
    (r"RTX 3080", 59.5, 29.8),
    (r"RTX 3070 Ti", 43.5, 21.7),
    (r"RTX 3070", 40.6, 20.3),
    (r"RTX 3060 Ti", 32.4, 16.2),
    (r"RTX 3060", 25.5, 12.7),
]
WITHOUT_BFLOAT16 = re.compile(r"\b(V100|T4)\b", re.IGNORECASE)


def stated_peak(name: str, dtype: torch.dtype) -> float | None:
    """Returns the maker's FLOP/s for the driver's name of a device; None for one that is not in the table.

    Laptop cards have the names of faster desktop cards, so they have no figure.
    """
    if "laptop" in name.lower() or "max-q" in name.lower():
        return None
    if dtype == torch.bfloat16 and WITHOUT_BFLOAT16.search(name):
        return None
    for pattern, half, single in TFLOPS:
        if re.search(rf"\b({pattern})(?=\b|-|_)", name, re.IGNORECASE):
            return (single if dtype == torch.float32 else half) * 1e12
    return None


def peak_flops(device: torch.device, dtype: torch.dtype) -> float | None:
    """Returns FLOP/s by the maker, or of a CPU as measured; None when it is unknown (Apple's GPUs, laptop cards)."""
    if device.type == "cuda":
        return stated_peak(torch.cuda.get_device_name(device), dtype)
    return measured_peak(dtype, torch.get_num_threads()) if device.type == "cpu" else None


@cache
def measured_peak(dtype: torch.dtype, threads: int) -> float:
    """Takes the fastest of several 1024 × 1024 matrix products on the CPU, once per number of threads (0.2 s)."""
    del threads  # only a key of the cache
    size = 1024
    a, b = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
    torch.mm(a[:32], b)  # loads the library and limits the time; whole products take seconds without native bfloat16
    best, end = math.inf, time.perf_counter() + 0.2
    while time.perf_counter() < end or best == math.inf:
        start = time.perf_counter()
        torch.mm(a, b)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best
