"""Checks of the driver and of folders. Only the standard library is imported here, as in `doctor.py`."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from .interpreter import Check, Ran, release, run, size

DRIVER = {"11": 450, "12": 525, "13": 580}  # oldest NVIDIA driver for each major version of CUDA (its release notes)
DISK = (2 << 30, 20 << 30)  # free bytes below which the check fails; free bytes below which it warns


def ask_driver() -> Ran:
    return run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"])


def check_driver(ran: Ran, facts: dict, wanted: str) -> Check:
    """The driver must be new enough for torch's CUDA. ran: from `ask_driver`."""
    matters = "failed" if wanted in ("auto", "cuda") else "warning"
    if ran.code == 127 and (facts.get("device") == "cuda" or not os.path.exists("/proc/driver/nvidia/version")):
        asked = wanted == "cuda" and facts.get("device") != "cuda"
        remedy = "Install the NVIDIA driver, or set model.device to another device." if asked else None
        saw = "no nvidia-smi, so no NVIDIA driver to check"
        return Check("driver", "failed" if asked else "ok", ran.command, saw, remedy)
    if ran.code != 0:
        remedy = "Reinstall the NVIDIA driver and restart, until nvidia-smi lists the card."
        return Check("driver", matters, ran.command, ran.saw, remedy)
    driver = next((part.strip() for part in ran.saw.split(",") if part.strip()[:1].isdigit() and "." in part), "")
    build = facts.get("cuda")
    if facts and not build:
        remedy = "Install the build of torch for CUDA that PyTorch's installation page names for this system."
        saw = f"{ran.saw}; but torch {facts['torch']} was built without CUDA"
        return Check("driver", matters, ran.command, saw, remedy)
    least = DRIVER.get(str(build).split(".")[0])
    if least and driver and release(driver)[0] < least:
        remedy = f"Update the driver to {least} or newer, or install a torch that was built for an older CUDA."
        saw = f"driver {driver} ({ran.saw}), but torch was built for CUDA {build}, which needs {least} or newer"
        return Check("driver", matters, ran.command, saw, remedy)
    if facts and facts.get("device") != "cuda" and matters == "failed":
        remedy = "Restart the machine if the driver was just updated; look at CUDA_VISIBLE_DEVICES."
        return Check("driver", "failed", ran.command, f"{ran.saw}; but torch finds no card", remedy)
    return Check("driver", "ok", ran.command, ran.saw)


def check_folder(name: str, folder: Path) -> Check:
    """Writes as the trainer does: temporary, flushed, renamed."""
    command = f"write, fsync, rename and delete a file in {folder}"
    try:
        handle, path = tempfile.mkstemp(prefix=".doctor-", dir=str(folder))
        with os.fdopen(handle, "w") as file:
            file.write("written by doctor")
            file.flush()
            os.fsync(file.fileno())
        os.replace(path, path + "-renamed")
        os.remove(path + "-renamed")
        free = shutil.disk_usage(str(folder)).free
    except OSError as error:
        saw = f"{error.strerror}: {folder}"
        return Check(name, "failed", command, saw, "Give yourself the right to write there, or use another folder.")
    if free < DISK[1]:
        remedy = "Free some: a result is as large as its base, and a run keeps up to three of that size (see plan)."
        return Check(name, "failed" if free < DISK[0] else "warning", command, f"{size(free)} free in {folder}", remedy)
    return Check(name, "ok", command, f"{size(free)} free in {folder}")
