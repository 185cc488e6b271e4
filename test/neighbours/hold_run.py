"""Runs the trainer so that a run waits after a step for as long as the test likes.

    python hold_run.py FILE ARGUMENT …    as `python -m tandem_trainer ARGUMENT …`

While FILE holds a number, the run waits after the step of this number and after each later one.
"""

import runpy
import sys
import time
from pathlib import Path

from tandem_trainer.run import stop  # noqa: F401  it notes when this process began
from tandem_trainer.run.event_file import Events

held = Path(sys.argv[1])
emit = Events.emit


def first_held() -> float:
    try:
        return int(held.read_text())
    except (FileNotFoundError, ValueError):
        return float("inf")


def emit_and_wait(self: Events, event: str, **fields) -> None:
    emit(self, event, **fields)
    while event == "step" and fields["step"] >= first_held():
        time.sleep(0.05)


Events.emit = emit_and_wait
sys.argv = ["tandem_trainer", *sys.argv[2:]]
runpy.run_module("tandem_trainer", run_name="__main__", alter_sys=True)
