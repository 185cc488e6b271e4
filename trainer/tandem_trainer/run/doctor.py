"""`doctor` checks whether this machine can train. A failed check names its command, the output and the remedy.

    python -m tandem_trainer doctor [run.json] [--json] [--found FOLDER [--again]]
    python -m tandem_trainer doctor --cluster ADDRESS [run.json] [--storage FOLDER] [--json]

It runs under any Python from 3.8 and without a single package, because it is asked when something is broken: only the
standard library is imported here, and checks that may crash (a package, the driver) get their own process. A run.json
gives the folder, the device and the kind of training. Exit code 0 when nothing failed, else 1.

Packages and device take seconds, most of them torch's import. With --found they are not checked again while nothing has
changed since they were sound (`doctor_cache.py`); --again checks in any case.

With --cluster the nodes of a Ray cluster are checked instead of this machine (`cluster/check_nodes.py`).
"""

from __future__ import annotations

import argparse
import json
import locale
import platform
import struct
import sys
import tempfile
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from ..fault import Fault
from ..model.memory import available_memory
from ..regular_file import read_text
from .doctor_cache import Found
from .interpreter import (
    PACKAGES,
    RAY,
    Check,
    ask_driver,
    check_driver,
    check_folder,
    check_package,
    keep_interpreter,
    known_interpreter,
    look_at_interpreter,
    needs_trl,
    size,
)

PYTHON = (3, 10)
MEMORY = 4 << 30


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


def check_temporary() -> Check:
    try:
        return check_folder("temporary folder", Path(tempfile.gettempdir()))
    except FileNotFoundError as error:  # Python tests candidate folders by writing to them
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


def examine(run_json: Path | None = None, kept_in: Path | None = None, again: bool = False) -> list[Check]:
    """kept_in: folder of the interpreter records. again: ignores a valid record."""
    checks, model, folder, extras = [], {}, Path.cwd(), []
    if run_json is not None:
        folder = run_json.parent
        try:
            read = json.loads(read_text(run_json, "utf-8-sig"))
            said = read["model"]
            checks.append(Check("run.json", "ok", f"read {run_json}", f"base {said['base']}"))
            model = said
            is_on_cluster = bool(read.get("resources", {}).get("cluster"))
            extras = ["online"] * needs_trl(read.get("method")) + ["ray"] * is_on_cluster
        except (Fault, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            remedy = "Give the path of a run.json; `check` says more about its content."
            checks.append(Check("run.json", "failed", f"read {run_json}", f"{type(error).__name__}: {error}", remedy))
    # The nodes of a cluster compute there; this machine only needs the packages.
    wanted = "cpu" if "ray" in extras else model.get("device", "auto")
    four_bit = model.get("training") == "qlora"
    driver = ask_driver()
    found = None if kept_in is None else Found(kept_in, [wanted, str(four_bit), *extras], f"{driver.code} {driver.out}")
    interpreter = None if found is None or again else known_interpreter(found)
    if interpreter is None:
        interpreter, files = look_at_interpreter(wanted, four_bit, extras)
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
    lines, width = [], max(len(check.name) for check in checks)
    for check in checks:
        lines.append(f"{check.status:8} {check.name:{width}} {check.saw}")
        if check.status != "ok":
            lines += [f"{'':8} {'  ran':{width}} {check.command}", f"{'':8} {'  to fix':{width}} {check.remedy}"]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tandem_trainer doctor", description="Can this machine train?")
    parser.add_argument(
        "run_json", nargs="?", type=Path, metavar="run.json", help="look at this run's folder and device"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--found", type=Path, metavar="FOLDER", help="where what was found whole is kept")
    parser.add_argument("--again", action="store_true", help="look at everything, whatever was found before")
    parser.add_argument("--cluster", metavar="ADDRESS", help="look at the nodes of the Ray cluster of this dashboard")
    parser.add_argument("--storage", type=Path, metavar="FOLDER", help="the folder that all nodes should see")
    given = parser.parse_args(arguments)
    if given.storage is not None and given.cluster is None:
        parser.error("--storage is looked for on the nodes of a cluster: give its address with --cluster")
    needed = {"pydantic": PACKAGES["pydantic"], **RAY}  # without which a cluster cannot be asked
    missing = [name for name in needed if given.cluster is not None and find_spec(name) is None]
    if missing:
        checks = [check_package(name, needed[name]) for name in missing]
    elif given.cluster is not None:
        from ..cluster.check_nodes import examine_cluster

        checks = examine_cluster(given.cluster, given.run_json, given.storage)
    else:
        checks = examine(given.run_json, given.found, given.again)
    print(json.dumps(as_json(checks), ensure_ascii=True) if given.json else as_text(checks))
    return 0 if as_json(checks)["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
