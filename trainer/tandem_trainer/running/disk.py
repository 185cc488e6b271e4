"""A disk that takes no more: the sentence that says so, and the room that is kept for saying it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..fault import Fault

RESERVED = 64 << 10  # bytes: for a last event and a last line of the log, whatever the size of the disk's blocks


def not_written(what: str, error: BaseException) -> Fault:
    """what: `A checkpoint cannot be written to /data`. error: of a file operation."""
    return Fault(
        f"{what}: {reason(error)}. Make room or give permission, then resume the run: it goes on from its last "
        "checkpoint."
    )


def reason(error: BaseException) -> str:
    """Why a file operation failed, without the path that the sentence around it names."""
    if "(os error " in str(error):  # of safetensors: "…: No space left on device (os error 28)"
        return os.strerror(int(str(error).rsplit("(os error ", 1)[1].split(")")[0]))
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Within, a file holds some room of the disk, which is free again afterwards, whatever has happened.

    Where a disk is full to its last block, neither `events.jsonl` nor `trainer.log` could take the sentence that says
    so, and the run would look as if it had been killed. Errors: Fault when not even this fits.
    """
    path = folder / "reserve"
    try:
        try:
            with open(path, "wb") as file:
                file.write(os.urandom(RESERVED))  # what no file system makes smaller
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise not_written(f"{path} cannot be written", error) from error
        yield
    finally:
        path.unlink(missing_ok=True)
