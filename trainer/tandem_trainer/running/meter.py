"""How hard the device works, and how much memory that takes."""

import math
import sys
import time
from collections.abc import Sequence

import torch

from ..model.flops import Peak, Shape, Work, step_flops
from ..model.memory import most_resident
from ..turn import Turn

LOOK_SECONDS = 1.0  # the driver's own window is a sixth of a second to one second


class Meter:
    """shape: of the model. peak: what one device can do at best, None when nobody knows. world: number of devices."""

    def __init__(self, shape: Shape, work: Work, peak: Peak | None, device: torch.device, world: int):
        self.shape = shape
        self.work = work
        self.peak = peak
        self.device = device
        self.world = world
        self._looked = -math.inf
        self._use: float | None = None
        self._tells_use = device.type == "cuda"

    def flops(self, turns: Sequence[Turn], *, shared: bool) -> float:
        """Floating-point operations that one forward and backward pass over `turns` needs."""
        return step_flops(self.shape, turns, self.work, shared=shared)

    def mfu(self, flops: float, seconds: float) -> float | None:
        """Model FLOPs use of all devices together, 0 to 1 (PaLM, arXiv 2204.02311, appendix B); None when unknown."""
        return round(flops / seconds / (self.peak.flops * self.world), 4) if self.peak else None

    def gpu_use(self) -> float | None:
        """Part of the last moment in which the GPU computed anything, 0 to 1, as its driver says (NVML).

        None without such a GPU, and where the driver does not tell: of a slice of a GPU (MIG), or without its library.
        """
        now = time.monotonic()
        if self._tells_use and now - self._looked >= LOOK_SECONDS:
            self._looked = now
            try:
                self._use = torch.cuda.utilization(self.device) / 100
            except (ImportError, RuntimeError, *_driver_errors()):
                self._tells_use, self._use = False, None
        return self._use

    def memory_mb(self) -> int | None:
        """The most that the device had in use since the last call; on the CPU, since the start of the process."""
        if sys.platform == "win32" and self.device.type == "cpu":
            return None
        if self.device.type == "cuda":
            most = torch.cuda.max_memory_allocated(self.device)
            torch.cuda.reset_peak_memory_stats(self.device)
        elif self.device.type == "mps":
            most = torch.mps.driver_allocated_memory()
        else:
            most = most_resident()
        return most >> 20


def _driver_errors() -> tuple[type[Exception], ...]:
    """What NVML's library raises, where it is installed."""
    try:
        import pynvml
    except ImportError:
        return ()
    return (pynvml.NVMLError,)
