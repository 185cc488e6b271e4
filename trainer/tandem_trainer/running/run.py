"""A run in its folder: what is done, what is saved, and who is told."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from ..config import RunConfig
from .budget import TokenBudget
from .checkpoint import Checkpoint, keep_only, whole_checkpoints, write_checkpoint
from .distributed import Ranks
from .ended import is_ended, last_policy
from .events import Events
from .meter import Meter
from .stop import Stopped, StopRequest

# The most that a run which is done keeps for going on: enough for adapters, and for small models trained whole.
KEPT_BYTES = 2 << 30

Tensors = Mapping[str, Mapping[str, Tensor]]  # file → name → tensor


class Run:
    """What every stage needs to know of the run that it is part of.

    expected: the stages in their order, and the seconds that each is expected to take; None where nobody knows.
    budget: starts with what the plan chose, and is as small as it once had to become.
    """

    def __init__(
        self,
        folder: Path,
        config: RunConfig,
        *,
        events: Events,
        stop: StopRequest,
        ranks: Ranks,
        budget: TokenBudget,
        meter: Meter,
        expected: Mapping[str, float | None],
    ):
        self.folder = folder
        self.config = config
        self.events = events
        self.stop = stop
        self.ranks = ranks
        self.budget = budget
        self.meter = meter
        self.expected = dict(expected)
        self.saved_at = time.monotonic()
        found = whole_checkpoints(self._folder, events.notice) if ranks.first else []
        self.checkpoints: list[Checkpoint] = ranks.of_first(found)  # the newest first
        # The policy that was ended by request before all its steps were made.
        self.ended_in = next((each.stage for each in self.checkpoints if is_ended(each.state, each.stage)), None)
        if self.checkpoints:
            budget.tokens = min(budget.tokens, self.checkpoints[0].state["token_budget"])

    # ------------------------------------------------------------------------------------------------------------------
    # Checkpoints: the newest and the best of the stage at work, the result of every stage that is done.

    def checkpoint(self, stage: str, step: int | None = None) -> Checkpoint | None:
        """The newest of a stage at work, or the one after a step; none when the stage was not begun."""
        for checkpoint in self.checkpoints:
            if checkpoint.stage == stage and not checkpoint.state["done"] and step in (None, checkpoint.state["step"]):
                return checkpoint
        return None

    def result(self, stage: str) -> Checkpoint | None:
        """What a stage that is done has trained: its tensors `trained` and `objective`, and its figures."""
        for checkpoint in self.checkpoints:
            if checkpoint.stage == stage and checkpoint.state["done"]:
                return checkpoint
        return None

    def save(self, stage: str, step: int, state: Mapping[str, Any], tensors: Tensors, best_step: int | None) -> None:
        """A checkpoint of a stage at work. The best one is kept; where that is the newest, the one before it as well.

        Errors: Fault when the disk is full; the checkpoints before are then untouched.
        """
        self._write(stage, {"done": False, "step": step, **state}, tensors)
        results = [checkpoint for checkpoint in self.checkpoints if checkpoint.state["done"]]
        newest, *older = [checkpoint for checkpoint in self.checkpoints if not checkpoint.state["done"]]
        best = next((checkpoint for checkpoint in older if checkpoint.state["step"] == best_step), None)
        self._keep([newest, *([best] if best else older[:1]), *results])

    def finish(self, stage: str, figures: Mapping[str, Any], tensors: Tensors) -> None:
        """The stage is done: of its checkpoints only the result stays; of the last stage also where it stood."""
        self._write(stage, {"done": True, "step": "done", "figures": dict(figures)}, tensors)
        at_end = self.last_trained if stage == self.last_trained else None
        self._keep([each for each in self.checkpoints if each.state["done"] or each.stage == at_end])

    def clear(self) -> None:
        """The run is done, and its result is in its place.

        Its checkpoints are in `kept` from now on, without that result: put back into `checkpoints` of a copy of the
        folder without `model`, with policy.more_epochs, they go on from the last step. They are removed where they are
        large.
        """
        self._keep([each for each in self.checkpoints if not (each.state["done"] and each.stage == self.last_trained)])
        self.checkpoints = []
        if not (self.ranks.first and self._folder.exists()):
            return
        if sum(file.stat().st_size for file in self._folder.rglob("*")) > KEPT_BYTES:
            keep_only(self._folder, [])
            return
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        os.rename(self._folder, self.folder / "kept")

    @property
    def last_trained(self) -> str:
        """The stage that a run which is done goes on with: the policy that was ended by request, or the last one."""
        return self.ended_in or last_policy(self.config)

    def is_to_finish(self) -> bool:
        """Somebody has asked for the policy as it is. The same on all ranks, which must all ask."""
        return self.ranks.of_first(self.stop.is_to_finish)

    def has_begun(self, stage: str) -> bool:
        """As far as a checkpoint tells."""
        return any(checkpoint.stage == stage for checkpoint in self.checkpoints)

    def checkpoint_is_due(self) -> bool:
        """By the first rank's clock."""
        minutes = (time.monotonic() - self.saved_at) / 60
        return self.ranks.of_first(minutes >= self.config.resources.checkpoint_minutes)

    def _write(self, stage: str, state: Mapping[str, Any], tensors: Tensors) -> None:
        written = None
        if self.ranks.first:
            whole = {**state, "token_budget": self.budget.tokens}
            written = write_checkpoint(self._folder, stage, whole, tensors)
        self.checkpoints.insert(0, self.ranks.of_first(written))
        self.saved_at = time.monotonic()

    def _keep(self, checkpoints: list[Checkpoint]) -> None:
        if self.ranks.first:
            keep_only(self._folder, {checkpoint.path for checkpoint in checkpoints})
        self.checkpoints = [checkpoint for checkpoint in self.checkpoints if checkpoint in checkpoints]

    @property
    def _folder(self) -> Path:
        return self.folder / "checkpoints"

    # ------------------------------------------------------------------------------------------------------------------
    # Time left, and work that has no steps.

    def seconds_left(self, stage: str, spent: float, left: float) -> float:
        """Of the whole run. What the plan expects of later stages is corrected by how wrong it was on this one."""
        names = list(self.expected)
        later = [self.expected[name] or 0.0 for name in names[names.index(stage) + 1 :]]
        here = self.expected[stage]
        return round(left + sum(later) * ((spent + left) / here if here else 1.0), 1)

    def progress(self, stage: str, part: str) -> Callable[[int, int], None]:
        """To be called with (done, all) between pieces of work that are safe on disk. Raises Stopped on all ranks."""
        started, first = time.monotonic(), None

        def tell(done: int, total: int) -> None:
            nonlocal first
            first = done - 1 if first is None else first
            each = (time.monotonic() - started) / (done - first)
            self.events.emit(
                "progress", stage=stage, part=part, done=done, total=total, seconds_left=round(each * (total - done), 1)
            )
            if self.ranks.highest(bool(self.stop)):
                raise Stopped

        return tell
