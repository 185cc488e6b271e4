"""The weights of a model folder, one tensor at a time, so that a large model is never whole in memory."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from ..fault import Fault

INDEX = "model.safetensors.index.json"
ONE_FILE = "model.safetensors"


class Weights:
    """Errors of all methods: Fault(usage) for files that are damaged or missing."""

    def __init__(self, folder: Path):
        self.folder = folder
        try:
            if (folder / INDEX).is_file():
                self.files = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
            elif (folder / ONE_FILE).is_file():
                with safe_open(folder / ONE_FILE, "pt") as file:
                    self.files = dict.fromkeys(file.keys(), ONE_FILE)
            else:
                raise Fault(
                    f"{folder} has no {ONE_FILE}: give a model folder, or save its weights as safetensors first.",
                    usage=True,
                )
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            raise self._damaged(error) from error

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def __getitem__(self, name: str) -> torch.Tensor:
        """Float32 on the CPU."""
        with self._holding(name) as file:
            return file.get_tensor(name).float()

    def shape(self, name: str) -> list[int]:
        """Without reading the numbers."""
        with self._holding(name) as file:
            return file.get_slice(name).get_shape()

    @property
    def parameters(self) -> int:
        """How many numbers there are in all. Reads only the heads of the files."""
        return sum(torch.Size(self.shape(name)).numel() for name in self.files)

    @contextmanager
    def _holding(self, name: str) -> Iterator[Any]:
        """The open file of a tensor."""
        if name not in self.files:
            raise self._damaged(f"{name} is missing")
        try:
            with safe_open(self.folder / self.files[name], "pt") as file:
                yield file
        except (OSError, SafetensorError) as error:
            raise self._damaged(error) from error

    def _damaged(self, why: object) -> Fault:
        return Fault(f"The weights in {self.folder} are damaged ({why}): download the model again.", usage=True)
