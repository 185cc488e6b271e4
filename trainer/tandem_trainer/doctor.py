"""`doctor`: can this machine train? Says of every failed check what ran, what it saw and how to mend it.

    python -m tandem_trainer doctor [run.json] [--json] [--found FOLDER [--again]]

Runs under any Python from 3.8 and without a single package, because it is asked when something is broken: only the
standard library is imported here, and what may crash (a package, the driver) runs in a process of its own. Given a
run.json it looks at the run's folder, device and kind of training. Exit code 0 when nothing failed, else 1.

The packages and the device take seconds, most of them torch's import. With --found they are not looked at again while
nothing has changed since they were found whole, as `found.py` knows it; --again looks in any case.
"""

from __future__ import annotations

import argparse
import json
import locale
import os
import platform
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .found import LOADED, Found
from .model.memory import available_memory

PYTHON = (3, 10)
PACKAGES = {"torch": "2.13", "transformers": "5.18", "peft": "0.21", "safetensors": "0.8", "numpy": "2.2"}
BITSANDBYTES = "0.49"
DRIVER = {"11": 450, "12": 525, "13": 580}  # oldest NVIDIA driver for each major version of CUDA (its release notes)
DISK = (2 << 30, 20 << 30)  # less than this has failed; less than that is warned of
MEMORY = 4 << 30
SECONDS = 180  # after which a check that hangs is ended

# In a process of its own: a driver that does not fit can end it, and its warnings are what a person should see.
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
    """One thing looked at: what was run, what was seen, and, unless all is well, how to mend it."""

    name: str
    status: str  # "ok", "warning" or "failed"
    command: str
    saw: str
    remedy: str | None = None


@dataclass
class Ran:
    """What a command did; `saw` is its last words for a person."""

    command: str
    code: int
    out: str
    saw: str


def run(command: list[str]) -> Ran:
    """Runs a command to its end, or ends it after SECONDS. A missing program is code 127."""
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
    """`2.13.1+cu130` → (2, 13, 1)."""
    parts = []
    for part in text.split("+")[0].split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits))
    return tuple(parts)


def size(count: float) -> str:
    return f"{count / (1 << 30):.1f} GiB"


def install(requirement: str) -> str:
    """The command that mends a package, by what this machine has."""
    target = shlex.quote(sys.executable)
    if shutil.which("uv"):
        return f"uv pip install --python {target} '{requirement}'"
    return f"{target} -m pip install '{requirement}'"


def check_interpreter() -> Check:
    version, bits = platform.python_version(), struct.calcsize("P") * 8
    saw = f"Python {version}, {bits} bit, {platform.system()} {platform.machine()}"
    command = f"{sys.executable} --version"
    if sys.version_info < PYTHON or bits != 64:
        wanted = ".".join(map(str, PYTHON))
        return Check("python", "failed", command, saw, f"Make the environment with a 64-bit Python {wanted} or newer.")
    return Check("python", "ok", command, saw)


