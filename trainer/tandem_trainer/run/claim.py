"""Allows one trainer for each run folder, and shows that it is at work.

A lock ends with the process. For readers there are `process.json` and, because other machines cannot look a process up,
`alive`, which is touched regularly.
"""

import errno
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..fault import Fault, UsageFault
from .disk_space import write_whole
from .event_file import utc_now

TOUCH_INTERVAL = 30.0  # seconds
SILENCE = 20 * TOUCH_INTERVAL  # after which a trainer counts as gone, as in Tandem (heartbeat.ts)


def claim(folder: Path, host: str | None = None) -> IO[str]:
    """Locks the run folder for as long as the returned file is open, and writes {pid, started, host} beside it.

    Under torchrun it also writes the pid of torchrun as `launcher`: to kill the trainer, end that first. host: the name
    for readers, by default this machine's; readers on a machine of that name look for the process. The system releases
    the lock however the process ends. Errors: UsageFault when another trainer holds it.
    """
    try:
        lock = open(folder / "lock", "a+")  # noqa: SIM115  open as long as the run
    except OSError as error:
        raise UsageFault(f"{folder} cannot be written: {error.strerror}.") from None
    if not _try_lock(lock):
        lock.close()
        raise UsageFault(f"{folder} is being trained {_by_whom(folder)}: stop that trainer first.")
    about = {"pid": os.getpid(), "started": utc_now(), "host": host or socket.gethostname()}
    if "TORCHELASTIC_RUN_ID" in os.environ and os.getppid() > 1:  # 1: torchrun is gone
        about["launcher"] = os.getppid()
    write_whole(folder / "process.json", (json.dumps(about) + "\n").encode())
    return lock


def _try_lock(lock: IO[str]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise Fault(f"{lock.name} cannot be locked on this file system: {error.strerror}.") from error
    return True


def _by_whom(folder: Path) -> str:
    try:
        about = json.loads((folder / "process.json").read_text())
        return f"by process {about['pid']} on {about['host']}"
    except (OSError, ValueError, KeyError):
        return "by another process"


@contextmanager
def alive(folder: Path, every: float = TOUCH_INTERVAL) -> Iterator[None]:
    """Touches `alive` in the run folder every so many seconds inside the context.

    After a long sleep of the machine, `process.json` may name another trainer; this process then ends at once.
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
            with suppress(OSError):  # a full disk is reported by writes that matter
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


def is_silent(folder: Path) -> bool:
    """True if a trainer was at work on the run and is gone; false before one has begun."""
    path = folder / "alive"
    return path.exists() and time.time() - path.stat().st_mtime > SILENCE


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
