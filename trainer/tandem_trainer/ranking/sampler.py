"""Turns sampled from the live policy, with the log-probabilities that the sampler saw."""

from collections.abc import Collection, Sequence

import numpy as np
import torch

from ..config import CandidatesConfig
from ..fault import Fault
from ..model.base import Base
from ..running.budget import free_memory, is_out_of_memory
from ..running.events import Events
from ..running.stop import StopRequest
from ..turn import Turn
from .sampling import Sampling
from .side_by_side import side_by_side
from .whole_rows import whole_rows

AT_ONCE = {"cuda": 256, "mps": 128, "cpu": 128}  # turns, where memory allows it


class Sampler:
    """Samples `settings.sampled` turns for each prompt, and reads a prompt once for all of them where it can.

    The same prompts, seed and weights give the same turns on the same machine. How many turns are written at once is
    part of that: it is halved when the memory turns out to be too small.
    """

    def __init__(
        self, base: Base, settings: CandidatesConfig, stop_ids: Collection[int], stop: StopRequest, events: Events
    ):
        self.base, self.settings, self.stop_ids, self.stop, self.events = base, settings, stop_ids, stop, events
        self.at_once = AT_ONCE[base.device.type]

    def sample(self, prompts: Sequence[np.ndarray], seed: int) -> list[list[Turn]]:
        """For each prompt its turns, with log-probabilities after temperature (and top-p, where prompts are shared).

        Errors: Stopped when the run is to stop; Fault when not even one turn fits into memory.
        """
        model = self.base.model
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad():
                return self._until_it_fits(prompts, seed)
        finally:
            model.train(was_training)

    def _until_it_fits(self, prompts: Sequence[np.ndarray], seed: int) -> list[list[Turn]]:
        while True:
            try:
                generator = torch.Generator(self.base.device).manual_seed(seed)
                return self._all(prompts, Sampling(self.settings, self.stop_ids, generator, self.stop))
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if self.at_once == 1:
                    raise Fault("Not even one candidate fits into memory: lower candidates.max_new_tokens.") from error
            free_memory()
            self.at_once = min(self.at_once, len(prompts) * self.settings.sampled) // 2
            self.events.notice(f"Out of memory: {self.at_once} candidates are sampled at once from now on.")

    def _all(self, prompts: Sequence[np.ndarray], sampling: Sampling) -> list[list[Turn]]:
        each = self.settings.sampled
        write = side_by_side if self.base.shares_prefixes else whole_rows
        found: list[list[Turn]] = []
        together = max(1, self.at_once // each)
        for start in range(0, len(prompts), together):
            some = prompts[start : start + together]
            turns: list[list[Turn]] = [[] for _ in some]
            while len(turns[0]) < each:
                count = min(self.at_once, each - len(turns[0]))
                more = write(self.base, some, count, sampling)
                turns = [[*have, *new] for have, new in zip(turns, more, strict=True)]
            found += turns
        return found
