"""The candidates of a round and their scores as work for other processes.

A run that hands its work over writes it into its folder, and its processes end. Others then make the files of `Shards`
that are missing, in any order and each by itself, and the run continues.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from ..config import RunConfig
from ..turn import History
from .disk_space import write_whole
from .shards import Shards

if TYPE_CHECKING:
    from ..model.base import Base
    from .run import Run

NONE = np.zeros(0, np.int32)


class HandedOver(Exception):
    """The processes of the run end, because others make its candidates."""


@dataclass(frozen=True, eq=False)
class Work:
    """What a round's files are made of, beside configuration, base and earlier stages. scores: by `score_names`."""

    round: int
    scores: tuple[str, ...]
    stop_ids: tuple[int, ...]
    histories: Sequence[History]

    def write(self, folder: Path) -> None:
        """Texts of the histories are left out. Errors: Fault for a full disk."""
        parts = [
            NONE if tokens is None else tokens
            for history in self.histories
            for tokens in (history.prompt, history.hidden_prompt, history.logged)
        ]
        arrays = {
            "tokens": np.concatenate([NONE, *parts]).astype("<i4"),
            "lengths": np.array([len(part) for part in parts], "<i8"),
        }
        groups = [history.group for history in self.histories]
        about = {"round": self.round, "scores": self.scores, "stop_ids": self.stop_ids, "groups": groups}
        write_whole(self.path(folder), save(arrays, {"work": json.dumps(about)}))

    @classmethod
    def read(cls, folder: Path) -> Work | None:
        path = cls.path(folder)
        if not path.exists():
            return None
        with safe_open(path, framework="numpy") as file:
            about = json.loads(file.metadata()["work"])
            tokens, lengths = file.get_tensor("tokens"), file.get_tensor("lengths")
        parts = iter(np.split(tokens, np.cumsum(lengths)[:-1]) if len(lengths) else ())
        histories = []
        for group in about["groups"]:
            prompt, hidden, logged = next(parts), next(parts), next(parts)
            found = (None if len(part) == 0 else part for part in (hidden, logged))
            histories.append(History(group, prompt, next(found), logged=next(found)))
        return cls(about["round"], tuple(about["scores"]), tuple(about["stop_ids"]), histories)

    def shards(self, folder: Path, config: RunConfig) -> Shards:
        shared = config.resources.shared
        return Shards(folder, self.histories, config.candidates, self.stop_ids, config.seed, self.round, shared)

    @staticmethod
    def path(folder: Path) -> Path:
        return folder / "candidates" / "work.safetensors"


def hand_over(run: Run, base: Base, shards: Shards, scores: Sequence[str]) -> None:
    """Hands the missing files of a round over, unless one process cannot hold the model: then the run samples in step.

    Errors: HandedOver, on all ranks, which must all call this.
    """
    if not (run.hands_over and run.ranks.of_first(any(map(shards.missing, (None, *scores))))):
        return
    if not base.fits_whole():
        return
    if run.ranks.first:
        Work(shards.round, tuple(scores), tuple(sorted(shards.stop_ids)), shards.all_histories).write(run.folder)
    raise HandedOver
