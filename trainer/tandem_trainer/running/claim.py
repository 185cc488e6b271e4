"""One trainer a run folder: a lock that dies with its process, and `process.json` for those who look on."""

import errno
import json
import os
import socket
import sys
from pathlib import Path
from typing import IO

from ..fault import Fault
from .disk import not_written
from .events import utc_now


def claim(folder: Path) -> IO[str]:
    """Locks the run folder for as long as the returned file is open, and writes {pid, started, host} beside it.

    The lock belongs to the process, whatever kills it. Errors: Fault(usage) when another trainer holds it.
    """
    try:
        lock = open(folder / "lock", "a+")  # noqa: SIM115  it stays open as long as the run
    except OSError as error:
        raise Fault(f"{folder} cannot be written: {error.strerror}.", usage=True) from None
    if not _try_lock(lock):
        lock.close()
        raise Fault(f"{folder} is being trained {_by_whom(folder)}: stop that trainer first.", usage=True)
    about = {"pid": os.getpid(), "started": utc_now(), "host": socket.gethostname()}
    temporary = folder / "process.json.tmp"
    try:
        temporary.write_text(json.dumps(about) + "\n")
        os.replace(temporary, folder / "process.json")
    except OSError as error:
        raise not_written(f"{folder / 'process.json'} cannot be written", error) from None
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
