"""`doctor` caches its result for an interpreter. The packages here are one-line files that record each import."""

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
            notes = NOTES.format(version=version, imports=str(self.imports))
            self.file(name).write_text(notes + (TORCH if name == "torch" else ""))
        self.programs.mkdir()
        self.program("uv", "echo uv 0.9")

    def file(self, name: str) -> Path:
        return self.packages / f"{name}.py"

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


def test_what_was_found_whole_is_not_imported_again_unless_asked_for(environment):
    first, second = environment.doctor(), environment.doctor()
    assert (environment.times(), environment.times("peft")) == (1, 1)
    for varying in ("memory", "run folder", "temporary folder"):  # what is free there may change in between
        del first[varying], second[varying]
    assert first == second
    assert {second[name]["status"] for name in (*PACKAGES, "device", "installer")} == {"ok"}
    environment.doctor("--again")
    assert environment.times() == 2
    doctor(python=environment.python, path=environment.programs)  # has no place for records
    assert environment.times() == 3


def test_it_is_imported_again_after_a_change_and_for_another_device(environment):
    def spoil(text: str) -> None:
        environment.record.write_text(text)

    environment.doctor()
    for times, change in enumerate(
        (
            lambda: environment.file("peft").write_text(environment.file("peft").read_text() + "\n"),
            lambda: (environment.packages / "another-1.0.dist-info").mkdir(),
            lambda: spoil(environment.record.read_text()[:-20]),
            lambda: spoil("[]"),
            lambda: environment.program("nvidia-smi", "echo a card, 580.65.06, 12288 MiB"),
        ),
        start=2,
    ):
        change()
        environment.doctor()
        assert environment.times() == times
    environment.doctor(CUDA_VISIBLE_DEVICES="1")
    environment.doctor()
    assert environment.times() == 7
    code = environment.file("peft").read_text()
    environment.file("peft").unlink()  # what is broken is not kept
    assert environment.doctor()["peft"]["status"] == "failed"
    assert len(list(environment.found.iterdir())) == 1  # of the other device
    environment.file("peft").write_text(code)
    shutil.rmtree(environment.found)
    environment.found.write_text("")
    assert environment.doctor()["record"]["status"] == "warning"
