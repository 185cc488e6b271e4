"""Decodes many turns at each of many prompts; the keys of a prompt are stored once for all of its turns.

The prompts are read as a forest (`prefix_tree.py`). Then each new token attends to its prompt and to its own turn: one
matrix product combines the queries of all turns of a prompt with the prompt's keys, as in Hydragen (arXiv 2402.05099),
and only new tokens are ever copied. It is registered with transformers as "tandem-decoding" and used in `attending`,
like the forest's attention, so that every model that can be trained this way can be sampled this way.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface

from .attention import attending, forest_attention
from .prefix_tree import Forest

GROWS_BY = 32  # tokens by which the turns' part of the cache grows


@dataclass
class Layer:
    """Keys and values of one layer, with K heads.

    keys, values:          those of the prompts, (P, K, L, D), padded on the right.
    own_keys, own_values:  those of the turns, (P, K, W, S, D) with S ≥ the tokens written so far.
    """

    keys: Tensor
    values: Tensor
    own_keys: Tensor
    own_values: Tensor


class SharedPrefixes:
    """Reads P prompts, then decodes a grid of P × W turns token by token.

    lengths: (P,) int64, tokens of each prompt.
    written: tokens of each turn that are in the cache so far.
    """

    def __init__(self, decoder: nn.Module, forest: Forest, width: int):
        """forest: grown from turns with the prompts to read; the last prompt token predicts the first token."""
        self.decoder, self.forest, self.width, self.written = decoder, forest, width, 0
        self.layers: dict[int, Layer] = {}
        reads = [int(forest.reads[place[0]]) for place in forest.places]
        paths = [_path(forest, read) for read in reads]
        device = forest.ids.device
        self.reads = torch.tensor(reads, device=device)
        self.lengths = torch.tensor([len(path) for path in paths], device=device)
        self.index = nn.utils.rnn.pad_sequence(paths, batch_first=True).to(device)  # (P, L), into the pack
        self._masks: dict[int | None, Tensor] = {}

    def read(self) -> Tensor:
        """Reads the prompts; returns the hidden states that predict the first token of every turn, (P · W, d)."""
        hidden = self._call(self.forest.ids, self.forest.positions)[self.reads]
        return hidden.repeat_interleave(self.width, dim=0)

    def write(self, tokens: Tensor) -> Tensor:
        """Adds one token to each turn: tokens (P · W,) int64 → hidden states that predict the next one, (P · W, d)."""
        self._masks.clear()
        hidden = self._call(tokens, (self.lengths + self.written).repeat_interleave(self.width))
        self.written += 1
        return hidden

    def keep(self, prompts: Tensor, turns: Tensor) -> None:
        """Shrinks the grid to turns `turns` (P', W') of prompts `prompts` (P',), as indices into the present grid."""
        self.lengths, self.width = self.lengths[prompts], turns.shape[1]
        longest = int(self.lengths.max())
        for layer in self.layers.values():
            layer.keys, layer.values = (whole[prompts, :, :longest] for whole in (layer.keys, layer.values))
            layer.own_keys, layer.own_values = (
                whole[prompts[:, None], :, turns].transpose(1, 2).contiguous()
                for whole in (layer.own_keys, layer.own_values)
            )

    def _call(self, ids: Tensor, positions: Tensor) -> Tensor:
        with attending(self.decoder, "tandem-decoding"):
            states = self.decoder(
                input_ids=ids[None], position_ids=positions[None], use_cache=False, shared_prefixes=self
            )
        return states.last_hidden_state[0]

    # ---- what the layers call

    def attend(self, number: int, query, key, value, scaling, window, softcap, others: dict) -> Tensor:
        """Attends: query (1, H, T, D), key, value (1, K, T, D), first of the prompts, then of tokens → (1, T, H, D)."""
        if number in self.layers:
            return self._attend_to_both(self.layers[number], query, key, value, scaling, window, softcap)
        keys, values = (whole[0].transpose(0, 1)[self.index].transpose(1, 2) for whole in (key, value))
        nothing = keys.new_empty(*keys.shape[:2], self.width, 0, keys.shape[-1])
        self.layers[number] = Layer(keys.contiguous(), values.contiguous(), nothing, nothing)
        settings = {"scaling": scaling, "sliding_window": window, "softcap": softcap, **others}
        return forest_attention(None, query, key, value, None, forest=self.forest, **settings)[0]

    def _attend_to_both(self, layer: Layer, query, key, value, scaling, window, softcap) -> Tensor:
        prompts, heads, longest, size = layer.keys.shape
        groups = query.shape[1] // heads
        layer.own_keys = self._with_new(layer.own_keys, key)
        layer.own_values = self._with_new(layer.own_values, value)
        own = slice(0, self.written + 1)
        grid = query[0].view(heads, groups, prompts, self.width, size).permute(2, 0, 3, 1, 4)  # (P, K, W, G, D)
        scale = size**-0.5 if scaling is None else scaling
        of_prompt = (grid.flatten(2, 3) @ layer.keys.transpose(2, 3)).unflatten(2, grid.shape[2:4])
        of_turn = grid @ layer.own_keys[..., own, :].transpose(3, 4)
        scores = torch.cat([of_prompt, of_turn], dim=-1).mul_(scale)  # (P, K, W, G, L + S)
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        weights = (scores + self._mask(window, longest, scores)).softmax(-1, dtype=torch.float32).to(query.dtype)
        from_prompt = (weights[..., :longest].flatten(2, 3) @ layer.values).view(grid.shape)
        output = from_prompt + weights[..., longest:] @ layer.own_values[..., own, :]
        return output.permute(0, 2, 1, 3, 4).reshape(1, prompts * self.width, heads * groups, size)

    def _with_new(self, own: Tensor, new: Tensor) -> Tensor:
        """Writes new (1, K, P · W, D) into own (P, K, W, S, D) at the position of the current token."""
        if own.shape[3] == self.written:
            own = torch.cat([own, own.new_zeros(*own.shape[:3], GROWS_BY, own.shape[4])], dim=3)
        own[:, :, :, self.written] = new[0].unflatten(1, (own.shape[0], self.width)).transpose(0, 1)
        return own

    def _mask(self, window: int | None, longest: int, scores: Tensor) -> Tensor:
        """Returns (P, 1, 1, 1, L + S), −∞ at padding and, with a window, at keys `window` or more tokens back."""
        if window not in self._masks:
            device = scores.device
            of_prompt = torch.arange(longest, device=device)[None]  # positions of prompt keys; own keys come after
            of_turn = self.lengths[:, None] + torch.arange(self.written + 1, device=device)
            hidden = torch.cat([of_prompt >= self.lengths[:, None], torch.zeros_like(of_turn, dtype=torch.bool)], dim=1)
            if window is not None:
                positions = torch.cat([of_prompt.expand(len(self.lengths), -1), of_turn], dim=1)
                hidden |= (self.lengths + self.written)[:, None] - positions >= window
            mask = torch.zeros_like(hidden, dtype=scores.dtype).masked_fill_(hidden, float("-inf"))
            self._masks[window] = mask[:, None, None, None]
        return self._masks[window]


def _path(forest: Forest, read: int) -> Tensor:
    """The tokens of the pack that token `read` sees, root first."""
    segment = next(segment for segment in forest.segments if segment.start <= read < segment.end)
    return torch.cat([torch.arange(*run) for run in (*segment.ancestors, (segment.start, read + 1))])


def shared_prefix_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    _attention_mask: Tensor | None,
    *,
    shared_prefixes: SharedPrefixes,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **others,
) -> tuple[Tensor, None]:
    settings = (scaling, sliding_window, softcap, others)
    return shared_prefixes.attend(module.layer_idx, query, key, value, *settings), None


AttentionInterface.register("tandem-decoding", shared_prefix_attention)
AttentionMaskInterface.register("tandem-decoding", lambda *_, **__: None)  # no mask: `_mask` hides padding
