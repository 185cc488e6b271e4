"""Attention over a forest: each token sees its own path to the root and nothing else.

Registered with transformers as "tandem" and used within `attending`: the model is called on the pack as on one row of T
tokens with `forest=`, and every layer's attention comes here. The keys of a segment are those of its ancestors and its
own in the order of the path, so the distance of two indices is that of two positions: a causal mask aligned at the
bottom right, and a sliding window, need no positions.

On a CUDA device in half precision all segments go through one call of torch's packed flash-attention. Elsewhere, and
where scores are soft-capped, they are attended one after the other. The packed call has not run on a GPU yet: its
indices are tested against the loop, with a replacement of the same signature for the kernel.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.varlen import varlen_attn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface

from .prefix_tree import Forest, Segment

BLOCK = 512  # queries that attend at a time


@contextmanager
def attending(decoder: nn.Module, implementation: str) -> Iterator[None]:
    """Sampling uses the implementation that was loaded."""
    config = decoder.config
    before = config._attn_implementation
    config._attn_implementation = implementation
    try:
        yield
    finally:
        config._attn_implementation = before


def obstacle(decoder: nn.Module) -> str | None:
    """The reason why this model cannot attend over a forest."""
    kinds = set(getattr(decoder.config, "layer_types", None) or ()) - {"full_attention", "sliding_attention"}
    if kinds:
        return f"it has layers of {' and '.join(sorted(kinds))}"
    if not getattr(decoder, "_supports_attention_backend", False):
        return "its class in transformers has attention of its own"
    return None


def forest_attention(
    _module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _attention_mask: Tensor | None,
    *,
    forest: Forest,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **others,
) -> tuple[Tensor, None]:
    """Attends in one layer of transformers: query (1, H, T, D), key and value (1, K, T, D) → (1, T, H, D).

    Raises NotImplementedError for unsupported changes of the scores (attention sinks, position biases).
    """
    for name in ("s_aux", "sinks", "position_bias"):
        if others.get(name) is not None:
            raise NotImplementedError(f"attention with {name}")
    if softcap is None and _has_kernel(query, value):
        return packed_attention(varlen_attn, query, key, value, forest, scaling, sliding_window), None
    # `split` and not slices: the backward pass of each slice would allocate zeros as large as the pack.
    lengths = [segment.end - segment.start for segment in forest.segments]
    starts = [segment.start for segment in forest.segments]
    keys, values = (dict(zip(starts, tensor.split(lengths, dim=2), strict=True)) for tensor in (key, value))
    outputs = [
        _attend(own, _path(keys, segment), _path(values, segment), forest.cache, scaling, sliding_window, softcap)
        for own, segment in zip(query.split(lengths, dim=2), forest.segments, strict=True)
    ]
    return torch.cat(outputs, dim=2).transpose(1, 2), None


# ---- one segment after the other


def _path(pieces: dict[int, Tensor], segment: Segment) -> Tensor:
    """Joins the pieces of a segment's ancestors and its own: (1, K, m, D). pieces: by start index."""
    if not segment.ancestors:
        return pieces[segment.start]
    runs = [*segment.ancestors, (segment.start, segment.end)]
    return torch.cat([pieces[start][:, :, : end - start] for start, end in runs], dim=2)


def _attend(query, key, value, cache: dict, scaling, window, softcap) -> Tensor:
    """Attends from the n tokens of a segment to the m keys of its path; returns (1, H, n, D).

    A root segment takes one causal call, others take masked blocks of queries. The keys of a block end with its own,
    so that few masked scores are computed.
    """
    rows, columns = query.shape[2], key.shape[2]
    if window is not None and window >= columns:
        window = None
    grouped = query.shape[1] != key.shape[1]
    if rows == columns and window is None and softcap is None:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling, enable_gqa=grouped)
    outputs = []
    for start in range(0, rows, BLOCK):
        block = query[:, :, start : start + BLOCK]
        last = columns - rows + start + block.shape[2]
        first = 0 if window is None else max(0, last - block.shape[2] - window + 1)
        keys, values = key[:, :, first:last], value[:, :, first:last]
        mask = _mask(block.shape[2], last - first, window, block, cache)
        if softcap is not None:
            outputs.append(_capped(block, keys, values, mask, scaling, softcap))
        else:
            outputs.append(
                F.scaled_dot_product_attention(block, keys, values, attn_mask=mask, scale=scaling, enable_gqa=grouped)
            )
    return torch.cat(outputs, dim=2) if len(outputs) > 1 else outputs[0]


