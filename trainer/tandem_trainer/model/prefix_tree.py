"""Merges turns into one pack of tokens in which every shared prefix is stored once.

A turn is a row of tokens: its prompt and its response. Rows that share a prefix form a tree (chosen and rejected share
a history, the 16 candidates of a turn share a prompt, the turns of one trajectory continue each other), and several
trees a forest. The pack holds the tokens of the forest depth-first; attention follows each token's own path to the root
(`attention.py`), so the model computes each distinct (path, token) once and gives the same figures as separate rows.

Sorting the rows puts those that share a prefix side by side: common prefixes of neighbours are the tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from ..fault import UsageFault
from ..turn import Turn


@dataclass(frozen=True)
class Segment:
    """A run of tokens [start, end) of the pack. Its keys are `ancestors` (runs of the pack, root first) and itself."""

    start: int
    end: int
    ancestors: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Forest:
    """The pack of T tokens and the positions of its N scored tokens. Each (read, target) pair is stored once.

    ids:       (T,) int64.
    positions: (T,) int64, depth of a token in its own row.
    reads:     (N,) int64, index into the pack of the hidden state that predicts scored token n.
    targets:   (N,) int64, scored token n.
    places:    for each turn given: (L,) int64, indices into N of its response tokens.
    cache:     data that attention derives from the segments once and every layer uses.
    """

    ids: Tensor
    positions: Tensor
    segments: tuple[Segment, ...]
    reads: Tensor
    targets: Tensor
    places: list[Tensor]
    cache: dict = field(default_factory=dict)

    def to(self, device: torch.device | str) -> "Forest":
        moved = [tensor.to(device) for tensor in (self.ids, self.positions, self.reads, self.targets)]
        ids, positions, reads, targets = moved
        places = torch.cat(self.places).to(device).split([len(place) for place in self.places])
        return Forest(ids, positions, self.segments, reads, targets, list(places))


def grow(turns: Sequence[Turn], *, ends: bool = False) -> Forest:
    """Merges the rows of `turns` into a forest; equal prefixes are merged wherever they end, also inside a prompt.

    The last token of a response predicts no scored token and is left out, unless `ends` is set: then N = len(turns),
    and reads are the ends of the responses (`targets` and `places` refer to the last token, for symmetry).
    """
    rows = _rows(turns, ends)
    leaves, leaf_of, shared = _leaves(rows)
    ids, positions, segments, paths = [], [], [], []
    path: list[tuple[int, int]] = []  # path of the last leaf, root first
    size = 0
    for leaf, common in zip(leaves, shared, strict=True):
        path = _cut(path, common)
        end = size + len(leaf) - common
        segments.append(Segment(size, end, tuple(path)))
        ids.append(leaf[common:])
        positions.append(np.arange(common, len(leaf)))
        path = [*path, (size, end)]
        paths.append(np.concatenate([np.arange(*run) for run in path]))
        size = end

    reads, targets = [], []
    for turn, leaf in zip(turns, leaf_of, strict=True):
        last = len(turn.prompt) + len(turn.response) - 1
        if ends:
            reads.append(paths[leaf][last : last + 1])
            targets.append(turn.response[-1:])
        else:
            reads.append(paths[leaf][len(turn.prompt) - 1 : last])
            targets.append(turn.response)
    return _scored(np.concatenate(ids), np.concatenate(positions), tuple(segments), reads, targets, ends)


def forest_tokens(turns: Sequence[Turn], *, shared: bool = True) -> int:
    """Returns T, the tokens of `turns`: after sharing, or as padded rows (`shared=False`). No tensor is built."""
    leaves, _, common = _leaves(_rows(turns, False))
    if not shared:
        return len(leaves) * max(map(len, leaves))
    return sum(map(len, leaves)) - sum(common)


def _rows(turns: Sequence[Turn], ends: bool) -> list[np.ndarray]:
    """(P + L − 1,) int32 each, or with the last token (P + L,)."""
    for turn in turns:
        if not len(turn.prompt) or not len(turn.response):
            raise UsageFault("A turn has an empty prompt or an empty response: leave it out of the data.")
    rows = (np.concatenate([turn.prompt, turn.response if ends else turn.response[:-1]]) for turn in turns)
    return [row.astype(np.int32, copy=False) for row in rows]


def _leaves(rows: list[np.ndarray]) -> tuple[list[np.ndarray], list[int], list[int]]:
    """Returns the rows that no other row continues, sorted; the leaf that covers each given row; the length that each
    leaf shares with the one before it.

    Any lexicographic order will do, so bytes are compared; a row comes right before its continuations.
    """
    keys = [row.tobytes() for row in rows]
    order = sorted(range(len(rows)), key=keys.__getitem__)
    leaves: list[np.ndarray] = []
    leaf_of = [0] * len(rows)
    for here, after in zip(order, [*order[1:], None], strict=True):
        leaf_of[here] = len(leaves)
        if after is None or not keys[after].startswith(keys[here]):
            leaves.append(rows[here])
    shared = [0] + [_common(one, other) for one, other in pairwise(leaves)]
    return leaves, leaf_of, shared[: len(leaves)]


def _common(one: np.ndarray, other: np.ndarray) -> int:
    """Length of the longest common prefix of two rows, neither of which continues the other."""
    size = min(len(one), len(other))
    return int((one[:size] != other[:size]).argmax())


def _cut(path: list[tuple[int, int]], depth: int) -> list[tuple[int, int]]:
    kept = []
    for start, end in path:
        if depth <= 0:
            break
        kept.append((start, min(end, start + depth)))
        depth -= end - start
    return kept


def _scored(ids, positions, segments, reads, targets, ends: bool) -> Forest:
    """Merges (read, target) pairs that several turns score, unless `ends`."""
    read, target = np.concatenate(reads).astype(np.int64), np.concatenate(targets).astype(np.int64)
    inverse = np.arange(len(read))
    if not ends:
        pairs = read << 32 | target
        pairs, inverse = np.unique(pairs, return_inverse=True)
        read, target = pairs >> 32, pairs & 0xFFFFFFFF
    places = np.split(inverse.reshape(-1), np.cumsum([len(part) for part in reads])[:-1])
    tensors = [torch.from_numpy(array.astype(np.int64)) for array in (ids, positions, read, target)]
    return Forest(tensors[0], tensors[1], segments, tensors[2], tensors[3], [torch.from_numpy(p) for p in places])
