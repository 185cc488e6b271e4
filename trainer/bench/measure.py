"""What both sides measure in the same way."""

import resource
import sys

import torch


def peak_mb() -> float:
    """Peak memory until now, in MB of 10^6 bytes: of the device where there is one, else of this process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6  # bytes on macOS, KiB on Linux