def _mask(rows: int, columns: int, window: int | None, query: Tensor, cache: dict) -> Tensor:
    """Returns (rows, columns): 0 for visible keys, else −∞; causal from the bottom right, at most `window` keys back.

    A bool mask would be converted to this in every layer, and kept for the backward pass each time.
    """
    name = (rows, columns, window, query.dtype)
    if name not in cache:
        hidden = torch.ones(rows, columns, dtype=torch.bool, device=query.device).triu(columns - rows + 1)
        if window is not None:
            hidden |= torch.ones_like(hidden).tril(columns - rows - window)
        cache[name] = torch.zeros(rows, columns, dtype=query.dtype, device=query.device).masked_fill_(
            hidden, float("-inf")
        )
    return cache[name]


def _capped(query, key, value, mask: Tensor, scaling: float | None, softcap: float) -> Tensor:
    """Attends with scores capped by c·tanh(s/c) before the softmax, as in Gemma 2 (arXiv 2408.00118, section 2)."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = torch.tanh(query @ key.transpose(2, 3) * scale / softcap) * softcap + mask
    return scores.softmax(dim=-1, dtype=torch.float32).to(query.dtype) @ value


# ---- all segments in one call


@dataclass(frozen=True)
class Lanes:
    """The forest for the packed kernel: one lane for each segment, its queries against the keys of its whole path.

    index: (M,) int64, the token of the pack for each of the M keys; None when no segment has ancestors.
    query_ends, key_ends: (segments + 1,) int32, the bounds of the lanes; the same tensor when no segment has
           ancestors, which tells torch that the lengths are equal.
    """

    index: Tensor | None
    query_ends: Tensor
    key_ends: Tensor
    longest_query: int
    longest_key: int


def lanes(forest: Forest) -> Lanes:
    """Built once for all layers."""
    if "lanes" not in forest.cache:
        device = forest.ids.device
        paths = [[*segment.ancestors, (segment.start, segment.end)] for segment in forest.segments]
        query_lengths = [segment.end - segment.start for segment in forest.segments]
        key_lengths = [sum(end - start for start, end in path) for path in paths]
        query_ends = key_ends = _ends(query_lengths).to(device)
        index = None
        if any(segment.ancestors for segment in forest.segments):
            key_ends = _ends(key_lengths).to(device)
            index = torch.cat([torch.arange(*run) for path in paths for run in path]).to(device)
        forest.cache["lanes"] = Lanes(index, query_ends, key_ends, max(query_lengths), max(key_lengths))
    return forest.cache["lanes"]


def _ends(lengths: list[int]) -> Tensor:
    return torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)


def packed_attention(
    kernel: Callable[..., Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    forest: Forest,
    scaling: float | None,
    window: int | None,
) -> Tensor:
    """Computes attention, (1, T, H, D), by one call of `kernel`, `torch.nn.attention.varlen.varlen_attn` or alike.

    The kernel's window (left, 0) counts keys before the query, aligned at the bottom right when a lane has more keys
    than queries; transformers' window includes the query's own key.
    """
    lane = lanes(forest)
    query, key, value = (tensor[0].transpose(0, 1) for tensor in (query, key, value))
    own_key, own_value = key, value
    if lane.index is not None:
        key, value = own_key.index_select(0, lane.index), own_value.index_select(0, lane.index)
    left = -1 if window is None or window >= lane.longest_key else window - 1
    with _gathered_again([(key, own_key), (value, own_value)], lane.index):
        output = kernel(
            query,
            key,
            value,
            lane.query_ends,
            lane.key_ends,
            lane.longest_query,
            lane.longest_key,
            scale=scaling,
            window_size=(left, 0),
            enable_gqa=query.shape[1] != key.shape[1],
        )
    return output[None]


def _gathered_again(pairs: list[tuple[Tensor, Tensor]], index: Tensor | None) -> AbstractContextManager:
    """Keeps for the backward pass only the sources of gathered keys and values, inside the context.

    Sixteen candidates over one prompt gather its keys sixteen times; for all layers that is most of the memory.
    """
    sources = {} if index is None else {gathered.data_ptr(): (gathered, source.detach()) for gathered, source in pairs}

    def pack(tensor: Tensor) -> Tensor | tuple[Tensor]:
        gathered, source = sources.get(tensor.data_ptr(), (None, None))
        return tensor if gathered is None or gathered.shape != tensor.shape else (source,)

    def unpack(packed: Tensor | tuple[Tensor]) -> Tensor:
        return packed[0].index_select(0, index) if isinstance(packed, tuple) else packed

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


def _has_kernel(query: Tensor, value: Tensor) -> bool:
    return (
        query.is_cuda
        and query.dtype in (torch.float16, torch.bfloat16)
        and query.shape[-1] == value.shape[-1] <= 256
        and query.shape[-1] % 8 == 0
        and torch.cuda.get_device_capability(query.device) >= (8, 0)
    )


AttentionInterface.register("tandem", forest_attention)
AttentionMaskInterface.register("tandem", lambda *_, **__: None)  # no mask: the forest decides the visibility
