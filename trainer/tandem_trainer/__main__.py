"""python -m tandem_trainer: trains a run, or answers a question about one.

    python -m tandem_trainer run.json                 train; the same again resumes after a stop or a crash
    python -m tandem_trainer cluster run.json         train on the Ray cluster of resources.cluster, and wait
    python -m tandem_trainer check run.json [--json]  what the configuration and its data amount to
    python -m tandem_trainer plan run.json [--json]   what fits, how long it takes
    python -m tandem_trainer planner                  plans one run after another, as stdin asks
    python -m tandem_trainer doctor [run.json] [--json]
    python -m tandem_trainer doctor --cluster ADDRESS …  can the nodes of a Ray cluster train?
    python -m tandem_trainer onnx FOLDER …            graphs of a model, or of a critic, for ONNX Runtime
    python -m tandem_trainer convert FROM TO …        a GGUF file to a model folder, and back
    python -m tandem_trainer score …                  turn advantages of any trajectories by an exported critic
    python -m tandem_trainer track RUN …              the figures of a run in TensorBoard or trackio
    python -m tandem_trainer schema …                 the JSON schema of run.json; only for those who develop Tandem

Exit codes: 0 done or stopped, 1 failed, 2 wrong use. What went wrong is the last line of stderr.
"""

from __future__ import annotations

import atexit
import os
import sys
from importlib import import_module
from pathlib import Path

from . import importing
from .fault import Fault, UsageFault
from .regular_file import require_regular, require_regular_files
from .run import stop  # noqa: F401  must be the first import: it notes when this process began

MODULES = {
    "check": "run.check",
    "cluster": "cluster.follow_job",
    "cluster-job": "cluster.job",  # what `cluster` submits
    "cluster-nodes": "cluster.nodes",  # what `doctor --cluster` submits
    "convert": "export.gguf.convert",
    "doctor": "run.doctor",
    "onnx": "export.onnx.export",
    "plan": "run.plan",
    "planner": "run.planner",
    "schema": "schema",
    "score": "run.score",
    "track": "track",
}
COMMANDS = [name for name in MODULES if not name.startswith("cluster-")]


def main() -> None:
    arguments = sys.argv[1:]
    try:
        sys.exit(_command(arguments))
    except Fault as fault:
        print(fault, file=sys.stderr)
        sys.exit(2 if fault.usage else 1)


def _leave(ended: list[int]) -> None:
    """Exits without Python's teardown, which takes a second for torch and frees only what the system frees anyway."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(ended[-1])


def _command(arguments: list[str]) -> int:
    """Imports only what the command needs: torch takes seconds, and `doctor` runs where it is missing."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("--help", [])
    if name in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    module = MODULES.get(name)
    if module is None and not rest and (name.endswith(".json") or os.path.exists(name)):
        module, rest = "run.train", [name]
    if module is None:
        raise UsageFault(f"There is no command {name}: give a run.json, or one of {', '.join(COMMANDS)}.")
    if name in ("onnx", "convert"):
        # Before torch is imported, which takes seconds.
        for path in (Path(each) for each in rest if not each.startswith("-")):
            require_regular(path)
            if path.is_dir():
                require_regular_files(sorted(path.iterdir()))
    if name == "check":
        # transformers reads tokenizers and templates the same without torch, whose import takes two thirds of the time
        # (tests/test_check.py). From here on an import of it fails.
        sys.modules.setdefault("torch", None)
        os.environ["TRANSFORMERS_NO_ADVISORY_WARNINGS"] = "1"  # otherwise it warns on stderr that torch is missing
    with importing():
        command = import_module(f".{module}", __package__).main
    return command(rest)


if __name__ == "__main__":
    ended = [1]  # exit code after an unexpected error, as Python itself has it
    atexit.register(_leave, ended)  # handlers run in reverse order, so this one runs last
    try:
        main()
    except SystemExit as ending:
        ended.append(int(ending.code or 0))
