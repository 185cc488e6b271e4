"""What the machine does to a run, as a sentence that says what to do. Imports little: it may be too late for more."""

import errno

from ..fault import Fault
from .disk import not_written

MEMORY = ("out of memory", "not enough memory", "can't allocate memory", "Cannot allocate memory")
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DEVICE = (
    "CUDA error",
    "CUDA driver error",
    "CUDA-capable device",
    "HIP error",
    "cuBLAS",
    "CUBLAS_STATUS",
    "NCCL error",
)


def fault_of(error: BaseException) -> Fault | None:
    """None for what is a mistake in the trainer, of which more than a sentence must be seen."""
    words = str(error).strip()
    first = words.splitlines()[0].rstrip(".") if words else type(error).__name__
    if isinstance(error, MemoryError) or any(sign in words for sign in MEMORY):
        return Fault(
            f"Memory ran out ({first}): end what else uses it, or lower resources.token_budget, then resume the run. "
            "It goes on from its last checkpoint."
        )
    if (isinstance(error, OSError) and error.errno in DISK) or "No space left on device" in words:
        return not_written(f"{getattr(error, 'filename', None) or 'A file of the run'} cannot be written", error)
    if isinstance(error, RuntimeError) and any(sign in words for sign in DEVICE):
        return Fault(
            f"The GPU failed in the middle of the work ({first}): it was unplugged or reset, or its driver gave up. "
            "Resume the run when nvidia-smi shows it again; it goes on from its last checkpoint."
        )
    return None
