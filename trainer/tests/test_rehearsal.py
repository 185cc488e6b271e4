"""Every stage is rehearsed, except work that would take too long."""

import pytest
import torch
from tiny_run import tiny_run

from tandem_trainer.data.template import Template
from tandem_trainer.model.base import load_base
from tandem_trainer.model.flops import shape_of
from tandem_trainer.model.folder import load_tokenizer
from tandem_trainer.run import rehearsal
from tandem_trainer.run.machine_usage import Machine
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run.rehearsal import Rehearsal
from tandem_trainer.run.workload import loads_of
from tandem_trainer.run_json import read_config

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def nothing_found_before(monkeypatch):
    monkeypatch.setattr(rehearsal, "_found", {})


def rehearsed(folder, *, rate=1e12, **changes):
    """Returns the loads of a tiny run, and its rehearsal on a machine with an assumed rate."""
    path = tiny_run(folder, **changes)
    config = read_config(path)
    base = load_base(config.model, run_folder=folder)
    template = Template(load_tokenizer(config.model, folder / "base", folder))
    prepared = prepare(config, template)
    shape = shape_of(base.model.config)
    loads = loads_of(prepared, shape, template)
    machine = Machine("cpu", "cpu", "float32", 1 << 30, rate=rate, measured=True)
    return loads, Rehearsal(base, config, shape, machine, 2048)


def candidates_of(loads):
    return next(load for load in loads if load.stage == "candidates")


@pytest.mark.parametrize(
    ("changes", "stages"),
    [
        ({}, ("critic", "candidates", "ranking", "policy")),
        ({"critic": {"score": "value-head"}}, ("critic", "candidates", "ranking", "policy")),
        ({"critic": {"score": "untrained"}}, ("candidates", "ranking", "policy")),
        ({"method": "rft"}, ("policy",)),
        ({"method": "multiturn-dpo"}, ("policy",)),
    ],
)
def test_all_that_is_trained_and_read_is_timed(tmp_path, changes, stages):
    loads, here = rehearsed(tmp_path, **changes)
    rates = here.rates(loads)
    trained = {(stage, "train") for stage in stages if stage in ("critic", "policy")}
    assert set(rates) == {*trained, *((stage, "read") for stage in stages)}
    assert all(rate > 0 for rate in rates.values())


def test_a_slow_machine_has_no_time_for_it(tmp_path):
    loads, here = rehearsed(tmp_path, rate=1.0)
    assert here.rates(loads) == {}


def test_candidates_are_written_to_their_end_or_broken_off_when_that_takes_too_long(tmp_path, monkeypatch):
    loads, here = rehearsed(tmp_path)
    rates, written = here.write(candidates_of(loads))
    assert rates["candidates", "write"] > 0
    assert len(written) == len(candidates_of(loads).pieces[0].sample)
    assert all(len(turns) == 4 for turns in written)  # per_turn
    assert all(0 < len(turn.response) <= 8 for turns in written for turn in turns)
    monkeypatch.setattr(rehearsal, "INTERRUPT_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(rehearsal, "_found", {})
    loads, here = rehearsed(tmp_path)
    rates, written = here.write(candidates_of(loads))
    assert rates["candidates", "write"] > 0
    assert written is None


def test_what_was_done_before_in_the_process_is_not_done_again(tmp_path, monkeypatch):
    loads, here = rehearsed(tmp_path)
    before = here.rates(loads), here.write(candidates_of(loads))[0]
    loads, again = rehearsed(tmp_path, policy={"epochs": 5.0})
    monkeypatch.setattr(Rehearsal, "_do", lambda *_: pytest.fail("It is done again."))
    monkeypatch.setattr(Rehearsal, "_write", lambda *_: pytest.fail("It is written again."))
    assert (again.rates(loads), again.write(candidates_of(loads))[0]) == before
