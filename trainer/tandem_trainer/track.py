"""`track` hands the figures of a run to TensorBoard or trackio, during the run or later.

    python -m tandem_trainer track RUN --tensorboard FOLDER
    python -m tandem_trainer track RUN --trackio PROJECT [--once]

It only reads `events.jsonl`, so neither the trainer nor a run depends on it. It ends with the run, or at once with
`--once`; the same command later continues from there. stdout has one line of JSON, {"figures": …, "state": …}: the
number of events with figures that were handed over, and the run's state.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from .fault import Fault, UsageFault
from .regular_file import require_regular_run
from .run.claim import is_silent
from .run.disk_space import write_whole
from .run.event_file import FINAL, last_state

POLL = 1.0  # seconds between two looks at the file
BESIDE = ("version", "event", "at", "stage", "step", "steps", "best", "seconds_left")  # fields that are no figures
PARTS = {"step": "", "evaluation": "held_out/", "candidates": "", "ranking": ""}  # between a stage and a figure


class TensorBoard:
    """Where figures go. `log` gets the step of the stage, from 1, and seconds since 1970."""

    def __init__(self, folder: Path):
        try:
            from tensorboard.summary import Writer
        except ImportError as error:
            raise lacking("tensorboard") from error
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageFault(f"{folder} cannot be made: {error.strerror}.") from error
        self._writer = Writer(str(folder))

    def log(self, figures: dict[str, float], step: int, at: float) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step, wall_time=at)

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class Trackio:
    """trackio keeps no time of its own for earlier figures."""

    def __init__(self, project: str, name: str):
        try:
            import trackio
        except ImportError as error:
            raise lacking("trackio") from error
        self._trackio = trackio
        self._run = trackio.init(
            project, name=name, resume="allow", auto_log_gpu=False, auto_log_cpu=False, embed=False
        )

    def log(self, figures: dict[str, float], step: int, at: float) -> None:  # noqa: ARG002
        self._run.log(figures, step=step)

    def flush(self) -> None:
        """trackio sends what it has by its own thread, and the rest when the run is finished."""

    def close(self) -> None:
        self._trackio.finish()  # not that of the run, which would be finished once more when Python ends


def lacking(package: str) -> Fault:
    return UsageFault(
        f"{package} is not installed in this Python: run {sys.executable} -m pip install {package}, or give another "
        "Python as TANDEM_TRAINER_PYTHON."
    )


class Place:
    """How far a run was handed to one target: a place in `events.jsonl`, and the last step of each stage.

    Kept in `tracked.json` of the run's folder, so that nothing is handed over twice. A resumed run repeats the steps
    since its checkpoint, and the figures of candidates and rankings; those are skipped.
    """

    def __init__(self, run: Path, target: str):
        self._file, self._target = run / "tracked.json", target
        kept = self._all().get(target, {})
        self.offset: int = kept.get("offset", 0)
        self.steps: dict[str, int] = kept.get("steps", {})

    def is_new(self, kind: str, step: int) -> bool:
        if step <= self.steps.get(kind, 0):
            return False
        self.steps[kind] = step
        return True

    def keep(self) -> None:
        kept = {**self._all(), self._target: {"offset": self.offset, "steps": self.steps}}
        write_whole(self._file, json.dumps(kept).encode())

    def _all(self) -> dict[str, Any]:
        if not self._file.exists():
            return {}
        return json.loads(self._file.read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tandem_trainer track", description="A run in TensorBoard or trackio.")
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("--tensorboard", type=Path, metavar="FOLDER", help="that TensorBoard shows")
    parser.add_argument("--trackio", metavar="PROJECT", help="a project of trackio on this machine")
    parser.add_argument("--once", action="store_true", help="write what is there, and do not wait for more")
    given = parser.parse_args(arguments)
    run = Path(os.path.realpath(given.run))  # unlike `resolve`, takes links that lead round in a circle
    require_regular_run(run)
    if not (run / "run.json").exists():
        raise UsageFault(f"{given.run} is no folder of a run: it has no run.json.")
    if (given.tensorboard is None) == (given.trackio is None):
        raise UsageFault("Give either --tensorboard FOLDER or --trackio PROJECT.")
    if given.tensorboard is not None:
        folder = Path(os.path.realpath(given.tensorboard)) / run.name
        place = Place(run, f"tensorboard {folder}")
        if not folder.exists():
            place.offset, place.steps = 0, {}  # the user removed it, to have it written again
        target: TensorBoard | Trackio = TensorBoard(folder)
    else:
        place = Place(run, f"trackio {given.trackio}")
        target = Trackio(given.trackio, run.name)
    handed, state = 0, None
    try:
        for event in events(run, place, once=given.once):
            if event is None:  # everything that was there is handed over
                target.flush()
                place.keep()
                continue
            handed += hand_over(event, place, target)
            state = event["state"] if event.get("event") == "state" else state
    finally:
        target.close()
        place.keep()
    print(json.dumps({"figures": handed, "state": state}))
    return 0


def hand_over(event: dict[str, Any], place: Place, target: TensorBoard | Trackio) -> bool:
    """True if the event had figures that are new to the target."""
    found = figures_of(event, place)
    if found is not None:
        step, figures = found
        target.log(figures, step, datetime.fromisoformat(event["at"].replace("Z", "+00:00")).timestamp())
    return found is not None


def figures_of(event: dict[str, Any], place: Place) -> tuple[int, dict[str, float]] | None:
    """Returns the step and the figures by `stage/name`; None without any, or if they were handed over."""
    part = PARTS.get(event.get("event", ""))
    if part is None or not isinstance(event.get("stage"), str):
        return None
    stage, kind = event["stage"], f"{event['stage']}/{event['event']}"
    step = event.get("step", 1)  # a round of candidates or of ranking is a stage of its own, and has no steps
    figures = {
        f"{stage}/{part}{name}": float(value)
        for name, value in event.items()
        if name not in BESIDE and isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    return (step, figures) if figures and place.is_new(kind, step) else None


def events(run: Path, place: Place, *, once: bool) -> Iterator[dict[str, Any] | None]:
    """Yields the events after `place`, which moves along, and None whenever all of them were yielded.

    Ends when the run rests or its trainer is gone; with `once`, at the end of the file. A run may rest since an event
    before `place`. A line that is no event is reported on stderr and skipped.
    """
    file, resting = run / "events.jsonl", (last_state(run) or {}).get("state") in FINAL
    while True:
        for line, end in lines(file, place.offset):
            try:
                event = json.loads(line)
                resting = event["state"] in FINAL if event.get("event") == "state" else resting
                yield event
            except (ValueError, KeyError, AttributeError) as error:
                print(
                    f"{file}: the line that ends at byte {end} is no event, and is left out ({error}).", file=sys.stderr
                )
            place.offset = end
        yield None
        # A run that waits for its turn may have rested before, and will go on.
        if once or (resting and not (run / "queued.json").exists()):
            return
        if is_silent(run):
            print("The trainer is gone. When the run goes on, the same command does too.", file=sys.stderr)
            return
        time.sleep(POLL)


def lines(file: Path, offset: int) -> Iterator[tuple[bytes, int]]:
    """Yields the whole lines from a byte on, each with the byte after it; the last one may still be written."""
    if not file.exists():
        return
    with file.open("rb") as stream:
        stream.seek(offset)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            offset += len(line)
            yield line, offset
