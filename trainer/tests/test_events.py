"""Events survive readers that go away, full disks and kills."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from tandem_trainer.fault import Fault
from tandem_trainer.run import event_file as module
from tandem_trainer.run.event_file import Events, StateReader, last_state


def lines(folder):
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def test_an_event_is_one_line_with_version_time_and_kind_in_the_file_and_on_stdout(tmp_path, capsys):
    Events(None).state("running", "critic")  # other ranks are silent
    Events(tmp_path).emit("step", stage="critic", loss=0.5, kl=float("nan"), candidates=[{"score": float("inf")}])
    (told,) = lines(tmp_path)
    assert (told["kl"], told["candidates"]) == (None, [{"score": None}])
    assert told["version"] == 1
    assert told["at"].endswith("Z")
    assert "T" in told["at"]
    assert {"event": "step", "stage": "critic", "loss": 0.5}.items() <= told.items()
    assert json.loads(capsys.readouterr().out) == told


@pytest.mark.parametrize("before", [["whole"], []])
def test_a_torn_last_line_is_cut_off_and_the_events_of_a_resumed_run_go_on_behind_it(tmp_path, before):
    for message in before:
        Events(tmp_path).emit("notice", message=message)
    with open(tmp_path / "events.jsonl", "a") as file:
        file.write('{"version":1,"event":"st')
    Events(tmp_path).emit("notice", message="after")
    assert [event["message"] for event in lines(tmp_path)] == [*before, "after"]


def test_state_changes_are_on_the_disk_before_emit_returns(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(module.os, "fsync", lambda descriptor: flushed.append(os.fstat(descriptor).st_size))
    events = Events(tmp_path)
    events.emit("step", step=1)
    assert flushed == []
    events.state("done", "export")
    assert flushed == [(tmp_path / "events.jsonl").stat().st_size]


def test_a_reader_of_stdout_that_goes_away_does_not_end_the_run(tmp_path):
    program = f"""
        import sys, time
        from pathlib import Path
        from tandem_trainer.run.event_file import Events
        events = Events(Path({str(tmp_path)!r}))
        for number in range(3):
            events.emit("step", step=number)
            sys.stdin.readline()
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    process.stdout.close()
    errors = process.communicate("\n\n\n")[1]
    assert (process.returncode, errors) == (0, "")
    assert [event["step"] for event in lines(tmp_path)] == [0, 1, 2]


def test_events_that_cannot_be_written_are_one_sentence(tmp_path):
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(Fault, match=r"events.jsonl cannot be written: .+\. Make room "):
        Events(tmp_path).emit("step")


def test_the_last_state_is_read_from_what_is_new_and_from_whole_lines_only(tmp_path):
    states = StateReader(tmp_path)
    assert states.last() is None
    written = Events(tmp_path)
    written.state("running", "critic")
    assert states.last()["state"] == "running"
    written.notice('It said "event":"state".')
    with open(tmp_path / "events.jsonl", "a") as file:
        file.write('{"event":"state","state":')
        file.flush()
        assert states.last()["state"] == "running"
        file.write('"stopped"}\n')
    assert states.last()["state"] == "stopped"
    assert states.offset == (tmp_path / "events.jsonl").stat().st_size
    assert last_state(tmp_path)["state"] == "stopped"
    assert last_state(tmp_path, states.offset) is None
