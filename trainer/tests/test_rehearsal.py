"""Every stage is rehearsed, except work that would take too long."""

import json

import pytest
import torch
from tiny_run import events, tiny_run, train

from tandem_trainer.data.template import Template
from tandem_trainer.model.base import load_base
from tandem_trainer.model.flops import shape_of
from tandem_trainer.model.folder import load_tokenizer
from tandem_trainer.run import rehearsal
from tandem_trainer.run.machine import Machine
from tandem_trainer.run.plan import seconds_of
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


@pytest.mark.parametrize("score", ["log-ratio", "value-head", "untrained"])
def test_all_that_is_trained_and_read_is_timed(tmp_path, score):
    loads, here = rehearsed(tmp_path, critic={"score": score})
    rates = here.rates(loads)
    critic = {("critic", "train"), ("critic", "read")} if score != "untrained" else set()
    policy = {("policy", "train"), ("policy", "read")}
    assert set(rates) == {*critic, ("candidates", "read"), ("ranking", "read"), *policy}
    assert all(rate > 0 for rate in rates.values())


@pytest.mark.parametrize("method", ["rft", "multiturn-dpo"])
def test_a_baseline_is_timed_by_its_own_objective(tmp_path, method):
    loads, here = rehearsed(tmp_path, method=method)
    assert set(here.rates(loads)) == {("policy", "train"), ("policy", "read")}


def test_what_a_slow_machine_cannot_do_in_a_moment_is_left_to_the_arithmetic(tmp_path):
    loads, here = rehearsed(tmp_path, rate=1.0)
    assert here.rates(loads) == {}


def test_candidates_are_written_to_their_end(tmp_path):
    loads, here = rehearsed(tmp_path)
    rates, written = here.write(candidates_of(loads))
    assert rates["candidates", "write"] > 0
    assert len(written) == len(candidates_of(loads).pieces[0].sample)
    assert all(len(turns) == 4 for turns in written)  # per_turn
    assert all(0 < len(turn.response) <= 8 for turns in written for turn in turns)


def test_candidates_that_take_too_long_are_broken_off(tmp_path, monkeypatch):
    monkeypatch.setattr(rehearsal, "PATIENCE", 0.0)
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


def test_a_measured_stage_takes_its_work_at_its_rate(tmp_path):
    loads, here = rehearsed(tmp_path)
    (policy,) = [load for load in loads if load.stage == "policy"]
    train, read = policy.pieces
    rates = {("policy", "train"): train.flops / 60, ("policy", "read"): read.flops / 30}
    machine = Machine("cpu", "cpu", "float32", 1 << 30, rate=1e12, measured=True)
    assert seconds_of(loads, here.shape, machine, False, rates)["policy"] == 90


def test_the_plan_event_and_file_of_a_run_have_the_measured_times(tmp_path):
    path = tiny_run(tmp_path)
    train(path)
    (plan,) = events(path, "plan")
    assert plan["machine"]["measured"]
    written = json.loads((tmp_path / "plan.json").read_text())
    assert {name: plan[name] for name in written} == written
