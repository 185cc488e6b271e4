"""Attention over a forest: each token sees its own path to the root and nothing else.

Registered with transformers as "tandem" and used through `attending`; the model is called on the pack as on one row of
T tokens with `forest=`, and every layer's attention comes here. The keys of a segment are those of its ancestors and its
own, in the order of the path, so the distance of two indices is the distance of two positions: a causal mask aligned at
the bottom right and a sliding window need no positions.
"""

from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface

from .forest import Forest, Segment


@contextmanager
def attending(decoder: nn.Module, implementation: str):
    """Within, the layers of `decoder` attend by `implementation`; generation keeps finding the one it was loaded with."""
    config = decoder.config
    before = config._attn_implementation
    config._attn_implementation = implementation
    try:
        yield
    finally:
        config._attn_implementation = before


def obstacle(decoder: nn.Module) -> str | None:
    """Why the layers of this model cannot attend over a forest, or None."""
    kinds = set(getattr(decoder.config, "layer_types", None) or ()) - {"full_attention", "sliding_attention"}
    if kinds:
        return f"it has layers of {' and '.join(sorted(kinds))}"
    if not getattr(decoder, "_supports_attention_backend", False):
        return "its class in transformers has attention of its own"
    return None


def forest_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    forest: Forest,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **others,
) -> tuple[Tensor, None]:
    """What a layer of transformers calls. query (1, H, T, D), key and value (1, K, T, D); returns (1, T, H, D).

    Raises NotImplementedError for what changes scores in ways not known here (attention sinks, position biases).
    """
    for name in ("s_aux", "sinks", "position_bias"):
        if others.get(name) is not None:
            raise NotImplementedError(f"attention with {name}")
    outputs = [
        _attend(query, key, value, segment, forest.cache, scaling, sliding_window, softcap)
        for segment in forest.segments
    ]
    return torch.cat(outputs, dim=2).transpose(1, 2), None


def _attend(query, key, value, segment: Segment, cache: dict, scaling, window, softcap) -> Tensor:
    """One segment: (1, H, n, D)."""
    own = slice(segment.start, segment.end)
    query, runs = query[:, :, own], [*segment.ancestors, (segment.start, segment.end)]
    keys = torch.cat([key[:, :, start:end] for start, end in runs], dim=2) if len(runs) > 1 else key[:, :, own]
    values = torch.cat([value[:, :, start:end] for start, end in runs], dim=2) if len(runs) > 1 else value[:, :, own]
    rows, columns = query.shape[2], keys.shape[2]
    if window is not None and window >= columns:
        window = None
    if softcap is not None:
        mask = _mask(rows, columns, window, query.device, cache)
        return _capped(query, keys, values, mask, scaling, softcap)
    grouped = query.shape[1] != keys.shape[1]
    if rows == columns and window is None:
        return F.scaled_dot_product_attention(
            query, keys, values, is_causal=True, scale=scaling, enable_gqa=grouped
        )
    mask = _mask(rows, columns, window, query.device, cache)
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=scaling, enable_gqa=grouped)


def _mask(rows: int, columns: int, window: int | None, device, cache: dict) -> Tensor:
    """(rows, columns) bool, true where a query may look: causal from the bottom right, at most `window` keys back."""
    name = (rows, columns, window)
    if name not in cache:
        mask = torch.ones(rows, columns, dtype=torch.bool, device=device).tril(columns - rows)
        cache[name] = mask if window is None else mask.triu(columns - rows - window + 1)
    return cache[name]


def _capped(query, key, value, mask, scaling, softcap: float) -> Tensor:
    """Scores soft-capped by c·tanh(s/c) before the softmax, as Gemma 2 does (arXiv 2408.00118, section 2)."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = torch.tanh(query @ key.transpose(2, 3) * scale / softcap) * softcap
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1, dtype=torch.float32).to(query.dtype) @ value


AttentionInterface.register("tandem", forest_attention)
AttentionMaskInterface.register("tandem", lambda *_, **__: None)  # the forest says who sees whom
