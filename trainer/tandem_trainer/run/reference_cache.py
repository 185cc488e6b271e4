"""Log-probabilities under the reference model, computed once and kept in the run folder.

The reference never changes, and the critic has four epochs, so all turns are scored before the first step. A file of
`<run>/reference/<base>/` is named after the tokens of its turns, so a resumed run computes only missing files, and a
run with changed data or template only the changed ones.
"""

import hashlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..fault import Fault
from ..model.base import Base
from ..turn import Turn
from .budget import TokenBudget, score
from .checkpoint import make_missing
from .disk_space import reason

PIECE = 256  # turns in one file; a killed run loses at most one file for each rank


class ReferenceCache:
    """log π_ref(a^l | o, a^{<l}) of turns, with 4 bytes per token in memory."""

    def __init__(
        self,
        base: Base,
        run_folder: Path,
        budget: TokenBudget,
        *,
        logits_bytes: int = 256 << 20,
        shared: Path | None = None,
    ):
        """shared: a folder in which runs with the same base share their results."""
        self.base = base
        self.budget = budget
        self.logits_bytes = logits_bytes
        self.folder = run_folder / "reference" / name_of(base)
        self.shared = shared and shared / "reference" / name_of(base)
        self.known: dict[bytes, np.ndarray] = {}

    def compute(self, turns: Sequence[Turn], progress: Callable[[int, int], None] | None = None) -> None:
        """Turns that share a prefix should be neighbours. Each rank computes its part. progress: gets (done, all)."""
        unique = list({turn_key(turn): turn for turn in turns}.items())
        pieces = [dict(unique[start : start + PIECE]) for start in range(0, len(unique), PIECE)]

        def make(index: int | None) -> bytes:
            piece = [] if index is None else list(pieces[index].values())
            scores = score(self.base, piece, self.budget, logits_bytes=self.logits_bytes)
            return b"".join(part.astype("<f4").tobytes() for part in scores)

        paths = [self._path(piece) for piece in pieces]
        for path, piece in zip(paths, pieces, strict=True):
            for copy in (path, self.shared and self.shared / path.name):
                self._remove_damaged(copy, piece)
        make_missing(paths, make, self.budget.ranks, within=self.base.reference, progress=progress, shared=self.shared)
        for piece in pieces:
            self._read(piece)

    def of(self, turns: Sequence[Turn]) -> list[Tensor]:
        """(L,) float32 for each turn on the model's device. `compute` must have run on the turns."""
        arrays = [self.known[turn_key(turn)] for turn in turns]
        together = torch.from_numpy(np.concatenate(arrays)).to(self.base.device)
        return list(together.split([len(array) for array in arrays]))

    def _path(self, piece: dict[bytes, Turn]) -> Path:
        return self.folder / f"{hashlib.sha256(b''.join(piece)).hexdigest()[:24]}.f32"

    def _remove_damaged(self, path: Path | None, piece: dict[bytes, Turn]) -> None:
        if self.budget.ranks.rank != 0 or path is None or not path.is_file():
            return
        if path.stat().st_size != 4 * sum(len(turn.response) for turn in piece.values()):
            print(f"{path} does not hold one number for each token; it is computed again.", file=sys.stderr)
            path.unlink()

    def _read(self, piece: dict[bytes, Turn]) -> None:
        path = self._path(piece)
        try:
            log_probs = np.fromfile(path, "<f4")
        except OSError as error:
            raise Fault(f"{path} cannot be read: {reason(error)}.") from error
        ends = np.cumsum([len(turn.response) for turn in piece.values()])
        if len(log_probs) != ends[-1]:
            raise Fault(f"{path} does not hold one number for each token: delete it and resume the run.")
        self.known.update(zip(piece, np.split(log_probs, ends[:-1]), strict=True))


def turn_key(turn: Turn) -> bytes:
    tokens = np.concatenate([[len(turn.prompt)], turn.prompt, turn.response]).astype("<i4")
    return hashlib.blake2b(tokens.tobytes(), digest_size=16).digest()


def name_of(base: Base) -> str:
    """A hash of all else that the figures depend on: base weights, precision and quantisation."""
    config = base.config
    weights = [str(config.base), *([config.revision] if config.revision else [])]
    return hashlib.sha256("\n".join([*weights, str(base.dtype), config.training]).encode()).hexdigest()[:16]
