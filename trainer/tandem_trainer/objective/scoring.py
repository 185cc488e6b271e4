"""Many turns through the model without gradients: for the reference, the candidates and the ranking."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from ..model.base import Base
from ..model.forest import forest_tokens
from ..model.log_probs import token_log_probs
from ..running.budget import TokenBudget
from ..turn import Turn


def score(
    base: Base, turns: Sequence[Turn], budget: TokenBudget, *, temperature: float = 1.0, logits_bytes: int = 256 << 20
) -> list[np.ndarray]:
    """For each turn (L,) float32, log p of its tokens under whatever `base` is at the moment (adapter or reference).

    Errors and ranks as in `in_batches`.
    """

    def compute(batch: list[Turn]) -> list[np.ndarray]:
        log_probs = token_log_probs(base.model, batch, temperature=temperature, logits_bytes=logits_bytes)
        ends = np.cumsum([len(turn.response) for turn in batch])
        return np.split(torch.cat(log_probs).cpu().numpy(), ends[:-1])

    return in_batches(base, turns, budget, compute)


def in_batches(
    base: Base, turns: Sequence[Turn], budget: TokenBudget, compute: Callable[[list[Turn]], Sequence[np.ndarray]]
) -> list[np.ndarray]:
    """What `compute` makes of each turn, called on as many as the budget allows. Those that share a prefix should be
    neighbours. With several ranks every one must call this, each with its own turns.

    Errors: those of `TokenBudget.spend`.
    """
    results: list[np.ndarray | None] = [None] * len(turns)

    def tokens(indices: Sequence[int]) -> int:
        return forest_tokens([turns[index] for index in indices], shared=base.shares_prefixes)

    def work(indices: Sequence[int]) -> dict[str, float]:
        with torch.no_grad():
            made = compute([turns[index] for index in indices])
        for index, result in zip(indices, made, strict=True):
            results[index] = result
        return {}

    budget.spend(range(len(turns)), tokens, work)
    return results
