"""The one path from turns to log-probabilities. Every objective, the reference and the scores go through here."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..turn import Turn
from .attention import attending
from .forest import Forest, grow
from .head import Head, chosen_log_probs


def token_log_probs(
    model: nn.Module,
    turns: Sequence[Turn],
    *,
    shared: bool = True,
    temperature: float = 1.0,
    logits_bytes: int = 256 << 20,
) -> list[Tensor]:
    """log p(response token | prompt, earlier response tokens) of each turn: (L_i,) float32, in the order given.

    model:        a causal language model of transformers, with or without PEFT adapters.
    shared:       common prefixes are computed once. Otherwise padded rows with the model's own attention; this is also
                  what models get whose layers are not plain causal attention (`Base.shares_prefixes`).
    temperature:  log-probabilities under softmax(logits / temperature), as a sampler at that temperature reports them.
    logits_bytes: the most that logits may take at one time.

    Differentiable, unless under `torch.no_grad`.
    """
    forest = grow(turns).to(_device(model))
    hidden = _hidden(model, forest, shared)
    log_probs = chosen_log_probs(
        hidden, forest.targets, Head.of(model), temperature=temperature, logits_bytes=logits_bytes
    )
    lengths = [len(place) for place in forest.places]
    return list(log_probs[torch.cat(forest.places)].split(lengths))


def last_hidden(model: nn.Module, turns: Sequence[Turn], *, shared: bool = True) -> Tensor:
    """(len(turns), d): the hidden state at each turn's last response token, after the final norm (value head)."""
    return _hidden(model, grow(turns, ends=True).to(_device(model)), shared)


def decoder_of(model: nn.Module) -> nn.Module:
    """The part of a causal language model that gives hidden states, with whatever adapters live inside it."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return inner.get_decoder()


def _hidden(model: nn.Module, forest: Forest, shared: bool) -> Tensor:
    """(N, d): the hidden states at `forest.reads`."""
    decoder = decoder_of(model)
    if not (shared and getattr(decoder, "shares_prefixes", True)):
        return _separate(decoder, forest)
    with attending(decoder, "tandem"):
        states = decoder(
            input_ids=forest.ids[None], position_ids=forest.positions[None], use_cache=False, forest=forest
        )
    return states.last_hidden_state[0, forest.reads]


def _separate(decoder: nn.Module, forest: Forest) -> Tensor:
    """The same from one row a leaf. Padding stands to the right, where causal layers never look."""
    paths = [
        torch.cat([torch.arange(*run) for run in (*segment.ancestors, (segment.start, segment.end))])
        for segment in forest.segments
    ]
    width = max(map(len, paths))
    rows = forest.ids.new_zeros(len(paths), width)
    places = torch.empty(len(forest.ids), dtype=torch.int64)  # of a token of the pack in the rows
    for number, path in enumerate(paths):
        rows[number, : len(path)] = forest.ids[path.to(rows.device)]
        places[path] = number * width + torch.arange(len(path))
    states = decoder(input_ids=rows, use_cache=False).last_hidden_state
    return states.flatten(0, 1)[places.to(rows.device)[forest.reads]]


def _device(model: nn.Module) -> torch.device:
    return model.get_input_embeddings().weight.device
