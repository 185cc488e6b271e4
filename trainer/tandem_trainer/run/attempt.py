"""Several processes of one run end together, and begin again where that helps.

Processes that hold one model together wait for each other inside of torch, so one that meets a fault cannot tell the
others: it leaves a note in the run folder and ends. The others then lose the connection to it. torchrun ends what is
left, and with `--max-restarts` starts all of them again: they go on from the last checkpoint, unless the note says that
they would meet the same fault.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from ..fault import Fault

NOTE = "attempt.json"
LOST = ("Connection closed by peer", "Connection reset by peer", "Connection refused", "Broken pipe", "NCCL")


class Again(Fault):
    """A fault after which the processes begin again, with micro-batches of at most `token_budget` tokens."""

    def __init__(self, message: str, *, token_budget: int):
        super().__init__(message)
        self.token_budget = token_budget


class Attempt:
    """This start of the processes of a run. number: from 0; torchrun counts how often it has started them again."""

    def __init__(self, folder: Path):
        self.path = folder / NOTE
        self.number = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
        self.of_several = int(os.environ.get("WORLD_SIZE", "1")) > 1
        if self.number == 0 and os.environ.get("RANK", "0") == "0":
            self.path.unlink(missing_ok=True)
        before = self._read() if self.number else {}
        self.token_budget: int | None = before.get("token_budget")
        self.notice: str | None = before["sentence"] if before.get("again") else None
        if before.get("number") == self.number - 1 and not before["again"]:
            sys.exit(1)  # the sentence was told

    def tell(self, fault: Fault) -> None:
        """Leaves the note about a fault of one of several processes, the first one to meet it."""
        if not self.of_several or self._read().get("number") == self.number:
            return
        from .checkpoint import write_whole  # imports torch, which takes seconds

        is_again = isinstance(fault, Again)
        budget = fault.token_budget if is_again else self.token_budget
        note = {"number": self.number, "sentence": str(fault), "again": is_again, "token_budget": budget}
        write_whole(self.path, (json.dumps(note) + "\n").encode())

    def met_by_another(self, error: BaseException) -> str | None:
        """Returns the sentence of the process that has ended, when `error` is that its connection is lost.

        It is empty if that process begins again or was killed, so that the run may go on.
        """
        if not (self.of_several and isinstance(error, RuntimeError) and any(word in str(error) for word in LOST)):
            return None
        note = self._read()
        return note["sentence"] if note.get("number") == self.number and not note["again"] else ""

    def _read(self) -> dict:
        try:
            return json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
