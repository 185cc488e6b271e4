"""The token budget of a micro-batch, which is halved when memory runs out, and passes without gradients within it.

Several processes hold one model together, so they make their passes in step: a rank that has no micro-batch left makes
an idle pass, and when memory runs out in one of them, in the middle of a pass, all begin again (`restart.py`).
"""

import gc
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch

from ..data.batch_order import micro_batches
from ..fault import Fault
from ..model.base import Base
from ..model.log_probs import token_log_probs
from ..model.prefix_tree import forest_tokens
from ..turn import Turn
from .disk_space import MEMORY
from .distributed import Ranks
from .event_file import Events
from .restart import Again
from .stop import Stopped, StopRequest

Result = TypeVar("Result")

NO_TURN = Turn(np.zeros(1, np.int32), np.zeros(1, np.int32))  # for a rank that has nothing to read


class TokenBudget:
    """Maximum number of tokens of one micro-batch, after sharing, and of bytes that logits take at one time."""

    def __init__(self, tokens: int, ranks: Ranks, stop: StopRequest, events: Events, logits_bytes: int = 256 << 20):
        self.tokens = tokens
        self.ranks = ranks
        self.stop = stop
        self.events = events
        self.logits_bytes = logits_bytes

    def spend(
        self,
        indices: Sequence[int],
        tokens: Callable[[Sequence[int]], int],
        work: Callable[[list[int]], dict[str, float]],
        idle: Callable[[], object],
        forget: Callable[[], None] = lambda: None,
    ) -> dict[str, float]:
        """Calls `work` on micro-batches of this rank's `indices` and returns the sums of its figures over all ranks.

        idle: makes the passes of `work` without any effect, for a rank that has fewer micro-batches than another. When
        memory runs out, calls `forget`, halves the budget and starts again. Errors: Stopped, with no work done; Fault
        when one example alone does not fit; Again when memory ran out in one of several processes.
        """
        while True:
            batches = list(micro_batches(list(indices), tokens, self.tokens))
            sums: Counter[str] = Counter()
            failed: int | None = None
            for number in range(self.ranks.highest(len(batches))):
                if self.ranks.highest(bool(self.stop)):
                    forget()
                    raise Stopped
                batch = batches[number] if number < len(batches) else []
                try:
                    figures = work(batch) if batch else idle()
                except (RuntimeError, MemoryError) as error:
                    if not is_out_of_memory(error):
                        raise
                    failed = tokens(batch) if batch else self.tokens
                    if len(batch) == 1:
                        raise Fault(
                            f"One example of {failed:,} tokens alone does not fit into memory: lower max_tokens of "
                            "this stage, or set resources.checkpoint_activations to true."
                        ) from None
                    break
                sums.update(figures if batch else {})
            if failed is None:
                return self.ranks.sum_figures(sums)
            forget()
            free_memory()
            self._halve(failed)

    def _halve(self, failed: int) -> None:
        before = self.tokens
        self.tokens = max(1, min(failed, before) // 2)
        sentence = f"Out of memory: micro-batches have at most {self.tokens:,} tokens from now on, after {before:,}."
        if self.ranks.world > 1:
            raise Again(sentence, token_budget=self.tokens)
        self.events.notice(sentence, token_budget=self.tokens)


def is_out_of_memory(error: BaseException) -> bool:
    """By type or, from the CPU's allocator, by message."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return any(sign in str(error) for sign in MEMORY)


def free_memory() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def score(base: Base, turns: Sequence[Turn], budget: TokenBudget, *, temperature: float = 1.0) -> list[np.ndarray]:
    """Computes log p of each turn's tokens, (L,) float32, under the live adapter or reference. See `in_batches`."""

    def compute(batch: list[Turn]) -> list[np.ndarray]:
        log_probs = token_log_probs(base.model, batch, temperature=temperature, logits_bytes=budget.logits_bytes)
        ends = np.cumsum([len(turn.response) for turn in batch])
        return np.split(torch.cat(log_probs).cpu().numpy(), ends[:-1])

    return in_batches(base, turns, budget, compute)


def in_batches(
    base: Base, turns: Sequence[Turn], budget: TokenBudget, compute: Callable[[list[Turn]], Sequence[Result]]
) -> list[Result]:
    """Calls `compute` on as many turns at a time as the budget allows; returns one result for each turn.

    Turns that share a prefix should be neighbours. Every rank must call this. Errors: those of `TokenBudget.spend`.
    """
    results: list[Result | None] = [None] * len(turns)

    def tokens(indices: Sequence[int]) -> int:
        return forest_tokens([turns[index] for index in indices], shared=base.shares_prefixes)

    def work(indices: Sequence[int]) -> dict[str, float]:
        with torch.no_grad():
            made = compute([turns[index] for index in indices])
        for index, result in zip(indices, made, strict=True):
            results[index] = result
        return {}

    def idle() -> None:
        with torch.no_grad():
            compute([NO_TURN])

    budget.spend(range(len(turns)), tokens, work, idle)
    return results
