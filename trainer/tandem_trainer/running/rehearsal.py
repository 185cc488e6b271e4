"""A little of each stage's own work, done and timed, so that the plan's time is the run's on this very machine.

Arithmetic alone does not tell: the smaller a model is, the more of a pass is spent around it. Of what would take longer
than a moment only a part is done, and what no part can be done of keeps the rate that `machine.py` measured.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from ..config import RunConfig
from ..machine import Machine, wait_for
from ..model.base import Base
from ..model.flops import Shape, step_flops
from ..model.log_probs import token_log_probs
from ..objective.objective import Objective, turns_of
from ..objective.reference_cache import ReferenceCache
from ..ranking.sampler import Sampler
from ..turn import Example, Turn
from .budget import free_memory, is_out_of_memory
from .events import Events
from .stages import objective_of
from .stop import Stopped
from .workload import Kind, Load, Piece, Written, packs

MOMENT = 0.5  # seconds that a rehearsal may take, by the machine's rate
PATIENCE = 1.5  # seconds after which candidates are broken off
BRIEF = 0.3  # seconds below which it is done once more, because the first time also builds kernels

Rates = dict[tuple[str, Kind], float]  # FLOP/s at which one process does a stage's work of a kind
Found = TypeVar("Found")

_found: dict[bytes, object] = {}  # in this process, which may be asked again for a run with other settings


class Rehearsal:
    """machine: with the rate that it is known to reach. tokens: of a micro-batch."""

    def __init__(self, base: Base, config: RunConfig, shape: Shape, machine: Machine, tokens: int):
        self.base, self.config, self.shape, self.tokens = base, config, shape, tokens
        self.rate = machine.rate or 0.0
        self.reference = _NoReference(base, config.resources.logits_mb << 20)

    def rates(self, loads: Sequence[Load]) -> Rates:
        """Of everything that is trained or read. Nothing is changed but the time."""
        found: Rates = {}
        for load in loads:
            for piece in load.pieces or ():
                if piece.kind != "write" and (load.stage, piece.kind) not in found:
                    rate = self._once([load.stage, piece.kind], piece.sample, lambda: self._rate(load.stage, piece))  # noqa: B023
                    found |= {} if rate is None else {(load.stage, piece.kind): rate}
        return found

    def write(self, load: Load) -> tuple[Rates, Written | None]:
        """Writes candidates to some histories. Returns the rate, and the turns, those of a history together; None where
        they did not come to their end within the moment.
        """
        piece = next((piece for piece in load.pieces or () if piece.kind == "write"), None)
        if piece is None or not self.base.shares_prefixes:  # plain generation cannot be broken off between two tokens
            return {}, None
        prompts = [example.chosen[0].prompt for example in piece.sample]
        settings = [self.config.candidates, load.longest]
        seconds, written = self._once(
            settings, piece.sample, lambda: _least(lambda: self._write(prompts, load.longest))
        )
        return {(load.stage, "write"): piece.of_sample / seconds}, written

    def _write(self, prompts: Sequence[np.ndarray], longest: int) -> tuple[float, Written | None]:
        """Seconds that all of it takes, and what was written if it came to its end."""
        clock, settings = _Clock(PATIENCE), self.config.candidates
        sampler = Sampler(self.base, settings, self.base.stop_ids, clock, Events(None))
        try:
            written = sampler.sample(prompts, seed=0)
            return clock.passed, written
        except Stopped:
            return clock.until(min(settings.max_new_tokens, longest)), None

    def _rate(self, stage: str, piece: Piece) -> float | None:
        """None where not even one example can be done in a few moments, or in the memory."""
        work = self.config.model.training if piece.kind == "train" else "forward"
        costs = [step_flops(self.shape, example.turns, work) for example in piece.sample]
        if not costs or costs[0] > 4 * MOMENT * self.rate:
            return None
        some = piece.sample[: max(1, sum(cost <= MOMENT * self.rate for cost in accumulate(costs)))]
        objective = objective_of(stage, self.config, self.reference) if stage in ("critic", "policy") else None
        try:
            seconds, parts = _least(lambda: self._do(some, objective, piece.kind == "train"))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            self._forget()
            free_memory()  # the run itself divides what does not fit
            return None
        return sum(step_flops(self.shape, turns_of(part), work) for part in parts) / seconds

    def _do(
        self, examples: Sequence[Example], objective: Objective | None, train: bool
    ) -> tuple[float, list[list[Example]]]:
        """Does it once. Returns the seconds, and the micro-batches that it was cut into."""
        started = time.perf_counter()
        parts = packs(examples, self.tokens, self.base.shares_prefixes)
        with torch.set_grad_enabled(train):
            for part in parts:
                if objective is None:
                    torch.cat(token_log_probs(self.base.model, turns_of(part))).cpu()
                    continue
                loss, _ = objective.loss(self.base.model, part)
                if train:
                    loss.backward()
        wait_for(self.base.device)
        seconds = time.perf_counter() - started
        self._forget()
        return seconds, parts

    def _forget(self) -> None:
        for _, weight in self.base.trainable():
            weight.grad = None

    def _once(self, what: Sequence[object], sample: Sequence[Example], find: Callable[[], Found]) -> Found:
        """What was found before of the same work by the same model."""
        config = self.config
        how = [config.model, config.method, config.critic.score, self.tokens, self.base.is_checkpointed]
        digest = hashlib.sha256(repr([what, how, torch.get_num_threads()]).encode())
        for turn in turns_of(sample):
            digest.update(turn.prompt.tobytes() + b"/" + turn.response.tobytes())
        key = digest.digest()
        if key not in _found:
            _found[key] = find()
        return _found[key]


def _least(work: Callable[[], tuple[float, Found]]) -> tuple[float, Found]:
    """Does brief work twice, and returns the quicker one; the seconds come first."""
    first = work()
    return first if first[0] > BRIEF else min(first, work(), key=lambda one: one[0])


class _NoReference(ReferenceCache):
    """Says 0 of every token: how long a step takes does not depend on it."""

    def __init__(self, base: Base, logits_bytes: int):
        self.base, self.logits_bytes = base, logits_bytes

    def of(self, turns: Sequence[Turn]) -> list[Tensor]:
        return [torch.zeros(len(turn.response), device=self.base.device) for turn in turns]


class _Clock:
    """In place of a request to stop, which is looked at before each token: true as soon as the time is up, but not
    before some tokens were written.
    """

    SOME = 4

    def __init__(self, seconds: float):
        self.started, self.seconds = time.perf_counter(), seconds
        self.looks: list[float] = []

    @property
    def passed(self) -> float:
        return time.perf_counter() - self.started

    def __bool__(self) -> bool:
        self.looks.append(self.passed)
        return self.looks[-1] > self.seconds and len(self.looks) > self.SOME

    def until(self, tokens: int) -> float:
        """Seconds from the start until so many are written, when the others take as long as those so far."""
        first, last = self.looks[0], self.looks[-1]
        return first + (last - first) / (len(self.looks) - 1) * tokens
