"""Estimates the memory of a run from the shape of its model, before anything is loaded.

The tensors that autograd keeps of a layer follow from the layer's parts (norms, attention and a gated MLP, as in Llama)
and were checked one by one against the real ones (`tests/test_plan.py`). Temporary memory within a step is calibrated
against measured peaks. All sizes are in bytes.

Only the standard library is imported here, because `doctor` runs where nothing else is installed.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from ..config import ModelConfig
    from .flops import Shape

SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}
NF4 = 0.5 + 1 / 64 + 4 / (64 * 256)  # bytes a weight: 4 bits, a byte for 64 of them, a float32 for 256 of those bytes


def fixed(shape: Shape, model: ModelConfig, dtype: str, processes: int = 1) -> dict[str, int]:
    """Returns, by its use, the memory that each process of a run holds from start to end, whatever the batch.

    Of the adapters, critic and policy are in memory; one at a time is trained.

    Gradients are summed in float32. Adam keeps two moments in float32, and a float32 original of weights of another
    type (`adam.py`). Processes have equal parts of everything but weights of 4 bits, which each has whole (`fsdp.py`).
    """
    size = SIZES[dtype]
    moments = 8 if size == 4 else 12
    quantised = shape.quantised if model.training == "qlora" else 0
    trained = shape.parameters if model.training == "full" else shape.adapted * model.lora_rank
    weights = int(quantised * NF4 + (shape.parameters - quantised) * size / processes)
    added = 0 if model.training == "full" else 2 * trained * size // processes
    return {
        "weights": weights,
        "adapters": added,
        "gradients": 4 * trained // processes,
        "optimiser": moments * trained // processes,
        "gathered": _gathered(shape, model, size, processes),
    }


def _gathered(shape: Shape, model: ModelConfig, size: int, processes: int) -> int:
    """Memory for weights that are put together from the parts of several processes: embeddings, output layer, and two
    layers, because one is fetched while another computes; when all are trained, also the gradients of one layer and of
    those outside, as they are and in float32.
    """
    if processes == 1:
        return 0
    outside = min(2 * shape.head, shape.parameters - shape.quantised)
    layer = 0 if model.training == "qlora" else (shape.parameters - outside) // shape.layers
    gradients = (outside + layer) * (size + 4) if model.training == "full" else 0
    return (outside + 2 * layer) * size + gradients


def kept_per_token(shape: Shape, model: ModelConfig, dtype: str) -> int:
    """Bytes that one layer keeps per token for its backward pass, without checkpointing.

    Norms keep their input in float32 and, when their weights are trained, the normalised value; linear layers keep
    their inputs, adapters the result of their first matrix; the MLP keeps gate, its activation and up; attention keeps
    queries, keys, values (a shared prefix once more for each leaf), its result and the log of its sums.
    """
    size, adapters = SIZES[dtype], model.training != "full"
    hidden, middle = shape.hidden, shape.intermediate
    queries, keys = shape.heads * shape.head_size, shape.key_heads * shape.head_size
    norms = (4 if adapters else 4 + size) * shape.normed
    inputs = size * (2 * hidden + queries + middle) + (7 * size * model.lora_rank if adapters else 0)
    attention = size * (2 * queries + 4 * keys) + 4 * shape.heads
    return norms + inputs + 3 * size * middle + attention


def activations(shape: Shape, model: ModelConfig, dtype: str, tokens: int, checkpointed: bool) -> int:
    """Peak in a forward and backward pass over a pack of `tokens`.

    With checkpointing, layers keep only their inputs, and one layer at a time is complete.
    """
    size = SIZES[dtype]
    layer = kept_per_token(shape, model, dtype) * tokens
    if shape.capped:  # which rules out a fused kernel, so that scores are kept
        layer += shape.heads * (2 * size + (4 if size != 4 else 0)) * tokens**2
    passing = (2 * size * shape.intermediate + 4 * shape.hidden) * tokens  # gradients within the MLP
    if not checkpointed:
        return shape.layers * layer + passing
    return shape.layers * size * shape.hidden * tokens + layer + passing


def head(shape: Shape, model: ModelConfig, dtype: str, scored: int, logits: int) -> int:
    """Pieces of at most `logits` bytes (two float32, one `dtype`), and hidden states."""
    size = SIZES[dtype]
    piece = min(4 * shape.vocabulary * scored, logits)
    trained = size * shape.head if model.training == "full" else 0  # the gradient of the output matrix
    return int(piece * (2 + (size / 4 if size != 4 else 0))) + 3 * size * shape.hidden * scored + trained


def dequantised(shape: Shape, model: ModelConfig, dtype: str) -> int:
    """A quantised matrix is unpacked forward and backward."""
    return 2 * SIZES[dtype] * shape.largest if model.training == "qlora" else 0


def available_memory() -> int | None:
    """Bytes that this process can still allocate without swapping; None where that is unknown.

    Linux: MemAvailable, or what the control group leaves if that is less. macOS: free, inactive and purgeable pages.
    """
    if sys.platform == "darwin":
        said = subprocess.run(["vm_stat"], capture_output=True, text=True, check=True).stdout
        page = int(re.search(r"page size of (\d+)", said).group(1))
        kinds = r"Pages (?:free|inactive|purgeable|speculative):\s+(\d+)"
        return page * sum(int(pages) for pages in re.findall(kinds, said))
    if sys.platform == "win32":
        # MEMORYSTATUSEX: its length and the load, then bytes of memory in all and bytes available.
        status = (ctypes.c_ulonglong * 8)(64)
        return status[2] if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)) else None
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return None
    available = int(re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text()).group(1)) << 10
    group = Path("/sys/fs/cgroup")
    limit = group / "memory.max"
    if limit.exists() and limit.read_text().strip() != "max":
        available = min(available, int(limit.read_text()) - int((group / "memory.current").read_text()))
    return max(available, 0)


def room(device: torch.device) -> float:
    """Bytes that can still be allocated on a device; infinite where that is unknown."""
    if device.type == "cuda":
        import torch

        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info(device)[0]
    free = available_memory()
    return float("inf") if free is None else free


def most_resident() -> int:
    """Peak resident memory of this process in bytes; on Linux and macOS only.

    Linux: ru_maxrss survives execve, so it would include the launching process (getrusage(2)).
    """
    if sys.platform == "linux":
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) << 10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
