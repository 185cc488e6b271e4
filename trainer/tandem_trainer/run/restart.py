"""Several processes of one run end together, and begin again where that helps.

Processes that hold one model together wait for each other inside of torch, so one with a fault cannot tell the others:
it leaves a note in the run folder and ends. The others then lose the connection to it. torchrun and Ray end the rest
and start all again from the last checkpoint, unless the note says that the same fault would follow.
"""

import json
import os
from pathlib import Path
from typing import Any

from ..fault import Fault
from .disk_space import write_whole
from .event_file import FINAL, Events, last_state

NOTE = "attempt.json"
LOST = ("Connection closed by peer", "Connection reset by peer", "Connection refused", "Broken pipe", "NCCL")


class Again(Fault):
    """A fault after which the processes begin again, with micro-batches of at most `token_budget` tokens."""

    def __init__(self, message: str, *, token_budget: int):
        super().__init__(message)
        self.token_budget = token_budget


class Attempt:
    """One start of all processes of a run.

    number:       of earlier starts.
    fault_before: the sentence of the attempt before, if this one would meet the same fault.
    token_budget: the rest of it after a lack of memory; None for all.
    notice:       a sentence for the user about the attempt before.
    """

    def __init__(self, folder: Path, number: int):
        self.path = folder / NOTE
        self.number = number
        self.of_several = int(os.environ.get("WORLD_SIZE", "1")) > 1
        if number == 0 and os.environ.get("RANK", "0") == "0":
            self.path.unlink(missing_ok=True)
        before = _read(self.path) if number else {}
        is_last = before.get("number") == number - 1
        self.fault_before: str | None = before["sentence"] if is_last and not before["again"] else None
        self.token_budget: int | None = before.get("token_budget")
        self.notice: str | None = before["sentence"] if is_last and before["again"] else None

    @staticmethod
    def after(folder: Path) -> int:
        """Where no one counts attempts, the note has the last one's number."""
        return _read(folder / NOTE).get("number", 0) + 1

    def report(self, events: Events) -> None:
        """Ends the run in its events with the fault before, unless the process that met it could do so."""
        told = None if events.path is None else last_state(events.path.parent)
        if told is None or told["state"] not in FINAL:
            events.state("failed", message=self.fault_before)

    def tell(self, fault: Fault) -> None:
        """Leaves a note about the first fault of several processes."""
        if not self.of_several or _read(self.path).get("number") == self.number:
            return
        is_again = isinstance(fault, Again)
        budget = fault.token_budget if is_again else self.token_budget
        note = {"number": self.number, "sentence": str(fault), "again": is_again, "token_budget": budget}
        write_whole(self.path, (json.dumps(note) + "\n").encode())

    def met_by_another(self, error: BaseException) -> str | None:
        """Returns another process's sentence, when `error` is the lost connection to it.

        It is empty if that process begins again or was killed, so that the run may go on.
        """
        if not (self.of_several and isinstance(error, RuntimeError) and any(word in str(error) for word in LOST)):
            return None
        note = _read(self.path)
        return note["sentence"] if note.get("number") == self.number and not note["again"] else ""


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
