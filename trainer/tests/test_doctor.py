"""`doctor` in environments that are really broken. It runs in a process of its own, as for a user."""

import ast
import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tandem_trainer.run.doctor import as_json, as_text
from tandem_trainer.run.interpreter import BITSANDBYTES, ONLINE, PACKAGES, RAY, Check, ask_driver, check_driver

TRAINER = Path(__file__).parents[1]
DRIVER = """#!/bin/sh
echo "NVIDIA GeForce RTX 3060, {version}, 12288 MiB"
"""


def doctor(*arguments, python=sys.executable, path: Path | None = None, cwd: Path = TRAINER, **variables):
    """Runs `python -m tandem_trainer.run.doctor`; returns its exit code, and its checks by name."""
    environment = {**os.environ, "PYTHONPATH": str(TRAINER), **variables}
    if path is not None:
        environment["PATH"] = str(path)
    command = [str(python), "-m", "tandem_trainer.run.doctor", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd)
    report = json.loads(done.stdout)
    assert report["version"] == 1
    assert report["ok"] == (done.returncode == 0)
    for check in report["checks"]:
        assert check["status"] == "ok" or check["remedy"]
    return done.returncode, {check["name"]: check for check in report["checks"]}


@pytest.fixture(scope="module")
def without_packages(tmp_path_factory) -> Path:
    """Returns the interpreter of an environment without any packages, not even pip."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


def run_json(folder: Path, **model) -> Path:
    path = folder / "run.json"
    path.write_text(json.dumps({"model": {"base": "some/base", **model}, "data": {}}))
    return path


def test_an_environment_in_order_passes_and_says_what_the_cpu_does(tmp_path):
    code, checks = doctor(run_json(tmp_path, device="cpu"))
    assert code == 0
    assert checks["torch"]["status"] == checks["device"]["status"] == "ok"
    assert re.search(r"CPU only, \d+ threads: .*expect about \d+ tokens/s", checks["device"]["saw"])


def test_an_environment_without_packages_fails_with_what_to_install(without_packages, tmp_path):
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, checks = doctor(run_json(tmp_path, training="qlora"), python=without_packages, path=tmp_path, **variables)
    assert code == 1
    for name in PACKAGES:
        assert checks[name]["status"] == "failed"
        assert f"'{name}>={PACKAGES[name]}'" in checks[name]["remedy"]
        assert f"import {name}" in checks[name]["command"]
    statuses = {name: checks[name]["status"] for name in ("installer", "python", "text", "bitsandbytes")}
    assert statuses == {"installer": "warning", "python": "ok", "text": "warning", "bitsandbytes": "failed"}
    assert doctor(python=without_packages, cwd=Path("/sys"))[1]["run folder"]["status"] == "failed"
    code, checks = doctor("--cluster", "http://127.0.0.1:9", python=without_packages, path=tmp_path)
    assert code == 1
    assert [(name, check["status"]) for name, check in checks.items()] == [("pydantic", "failed"), ("ray", "failed")]
    assert f"ray[default,train]>={RAY['ray']}" in checks["ray"]["remedy"]


def test_packages_that_crash_or_are_too_old_and_a_configuration_that_cannot_be_read_are_seen(
    without_packages, tmp_path
):
    (tmp_path / "numpy.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    (tmp_path / "torch.py").write_text("__version__ = '2.4.1+cu121'\n")
    (tmp_path / "run.json").write_text('{"model": []}')
    _, checks = doctor(tmp_path / "run.json", python=without_packages, path=tmp_path, cwd=tmp_path)
    assert "signal 11" in checks["numpy"]["saw"]
    assert checks["torch"]["saw"].startswith("2.4.1+cu121, but")  # versions are compared by their numbers
    assert checks["run.json"]["status"] == "failed"


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """Puts an `nvidia-smi` on PATH that reports a card with the driver `version`, or runs `script`."""

    def install(version: str = "", script: str = DRIVER):
        program = tmp_path / "nvidia-smi"
        program.write_text(script.format(version=version))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return install


CARD = {"torch": "2.15.0+cu130", "cuda": "13.0", "device": "cuda"}
WITHOUT_CUDA = {"torch": "2.15.0+cpu", "cuda": None, "device": "cpu"}


@pytest.mark.parametrize(
    ("version", "facts", "device", "status", "word"),
    [
        ("470.57.02", {**CARD, "device": "cpu"}, "auto", "failed", "580 or newer"),
        ("580.65.06", CARD, "auto", "ok", "580.65.06"),
        ("580.65.06", WITHOUT_CUDA, "auto", "failed", "without CUDA"),
        ("580.65.06", WITHOUT_CUDA, "cpu", "warning", ""),
    ],
)
def test_a_driver_must_fit_torch_and_the_device_that_is_wanted(driver, version, facts, device, status, word):
    driver(version)
    check = check_driver(ask_driver(), facts, device)
    assert check.status == status
    assert word in check.saw


def test_a_driver_that_is_missing_or_does_not_answer_fails(driver, tmp_path, monkeypatch):
    driver(script="#!/bin/sh\necho 'NVIDIA-SMI has failed.' >&2\nexit 9\n")
    check = check_driver(ask_driver(), CARD, "auto")
    assert (check.status, check.saw) == ("failed", "NVIDIA-SMI has failed.")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    if not Path("/proc/driver/nvidia/version").exists():
        assert check_driver(ask_driver(), {"device": "cpu"}, "cuda").status == "failed"


def test_text_for_people_holds_what_ran_what_was_seen_and_the_remedy():
    failed = Check("torch", "failed", "python -c 'import torch'", "it is missing", "install it")
    text = as_text([Check("python", "ok", "python --version", "3.12"), failed])
    assert all(part in text for part in (failed.command, failed.saw, failed.remedy))
    assert as_json([failed])["ok"] is False


def test_what_doctor_asks_for_is_what_the_package_declares():
    declared = (TRAINER / "pyproject.toml").read_text()
    for name, least in {**PACKAGES, **ONLINE, "bitsandbytes": BITSANDBYTES, "ray[default,train]": RAY["ray"]}.items():
        assert f'"{name}>={least}"' in declared


def test_old_interpreters_can_read_it():
    for name in ("run/doctor.py", "run/doctor_cache.py", "run/interpreter.py", "model/memory.py"):
        source = (TRAINER / "tandem_trainer" / name).read_text(encoding="utf-8")
        assert "from __future__ import annotations" in source or not source
        ast.parse(source, feature_version=(3, 8))
