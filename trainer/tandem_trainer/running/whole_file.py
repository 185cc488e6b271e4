"""Files that are whole or not there, and work that is saved in such files."""

import os
import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from .checkpoint import flush_to_disk
from .disk import not_written
from .distributed import Ranks


def write_whole(path: Path, data: bytes) -> None:
    """Writes under another name, flushes and renames. Errors: Fault when the disk is full or refuses."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.writing")  # two runs may share a folder
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        flush_to_disk(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise not_written(f"{path} cannot be written", error) from error


def make_missing(
    paths: Sequence[Path],
    make: Callable[[int | None], bytes],
    ranks: Ranks,
    *,
    within: Callable[[], AbstractContextManager] = nullcontext,
    progress: Callable[[int, int], None] | None = None,
    shared: Path | None = None,
) -> None:
    """Writes those of `paths` that are not there; all ranks return when all are.

    make:      the content of the file at that index. Ranks go in step, so that it may talk to the others; a rank for
               which nothing is left calls it with None.
    within:    entered once, if anything is missing.
    progress:  told (done, all) of the missing files.
    shared:    a folder in which other runs look for files of the same names: what is there is copied from it, what is
               made is put into it. The names must stand for the content.
    """
    missing = [index for index, path in enumerate(paths) if not path.exists()]
    if shared is not None:
        random.Random().shuffle(missing)  # so that two runs at the same time do not make the same files
    missing = ranks.of_first(missing)
    with within() if missing else nullcontext():
        for first in range(0, len(missing), ranks.world):
            mine = first + ranks.rank
            index = missing[mine] if mine < len(missing) else None
            if index is not None and shared is not None and _take(paths[index], shared):
                index = None
            # Only where all ranks found theirs may the work of the others be left out, since they go in step.
            if ranks.highest(index is not None):
                data = make(index)
                if index is not None:
                    write_whole(paths[index], data)
                    if shared is not None:
                        write_whole(shared / paths[index].name, data)
            if progress:
                progress(min(first + ranks.world, len(missing)), len(missing))
    ranks.wait()


def _take(path: Path, shared: Path) -> bool:
    """Copies the file of that name, if it is there."""
    try:
        write_whole(path, (shared / path.name).read_bytes())
    except FileNotFoundError:
        return False
    return True
