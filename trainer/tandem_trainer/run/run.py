"""The state of a run: the names of its stages, its folder, checkpoints, events and time estimates."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from ..config import RunConfig
from ..methods.settings import method_of, rounds_of
from .budget import TokenBudget
from .checkpoint import Checkpoint, adopt_checkpoint, keep_only, whole_checkpoints, write_checkpoint
from .event_file import Events
from .machine_usage import Meter
from .stop import Stopped

# Size limit of the checkpoints that a finished run keeps to be continued: enough for adapters and small full models.
KEPT_BYTES = 2 << 30

Tensors = Mapping[str, Mapping[str, Tensor]]  # file → name → tensor


def in_round(stage: str, number: int) -> str:
    return stage if number == 1 else f"{stage}-{number}"


def is_policy(stage: str) -> bool:
    return stage.partition("-")[0] == "policy"


def last_policy(config: RunConfig) -> str:
    return in_round("policy", rounds_of(config))


@dataclass(frozen=True)
class Ended:
    """Later rounds were not begun. steps: the planned ones."""

    stage: str
    step: int
    steps: int

    @property
    def sentence(self) -> str:
        return f"It was ended at step {self.step:,} of {self.steps:,} of {self.stage} (requested by user)."


def ended_early(figures: dict[str, dict[str, Any]], config: RunConfig) -> Ended | None:
    """None for a run that was not ended by request. figures: of all finished stages, in their order."""
    stage = next(name for name in reversed(figures) if is_policy(name))
    steps = figures[stage]["steps"]
    planned = figures[stage].get("planned_steps")
    if planned is None and stage == last_policy(config):
        return None
    return Ended(stage, steps, planned or steps)


class Run:
    """expected: the stages in their order, with the expected seconds of each; None when unknown.
    budget: starts with the plan's choice and never grows after it was halved.
    hands_over: whether others make its candidates and their scores (`candidate_work.py`).
    """

    def __init__(
        self,
        folder: Path,
        config: RunConfig,
        budget: TokenBudget,
        meter: Meter,
        expected: Mapping[str, float | None],
        hands_over: bool = False,
    ):
        self.folder = folder
        self.config = config
        self.budget = budget
        self.events, self.stop, self.ranks = budget.events, budget.stop, budget.ranks
        self.meter = meter
        self.expected = dict(expected)
        self.hands_over = hands_over
        self.saved_at = time.monotonic()
        found = whole_checkpoints(self._folder, self.events.notice) if self.ranks.first else []
        self.checkpoints: list[Checkpoint] = self.ranks.of_first(found)  # newest first
        # Name of the policy stage that was ended by request before all its steps.
        done = (each for each in self.checkpoints if each.state["done"])
        ended = (each.stage for each in done if "planned_steps" in each.state["figures"].get(each.stage, {}))
        self.ended_in = next(ended, None)
        if self.checkpoints:
            budget.tokens = min(budget.tokens, self.checkpoints[0].state["token_budget"])

    # ---- Checkpoints: the newest and the best of the current stage, and the result of every finished stage.

    def checkpoint(self, stage: str, step: int | None = None) -> Checkpoint | None:
        """The newest checkpoint of a stage, or the one after a given step."""
        those = (each for each in self.checkpoints if each.stage == stage and not each.state["done"])
        return next((each for each in those if step in (None, each.state["step"])), None)

    def result(self, stage: str) -> Checkpoint | None:
        """Its tensors are `trained` and `objective`."""
        return next((each for each in self.checkpoints if each.stage == stage and each.state["done"]), None)

    def save(self, stage: str, step: int, state: Mapping[str, Any], tensors: Tensors, best_step: int | None) -> None:
        """Keeps also the best checkpoint, or the one before if the newest is the best.

        Errors: Fault when the disk is full; earlier checkpoints are then untouched.
        """
        self._write(stage, {"done": False, "step": step, **state}, tensors)
        results = [checkpoint for checkpoint in self.checkpoints if checkpoint.state["done"]]
        newest, *older = [checkpoint for checkpoint in self.checkpoints if not checkpoint.state["done"]]
        best = next((checkpoint for checkpoint in older if checkpoint.state["step"] == best_step), None)
        self._keep([newest, *([best] if best else older[:1]), *results])

    def adopt(self, stage: str, step: int, state: Mapping[str, Any], made: Path) -> None:
        """Makes a checkpoint of a folder that TRL wrote, and keeps it and the one before. Errors: Fault."""
        whole = {"done": False, "step": step, **state, "token_budget": self.budget.tokens}
        self.checkpoints.insert(0, adopt_checkpoint(self._folder, stage, whole, made))
        self.saved_at = time.monotonic()
        self._keep(self.checkpoints[:2])

    def finish(self, stage: str, figures: Mapping[str, Any], tensors: Tensors) -> None:
        """Deletes the checkpoints of the stage; the last stage keeps its newest."""
        self._write(stage, {"done": True, "step": "done", "figures": dict(figures)}, tensors)
        has_more_epochs = method_of(self.config).policy == "policy" and not method_of(self.config).trl
        is_continued = stage == self.last_trained and has_more_epochs
        at_end = stage if is_continued else None
        self._keep([each for each in self.checkpoints if each.state["done"] or each.stage == at_end])

    def clear(self) -> None:
        """Moves the checkpoints of a finished run, without its result, to `kept`, or deletes them if they are large.

        With policy.more_epochs, a copy without `model` and with `kept` as `checkpoints` resumes at the last step.
        """
        self._keep([each for each in self.checkpoints if not (each.state["done"] and each.stage == self.last_trained)])
        self.checkpoints = []
        if not (self.ranks.first and self._folder.exists()):
            return
        size = sum(file.stat().st_size for file in self._folder.rglob("*"))
        if size == 0 or size > KEPT_BYTES:
            keep_only(self._folder, [])
            return
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        os.rename(self._folder, self.folder / "kept")

    @property
    def last_trained(self) -> str:
        """A continued run resumes this stage: the policy that was ended by request, or the last one."""
        return self.ended_in or last_policy(self.config)

    def is_to_finish(self) -> bool:
        return self.ranks.of_first(self.stop.is_to_finish)

    def has_begun(self, stage: str) -> bool:
        return any(checkpoint.stage == stage for checkpoint in self.checkpoints)

    def checkpoint_is_due(self) -> bool:
        """By the first rank's clock."""
        minutes = (time.monotonic() - self.saved_at) / 60
        return self.ranks.of_first(minutes >= self.config.resources.checkpoint_minutes)

    def _write(self, stage: str, state: Mapping[str, Any], tensors: Tensors) -> None:
        whole = {**state, "token_budget": self.budget.tokens}
        self.checkpoints.insert(0, write_checkpoint(self._folder, stage, whole, tensors, self.ranks))
        self.saved_at = time.monotonic()

    def _keep(self, checkpoints: list[Checkpoint]) -> None:
        if self.ranks.first:
            keep_only(self._folder, {checkpoint.path for checkpoint in checkpoints})
        self.checkpoints = [checkpoint for checkpoint in self.checkpoints if checkpoint in checkpoints]

    @property
    def _folder(self) -> Path:
        return self.folder / "checkpoints"

    # ---- Remaining time, and progress of work without steps.

    def seconds_left(self, stage: str, spent: float, left: float) -> float:
        """Of the whole run. The plan's times of later stages are scaled by its error on this stage."""
        names = list(self.expected)
        later = [self.expected[name] or 0.0 for name in names[names.index(stage) + 1 :]]
        here = self.expected[stage]
        return round(left + sum(later) * ((spent + left) / here if here else 1.0), 1)

    def progress(self, stage: str, part: str) -> Callable[[int, int], None]:
        """Returns a callback for (done, all), to call when work is safe on disk. It raises Stopped on all ranks."""
        say = told_by(self.events, stage, part)

        def tell(done: int, total: int) -> None:
            say(done, total)
            if self.ranks.highest(bool(self.stop)):
                raise Stopped

        return tell


def told_by(events: Events, stage: str, part: str) -> Callable[[int, int], None]:
    """Returns a callback for (done, all), which emits the progress and the seconds left of a part."""
    started, first = time.monotonic(), None

    def tell(done: int, total: int) -> None:
        nonlocal first
        first = done - 1 if first is None else first
        each = (time.monotonic() - started) / (done - first)
        left = round(each * (total - done), 1)
        events.emit("progress", stage=stage, part=part, done=done, total=total, seconds_left=left)

    return tell
