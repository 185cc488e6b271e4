"""Several processes hold one model together: each keeps a part of every weight, by FSDP2 (torch's `fully_shard`).

A layer's weights are gathered just before it computes and released after it; gradients are summed into the parts of the
processes that keep them. So every process must make the same passes in the same order, with the same weights trained.
Everything here does nothing for a model that one process holds.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor

Found = TypeVar("Found")


def shard(causal: nn.Module, decoder: nn.Module, mesh: DeviceMesh) -> None:
    """Makes `causal` keep only this process's parts of its weights, those of each layer and then all others.

    causal:  a causal language model of transformers, equal in all processes; may be on the meta device, and then gets
             undefined values on the mesh's device. 4-bit weights stay whole, because they cannot be divided.
    decoder: its part that computes hidden states.
    """
    settings = {
        "mesh": mesh,
        "mp_policy": MixedPrecisionPolicy(reduce_dtype=torch.float32),
        "ignored_params": {weight for weight in causal.parameters() if not weight.is_floating_point()},
        "reshard_after_forward": True,
    }
    for layer in decoder.layers:
        fully_shard(layer, **settings)
    fully_shard(causal, **settings)
    if any(weight.is_meta for weight in causal.parameters()):
        causal.to_empty(device=mesh.device_type)
    for module in _sharded(causal):
        # The loss of a batch is a sum over its examples, so gradients are summed as well. By default they are averaged.
        module.set_gradient_divide_factor(1.0)
        module.set_force_sum_reduction_for_comms(True)
    causal.compute = MethodType(lambda _causal, work: work(), causal)
    register_fsdp_forward_method(causal, "compute")


@torch.no_grad()
def spread(model: nn.Module, source: nn.Module | None, mesh: DeviceMesh | None) -> None:
    """Fills weights and buffers with those of `source`: the same model, whole, in the first process; None in the
    others.
    """
    given = {} if source is None else dict(_tensors(source))
    for name, tensor in _tensors(model):
        like_it = {"dtype": tensor.dtype, "device": tensor.device}
        full = given[name].to(**like_it) if given else torch.empty(tensor.shape, **like_it)
        if isinstance(tensor, DTensor):
            part_of(tensor).copy_(part_of(distribute_tensor(full, mesh, tensor.placements)))
            continue
        if mesh is not None:
            dist.broadcast(full, src=0, group=mesh.get_group())
        tensor.copy_(full)


def _tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        yield name, tensor.detach()


def within_forward(causal: nn.Module, work: Callable[[], Found]) -> Found:
    """Calls `work` while the weights outside of the layers are whole, such as embeddings and output layer."""
    return causal.compute(work) if isinstance(causal, FSDPModule) else work()


@contextmanager
def gathered(causal: nn.Module) -> Iterator[None]:
    """Keeps the whole model in each process inside the context, in which processes need not go in step."""
    modules = list(_sharded(causal))
    for module in modules:
        module.set_reshard_after_forward(False, recurse=False)
        module.unshard()
    try:
        yield
    finally:
        for module in modules:
            module.set_reshard_after_forward(True, recurse=False)
            module.reshard()


def part_of(weight: Tensor) -> Tensor:
    """The part that this process keeps, not copied."""
    return weight.to_local() if isinstance(weight, DTensor) else weight


def whole(weight: Tensor) -> Tensor:
    """All processes must call this."""
    return weight.full_tensor() if isinstance(weight, DTensor) else weight


def like(weight: Tensor, part: Tensor) -> Tensor:
    """Describes `part` as this process's part of a tensor that is divided as `weight` is; nothing is copied."""
    if not isinstance(weight, DTensor):
        return part
    shape = {"shape": weight.shape, "stride": weight.stride()}
    return DTensor.from_local(part, weight.device_mesh, weight.placements, run_check=False, **shape)


def everywhere(flag: bool, mesh: DeviceMesh | None) -> bool:
    """True if `flag` is true in all processes, which must all call this."""
    if mesh is None:
        return flag
    answer = torch.tensor(int(flag))
    dist.all_reduce(answer, op=dist.ReduceOp.MIN)
    return bool(answer)


def _sharded(causal: nn.Module) -> Iterator[FSDPModule]:
    return (module for module in causal.modules() if isinstance(module, FSDPModule))
