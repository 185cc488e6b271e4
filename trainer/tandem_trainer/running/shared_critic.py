"""A critic that another run has trained already: from the same weights, on the same examples, with the same settings.

Runs that differ in their policy alone have one critic. The first of them puts it into `<shared>/critic/<key>`, in the
form of a checkpoint, and the key stands for all that a critic depends on.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import Tensor

from ..config import RunConfig
from ..objective.reference_cache import turn_key
from ..turn import Example
from .checkpoint import Checkpoint, whole_checkpoints, write_checkpoint


class SharedCritic:
    """The place of one critic in the folder that runs share."""

    def __init__(self, shared: Path, config: RunConfig, train: Sequence[Example], held_out: Sequence[Example]):
        """train, held_out: the examples of the critic, in their order."""
        digest = hashlib.sha256()
        about = [asdict(config.model), asdict(config.critic), config.convention, config.seed]
        digest.update(json.dumps([*about, len(train), len(held_out)], default=str).encode())
        for example in (*train, *held_out):
            digest.update(json.dumps([example.group, len(example.chosen), example.target, example.weight]).encode())
            digest.update(b"".join(map(turn_key, example.turns)))
        self.folder = shared / "critic" / digest.hexdigest()[:24]

    def take(self, notice: Callable[[str], None]) -> Checkpoint | None:
        """Its tensors `trained` and `objective` and the stage's figures, or None; `notice` is told of a damaged one."""
        found = whole_checkpoints(self.folder, notice) if self.folder.exists() else []
        return found[0] if found else None

    def give(self, figures: Mapping[str, Any], tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Puts it there, whole or not at all. What another run has put there meanwhile stays: it is the same."""
        making = self.folder.with_name(f"{self.folder.name}.{os.getpid()}.writing")
        write_checkpoint(making, "critic", {"step": "done", "figures": dict(figures)}, tensors)
        try:
            os.rename(making, self.folder)
        except OSError:
            if not self.folder.exists():
                raise
            shutil.rmtree(making)
