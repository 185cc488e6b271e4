"""Several processes of one run: they hold the model together, split the examples of a batch and decide together.

`torchrun --nproc-per-node N -m tandem_trainer run.json` sets RANK, WORLD_SIZE and LOCAL_RANK. A single process is the
case N = 1 and makes the same calls, which then do nothing.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh


@dataclass(frozen=True)
class Ranks:
    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        """Only the first rank writes."""
        return self.rank == 0

    def share(self, indices: Sequence[int], tokens: Callable[[int], int]) -> list[int]:
        """Neighbours stay together, and ranks get similar numbers of tokens; a part may be empty."""
        weights = [tokens(index) for index in indices]
        total, before, mine = sum(weights), 0, []
        for index, weight in zip(indices, weights, strict=True):
            middle = before + weight / 2  # an example belongs to the rank whose range of tokens contains its middle
            if int(middle * self.world / total) == self.rank:
                mine.append(index)
            before += weight
        return mine

    def mesh(self, device: torch.device) -> DeviceMesh | None:
        """The processes that hold one model together; None for a single one."""
        return None if self.world == 1 else init_device_mesh(device.type, (self.world,))

    def sum(self, tensor: torch.Tensor) -> None:
        if self.world > 1:
            dist.all_reduce(tensor)

    def sum_figures(self, figures: dict[str, float]) -> dict[str, float]:
        """A rank without examples may lack some names."""
        total: Counter[str] = Counter()
        for part in self.gather(figures):
            total.update(part)
        return dict(total)

    def highest(self, value: Any) -> Any:
        """Ranks agree by it on stopping and on running out of memory."""
        return max(self.gather(value))

    def of_first(self, value: Any) -> Any:
        return self.gather(value if self.first else None)[0]

    def gather(self, value: Any) -> list[Any]:
        """In the order of ranks. Every rank must call this, and waits for the others."""
        if self.world == 1:
            return [value]
        values: list[Any] = [None] * self.world
        dist.all_gather_object(values, value)
        return values

    def wait(self) -> None:
        self.gather(None)


def join() -> Ranks:
    """Without torchrun's environment variables there is one process. Ray has made a process group before."""
    if dist.is_initialized():
        return Ranks(rank=dist.get_rank(), world=dist.get_world_size())
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return Ranks()
    # The timeout is long because ranks wait while one loads, writes or samples; torchrun ends all when one dies.
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, timeout=timedelta(days=1))
    return Ranks(rank=dist.get_rank(), world=world)


def leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()
