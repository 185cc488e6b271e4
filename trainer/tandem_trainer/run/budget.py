"""The token budget of a micro-batch, which is halved when memory runs out, and passes without gradients within it."""

import gc
from collections.abc import Callable, Sequence

import numpy as np
import torch

from ..data.order import micro_batches
from ..fault import Fault
from ..model.base import Base
from ..model.forest import forest_tokens
from ..model.log_probs import token_log_probs
from ..turn import Turn
from .distributed import Ranks
from .event_file import Events
from .stop import Stopped, StopRequest

FINE, OUT_OF_MEMORY, STOP, TOO_LARGE = range(4)  # the highest value of all ranks counts


class TokenBudget:
    """Maximum number of tokens of one micro-batch, after sharing; it is halved whenever memory runs out."""

    def __init__(self, tokens: int, ranks: Ranks, stop: StopRequest, events: Events):
        self.tokens = tokens
        self.ranks = ranks
        self.stop = stop
        self.events = events

    def spend(
        self,
        indices: Sequence[int],
        tokens: Callable[[Sequence[int]], int],
        work: Callable[[list[int]], dict[str, float]],
        forget: Callable[[], None] = lambda: None,
    ) -> dict[str, float]:
        """Calls `work` on micro-batches of this rank's `indices` and returns the sums of its figures over all ranks.

        When any rank runs out of memory, all call `forget`, halve the budget and start again.
        Errors: Stopped on a request to stop, with no work done; Fault when one example alone does not fit.
        """
        while True:
            sums: dict[str, float] = {}
            outcome, failed = FINE, 0
            for batch in micro_batches(list(indices), tokens, self.tokens):
                if self.stop:
                    outcome = STOP
                    break
                try:
                    figures = work(batch)
                except (RuntimeError, MemoryError) as error:
                    if not is_out_of_memory(error):
                        raise
                    outcome, failed = (OUT_OF_MEMORY if len(batch) > 1 else TOO_LARGE), tokens(batch)
                    break
                for name, value in figures.items():
                    sums[name] = sums.get(name, 0.0) + value
            outcome, failed = self.ranks.highest((outcome, failed))
            if outcome == FINE:
                return self.ranks.sum_figures(sums)
            forget()
            free_memory()
            if outcome == STOP:
                raise Stopped
            if outcome == TOO_LARGE:
                raise _does_not_fit(failed)
            self._halve(failed)

    def _halve(self, failed: int) -> None:
        before = self.tokens
        self.tokens = max(1, min(failed, before) // 2)
        self.events.notice(
            f"Out of memory: micro-batches have at most {self.tokens:,} tokens from now on, after {before:,}.",
            token_budget=self.tokens,
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Recognises out-of-memory errors by type or, from the CPU's allocator, by message."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    words = str(error)
    return "can't allocate memory" in words or "not enough memory" in words or "out of memory" in words


def free_memory() -> None:
    """Frees memory that the failed pass still holds."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def _does_not_fit(tokens: int) -> Fault:
    return Fault(
        f"One example of {tokens:,} tokens alone does not fit into memory: lower max_tokens of this stage, "
        "or set resources.checkpoint_activations to true."
    )


def score(
    base: Base, turns: Sequence[Turn], budget: TokenBudget, *, temperature: float = 1.0, logits_bytes: int = 256 << 20
) -> list[np.ndarray]:
    """Computes log p of each turn's tokens, (L,) float32, under the live adapter or reference of `base`.

    Errors and ranks: as in `in_batches`.
    """

    def compute(batch: list[Turn]) -> list[np.ndarray]:
        log_probs = token_log_probs(base.model, batch, temperature=temperature, logits_bytes=logits_bytes)
        ends = np.cumsum([len(turn.response) for turn in batch])
        return np.split(torch.cat(log_probs).cpu().numpy(), ends[:-1])

    return in_batches(base, turns, budget, compute)


def in_batches(
    base: Base, turns: Sequence[Turn], budget: TokenBudget, compute: Callable[[list[Turn]], Sequence[np.ndarray]]
) -> list[np.ndarray]:
    """Calls `compute` on as many turns at a time as the budget allows; returns one result for each turn.

    Turns that share a prefix should be neighbours. Every rank must call this, each with its own turns.

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
