"""Checks of packages, device, driver and folders. Slow ones, which may crash, run in separate processes.

Only the standard library is imported here, because `doctor` runs where nothing else is installed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from ..fault import UsageFault
from ..methods.table import METHODS
from .doctor_cache import LOADED, Found

PACKAGES = {
    "torch": "2.13",
    "transformers": "5.18",
    "peft": "0.21",
    "safetensors": "0.8",
    "numpy": "2.2",
    "pydantic": "2.12",
}
BITSANDBYTES = "0.49"
ONLINE = {"trl": "1.16", "websockets": "13"}  # those of the extra `online`
RAY = {"ray": "2.60"}  # that of the extra `ray`
EXTRAS = {"online": ONLINE, "ray": RAY}
PARTS = {"ray": "ray[default,train]"}  # requirements with extras
SECONDS = 180  # time limit of one check
DRIVER = {"11": 450, "12": 525, "13": 580}  # oldest NVIDIA driver for each major version of CUDA (its release notes)
DISK = (2 << 30, 20 << 30)  # free bytes below which the check fails; free bytes below which it warns

# Runs in its own process: a mismatched driver can crash it, and its warnings belong into the report.
DEVICE = """
import json, sys, time, torch
wanted = sys.argv[1]
cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
kind = wanted if wanted != "auto" else "cuda" if cuda else "mps" if mps else "cpu"
dtype = torch.bfloat16 if kind == "cuda" and torch.cuda.is_bf16_supported() else torch.float32
facts = {"torch": torch.__version__, "cuda": torch.version.cuda, "rocm": torch.version.hip, "device": kind,
         "threads": torch.get_num_threads(), "dtype": str(dtype)[6:]}
if kind == "cuda":
    cards = range(torch.cuda.device_count())
    facts["cards"] = [[torch.cuda.get_device_name(i), *torch.cuda.mem_get_info(i)] for i in cards]
print(json.dumps(facts), flush=True)
a = torch.randn(1024, 1024, generator=torch.Generator().manual_seed(0))
b = a.to(kind, dtype)
def product():
    start = time.perf_counter()
    c = (b @ b).float().cpu()
    return time.perf_counter() - start, c
