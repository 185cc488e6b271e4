"""How much memory a run takes, computed from the shape of its model before anything is loaded."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path


def available_memory() -> int | None:
    """Bytes that this process could still take from the system without swapping; None where nobody says.

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
