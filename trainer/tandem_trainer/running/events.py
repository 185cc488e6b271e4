"""What a run tells the outside: one JSON object a line, in `events.jsonl` of the run folder and on stdout.

Every event has `version`, `at` (UTC, ISO 8601) and `event`; times inside are seconds. The file outlives the process: an
editor that reloads reads it from the start. A resumed run goes on in the same file, and tells steps that it repeats
again: the later line counts.

    state       state (preparing, running, stopping, stopped, done, failed), stage, message?
    data        what the configuration's files amount to (prepare.py)
    plan        what was chosen, whether it fits, how long it takes (plan.py)
    step        stage, step (from 1), steps, epoch, loss, …: means over the batch (objective.py); gradient_norm (before
                clipping), learning_rate, tokens (after sharing), tokens_per_second, mfu?, gpu_use?, memory_mb,
                seconds_left (of the whole run)
    evaluation  stage, step, best, and the figures of a step as means over the held-out examples
    control     stage, accuracy, examples: how much of the held-out pairs on which the critic is measured the untrained
                score has in order (control.py), and how many they are
    progress    stage, part, done, total, seconds_left (of this part): work that has no steps
    candidates, ranking     figures of a round (candidates.py, ranking.py)
    sample      stage, group, history [{role, content}], candidates [{text, times, score, untrained, good?}], the best
                first
    notice      message: something that the user should know and that does not end the run
    result      model, critic?, and the figures of all stages; ended? {stage, step, steps}: where the policy was ended
                by request (ended.py)
"""

import json
import math
import os
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..fault import Fault
from .disk import not_written

VERSION = 1


class Events:
    """Writes events. Other ranks than the first pass no folder and thereby stay silent.

    A state change is on the disk before `emit` returns. A reader of stdout that goes away does not end the run; the
    file goes on. Errors: Fault when the file cannot be written.
    """

    def __init__(self, folder: Path | None):
        self.path = folder / "events.jsonl" if folder else None
        self.stdout = sys.stdout if folder else None
        self.stage = "prepare"
        if self.path:
            try:
                _end_torn_line(self.path)
            except OSError as error:
                raise self._fault(error) from error

    def emit(self, event: str, **fields: Any) -> None:
        if self.path is None:
            return
        told = {"version": VERSION, "at": utc_now(), "event": event, **fields}
        line = json.dumps(_finite(told), ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                before = os.fstat(descriptor).st_size
                _write_all(descriptor, line.encode(), before)
                if event == "state":
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._fault(error) from error
        self._print(line)

    def state(self, state: str, stage: str | None = None, message: str | None = None) -> None:
        """`preparing`, `running`, `stopping`, `stopped`, `done` or `failed`; without a name in the stage as before."""
        self.stage = stage or self.stage
        self.emit("state", state=state, stage=self.stage, **({"message": message} if message else {}))

    def notice(self, message: str, **fields: Any) -> None:
        """Something the user should know, in one sentence, that does not end the run."""
        self.emit("notice", message=message, **fields)

    def _fault(self, error: OSError) -> Fault:
        return not_written(f"{self.path} cannot be written", error)

    def _print(self, line: str) -> None:
        if self.stdout is None:
            return
        try:
            self.stdout.write(line)
            self.stdout.flush()
        except OSError:  # nobody reads any more; the interpreter would fail once more when it flushes at its end
            self.stdout = None
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def utc_now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _write_all(descriptor: int, data: bytes, before: int) -> None:
    """Appends a line, or nothing: on a full disk the file is as long as `before` again."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _end_torn_line(path: Path) -> None:
    """Cuts off what a killed process left of its last line, so that the next event stands on a line of its own."""
    try:
        with open(path, "r+b") as file:
            end = file.seek(0, os.SEEK_END)
            start = end
            while start > 0 and _byte(file, start - 1) != b"\n":
                start -= 1
            if start < end:
                file.truncate(start)
    except FileNotFoundError:
        pass  # the first start of this run


def _byte(file: Any, at: int) -> bytes:
    file.seek(at)
    return file.read(1)


def _finite(value: Any) -> Any:
    """JSON knows neither NaN nor infinity: both become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return value