difference = (product()[1] - a @ a).abs().max().item()
facts["difference"], facts["flops"] = difference, 2 * 1024**3 / min(product()[0] for _ in range(5))
print(json.dumps(facts))
"""
FOUR_BIT = """
import sys, torch, bitsandbytes
from bitsandbytes.functional import dequantize_4bit, quantize_4bit
kind = sys.argv[1] if sys.argv[1] != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
a = torch.randn(64, 64).to(kind)
assert (dequantize_4bit(*quantize_4bit(a, quant_type="nf4")) - a).abs().max() < 1.5
print(bitsandbytes.__version__)
"""


@dataclass
class Check:
    name: str
    status: str  # "ok", "warning" or "failed"
    command: str
    saw: str
    remedy: str | None = None


@dataclass
class Ran:
    """saw: the last line of its output, for the report."""

    command: str
    code: int
    out: str
    saw: str


def run(command: list[str]) -> Ran:
    """A missing program gives code 127, SECONDS without an answer 124."""
    shown = " ".join(shlex.quote(part) for part in command)
    if "\n" in shown:
        shown = f"{shlex.quote(command[0])} -c (a script in {__file__}) {' '.join(command[3:])}"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, encoding="utf-8", errors="replace"
        )
    except subprocess.TimeoutExpired:
        return Ran(shown, 124, "", f"no answer within {SECONDS} seconds")
    except OSError as error:
        return Ran(shown, 127, "", f"{command[0]}: {error.strerror}")
    said = [line for line in (done.stdout if done.returncode == 0 else done.stderr or done.stdout).splitlines() if line]
    last = said[-1].strip() if said else "nothing"
    if done.returncode < 0:
        last = f"ended by signal {-done.returncode}; last words: {last}"
    return Ran(shown, done.returncode, done.stdout, last)


def python(script: str, *arguments: str) -> Ran:
    return run([sys.executable, "-c", script, *arguments])


def release(text: str) -> tuple[int, ...]:
    """`2.13.1+cu130` becomes (2, 13, 1)."""
    return tuple(map(int, re.findall(r"\d+", re.match(r"[\d.]*", text)[0])))


def size(count: float) -> str:
    return f"{count / (1 << 30):.1f} GiB"


def install(requirement: str) -> str:
    """The command for the installer that this machine has."""
    target = shlex.quote(sys.executable)
    if shutil.which("uv"):
        return f"uv pip install --python {target} '{requirement}'"
    return f"{target} -m pip install '{requirement}'"


def requirement(name: str, least: str) -> str:
    return f"{PARTS.get(name, name)}>={least}"


def needs_trl(method: object) -> bool:
    return method in METHODS and METHODS[method].trl


def require_online(method: str, plays: bool = False) -> None:
    """plays: whether it plays tasks by its own sampler, which needs no TRL."""
    needed = [name for name in ONLINE if needs_trl(method) or (plays and name == "websockets")]
    lacks = [f"{name}>={ONLINE[name]}" for name in needed if find_spec(name) is None]
    if lacks:
        commands = "; ".join(map(install, lacks))
        raise UsageFault(f"Method {method} needs {' and '.join(lacks)} in the trainer's Python: {commands}")


def require_cluster() -> None:
    if find_spec("ray") is None:
        command = install(requirement("ray", RAY["ray"]))
        raise UsageFault(f"resources.cluster needs ray in the trainer's Python: {command}")


def check_installer() -> Check:
    uv = run(["uv", "--version"])
    if uv.code == 0:
        return Check("installer", "ok", uv.command, uv.saw)
    pip = run([sys.executable, "-m", "pip", "--version"])
    if pip.code == 0:
        return Check("installer", "ok", pip.command, pip.saw)
    remedy = f"Install uv, or give this interpreter pip: {sys.executable} -m ensurepip"
    return Check("installer", "warning", f"{uv.command}; {pip.command}", f"{uv.saw}; {pip.saw}", remedy)


def check_packages_and_device(wanted: str) -> tuple[list[Check], Ran, list[str]]:
    """One process checks both, because importing torch takes seconds. After a failure each package is checked alone.

    Also returns the run of DEVICE, for `check_device`, and the loaded files; no files when a package failed.
    """
    names = ", ".join(PACKAGES)
    imports = f"import json, {names}\n"
    versions = f"print(json.dumps({{each.__name__: each.__version__ for each in ({names})}}), flush=True)"
    ran = python(imports + versions + DEVICE + LOADED, wanted)
    said, _, rest = ran.out.partition("\n")
    if said.startswith("{"):
        found, command = json.loads(said), f'{sys.executable} -c "{imports.strip()}"'
        packages = [check_version(name, found[name], least, command) for name, least in PACKAGES.items()]
        listed = [line for line in rest.splitlines() if line.startswith("[")]
        return packages, replace(ran, out=rest), json.loads(listed[-1]) if ran.code == 0 else []
    with ThreadPoolExecutor() as pool:
        device = pool.submit(python, DEVICE, wanted)
        return list(pool.map(check_package, PACKAGES, PACKAGES.values())), device.result(), []


def check_package(name: str, least: str, script: str | None = None, *arguments: str) -> Check:
    """Imports it in its own process; `script` does more with it and prints its version."""
    ran = python(script or f"import {name}; print({name}.__version__)", *arguments)
    if ran.code != 0:
        return Check(name, "failed", ran.command, ran.saw, install(requirement(name, least)))
    return check_version(name, ran.saw, least, ran.command)


def check_version(name: str, version: str, least: str, command: str) -> Check:
    if release(version) < release(least):
        remedy = install(requirement(name, least))
        return Check(name, "failed", command, f"{version}, but at least {least} is needed", remedy)
    return Check(name, "ok", command, version)


def check_device(ran: Ran) -> tuple[Check, dict]:
    """Checks a product on the device of the training. Also returns torch's facts of it. ran: the run of DEVICE."""
    lines = [line for line in ran.out.splitlines() if line.startswith("{")]
    facts = json.loads(lines[-1]) if lines else {}
    if ran.code != 0:
        remedy = "Fix torch first." if not facts else "See the check of the driver, or choose another model.device."
        return Check("device", "failed", ran.command, ran.saw, remedy), facts
    kind, rate = facts["device"], facts["flops"]
    speed = f"{facts['flops'] / 1e12:.2g} TFLOP/s in {facts['dtype']} (1024 × 1024)"
    if facts["difference"] > (4.0 if facts["dtype"] == "bfloat16" else 0.1):
        remedy = "The device computes wrongly: update its driver and torch, and test its hardware."
        return Check("device", "failed", ran.command, f"{kind}: off by {facts['difference']:.3g}", remedy), facts
    if kind == "cpu":
        # Adapters cost 4 FLOPs a weight and token (see flops.py); about half of the peak is reached.
        tokens = rate / 2 / (4 * 0.5e9)
        saw = f"CPU only, {facts['threads']} threads: {speed}; "
        saw += f"expect about {tokens:.0f} tokens/s when 0.5B parameters are trained with LoRA"
    elif kind == "cuda":
        saw = "; ".join(f"{name}, {size(free)} of {size(total)} free" for name, free, total in facts["cards"])
        saw += f"; {speed}"
    else:
        saw = f"{kind}: {speed}"
    return Check("device", "ok", ran.command, saw), facts


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


@dataclass
class Interpreter:
    """The part of the report that takes seconds. facts: torch's description of the device."""

    installer: Check
    packages: list[Check]
    device: Check
    facts: dict

    @property
    def whole(self) -> bool:
        return all(check.status == "ok" for check in (self.installer, *self.packages, self.device))


def look_at_interpreter(wanted: str, four_bit: bool, extras: list[str]) -> tuple[Interpreter, list[str]]:
    with ThreadPoolExecutor() as pool:
        both = pool.submit(check_packages_and_device, wanted)
        installer = pool.submit(check_installer)
        more = [pool.submit(check_package, "bitsandbytes", BITSANDBYTES, FOUR_BIT, wanted)] if four_bit else []
        for extra in extras:
            more += [pool.submit(check_package, name, least) for name, least in EXTRAS[extra].items()]
    packages, ran, files = both.result()
    device, facts = check_device(ran)
    return Interpreter(installer.result(), packages + [each.result() for each in more], device, facts), files


def known_interpreter(found: Found) -> Interpreter | None:
    kept = found.read()
    if kept is None:
        return None
    return Interpreter(
        Check(**kept["installer"]), [Check(**each) for each in kept["packages"]], Check(**kept["device"]), kept["facts"]
    )


def keep_interpreter(found: Found, interpreter: Interpreter, files: list[str]) -> list[Check]:
    """Returns a warning when the record cannot be written, else no check."""
    try:
        if interpreter.whole and files:
            found.keep(asdict(interpreter), files)
        else:
            found.forget()
    except OSError as error:
        remedy = "Give yourself the right to write there, or set TANDEM_CACHE; until then each start looks anew."
        return [Check("record", "warning", f"write {found.file}", str(error.strerror), remedy)]
    return []
