"""The events of a run: one JSON object per line, in `events.jsonl` of the run folder and on stdout.

`events.py` declares them. The file outlives the process: an editor that reloads reads it from the start. A resumed run
appends to it and reports repeated steps again; the later line counts.
"""

import json
import os
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..fault import Fault
from .disk_space import not_written

VERSION = 1
FINAL = ("done", "stopped", "failed")  # states in which no trainer works on the run any more


class Events:
    """Ranks other than the first pass no folder and write nothing.

    A state change is on the disk before `emit` returns. When the reader of stdout goes away, the run and the file
    continue. Errors: Fault when the file cannot be written.
    """

    def __init__(self, folder: Path | None, *, prints: bool = True):
        """prints: whether stdout gets the events, too."""
        self.path = folder / "events.jsonl" if folder else None
        self.stdout = sys.stdout if folder and prints else None
        self.stage = "prepare"
        if self.path:
            try:
                _end_torn_line(self.path)
            except OSError as error:
                raise self._fault(error) from error

    def emit(self, event: str, **fields: Any) -> None:
        if self.path is None:
            return
        told = json.dumps({"version": VERSION, "at": utc_now(), "event": event, **fields})
        finite = json.loads(told, parse_constant=lambda _: None)  # JSON has no NaN and no infinity
        line = json.dumps(finite, ensure_ascii=False, separators=(",", ":")) + "\n"
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
        self.stage = stage or self.stage
        self.emit("state", state=state, stage=self.stage, **({"message": message} if message else {}))

    def notice(self, message: str, **fields: Any) -> None:
        self.emit("notice", message=message, **fields)

    def _fault(self, error: OSError) -> Fault:
        return not_written(f"{self.path} cannot be written", error)

    def _print(self, line: str) -> None:
        if self.stdout is None:
            return
        try:
            self.stdout.write(line)
            self.stdout.flush()
        except OSError:  # the reader is gone; the interpreter's final flush would fail as well
            self.stdout = None
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class StateReader:
    """Each call reads what is new. since: the byte of events.jsonl from which on events count."""

    def __init__(self, folder: Path, since: int = 0, kind: str = "state"):
        self.path = folder / "events.jsonl"
        self.offset = since
        self.mark = f'"event":"{kind}"'.encode()
        self.found: dict[str, Any] | None = None

    def last(self) -> dict[str, Any] | None:
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                whole = file.read().rpartition(b"\n")[0]  # without a line that is being written
        except FileNotFoundError:
            return None
        self.offset += len(whole) + 1 if whole else 0
        for line in whole.splitlines():
            if self.mark in line:
                self.found = _event(line) or self.found
        return self.found


def _event(line: bytes) -> dict[str, Any] | None:
    """Returns None for another text: events of a copied run come from the log of its job (`cluster/remote.py`)."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_event = isinstance(told, dict) and (told.get("event") != "state" or isinstance(told.get("state"), str))
    return told if is_event else None


def last_state(folder: Path, since: int = 0) -> dict[str, Any] | None:
    return StateReader(folder, since).last()


def utc_now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _write_all(descriptor: int, data: bytes, before: int) -> None:
    """Appends a line or nothing: on a full disk it truncates the file to the length `before`."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _end_torn_line(path: Path) -> None:
    """A killed process may leave a partial last line."""
    if path.exists():
        with open(path, "r+b") as file:
            file.truncate(file.read().rfind(b"\n") + 1)
