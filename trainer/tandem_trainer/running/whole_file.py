"""Files that are whole or not there, and work that is saved in such files."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from ..fault import Fault
from .checkpoint import flush_to_disk, reason
from .distributed import Ranks


def write_whole(path: Path, data: bytes) -> None:
    """Writes under another name, flushes and renames. Errors: Fault when the disk is full or refuses."""
    temporary = path.with_name(path.name + ".writing")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        flush_to_disk(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise Fault(f"{path} cannot be written: {reason(error)}.") from error


def make_missing(
    paths: Sequence[Path],
    make: Callable[[int | None], bytes],
    ranks: Ranks,
    *,
    within: Callable[[], AbstractContextManager] = nullcontext,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Writes those of `paths` that are not there; all ranks return when all are.

    make:      the content of the file at that index. Ranks go in step, so that it may talk to the others; a rank for
               which nothing is left calls it with None.
    within:    entered once, if anything is missing.
    progress:  told (done, all) of the missing files.
    """
    missing = ranks.of_first([index for index, path in enumerate(paths) if not path.exists()])
    with within() if missing else nullcontext():
        for first in range(0, len(missing), ranks.world):
            mine = first + ranks.rank
            index = missing[mine] if mine < len(missing) else None
            data = make(index)
            if index is not None:
                write_whole(paths[index], data)
            if progress:
                progress(min(first + ranks.world, len(missing)), len(missing))
    ranks.wait()
