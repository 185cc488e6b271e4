"""Looks at a file before it is opened: a pipe would be waited for, and a device read without an end."""

import stat
from collections.abc import Iterable
from pathlib import Path

from .fault import UsageFault

MAX_TEXT = 256 << 20  # bytes; the largest tokenizer.json has 40 MB
TEXT = (".json", ".jinja", ".txt", ".md", ".tiktoken")
RUN = (
    *("run.json", "configuration.json", "plan.json", "process.json", "attempt.json", "killed.json", "queued.json"),
    *("cluster.json", "copied.json", "tracked.json", "events.jsonl", "lock", "alive", "stop", "finish", "reserve"),
)
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def require_regular(path: Path, most: int | None = None) -> None:
    """Links are followed. A missing file and a folder are left to what reads it. Errors: UsageFault.

    most: bytes that are read at once; None if it is read in parts.
    """
    try:
        about = path.stat()
    except OSError:
        return
    if (kind := KINDS.get(stat.S_IFMT(about.st_mode))) is not None:
        raise UsageFault(f"{path} is {kind} and no regular file: put the file itself in its place.")
    if most is not None and stat.S_ISREG(about.st_mode) and about.st_size > most:
        raise UsageFault(
            f"{path} has {about.st_size:,} bytes, and at most {most:,} are read of such a file: replace it."
        )


def require_regular_files(paths: Iterable[Path]) -> None:
    for path in paths:
        require_regular(path, MAX_TEXT if path.suffix in TEXT else None)


def require_regular_run(folder: Path) -> None:
    """What a run reads and appends to in its folder, checkpoints included. Errors: UsageFault."""
    for path in (*(folder / name for name in RUN), *folder.glob("candidates/*"), *folder.glob("checkpoints/*/*")):
        require_regular(path, MAX_TEXT if path.suffix == ".json" else None)


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """Errors: UsageFault for no regular file or a huge one, OSError, UnicodeDecodeError."""
    require_regular(path, MAX_TEXT)
    return path.read_text(encoding=encoding)
