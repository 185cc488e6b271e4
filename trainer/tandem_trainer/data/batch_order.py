"""Assigns examples to batches, by pure functions of seed, epoch and step.

Nothing is remembered between steps and no generator has a state, so a resumed run gets exactly the same examples,
whatever the versions of its libraries.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache

from ..turn import Example


def steps_per_epoch(examples: int, batch: int) -> int:
    """The last batch may be smaller, because every example comes once."""
    return -(-examples // batch)


def step_batch(examples: Sequence[Example], *, seed: int, epoch: int, step_in_epoch: int, batch: int) -> list[int]:
    """Returns the example indices of one step; epoch and step count from 0. It is empty beyond the end of the epoch.

    The order of the groups depends on seed and epoch; members of a group stay side by side in the given order.
    """
    order = epoch_order(tuple(example.group for example in examples), seed, epoch)
    return list(order[step_in_epoch * batch : (step_in_epoch + 1) * batch])


@lru_cache(maxsize=4)
def epoch_order(groups: tuple[str, ...], seed: int, epoch: int) -> tuple[int, ...]:
    members: dict[str, list[int]] = {}
    for index, group in enumerate(groups):
        members.setdefault(group, []).append(index)
    order = sorted(members, key=lambda group: lot(seed, epoch, group))
    return tuple(index for group in order for index in members[group])


def lot(*parts: object) -> bytes:
    """Returns a sort key that shuffles alike on every machine: a hash."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).digest()


def micro_batches(indices: Sequence[int], tokens: Callable[[list[int]], int], budget: int) -> list[list[int]]:
    """Cuts a batch into pieces of at most `budget` tokens, in order and as large as they may be.

    tokens: how many tokens examples need together, after sharing. An example over the budget is a piece of its own.
    """
    batches: list[list[int]] = []
    for index in indices:
        if batches and tokens([*batches[-1], index]) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