def check_environment() -> Check:
    command = f'{sys.executable} -c "import sys; print(sys.prefix, sys.base_prefix)"'
    if sys.prefix != sys.base_prefix:
        return Check("environment", "ok", command, f"a virtual environment in {sys.prefix}")
    remedy = f"Make one with `{sys.executable} -m venv FOLDER`, so that packages of others are left alone."
    return Check("environment", "warning", command, f"no virtual environment, but {sys.prefix}", remedy)


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
    """Both in one process, because torch takes seconds to import; when a package fails, each alone tells which it is.

    Also gives what ran DEVICE, for `check_device`, and which files were loaded, none when a package failed.
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
    """Imports a package in a process of its own; `script` does more with it and prints its version."""
    ran = python(script or f"import {name}; print({name}.__version__)", *arguments)
    if ran.code != 0:
        return Check(name, "failed", ran.command, ran.saw, install(f"{name}>={least}"))
    return check_version(name, ran.saw, least, ran.command)


def check_version(name: str, version: str, least: str, command: str) -> Check:
    if release(version) < release(least):
        remedy = install(f"{name}>={least}")
        return Check(name, "failed", command, f"{version}, but at least {least} is needed", remedy)
    return Check(name, "ok", command, version)


def check_device(ran: Ran) -> tuple[Check, dict]:
    """Whether two matrices were multiplied on the device that training would take. Also gives what torch told of it.

    ran: what ran DEVICE.
    """
    lines = [line for line in ran.out.splitlines() if line.startswith("{")]
    facts = json.loads(lines[-1]) if lines else {}
    if ran.code != 0:
        remedy = "Mend torch first." if not facts else "See the check of the driver, or choose another model.device."
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
    """Does the NVIDIA driver, if there is one, fit to what torch was built for? ran: `ask_driver`."""
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
    """Writes a file as the trainer does (temporary, flushed, renamed), and looks at the free space."""
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


def check_temporary() -> Check:
    try:
        return check_folder("temporary folder", Path(tempfile.gettempdir()))
    except FileNotFoundError as error:  # Python tried all of them by writing
        return Check(
            "temporary folder", "failed", "look for one", str(error), "Set TMPDIR to a folder that you can write."
        )


def check_memory() -> Check:
    command, free = "the system's available memory", available_memory()
    if free is None:
        return Check("memory", "warning", command, "this system does not say", "See in `plan` what the run needs.")
    if free < MEMORY:
        return Check("memory", "warning", command, f"{size(free)} available", "Close what else is running.")
    return Check("memory", "ok", command, f"{size(free)} available")


def check_text() -> Check:
    encoding = locale.getpreferredencoding(False)
    command = f'{sys.executable} -c "import locale; print(locale.getpreferredencoding(False))"'
    if encoding.lower().replace("-", "") == "utf8":
        return Check("text", "ok", command, encoding)
    return Check("text", "warning", command, f"{encoding}, not UTF-8", "Set the environment variable PYTHONUTF8=1.")


@dataclass
class Interpreter:
    """What of an interpreter takes seconds to find. facts: what torch told of the device."""

    installer: Check
    packages: list[Check]
    device: Check
    facts: dict

    @property
    def whole(self) -> bool:
        return all(check.status == "ok" for check in (self.installer, *self.packages, self.device))


def look_at_interpreter(wanted: str, four_bit: bool) -> tuple[Interpreter, list[str]]:
    """Also gives the files that were loaded, as far as they are known."""
    with ThreadPoolExecutor() as pool:
        both = pool.submit(check_packages_and_device, wanted)
        installer = pool.submit(check_installer)
        more = [pool.submit(check_package, "bitsandbytes", BITSANDBYTES, FOUR_BIT, wanted)] if four_bit else []
    packages, ran, files = both.result()
    device, facts = check_device(ran)
    return Interpreter(installer.result(), packages + [each.result() for each in more], device, facts), files


def known_interpreter(found: Found) -> Interpreter | None:
    """As it was found whole before."""
    kept = found.read()
    if kept is None:
        return None
    return Interpreter(
        Check(**kept["installer"]),
        [Check(**each) for each in kept["packages"]],
        Check(**kept["device"]),
        kept["facts"],
    )


def keep_interpreter(found: Found, interpreter: Interpreter, files: list[str]) -> list[Check]:
    """A warning when it cannot be kept, else nothing."""
    try:
        if interpreter.whole and files:
            found.keep(asdict(interpreter), files)
        else:
            found.forget()
    except OSError as error:
        remedy = "Give yourself the right to write there, or set TANDEM_CACHE; until then each start looks anew."
        return [Check("record", "warning", f"write {found.file}", str(error.strerror), remedy)]
    return []


def examine(run_json: Path | None = None, kept_in: Path | None = None, again: bool = False) -> list[Check]:
    """All checks. kept_in: where records of interpreters are kept. again: look even when there is one that holds."""
    checks, model, folder = [], {}, Path.cwd()
    if run_json is not None:
        folder = run_json.parent
        try:
            said = json.loads(run_json.read_text(encoding="utf-8-sig"))["model"]
            checks.append(Check("run.json", "ok", f"read {run_json}", f"base {said['base']}"))
            model = said
        except (OSError, ValueError, KeyError, TypeError) as error:
            remedy = "Give the path of a run.json; `check` says more about its content."
            checks.append(Check("run.json", "failed", f"read {run_json}", f"{type(error).__name__}: {error}", remedy))
    wanted, four_bit = model.get("device", "auto"), model.get("training") == "qlora"
    driver = ask_driver()
    found = None if kept_in is None else Found(kept_in, [wanted, str(four_bit)], f"{driver.code} {driver.out}")
    interpreter = None if found is None or again else known_interpreter(found)
    if interpreter is None:
        interpreter, files = look_at_interpreter(wanted, four_bit)
        if found is not None:
            checks += keep_interpreter(found, interpreter, files)
    return [
        *(check_interpreter(), check_environment(), interpreter.installer, *checks, *interpreter.packages),
        *(interpreter.device, check_driver(driver, interpreter.facts, wanted)),
        *(check_folder("run folder", folder), check_temporary(), check_memory(), check_text()),
    ]


def as_json(checks: list[Check]) -> dict:
    """`{"version": 1, "ok": …, "checks": [{name, status, command, saw, remedy?}]}`."""
    found = [{key: value for key, value in asdict(check).items() if value is not None} for check in checks]
    return {"version": 1, "ok": all(check.status != "failed" for check in checks), "checks": found}


def as_text(checks: list[Check]) -> str:
    lines = []
    for check in checks:
        lines.append(f"{check.status:8} {check.name:17} {check.saw}")
        if check.status != "ok":
            lines += [f"{'':8} {'  ran':17} {check.command}", f"{'':8} {'  to mend':17} {check.remedy}"]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tandem_trainer doctor", description="Can this machine train?")
    parser.add_argument(
        "run_json", nargs="?", type=Path, metavar="run.json", help="look at this run's folder and device"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--found", type=Path, metavar="FOLDER", help="where what was found whole is kept")
    parser.add_argument("--again", action="store_true", help="look at everything, whatever was found before")
    given = parser.parse_args(arguments)
    checks = examine(given.run_json, given.found, given.again)
    print(json.dumps(as_json(checks), ensure_ascii=True) if given.json else as_text(checks))
    return 0 if as_json(checks)["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
