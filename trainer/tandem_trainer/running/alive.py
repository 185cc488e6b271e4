"""That a trainer is at work, for those who cannot ask its machine: a file that it touches, whatever else it does."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

EVERY = 30.0  # seconds; who looks on takes a trainer for gone that was silent for twenty times as long (silence.ts)


@contextmanager
def alive(folder: Path, every: float = EVERY) -> Iterator[None]:
    """Within, `alive` in the run folder is touched every so many seconds, by a thread of its own.

    A machine that slept for long may find that its run was taken over: `process.json` names another trainer. Then this
    process ends at once, because no two may write into one run.
    """
    path = folder / "alive"
    process = folder / "process.json"
    own = _read(process)
    ended = threading.Event()

    def beat() -> None:
        while not ended.is_set():
            if _read(process) not in (own, None):
                print(f"Another trainer works on {folder} by now: this one ends.", file=sys.stderr, flush=True)
                os._exit(1)
            with suppress(OSError):  # on a disk that takes no more, what has to be written says so
                path.touch()
            ended.wait(every)

    thread = threading.Thread(target=beat, name="alive", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
