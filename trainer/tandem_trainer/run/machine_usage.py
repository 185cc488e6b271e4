"""The machine of a run: its memory, its disk, its speed, and how much of it is in use."""

import math
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from ..config import ModelConfig, ResourcesConfig
from ..fault import UsageFault
from ..model import memory
from ..model.base import Base
from ..model.flops import MATRIX, Shape, Work, peak_flops, step_flops
from ..model.load import choose_device, choose_dtype
from ..model.log_probs import token_log_probs
from ..turn import Turn

GIB = 1 << 30
CONTEXT = GIB // 2  # bytes taken by CUDA itself and by a desktop
SPARE = 0.92  # usable fraction of the free memory: allocators leave gaps
USE = {"cuda": 0.35, "mps": 0.35, "cpu": 0.5}  # assumed fraction of the peak, until a rate is measured

ROW, MOMENT = 1024, 0.25  # upper limits, in tokens and seconds, of the step that measures the rate
SAMPLE_INTERVAL_SECONDS = 1.0  # the driver averages over a sixth of a second to one second


@dataclass(frozen=True)
class Machine:
    """usable: bytes of device memory for each process. rate: model FLOP/s of each process."""

    kind: str  # cuda, mps or cpu
    name: str
    dtype: str
    usable: int | None
    rate: float | None = None
    measured: bool = False  # whether `rate` was measured with this model on this device
    host: int | None = None  # bytes of system memory, in which the result is merged
    disk: int | None = None  # bytes free in the run folder
    processes: int = 1  # training processes


def this_machine(model: ModelConfig, folder: Path, resources: ResourcesConfig) -> Machine:
    """Errors: Fault when the requested device is missing, or when there are fewer devices than processes."""
    device, processes = choose_device(model.device), resources.processes
    if device.type == "cuda" and processes > torch.cuda.device_count():
        raise UsageFault(
            f"resources.processes is {processes}, but this machine has {torch.cuda.device_count()} GPUs, one for each: "
            "start no more processes than that."
        )
    dtype = choose_dtype(model.dtype, device)
    peak = peak_flops(device, dtype)
    free = _free(device)
    return Machine(
        kind=device.type,
        name=torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        dtype=str(dtype).removeprefix("torch."),
        usable=None if free is None else int(SPARE * free) // (1 if device.type == "cuda" else processes),
        rate=peak and peak * USE[device.type] * share_of(device.type, processes, torch.get_num_threads()),
        host=memory.available_memory(),
        disk=shutil.disk_usage(folder).free,
        processes=processes,
    )


@dataclass(frozen=True)
class WorkerMemory:
    """gpu: its name; None for a worker on processors. memory: usable bytes; None when unknown."""

    gpu: str | None
    memory: int | None


def cluster_machine(model: ModelConfig, workers: int, place: WorkerMemory) -> Machine:
    """The nodes of a Ray cluster, on which the run has that many workers. Their speed is not known."""
    size = place.memory
    if place.gpu is not None:
        dtype = "bfloat16" if model.dtype == "auto" else model.dtype
        usable = None if size is None else int(SPARE * size) - CONTEXT
        return Machine("cuda", place.gpu, dtype, usable, processes=workers)
    dtype = str(choose_dtype(model.dtype, torch.device("cpu"))).removeprefix("torch.")
    return Machine("cpu", "cpu", dtype, None if size is None else int(SPARE * size), processes=workers)


def _free(device: torch.device) -> int | None:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type == "mps":
        return torch.mps.recommended_max_memory()
    return memory.available_memory()


def set_threads(resources: ResourcesConfig) -> None:
    """This process gets as many as the run's processes will have."""
    if resources.threads:
        torch.set_num_threads(resources.threads)
    elif resources.processes > 1 and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)  # torchrun's default


def share_of(kind: str, processes: int, threads: int) -> float:
    """The fraction of a single process's rate that each of several reaches when they share the device."""
    if kind == "cuda":
        return 1.0
    if kind == "mps":
        return 1 / processes
    return min(1.0, (os.cpu_count() or 1) / (processes * threads))


def measured(base: Base, machine: Machine, shape: Shape, tokens: int) -> Machine:
    """Measures one step on at most `tokens` random ones, fewer on a slow device. The model stays as it is."""
    weights = MATRIX[base.config.training] * (shape.matrices + shape.head)
    longest = ROW if machine.rate is None else min(ROW, max(64, int(machine.rate * MOMENT / weights)))
    length = max(2, min(tokens, longest))  # a prompt and a response
    ids = np.random.default_rng(0).integers(0, shape.vocabulary, length).astype(np.int32)
    turns = [Turn(ids[: length // 2], ids[length // 2 :])]
    seconds = min(_step_seconds(base, turns) for _ in range(2))  # the first step also builds kernels
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
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def size_words(count: float) -> str:
    """`1.5 GiB`."""
    return f"{count / GIB:.1f} GiB" if count >= GIB / 10 else f"{count / (1 << 20):.1f} MiB"


@dataclass
class Meter:
    """shape: the model's. peak: peak FLOP/s of one device, None when unknown. world: number of devices."""

    shape: Shape
    work: Work
    peak: float | None
    device: torch.device
    world: int

    def __post_init__(self) -> None:
        self._looked, self._use, self._tells_use = -math.inf, None, self.device.type == "cuda"

    def flops(self, turns: Sequence[Turn], *, shared: bool) -> float:
        return step_flops(self.shape, turns, self.work, shared=shared)

    def mfu(self, flops: float, seconds: float) -> float | None:
        """MFU of all devices, 0 to 1 (PaLM, arXiv 2204.02311, appendix B); None if unknown."""
        return round(flops / seconds / (self.peak * self.world), 4) if self.peak else None

    def gpu_use(self) -> float | None:
        """Busy fraction of recent time, 0 to 1, by NVML. None without an NVIDIA GPU or NVML, and for a slice (MIG)."""
        now = time.monotonic()
        if self._tells_use and now - self._looked >= SAMPLE_INTERVAL_SECONDS:
            self._looked = now
            try:
                self._use = torch.cuda.utilization(self.device) / 100
            except Exception:  # of torch, of NVML, or that it is not installed: there is no such figure then
                self._tells_use, self._use = False, None
        return self._use

    def memory_mb(self) -> int | None:
        """The device's peak memory since the last call; on the CPU, since the start of the process."""
        if sys.platform == "win32" and self.device.type == "cpu":
            return None
        if self.device.type == "cuda":
            most = torch.cuda.max_memory_allocated(self.device)
            torch.cuda.reset_peak_memory_stats(self.device)
        elif self.device.type == "mps":
            most = torch.mps.driver_allocated_memory()
        else:
            most = memory.most_resident()
        return most >> 20
