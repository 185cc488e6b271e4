"""Log-probabilities of many turns at once, without gradients: for the reference, the ranking and the candidates."""

from collections.abc import Sequence

import numpy as np
import torch

from .base import Base
from .budget import TokenBudget
from .forest import forest_tokens
from .log_probs import token_log_probs
from .turn import Turn


def score(
    base: Base, turns: Sequence[Turn], budget: TokenBudget, *, temperature: float = 1.0, logits_bytes: int = 256 << 20
) -> list[np.ndarray]:
    """For each turn (L,) float32, log p of its tokens under whatever `base` is at the moment (adapter or reference).

    Turns that share a prefix should be neighbours. With several ranks every one must call this, each with its own turns.
    Errors: those of `TokenBudget.spend`.
    """
    scores: list[np.ndarray] = [np.empty(0, np.float32)] * len(turns)

    def tokens(indices: Sequence[int]) -> int:
        return forest_tokens([turns[index] for index in indices])

    def work(indices: Sequence[int]) -> dict[str, float]:
        batch = [turns[index] for index in indices]
        with torch.no_grad():
            log_probs = token_log_probs(base.model, batch, temperature=temperature, logits_bytes=logits_bytes)
        together = torch.cat(log_probs).cpu().numpy()
        ends = np.cumsum([len(turn.response) for turn in batch])
        for index, part in zip(indices, np.split(together, ends[:-1]), strict=True):
            scores[index] = part
        return {}

    budget.spend(range(len(turns)), tokens, work)
    return scores
