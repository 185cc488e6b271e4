"""The reference model's log-probabilities, computed once and kept in the run folder, and its hidden states.

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
from ..model.fsdp import within_forward
from ..model.log_probs import Head, causal_of, with_hidden
from ..turn import Turn
from .budget import TokenBudget, in_batches, score
from .checkpoint import make_missing
from .disk_space import reason

PIECE = 256  # turns in one file; a killed run loses at most one file for each rank


class ReferenceCache:
    """log π_ref(a^l | o, a^{<l}) of turns, with 4 bytes per token in memory.

    Of turns whose whole distributions are needed it has instead the hidden state before each token, from which the
    output layer of the reference makes them exactly. They are computed again when a run resumes.
    """

    def __init__(self, base: Base, run_folder: Path, budget: TokenBudget, shared: Path | None = None):
        """shared: a folder in which runs with the same base share their results."""
        self.base = base
        self.budget = budget
        self.logits_bytes = budget.logits_bytes
        self.folder = run_folder / "reference" / name_of(base)
        self.shared = shared and shared / "reference" / name_of(base)
        self.known: dict[bytes, np.ndarray] = {}
        self.states: dict[bytes, Tensor] = {}
        self.head: Head | None = None  # a copy, where the model's own is trained

    def compute(self, turns: Sequence[Turn], progress: Callable[[int, int], None] | None = None) -> None:
        """Turns that share a prefix should be neighbours. Each rank computes its part. progress: gets (done, all)."""
        unique = list({turn_key(turn): turn for turn in turns}.items())
        pieces = [dict(unique[start : start + PIECE]) for start in range(0, len(unique), PIECE)]

        def make(index: int | None) -> bytes:
            piece = [] if index is None else list(pieces[index].values())
            scores = score(self.base, piece, self.budget)
            return b"".join(part.astype("<f4").tobytes() for part in scores)

        paths = [self._path(piece) for piece in pieces]
        for path, piece in zip(paths, pieces, strict=True):
            for copy in (path, self.shared and self.shared / path.name):
                self._remove_damaged(copy, piece)
        numbered = dict(enumerate(paths))
        make_missing(
            numbered, make, self.budget.ranks, within=self.base.reference, progress=progress, shared=self.shared
        )
        for piece in pieces:
            self._read(piece)

    def of(self, turns: Sequence[Turn]) -> list[Tensor]:
        """(L,) float32 for each turn on the model's device. `compute` must have run on the turns."""
        arrays = [self.known[turn_key(turn)] for turn in turns]
        together = torch.from_numpy(np.concatenate(arrays)).to(self.base.device)
        return list(together.split([len(array) for array in arrays]))

    def compute_states(self, turns: Sequence[Turn], progress: Callable[[int, int], None] | None = None) -> None:
        """Turns that share a prefix should be neighbours. Every rank computes all."""
        unique = {turn_key(turn): turn for turn in turns if len(turn.response)}
        keys = list(unique)

        def compute(batch: list[Turn]) -> Sequence[Tensor]:
            states = with_hidden(self.base.model, batch, lambda hidden, _: hidden)
            return states.cpu().split([len(turn.response) for turn in batch])

        with self.base.reference():
            self.head = self._copied_head()
            for start in range(0, len(keys), PIECE):
                some = keys[start : start + PIECE]
                made = in_batches(self.base, [unique[key] for key in some], self.budget, compute)
                self.states.update(zip(some, made, strict=True))
                if progress:
                    progress(start + len(some), len(keys))

    def states_of(self, turns: Sequence[Turn]) -> Tensor:
        """(Σ L, d), the states before all tokens of the turns. `compute_states` must have run on the turns."""
        return torch.cat([self.states[turn_key(turn)] for turn in turns if len(turn.response)]).to(self.base.device)

    def head_beside(self, head: Head) -> Head:
        """Returns the reference's output layer. head: the model's, which is the same unless it is trained."""
        return self.head or head

    def _copied_head(self) -> Head | None:
        model = self.base.model
        if not model.get_output_embeddings().weight.requires_grad:
            return None
        return within_forward(causal_of(model), lambda: Head.of(model).copied())

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
        self.known.update(zip(piece, np.split(log_probs, ends[:-1]), strict=True))


def turn_key(turn: Turn) -> bytes:
    tokens = np.concatenate([[len(turn.prompt)], turn.prompt, turn.response]).astype("<i4")
    return hashlib.blake2b(tokens.tobytes(), digest_size=16).digest()


def name_of(base: Base) -> str:
    """A hash of all else that the figures depend on: base weights, precision and quantisation."""
    config = base.config
    weights = [str(config.base), *([config.revision] if config.revision else [])]
    return hashlib.sha256("\n".join([*weights, str(base.dtype), config.training]).encode()).hexdigest()[:16]
