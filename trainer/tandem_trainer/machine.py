"""The machine that a run is planned for: its memory and disk, and how fast it computes."""

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from .config import ModelConfig, ResourcesConfig
from .fault import Fault
from .model import memory
from .model.base import Base
from .model.flops import MATRIX, Peak, Shape, peak_flops, step_flops
from .model.load import choose_device, choose_dtype
from .model.log_probs import token_log_probs
from .turn import Turn

GIB = 1 << 30
CONTEXT = GIB // 2  # what CUDA takes for itself, and a desktop beside it
SPARE = 0.92  # of the free memory that is planned with: allocators leave gaps
USE = {"cuda": 0.35, "mps": 0.35, "cpu": 0.5}  # of the peak that training is assumed to reach, until it is measured

ROW, MOMENT = 1024, 0.25  # tokens and seconds of the step by which a rate is measured, at most


@dataclass(frozen=True)
class Machine:
    """usable: bytes of the device's memory that each process may plan with. rate: model FLOP/s that each reaches."""

    kind: str  # cuda, mps or cpu
    name: str
    dtype: str
    usable: int | None
    rate: float | None = None
    measured: bool = False  # the rate, by a step of this model on this device
    host: int | None = None  # bytes of the system's memory, where the result is put together
    disk: int | None = None  # bytes free in the run folder
    processes: int = 1  # that train the run


def this_machine(model: ModelConfig, folder: Path, resources: ResourcesConfig) -> Machine:
    """What there is, before anything is loaded. Errors: Fault when the device that is asked for is not there, or not
    as often as there are processes.
    """
    device, processes = choose_device(model.device), resources.processes
    if device.type == "cuda" and processes > torch.cuda.device_count():
        raise Fault(
            f"resources.processes is {processes}, but this machine has {torch.cuda.device_count()} GPUs, one for each: "
            "start no more processes than that.",
            usage=True,
        )
    dtype = choose_dtype(model.dtype, device)
    peak = peak_flops(device, dtype)
    free = _free(device)
    return Machine(
        kind=device.type,
        name=torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        dtype=str(dtype).removeprefix("torch."),
        usable=None if free is None else int(SPARE * free) // (1 if device.type == "cuda" else processes),
        rate=_rate(peak, device.type, processes),
        host=memory.available_memory(),
        disk=shutil.disk_usage(folder).free,
        processes=processes,
    )


def other_machine(model: ModelConfig, size: int) -> Machine:
    """A machine with an NVIDIA card of `size` bytes, of which nothing else is known."""
    dtype = "bfloat16" if model.dtype == "auto" else model.dtype
    return Machine("cuda", f"a card with {size_words(size)}", dtype, int(SPARE * size) - CONTEXT)


def _free(device: torch.device) -> int | None:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type == "mps":
        return torch.mps.recommended_max_memory()
    return memory.available_memory()


def set_threads(resources: ResourcesConfig) -> None:
    """Of this process, as those of the run will have them."""
    if resources.threads:
        torch.set_num_threads(resources.threads)
    elif resources.processes > 1 and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)  # so torchrun starts them


def _rate(peak: Peak | None, kind: str, processes: int) -> float | None:
    return None if peak is None else peak.flops * USE[kind] * share_of(kind, processes, torch.get_num_threads())


def share_of(kind: str, processes: int, threads: int) -> float:
    """What of the rate that one process reaches alone each of several reaches: they share what there is once."""
    if kind == "cuda":
        return 1.0
    if kind == "mps":
        return 1 / processes
    return min(1.0, (os.cpu_count() or 1) / (processes * threads))


def measured(base: Base, machine: Machine, shape: Shape, tokens: int) -> Machine:
    """The machine with the rate that one step of this very model reaches, on a row of random tokens.

    tokens: at most; on a slow device fewer, so that it takes a moment. Nothing is changed but the time.
    """
    weights = MATRIX[base.config.training] * (shape.matrices + shape.head)
    length = (
        min(tokens, ROW) if machine.rate is None else min(tokens, ROW, max(64, int(machine.rate * MOMENT / weights)))
    )
    ids = np.random.default_rng(0).integers(0, shape.vocabulary, length).astype(np.int32)
    turns = [Turn(ids[: length // 2], ids[length // 2 :])]
    seconds = min(_step_seconds(base, turns) for _ in range(2))  # the first one also builds kernels
    rate = step_flops(shape, turns, base.config.training) / seconds
    share = share_of(machine.kind, machine.processes, torch.get_num_threads())
    return replace(machine, rate=rate * share, measured=True)


def _step_seconds(base: Base, turns: Sequence[Turn]) -> float:
    started = time.perf_counter()
    torch.cat(token_log_probs(base.model, turns)).sum().backward()
    for _, weight in base.trainable():
        weight.grad = None
    wait_for(base.device)
    return time.perf_counter() - started


def wait_for(device: torch.device) -> None:
    """Until it has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def size_words(count: float) -> str:
    """`1.5 GiB`. count: of bytes."""
    return f"{count / GIB:.1f} GiB" if count >= GIB / 10 else f"{count / (1 << 20):.1f} MiB"
