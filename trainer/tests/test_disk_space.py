"""Errors of a full disk, for which /dev/full stands."""

import os

import pytest

from tandem_trainer.fault import Fault
from tandem_trainer.run.disk_space import RESERVED, fault_of, reserved


def test_room_is_kept_within_and_free_afterwards_whatever_happens(tmp_path):
    def work():
        with reserved(tmp_path):
            assert (tmp_path / "reserve").stat().st_size == RESERVED
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert os.listdir(tmp_path) == []


def test_a_disk_without_that_room_is_one_sentence(tmp_path):
    (tmp_path / "reserve").symlink_to("/dev/full")
    with pytest.raises(Fault, match="reserve cannot be written: No space left on device"):
        reserved(tmp_path).__enter__()
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_told_wherever_it_is_met():
    with pytest.raises(OSError, match="No space left") as met, open("/dev/full", "w") as file:
        file.write("word")
    assert "No space left on device" in str(fault_of(met.value))
