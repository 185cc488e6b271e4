"""A checkpoint is whole or absent."""

import os
import signal

import pytest
import torch
from tiny_run import in_process

from tandem_trainer.fault import Fault
from tandem_trainer.run import checkpoint as module
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


@pytest.mark.parametrize("damage", ["flipped", "shorter", "missing", "no description", "other version"])
def test_a_damaged_checkpoint_is_passed_over_with_a_notice(tmp_path, damage):
    write_checkpoint(tmp_path, "critic", {"step": 1}, TENSORS)
    path = write_checkpoint(tmp_path, "critic", {"step": 2}, TENSORS).path
    (file,), about = (path / "optimizer").iterdir(), path / "checkpoint.json"
    content = bytearray(file.read_bytes())
    if damage == "flipped":
        content[-1] ^= 1
        file.write_bytes(content)
    elif damage == "shorter":
        file.write_bytes(content[:-1])
    elif damage == "missing":
        file.unlink()
    elif damage == "no description":
        about.write_text("")
    else:
        about.write_text(about.read_text().replace('"version": 2', '"version": 1'))
    notices = []
    assert steps(tmp_path, notices.append) == [1]
    assert len(notices) == 1
    assert "000002-critic-2 is damaged" in notices[0]


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
    assert sentence.read_text().startswith(f"A checkpoint cannot be written to {folder}: File too large. Make room ")
    assert os.listdir(folder) == ["000001-critic-1"]
    assert steps(folder) == [1]


def test_no_space_for_the_description_is_a_full_disk_too(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "flush_to_disk", full)
    with pytest.raises(Fault, match="No space left on device"):
        write_checkpoint(tmp_path, "critic", {"step": 1}, TENSORS)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("function", ["rename", "fsync"])
def test_killed_while_writing_there_is_the_checkpoint_before_and_no_rest(tmp_path, function):
    program = f"""
        import os, signal, torch
        from pathlib import Path
        from tandem_trainer.run.checkpoint import write_checkpoint
        folder = Path({str(tmp_path)!r})
        tensors = {{"trained": {{"w": torch.zeros(10)}}}}
        write_checkpoint(folder, "critic", {{"step": 1}}, tensors)
        os.{function} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        write_checkpoint(folder, "critic", {{"step": 2}}, tensors)
    """
    assert in_process(program) == -signal.SIGKILL
    assert steps(tmp_path) == [1]
    assert os.listdir(tmp_path) == ["000001-critic-1"]


def test_killed_while_deleting_nothing_looks_damaged(tmp_path):
    program = f"""
        import os, shutil, signal, torch
        from pathlib import Path
        from tandem_trainer.run.checkpoint import keep_only, write_checkpoint
        folder = Path({str(tmp_path)!r})
        for step in (1, 2):
            kept = write_checkpoint(folder, "critic", {{"step": step}}, {{"trained": {{"w": torch.zeros(10)}}}})
        os.unlink = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        keep_only(folder, [kept.path])
    """
    assert in_process(program) == -signal.SIGKILL
    assert steps(tmp_path) == [2]
    assert os.listdir(tmp_path) == ["000002-critic-2"]
