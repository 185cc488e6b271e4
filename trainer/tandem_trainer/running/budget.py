"""The token budget of a micro-batch, and what happens when it was too large for the memory."""

import gc
from collections.abc import Callable, Sequence

import torch

from ..data.order import micro_batches
from ..fault import Fault
from .distributed import Ranks
from .events import Events
from .stop import Stopped, StopRequest

FINE, OUT_OF_MEMORY, STOP, TOO_LARGE = range(4)  # on several ranks the highest counts for all


class TokenBudget:
    """How many tokens, after sharing, one micro-batch may have; every time that is too many, half."""

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

        Out of memory on any rank: `forget` what was done, halve the budget, begin again on all ranks.
        Errors: Stopped when the run is to stop, nothing of this being done; Fault when one example alone does not fit.
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
    """CUDA and MPS have a type for it; the CPU's allocator says it in words."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    words = str(error)
    return "can't allocate memory" in words or "not enough memory" in words or "out of memory" in words


def free_memory() -> None:
    """Gives back what the failed pass still holds."""
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
