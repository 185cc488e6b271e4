"""Writes files that are whole or absent, also after a power cut."""

from __future__ import annotations

import os
from pathlib import Path

from .disk_space import not_written


def write_whole(path: Path, data: bytes) -> None:
    """Errors: Fault when the disk is full or refuses."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.writing")  # two runs may share a folder
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        flush_to_disk(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise not_written(f"{path} cannot be written", error) from error


def flush_to_disk(path: Path) -> None:
    """fsync for a file or, if the system supports it, a folder."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
