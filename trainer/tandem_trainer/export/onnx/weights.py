"""Reads the weights of a model folder one tensor at a time, as float32 on the CPU: a large model is never whole in
memory.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from ...fault import Fault, UsageFault
from ...regular_file import read_text, require_regular_files

INDEX = "model.safetensors.index.json"
ONE_FILE = "model.safetensors"
PART = 64 * 2**10  # bytes
PARTS = 64


class Weights:
    """Errors of all methods: UsageFault for files that are damaged or missing."""

    def __init__(self, folder: Path):
        self.folder = folder
        require_regular_files(folder / name for name in (INDEX, ONE_FILE))
        try:
            if (folder / INDEX).is_file():
                self.files = json.loads(read_text(folder / INDEX))["weight_map"]
            elif (folder / ONE_FILE).is_file():
                with safe_open(folder / ONE_FILE, "pt") as file:
                    self.files = dict.fromkeys(file.keys(), ONE_FILE)
            else:
                raise UsageFault(
                    f"{folder} has no {ONE_FILE}: give a model folder, or save its weights as safetensors first."
                )
            parts = set(self.files.values())
            if any(not isinstance(name, str) or Path(name).name != name for name in parts):
                raise ValueError(f"{INDEX} names files of other folders")
            require_regular_files(folder / name for name in parts)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
            raise self._damaged(error) from error

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def __getitem__(self, name: str) -> torch.Tensor:
        with self._holding(name) as file:
            return file.get_tensor(name).float()

    def shape(self, name: str) -> list[int]:
        with self._holding(name) as file:
            return file.get_slice(name).get_shape()

    @property
    def parameters(self) -> int:
        """Reads only the headers of the files."""
        return sum(torch.Size(self.shape(name)).numel() for name in self.files)

    def digests(self) -> dict[str, str]:
        """By file name; src/core/model/local/weights.ts computes the same."""
        try:
            return {name: digest(self.folder / name) for name in sorted(set(self.files.values()))}
        except OSError as error:
            raise self._damaged(error) from error

    @contextmanager
    def _holding(self, name: str) -> Iterator[Any]:
        if name not in self.files:
            raise self._damaged(f"{name} is missing")
        try:
            with safe_open(self.folder / self.files[name], "pt") as file:
                yield file
        except (OSError, SafetensorError) as error:
            raise self._damaged(error) from error

    def _damaged(self, why: object) -> Fault:
        return UsageFault(f"The weights in {self.folder} are damaged ({why}): download the model again.")


def digest(file: Path) -> str:
    """Hashes the size and PARTS evenly spaced parts, up to 4 MiB the whole: finds training, not a single change."""
    size = file.stat().st_size
    hashed = hashlib.sha256(f"{size}\n".encode())
    with file.open("rb") as opened:
        for part in range(PARTS):
            opened.seek(part * PART if size <= PARTS * PART else part * (size - PART) // (PARTS - 1))
            hashed.update(opened.read(PART))
    return hashed.hexdigest()[:16]
