"""A run shows other machines that it is alive, and which process works on it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tandem_trainer.run.claim import alive, claim


def until(is_so) -> None:
    while not is_so():
        time.sleep(0.005)


def test_the_torchrun_that_starts_a_trainer_again_is_named_beside_it(tmp_path, monkeypatch):
    for run_id, launcher in ((None, None), ("none", os.getppid())):
        if run_id:
            monkeypatch.setenv("TORCHELASTIC_RUN_ID", run_id)
        claim(tmp_path).close()
        about = json.loads((tmp_path / "process.json").read_text())
        assert (about["pid"], about.get("launcher")) == (os.getpid(), launcher)


def test_a_file_is_touched_again_and_again_while_the_run_is_at_work_and_gone_afterwards(tmp_path):
    path = tmp_path / "alive"
    with alive(tmp_path, every=0.01):
        until(path.exists)
        os.utime(path, (1, 1))
        until(lambda: path.stat().st_mtime > 1)
    assert not path.exists()
    with alive(tmp_path / "gone", every=0.01):  # a folder that takes nothing does not end the run
        time.sleep(0.05)


SLEEPER = """
import sys, time
from pathlib import Path
from tandem_trainer.run.claim import alive
with alive(Path(sys.argv[1]), every=0.01):
    time.sleep(600)
"""


def test_a_trainer_whose_run_was_taken_over_ends(tmp_path):
    process = tmp_path / "process.json"
    process.write_text('{"pid": 1, "host": "here"}')
    trainer = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, str(tmp_path)], cwd=Path(__file__).parents[1], stderr=subprocess.PIPE, text=True
    )
    until((tmp_path / "alive").exists)
    other = tmp_path / "process.json.tmp"
    other.write_text('{"pid": 1, "host": "elsewhere"}')
    os.replace(other, process)
    _, said = trainer.communicate()
    assert trainer.returncode == 1
    assert "Another trainer works on" in said
