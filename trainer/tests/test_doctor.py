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

from tandem_trainer.run.doctor import as_json, as_text, ask_driver, check_driver
from tandem_trainer.run.interpreter import BITSANDBYTES, PACKAGES, RAY, Check, check_package

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


def test_an_empty_environment_fails_with_what_to_install(without_packages, tmp_path):
    code, checks = doctor(python=without_packages, path=tmp_path)
    assert code == 1
    for name in PACKAGES:
        assert checks[name]["status"] == "failed"
        assert checks[name]["saw"] == f"ModuleNotFoundError: No module named '{name}'"
        assert checks[name]["remedy"] == f"{without_packages} -m pip install '{name}>={PACKAGES[name]}'"
        assert f"import {name}" in checks[name]["command"]
    assert checks["installer"]["status"] == "warning"
    assert checks["python"]["status"] == "ok"
    assert checks["driver"]["saw"] == "no nvidia-smi, so no NVIDIA driver to check"


def test_a_cluster_cannot_be_asked_without_ray_which_is_said_with_what_to_install(without_packages, tmp_path):
    code, checks = doctor("--cluster", "http://127.0.0.1:9", python=without_packages, path=tmp_path)
    assert code == 1
    assert [(name, check["status"]) for name, check in checks.items()] == [("pydantic", "failed"), ("ray", "failed")]
    least = RAY["ray"]
    assert checks["ray"]["remedy"] == f"{without_packages} -m pip install 'ray[default,train]>={least}'"


def test_a_package_that_crashes_when_imported_is_seen(without_packages, tmp_path):
    (tmp_path / "numpy.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    (tmp_path / "torch.py").write_text("__version__ = '2.4.1+cu121'\n")
    _, checks = doctor(python=without_packages, path=tmp_path, cwd=tmp_path)
    assert checks["numpy"]["saw"].startswith("ended by signal 11")
    assert checks["torch"]["saw"] == "2.4.1+cu121, but at least 2.13 is needed"


def test_a_folder_that_cannot_be_written_fails(without_packages):
    _, checks = doctor(python=without_packages, cwd=Path("/sys"))  # not writable even for root
    assert checks["run folder"]["status"] == "failed"
    assert "/sys" in checks["run folder"]["saw"]


def test_a_configuration_that_cannot_be_read_fails(without_packages, tmp_path):
    (tmp_path / "run.json").write_text('{"model": []}')
    _, checks = doctor(tmp_path / "run.json", python=without_packages)
    assert checks["run.json"]["status"] == "failed"


def test_quantised_training_needs_bitsandbytes(without_packages, tmp_path):
    _, checks = doctor(run_json(tmp_path, training="qlora"), python=without_packages)
    assert checks["bitsandbytes"]["status"] == "failed"
    _, checks = doctor(run_json(tmp_path, training="lora"), python=without_packages)
    assert "bitsandbytes" not in checks


def test_text_that_is_not_utf8_is_warned_of(without_packages):
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    _, checks = doctor(python=without_packages, **variables)
    assert checks["text"]["status"] == "warning"
    assert "PYTHONUTF8=1" in checks["text"]["remedy"]


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


def test_a_driver_older_than_torchs_cuda_fails(driver):
    driver("470.57.02")
    check = check_driver(ask_driver(), {**CARD, "device": "cpu"}, "auto")
    assert check.status == "failed"
    assert check.saw.startswith("driver 470.57.02")
    assert "needs 580 or newer" in check.saw
    assert "nvidia-smi" in check.command


def test_a_driver_that_fits_passes(driver):
    driver("580.65.06")
    assert check_driver(ask_driver(), CARD, "auto").status == "ok"


def test_a_card_beside_a_torch_without_cuda_fails_unless_the_cpu_is_wanted(driver):
    driver("580.65.06")
    facts = {"torch": "2.15.0+cpu", "cuda": None, "device": "cpu"}
    assert check_driver(ask_driver(), facts, "auto").status == "failed"
    assert "built without CUDA" in check_driver(ask_driver(), facts, "auto").saw
    assert check_driver(ask_driver(), facts, "cpu").status == "warning"


def test_a_driver_that_does_not_answer_fails(driver):
    driver(script="#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not talk to the driver.' >&2\nexit 9\n")
    check = check_driver(ask_driver(), CARD, "auto")
    assert (check.status, check.saw) == ("failed", "NVIDIA-SMI has failed because it could not talk to the driver.")


def test_cuda_asked_for_without_a_driver_fails(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    if not Path("/proc/driver/nvidia/version").exists():
        assert check_driver(ask_driver(), {"device": "cpu"}, "cuda").status == "failed"


def test_text_for_people_holds_what_ran_what_was_seen_and_the_remedy():
    failed = Check("torch", "failed", "python -c 'import torch'", "it is missing", "install it")
    text = as_text([Check("python", "ok", "python --version", "3.12"), failed])
    assert all(part in text for part in (failed.command, failed.saw, failed.remedy))
    assert as_json([failed])["ok"] is False


def test_a_version_is_compared_by_numbers(tmp_path, monkeypatch):
    (tmp_path / "fine.py").write_text("__version__ = '2.13rc1+cpu'")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert check_package("fine", "2.9").status == "ok"
    assert check_package("fine", "2.13.1").status == "failed"


def test_what_doctor_asks_for_is_what_the_package_declares():
    declared = (TRAINER / "pyproject.toml").read_text()
    for name, least in {**PACKAGES, "bitsandbytes": BITSANDBYTES}.items():
        assert f'"{name}>={least}"' in declared


def test_old_interpreters_can_read_it():
    for name in ("run/doctor.py", "run/found.py", "run/interpreter.py", "model/memory.py"):
        source = (TRAINER / "tandem_trainer" / name).read_text(encoding="utf-8")
        assert "from __future__ import annotations" in source or not source
        ast.parse(source, feature_version=(3, 8))
