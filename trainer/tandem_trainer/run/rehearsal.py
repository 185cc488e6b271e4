"""Times a little of each stage's own work, so that the plan's estimate fits this machine.

FLOPs alone are not enough: the smaller a model is, the larger is the overhead of a pass. Of longer work only a part is
done; if even that takes too long, the rate that `machine_usage.py` measured is used.
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
from ..model.base import Base
from ..model.flops import Shape, step_flops
from ..model.log_probs import Head, token_log_probs
from ..turn import Example, Turn
from .budget import free_memory, is_out_of_memory
from .event_file import Events
from .machine_usage import Machine, wait_for
from .objective import Objective, objective_of, turns_of
from .reference_cache import ReferenceCache
from .sampler import Sampler
from .stop import Stopped
from .workload import Kind, Load, Piece, Written, packs

MOMENT = 0.5  # seconds of work in one rehearsal, estimated from the machine's rate
INTERRUPT_AFTER_SECONDS = 1.5  # seconds after which sampling is interrupted
BRIEF = 0.3  # shorter work, in seconds, is timed a second time, because the first time also builds kernels

Rates = dict[tuple[str, Kind], float]  # FLOP/s of one process by stage and kind of work
Found = TypeVar("Found")

_found: dict[bytes, object] = {}  # results of this process, which may plan further runs


class Rehearsal:
    """machine: with a measured rate. tokens: of a micro-batch."""

    def __init__(self, base: Base, config: RunConfig, shape: Shape, machine: Machine, tokens: int):
        self.base, self.config, self.shape, self.tokens = base, config, shape, tokens
        self.rate = machine.rate or 0.0
        self.reference = _NoReference(base, config.resources.logits_mb << 20)

    def rates(self, loads: Sequence[Load]) -> Rates:
        found: Rates = {}
        for load in loads:
            for piece in load.pieces or ():
                if piece.kind != "write" and (load.stage, piece.kind) not in found:
                    rate = self._once([load.stage, piece.kind], piece.sample, lambda: self._rate(load.stage, piece))  # noqa: B023
                    found |= {} if rate is None else {(load.stage, piece.kind): rate}
        return found

    def write(self, load: Load) -> tuple[Rates, Written | None]:
        """Samples candidates for some histories. Returns the rate, and the turns by history; None if interrupted."""
        piece = next((piece for piece in load.pieces or () if piece.kind == "write"), None)
        if piece is None or not self.base.shares_prefixes:  # plain generation cannot be interrupted between two tokens
            return {}, None
        prompts = [example.chosen[0].prompt for example in piece.sample]
        settings = [self.config.candidates, load.longest]
        seconds, written = self._once(
            settings, piece.sample, lambda: _least(lambda: self._write(prompts, load.longest))
        )
        return {(load.stage, "write"): piece.of_sample / seconds}, written

    def _write(self, prompts: Sequence[np.ndarray], longest: int) -> tuple[float, Written | None]:
        """Returns the seconds that all of it takes, and the turns if sampling came to its end."""
        clock, settings = _Clock(INTERRUPT_AFTER_SECONDS), self.config.candidates
        sampler = Sampler(self.base, settings, self.base.stop_ids, clock, Events(None))
        try:
            written = sampler.sample(prompts, seed=0)
            return clock.passed, written
        except Stopped:
            return clock.until(min(settings.max_new_tokens, longest)), None

    def _rate(self, stage: str, piece: Piece) -> float | None:
        """None when a single example takes too long or too much memory."""
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
            free_memory()  # the run itself would halve its budget
            return None
        return sum(step_flops(self.shape, turns_of(part), work) for part in parts) / seconds

    def _do(
        self, examples: Sequence[Example], objective: Objective | None, train: bool
    ) -> tuple[float, list[list[Example]]]:
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
        """Caches the result of the same work by the same model."""
        config = self.config
        how = [config.model, config.method, config.critic.score, config.policy.loss]
        machine = [self.tokens, self.base.is_checkpointed, torch.get_num_threads()]
        digest = hashlib.sha256(repr([what, how, machine]).encode())
        for turn in turns_of(sample):
            digest.update(turn.prompt.tobytes() + b"/" + turn.response.tobytes())
        key = digest.digest()
        if key not in _found:
            _found[key] = find()
        return _found[key]


def _least(work: Callable[[], tuple[float, Found]]) -> tuple[float, Found]:
    """Does brief work twice and keeps the faster result; its first item is the seconds."""
    first = work()
    return first if first[0] > BRIEF else min(first, work(), key=lambda one: one[0])


class _NoReference(ReferenceCache):
    """Log-probability 0 for every token, because the time of a step does not depend on it."""

    def __init__(self, base: Base, logits_bytes: int):
        self.base, self.logits_bytes = base, logits_bytes

    def of(self, turns: Sequence[Turn]) -> list[Tensor]:
        return [torch.zeros(len(turn.response), device=self.base.device) for turn in turns]

    def states_of(self, turns: Sequence[Turn]) -> Tensor:
        weight = self.base.model.get_output_embeddings().weight
        tokens = sum(len(turn.response) for turn in turns)
        return torch.zeros(tokens, weight.shape[1], dtype=weight.dtype, device=self.base.device)

    def head_beside(self, head: Head) -> Head:
        return head


class _Clock:
    """Replaces the request to stop, checked before each token: true when the time is up and tokens were sampled."""

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
        """Extrapolates the seconds until so many tokens are sampled."""
        first, last = self.looks[0], self.looks[-1]
        return first + (last - first) / (len(self.looks) - 1) * tokens
