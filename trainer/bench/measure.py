"""Measurements that both sides share."""

import resource
import sys
import time

import torch


def peak_mb() -> float:
    """Returns the peak memory in MB of 10^6 bytes, of the device if there is one, else of this process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6  # bytes on macOS, KiB on Linux


def clock() -> float:
    """Returns the time in seconds after the device has finished its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
