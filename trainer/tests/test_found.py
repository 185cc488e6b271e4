"""`doctor` caches its result for an interpreter. The packages here are one-line files that record each import."""

import errno
import os
import shutil
import venv
from pathlib import Path

import pytest
from test_doctor import doctor

from tandem_trainer.run.interpreter import PACKAGES

NOTES = "__version__ = '{version}'\nopen({imports!r}, 'a').write(__name__ + '\\n')\n"
TORCH = """
from types import SimpleNamespace as Names
class Tensor:
    def to(self, *_): return self
    float = cpu = abs = max = __matmul__ = __sub__ = to
    def item(self): return 0.0
class Generator:
    manual_seed = Tensor.to
cuda = Names(is_available=lambda: False)
backends = Names(mps=cuda)
version = Names(cuda=None, hip=None)
float32 = "torch.float32"
get_num_threads = lambda: 1
randn = lambda *_, generator: Tensor()
"""


class Environment:
    """An environment that records the imports in it."""

    def __init__(self, folder: Path):
        venv.create(folder / "env", with_pip=False, symlinks=True)
        self.python = folder / "env" / "bin" / "python"
        self.packages = next((folder / "env" / "lib").iterdir()) / "site-packages"
        self.imports, self.found, self.programs = folder / "imports", folder / "found", folder / "bin"
        for name, version in PACKAGES.items():
            self.write(name, NOTES.format(version=version, imports=str(self.imports)))
        self.write("torch", self.text("torch") + TORCH)
        self.programs.mkdir()
        self.program("uv", "echo uv 0.9")

    def file(self, name: str) -> Path:
        return self.packages / f"{name}.py"

    def text(self, name: str) -> str:
        return self.file(name).read_text()

    def write(self, name: str, text: str) -> None:
        self.file(name).write_text(text)

    def program(self, name: str, line: str) -> None:
        (self.programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (self.programs / name).chmod(0o755)

    def doctor(self, *arguments, **variables) -> dict:
        """Runs `doctor` with a folder for records; returns its checks by name."""
        variables = {"PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return doctor("--found", self.found, *arguments, python=self.python, path=self.programs, **variables)[1]

    def times(self, name: str = "torch") -> int:
        """Counts the imports of a package."""
        return self.imports.read_text().splitlines().count(name)

    @property
    def record(self) -> Path:
        (record,) = self.found.iterdir()
        return record


@pytest.fixture
def environment(tmp_path) -> Environment:
    return Environment(tmp_path)


def test_what_was_found_whole_is_not_imported_again_and_reported_the_same(environment):
    first, second = environment.doctor(), environment.doctor()
    assert (environment.times(), environment.times("peft")) == (1, 1)
    for varying in ("memory", "run folder", "temporary folder"):  # what is free there may change in between
        del first[varying], second[varying]
    assert first == second
    assert {second[name]["status"] for name in (*PACKAGES, "device", "installer")} == {"ok"}


def test_asked_to_look_again_it_does(environment):
    environment.doctor()
    environment.doctor("--again")
    assert environment.times() == 2
    environment.doctor()
    assert environment.times() == 2


def test_without_a_place_for_records_it_looks_each_time(environment):
    for _ in range(2):
        doctor(python=environment.python, path=environment.programs)
    assert environment.times() == 2


def touch(environment: Environment) -> None:
    environment.write("peft", environment.text("peft") + "\n")


def install(environment: Environment) -> None:
    (environment.packages / "another-1.0.dist-info").mkdir()


def truncate(environment: Environment) -> None:
    environment.record.write_text(environment.record.read_text()[:-20])


def replace_by_list(environment: Environment) -> None:
    environment.record.write_text("[]")


def update_driver(environment: Environment) -> None:
    environment.program("nvidia-smi", "echo a card, 580.65.06, 12288 MiB")


@pytest.mark.parametrize("change", [touch, install, truncate, replace_by_list, update_driver])
def test_it_is_imported_again_after_a_change(environment, change):
    environment.doctor()
    change(environment)
    environment.doctor()
    assert environment.times() == 2
    environment.doctor()
    assert environment.times() == 2


def test_another_device_or_variable_is_another_question(environment):
    environment.doctor()
    environment.doctor(CUDA_VISIBLE_DEVICES="1")
    assert environment.times() == 2
    environment.doctor()
    assert environment.times() == 2


def test_a_package_that_is_gone_is_missed_and_what_is_broken_is_not_kept(environment, tmp_path):
    environment.doctor()
    shutil.move(environment.file("peft"), tmp_path / "peft.py")
    assert environment.doctor()["peft"]["status"] == "failed"
    assert list(environment.found.iterdir()) == []
    assert environment.doctor()["peft"]["status"] == "failed"
    shutil.move(tmp_path / "peft.py", environment.file("peft"))
    assert environment.doctor()["peft"]["status"] == "ok"


def test_a_record_that_cannot_be_written_is_a_warning(environment):
    environment.found.write_text("")
    checks = environment.doctor()
    assert checks["record"]["status"] == "warning"
    assert checks["record"]["saw"] == os.strerror(errno.EEXIST)
    assert checks["torch"]["status"] == "ok"
