"""All turns of several prompts written side by side, where each prompt is read once."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..model.base import Base
from ..model.forest import grow
from ..model.head import Head, all_log_probs
from ..model.log_probs import decoder_of
from ..model.shared_prefix import SharedPrefixes
from ..running.stop import Stopped
from ..turn import Turn
from .draw import draw
from .sampling import Sampling

SMALLER = 0.75  # of the turns' places, below which those of turns that ended are given up


def side_by_side(base: Base, prompts: Sequence[np.ndarray], count: int, sampling: Sampling) -> list[list[Turn]]:
    """`count` turns for each of the prompts, each up to its first stop token or `max_new_tokens`.

    Errors: Stopped, between two tokens.
    """
    settings, device, head = sampling.settings, base.device, Head.of(base.model)
    forest = grow([Turn(prompt, prompt[-1:]) for prompt in prompts]).to(device)
    cache = SharedPrefixes(decoder_of(base.model), forest, count)
    ends = torch.tensor(sorted(sampling.stop_ids), device=device)
    size = (len(prompts) * count, settings.max_new_tokens)
    tokens, said = torch.zeros(size, dtype=torch.int64, device=device), torch.zeros(size, device=device)
    lengths = torch.full(size[:1], settings.max_new_tokens, device=device)
    turns = torch.arange(size[0], device=device).view(len(prompts), count)  # which turn stands where in the grid
    writing = torch.ones_like(turns, dtype=torch.bool)
    hidden = cache.read()
    for step in range(settings.max_new_tokens):
        if sampling.stop:
            raise Stopped
        every = all_log_probs(hidden, head, temperature=settings.temperature)
        new, log_probs = draw(every, settings, sampling.generator)
        rows = turns.flatten()
        tokens[rows, step], said[rows, step] = new, log_probs
        ended = writing & torch.isin(new, ends).view(writing.shape)
        lengths[turns[ended]] = step + 1
        writing &= ~ended
        if step + 1 == settings.max_new_tokens or not writing.any():
            break
        kept, places = _still_needed(writing)
        if places.numel() <= SMALLER * writing.numel():
            new = new.view(writing.shape)[kept[:, None], places].flatten()
            turns, writing = turns[kept[:, None], places], writing[kept[:, None], places]
            cache.keep(kept, places)
        hidden = cache.write(new)
    numbers = zip(tokens.cpu().numpy(), said.cpu().numpy(), lengths.tolist(), strict=True)
    written = [(row[:length].astype(np.int32), about[:length]) for row, about, length in numbers]
    return [
        [Turn(prompt, row, sampled=True, log_probs=about) for row, about in written[start : start + count]]
        for start, prompt in zip(range(0, size[0], count), prompts, strict=True)
    ]


def _still_needed(writing: Tensor) -> tuple[Tensor, Tensor]:
    """writing (P, W) bool → the prompts (P',) of which a turn is written, and of each its first turns (P', W'), those
    that are written first, as many as the prompt with the most has.
    """
    kept = writing.any(dim=1).nonzero()[:, 0]
    width = int(writing.sum(dim=1).max())
    places = writing[kept].to(torch.int8).argsort(dim=1, descending=True, stable=True)[:, :width]
    return kept, places
