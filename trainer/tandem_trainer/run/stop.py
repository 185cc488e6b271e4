"""Requests to stop (a file `stop` in the run folder, SIGTERM or SIGINT) and to finish (a file `finish`).

A stopped run can be resumed. A run that finishes ends its policy at the current step and exports its result.
"""

import os
import signal
import time
from pathlib import Path
from types import FrameType

STARTED = time.time()  # this module is imported first; an older stop file was meant for an earlier process


class Stopped(Exception):
    """The run was asked to stop, and everything is saved."""


class StopRequest:
    """True once the run is asked to stop. A second signal ends the process at once, without a new checkpoint.

    Ctrl-C in a terminal reaches a process under torchrun twice, from the terminal and from torchrun, so signals within
    a second count as one. A request to finish remains until the run is done, even if the run is stopped, killed and
    resumed. since: when the run was started, in seconds since 1970; None for the start of this process. A file `stop`
    that is older is deleted.
    """

    def __init__(self, folder: Path, since: float | None = None):
        self.path = folder / "stop"
        self.finish_path = folder / "finish"
        self.signalled: float | None = None
        if self.path.exists() and self.path.stat().st_mtime < (since or STARTED):
            self.path.unlink()

    def listen(self) -> None:
        """Only the main thread may call this."""
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
        """Once the run is saved: the next start must not stop again."""
        self.path.unlink(missing_ok=True)

    def fulfilled(self) -> None:
        """Once the run is done."""
        self.finish_path.unlink(missing_ok=True)
