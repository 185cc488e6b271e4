"""What is read of a run for a tracker, and how far; test/neighbours hands it to TensorBoard and trackio themselves."""

import json
import os
import time
from pathlib import Path

import pytest

from tandem_trainer.__main__ import _command
from tandem_trainer.fault import Fault
from tandem_trainer.track import Place, events, figures_of


def step(number: int, **figures) -> dict:
    return {"version": 1, "at": "2026-01-01T00:00:00Z", "event": "step", "stage": "critic", "step": number, **figures}


def state(name: str) -> dict:
    return {"version": 1, "at": "2026-01-01T00:00:00Z", "event": "state", "state": name, "stage": "critic"}


def write(run: Path, *said: object, end: str = "\n") -> None:
    with (run / "events.jsonl").open("a", encoding="utf-8") as file:
        lines = [each if isinstance(each, str) else json.dumps(each, separators=(",", ":")) for each in said]
        file.write("\n".join(lines) + end)


def read(run: Path, place: Place) -> list[dict]:
    return [event for event in events(run, place, once=True) if event is not None]


@pytest.fixture
def run(tmp_path) -> Path:
    (tmp_path / "run.json").write_text("{}")
    return tmp_path


def test_a_line_that_is_still_written_is_read_when_it_is_whole(run):
    place = Place(run, "here")
    write(run, step(1))
    write(run, json.dumps(step(2))[:20], end="")
    assert read(run, place) == [step(1)]
    write(run, json.dumps(step(2))[20:])
    assert read(run, place) == [step(2)]


def test_what_was_read_is_not_read_again_by_the_next_process(run):
    place = Place(run, "here")
    write(run, step(1))
    read(run, place)
    place.keep()
    write(run, step(2))
    assert read(run, Place(run, "here")) == [step(2)]
    assert read(run, Place(run, "elsewhere")) == [step(1), step(2)]


def test_a_line_that_is_no_event_is_said_and_passed_over(run, capsys):
    write(run, "no event", step(1))
    assert read(run, Place(run, "here")) == [step(1)]
    assert "byte 9" in capsys.readouterr().err


def test_a_run_that_was_stopped_and_waits_for_its_turn_is_waited_for(run, monkeypatch):
    write(run, step(1), state("stopped"))
    (run / "queued.json").touch()

    def begin(_seconds):
        (run / "queued.json").unlink()
        write(run, state("running"), step(2), state("done"))

    monkeypatch.setattr(time, "sleep", begin)
    found = [event for event in events(run, Place(run, "here"), once=False) if event]
    assert [event["step"] for event in found if event["event"] == "step"] == [1, 2]


def test_a_trainer_that_is_gone_ends_the_reading(run, capsys):
    write(run, state("running"), step(1))
    (run / "alive").touch()
    long_ago = time.time() - 1000
    os.utime(run / "alive", (long_ago, long_ago))
    assert [event for event in events(run, Place(run, "here"), once=False) if event] == [state("running"), step(1)]
    assert "The trainer is gone" in capsys.readouterr().err


def test_only_numbers_count_and_the_steps_that_a_resumed_run_repeats_do_not(run):
    place = Place(run, "here")
    assert figures_of(step(1, loss=0.5, mfu=None, best=True), place) == (1, {"critic/loss": 0.5})
    assert figures_of(step(2, loss=0.4), place) == (2, {"critic/loss": 0.4})
    assert figures_of(step(2, loss=0.4), place) is None
    assert figures_of({**step(2, loss=0.6), "event": "evaluation"}, place) == (2, {"critic/held_out/loss": 0.6})
    assert figures_of(state("done"), place) is None


def test_a_round_is_handed_over_once_and_the_next_one_by_its_own_name(run):
    place, kind = Place(run, "here"), "candidates"
    rounds = [{**state("running"), "event": kind, "stage": stage, "tokens": 5} for stage in (kind, kind, f"{kind}-2")]
    assert [figures_of(each, place) for each in rounds] == [
        (1, {f"{kind}/tokens": 5}),
        None,  # a resumed run repeats it
        (1, {f"{kind}-2/tokens": 5}),
    ]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nowhere", "--trackio", "p"], r"run\.json"),
        (["{circle}", "--trackio", "p"], r"run\.json"),
        (["{run}"], "either --tensorboard FOLDER or --trackio PROJECT"),
        (["{run}", "--trackio", "p"], "pip install trackio"),
        (["{run}", "--tensorboard", "{run}/tb"], "tensorboard is not installed"),
        (["{run}", "--tensorboard", "{circle}"], "tensorboard is not installed"),
    ],
)
def test_what_cannot_be_tracked_is_refused(arguments, word, run, tmp_path):
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    with pytest.raises(Fault, match=word) as refused:
        _command(["track", *(each.format(run=run, circle=circle) for each in arguments)])
    assert refused.value.usage
