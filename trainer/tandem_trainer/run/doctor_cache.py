"""Caches the result of `doctor` for a working interpreter until something that it depends on changes.

It depends on every file that the imports loaded, on the import path, on the driver, on a few environment variables, and
on `doctor` itself. A record that is damaged or belongs to another interpreter is ignored.

Only the standard library is imported here, because `doctor` runs where nothing else is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from pathlib import Path

# Runs in the process that did the imports: lists module files and, on Linux, the loaded shared libraries.
LOADED = """
files = {module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
if sys.platform == "linux":
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files |= {line.split(maxsplit=5)[5].rstrip("\\n") for line in maps if "/" in line}
import os
print(json.dumps(sorted(file for file in files if os.path.isfile(file))))
"""
# Prefixes of environment variables that affect imports and the choice of the device.
VARIABLES = ("CUDA", "DYLD_", "HIP", "LD_", "MKL", "NVIDIA", "OMP", "PYTHON", "PYTORCH", "ROC", "TORCH")


class Found:
    """The record of one interpreter for one set of checks. asked: what is checked, such as the device."""

    def __init__(self, folder: Path, asked: list[str], driver: str):
        variables = sorted((name, value) for name, value in os.environ.items() if name.startswith(VARIABLES))
        name = _digest([sys.executable, platform.node(), asked, variables])
        self.file = folder / f"{name[:16]}.json"
        own = [Path(__file__).with_name(name) for name in ("doctor.py", "doctor_cache.py", "interpreter.py")]
        texts = [path.read_text(encoding="utf-8") for path in own]  # another version may check more
        self.around = [sys.version, _look(sys.executable), driver, list(map(_place, sys.path)), texts]

    def read(self) -> dict | None:
        try:
            record = json.loads(self.file.read_text(encoding="utf-8"))
            return record["found"] if record["depends"] == self._depends(record["files"]) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # missing or damaged: everything is checked again

    def keep(self, found: dict, files: list[str]) -> None:
        """files: all that the imports loaded. Errors: OSError."""
        record = {"depends": self._depends(files), "files": files, "found": found}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        path = self.file.with_name(f"{self.file.name}.{os.getpid()}.writing")
        path.write_text(json.dumps(record), encoding="utf-8")
        os.replace(path, self.file)

    def forget(self) -> None:
        if self.file.exists():
            self.file.unlink()

    def _depends(self, files: list[str]) -> str:
        return _digest([self.around, [[file, _look(file)] for file in files]])


def _digest(value: list) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def _look(path: str) -> list[int] | None:
    """A fingerprint; None when it is missing."""
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return [seen.st_size, seen.st_mtime_ns, seen.st_ino]


def _place(entry: str) -> list:
    """`doctor` starts in a folder that is new for each run, so only the names in that folder count."""
    if entry in ("", os.getcwd()):
        return sorted(os.listdir())
    return [entry, _look(entry)]
