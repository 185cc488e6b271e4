"""How a run is asked to stop: a file `stop` in its folder, SIGTERM or SIGINT; and to finish: a file `finish`.

A run that stops can go on later. One that finishes ends its policy where it is, and goes on to its result."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import FrameType

STARTED = time.time()  # this module is imported first thing: a stop file that is older was meant for an earlier process


class Stopped(Exception):
    """The run was asked to stop, and everything that would be lost is saved."""


class StopRequest:
    """True once somebody has asked it to stop. A second signal leaves at once, with the last checkpoint as it is.

    Ctrl-C in a terminal reaches a process under torchrun twice, from the terminal and from torchrun: signals within a
    second count as one. A request to finish is no request to stop; it stands until the run is done, whoever stops,
    kills and resumes it before.
    """

    def __init__(self, folder: Path):
        self.path = folder / "stop"
        self.finish_path = folder / "finish"
        self.signalled: float | None = None
        if self.path.exists() and self.path.stat().st_mtime < STARTED:
            self.path.unlink()

    def listen(self) -> None:
        """Takes over SIGTERM and SIGINT. Only the main thread may call this."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signal)

    def _signal(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.signalled is not None and now - self.signalled > 1:
            os._exit(128 + number)
        self.signalled = self.signalled or now

    def __bool__(self) -> bool:
        return self.signalled is not None or self.path.exists()

    @property
    def is_to_finish(self) -> bool:
        return self.finish_path.exists()

    def honoured(self) -> None:
        """The run is saved: the next start is not to stop again."""
        self.path.unlink(missing_ok=True)

    def fulfilled(self) -> None:
        """The run is done."""
        self.finish_path.unlink(missing_ok=True)
