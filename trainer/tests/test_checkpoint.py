"""A checkpoint is whole or absent."""

import os
import signal

import pytest
import torch
from tiny_run import in_process

from tandem_trainer.fault import Fault
from tandem_trainer.run.checkpoint import keep_only, whole_checkpoints, write_checkpoint

TENSORS = {
    "trained": {"weight": torch.arange(6.0).reshape(2, 3).to(torch.bfloat16)},
    "optimizer": {"step.weight": torch.tensor(3.0), "exp_avg.weight": torch.ones(2, 3)},
    "objective": {},
}


def unexpected(message):
    raise AssertionError(message)


def steps(folder, notice=unexpected):
    return [checkpoint.state["step"] for checkpoint in whole_checkpoints(folder, notice)]


def test_what_is_written_is_read_again_the_newest_first(tmp_path):
    write_checkpoint(tmp_path, "critic", {"step": 20, "best": 0.5}, TENSORS)
    write_checkpoint(tmp_path, "policy-1", {"step": 3}, TENSORS)
    newest, older = whole_checkpoints(tmp_path, unexpected)
    assert (newest.stage, newest.state) == ("policy-1", {"step": 3})
    assert (older.stage, older.state) == ("critic", {"step": 20, "best": 0.5})
    for name, tensors in TENSORS.items():
        read = older.tensors(name)
        assert read.keys() == tensors.keys()
        for key, tensor in tensors.items():
            assert read[key].dtype == tensor.dtype
            assert torch.equal(read[key], tensor)


def test_tensors_are_overwritten_in_place_and_others_are_refused(tmp_path):
    checkpoint = write_checkpoint(tmp_path, "critic", {"step": 1}, TENSORS)
    weight = torch.zeros(2, 3)
    with pytest.raises(Fault, match="does not fit the model"):
        checkpoint.load("optimizer", {"exp_avg.weight": weight})
    with pytest.raises(Fault, match="does not fit the model"):
        checkpoint.load("trained", {"weight": torch.zeros(3)})
    checkpoint.load("optimizer", {"exp_avg.weight": weight, "step.weight": torch.tensor(0.0)})
    assert torch.equal(weight, torch.ones(2, 3))


def test_only_what_is_named_is_kept_and_numbers_go_on(tmp_path):
    first, _, third = (write_checkpoint(tmp_path, "critic", {"step": step}, TENSORS) for step in (1, 2, 3))
    keep_only(tmp_path, {first.path, third.path})
    assert steps(tmp_path) == [3, 1]
    assert write_checkpoint(tmp_path, "critic", {"step": 4}, TENSORS).path.name == "000004-critic-4"


@pytest.mark.parametrize(
    "damage",
    [
        lambda file, about: file.write_bytes(file.read_bytes()[:-1] + bytes([file.read_bytes()[-1] ^ 1])),
        lambda file, about: file.write_bytes(file.read_bytes()[:-1]),
        lambda file, about: file.unlink(),
        lambda file, about: about.write_text(""),
        lambda file, about: about.write_text(about.read_text().replace('"version": 2', '"version": 1')),
    ],
    ids=["flipped", "shorter", "missing", "no description", "other version"],
)
def test_a_damaged_checkpoint_is_passed_over_with_a_notice(tmp_path, damage):
    write_checkpoint(tmp_path, "critic", {"step": 1}, TENSORS)
    path = write_checkpoint(tmp_path, "critic", {"step": 2}, TENSORS).path
    (file,) = (path / "optimizer").iterdir()
    damage(file, path / "checkpoint.json")
    notices = []
    assert steps(tmp_path, notices.append) == [1]
    assert len(notices) == 1 and "000002-critic-2 is damaged" in notices[0]


def test_a_full_disk_is_one_sentence_and_leaves_the_last_checkpoint_whole(tmp_path):
    folder, sentence = tmp_path / "checkpoints", tmp_path / "sentence"
    program = f"""
        import resource, torch
        from pathlib import Path
        from tandem_trainer.run.checkpoint import write_checkpoint
        from tandem_trainer.fault import Fault
        folder = Path({str(folder)!r})
        write_checkpoint(folder, "critic", {{"step": 1}}, {{"trained": {{"w": torch.zeros(10)}}}})
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            write_checkpoint(folder, "critic", {{"step": 2}}, {{"trained": {{"w": torch.zeros(100_000)}}}})
        except Fault as fault:
            Path({str(sentence)!r}).write_text(str(fault))
    """
    assert in_process(program) == 0
    assert f"{folder}: File too large" in sentence.read_text()
    assert os.listdir(folder) == ["000001-critic-1"]
    assert steps(folder) == [1]


KILLED = """
import os, shutil, signal, torch
from pathlib import Path
from tandem_trainer.run.checkpoint import keep_only, write_checkpoint
folder = Path({folder!r})
kept = write_checkpoint(folder, "critic", {{"step": 1}}, {{"trained": {{"w": torch.zeros(10)}}}})
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if "{function}" != "unlink":
    os.{function} = kill
kept = write_checkpoint(folder, "critic", {{"step": 2}}, {{"trained": {{"w": torch.zeros(10)}}}})
os.{function} = kill
keep_only(folder, [kept.path])
"""


@pytest.mark.parametrize(("function", "left"), [("rename", 1), ("fsync", 1), ("unlink", 2)])
def test_killed_while_writing_or_deleting_there_is_one_whole_checkpoint_and_no_rest(tmp_path, function, left):
    assert in_process(KILLED.format(folder=str(tmp_path), function=function)) == -signal.SIGKILL
    assert steps(tmp_path) == [left]
    assert os.listdir(tmp_path) == [f"00000{left}-critic-{left}"]
