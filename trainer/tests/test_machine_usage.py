import subprocess
import sys

import pytest
import torch

from tandem_trainer.run import machine_usage
from tandem_trainer.run.machine_usage import Meter


def a_meter(device: str) -> Meter:
    return Meter(shape=None, work="full", peak=None, device=torch.device(device), world=1)


@pytest.mark.parametrize("error", [ModuleNotFoundError("no pynvml"), RuntimeError("no driver")])
def test_a_driver_that_does_not_tell_is_asked_once_and_a_processor_never(monkeypatch, error):
    asked = []

    def utilization(device):
        asked.append(device)
        raise error

    monkeypatch.setattr(torch.cuda, "utilization", utilization)
    monkeypatch.setattr(machine_usage, "SAMPLE_INTERVAL_SECONDS", 0)
    gpu = a_meter("cuda")
    assert [gpu.gpu_use(), gpu.gpu_use()] == [None, None]
    assert a_meter("cpu").gpu_use() is None
    assert len(asked) == 1


def test_the_memory_of_a_process_is_not_that_of_who_launched_it():
    launcher = """
import subprocess, sys
held = b"x" * 300_000_000
print(subprocess.run([sys.executable, "-c", sys.argv[1]], capture_output=True, text=True, check=True).stdout)
"""
    launched = "from tandem_trainer.model.memory import most_resident; print(most_resident())"
    command = [sys.executable, "-c", launcher, launched]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert 1_000_000 < int(said) < 200_000_000
