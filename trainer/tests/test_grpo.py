"""What a run of GRPO asks for before it plays. That it plays and learns is shown by the suite `neighbours`."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tiny_run import events, tiny_run, write_lines

from tandem_trainer.config import DataConfig, GrpoConfig, ModelConfig, RunConfig
from tandem_trainer.fault import Fault
from tandem_trainer.methods.grpo import Course, differ, in_order, largest_divisor, peak_learning_rate, unplayed
from tandem_trainer.run import interpreter
from tandem_trainer.run.checkpoint import adopt_checkpoint, whole_checkpoints
from tandem_trainer.run.environment import COMMAND, Environment
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.plan import plan_of
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run.resume import check_same_configuration
from tandem_trainer.run_json import read_config

TASKS = [{"id": f"task-{number}", "problem_description": f"Write function {number}."} for number in range(10)]


def online(folder: Path, **changes) -> Path:
    """Writes the run.json of a run that plays a pack of ten tasks; `data` replaces what is there."""
    path = tiny_run(folder, method="grpo")
    write_lines(folder / "pack.jsonl", TASKS)
    config = {**json.loads(path.read_text()), "data": {"tasks": ["pack.jsonl"]}}
    for name, value in changes.items():
        config[name] = {**config[name], **value} if name in ("model", "resources") else value
    path.write_text(json.dumps(config))
    return path


def config_of(**settings) -> RunConfig:
    return RunConfig(model=ModelConfig(base=""), data=DataConfig(), method="grpo", grpo=GrpoConfig(**settings))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"data": {}}, "data.tasks"),
        ({"data": {"tasks": ["pack.jsonl"], "trajectories": ["rows.jsonl"]}}, "data.trajectories"),
        ({"data": {"tasks": ["pack.jsonl"], "earlier": ["rows.jsonl"]}}, "data.earlier"),
        ({"model": {"training": "qlora"}}, "model.training"),
        ({"resources": {"processes": 2}}, "resources.processes"),
        ({"resources": {"cluster": {"address": "http://head:8265"}}}, "resources.cluster"),
        ({"role": "collaborator"}, "grpo.agent is not set"),
        ({"role": "collaborator", "grpo": {"agent": "starter", "simulator": "starter"}}, "grpo.simulator"),
        ({"role": "collaborator", "grpo": {"agent": "starter", "max_turns": 1}}, "grpo.max_turns"),
        ({"grpo": {"agent": "starter"}}, "grpo.agent is for role collaborator"),
        ({"role": "collaborator", "grpo": {"agent": "starter", "credit": "vine"}}, "grpo.credit"),
        ({"grpo": {"leak_price": 1, "credit": "vine"}}, "grpo.leak_price"),
        ({"method": "rft", "data": {"tasks": ["pack.jsonl"], "trajectories": ["rows.jsonl"]}}, "data.tasks"),
    ],
)
def test_what_does_not_fit_the_method_is_refused_by_its_field(tmp_path, changes, field):
    with pytest.raises(Fault, match=field) as caught:
        read_config(online(tmp_path, **changes))
    assert caught.value.usage


def test_without_a_learning_rate_it_has_that_of_trl_and_ten_times_that_for_adapters():
    config = config_of()
    assert peak_learning_rate(config) == 1e-5
    assert peak_learning_rate(replace(config, model=ModelConfig(base="", training="full"))) == 1e-6
    assert peak_learning_rate(config_of(learning_rate=3e-5)) == 3e-5


def test_without_the_packages_of_the_extra_it_is_refused_with_the_command_that_installs_them(monkeypatch):
    monkeypatch.setattr(interpreter, "find_spec", lambda name: None if name == "trl" else object())
    interpreter.require_online("sweet-rl")
    with pytest.raises(Fault) as caught:
        interpreter.require_online("grpo")
    assert "'trl>=1.16'" in str(caught.value)
    assert caught.value.usage


def test_tasks_are_counted_and_held_out_and_lines_that_are_none_are_told(tmp_path):
    path = online(tmp_path)
    with open(tmp_path / "pack.jsonl", "a") as pack:
        pack.write('{"id": "empty"}\n')
    prepared = prepare(read_config(path), template=None)
    assert prepared.counts["tasks"] == 10
    assert prepared.counts["policy"] == {"train": 9, "held_out": 1}
    assert [problem.line for problem in prepared.problems] == [11]
    before = prepared.fingerprint()
    write_lines(tmp_path / "pack.jsonl", TASKS[1:])
    assert prepare(read_config(path), template=None).fingerprint() != before
    write_lines(tmp_path / "pack.jsonl", [])
    with pytest.raises(Fault, match="There is no task to play in"):
        prepare(read_config(path), template=None)


def test_memory_is_planned_for_the_longest_dialogue_and_time_is_not(tmp_path):
    path = online(tmp_path, grpo={"max_turns": 2, "max_new_tokens": 100})
    plan = plan_of(read_config(path), tmp_path)
    assert plan.fits
    assert plan.largest == 512 + 2 * (100 + 160)
    assert plan.seconds["policy"] is None
    assert plan.seconds["export"] is not None


def test_the_order_of_the_tasks_depends_on_the_seed_and_each_epoch_has_its_own():
    rows = [{"task_id": task["id"]} for task in TASKS]
    config = config_of(dialogues=80, tasks_per_step=4, group=4)
    assert (config.grpo.batch, config.grpo.steps) == (16, 5)
    order = [row["task_id"] for row in in_order(rows, config)]
    assert len(order) == 20
    assert sorted(order[:10]) == sorted(order[10:]) == sorted(row["task_id"] for row in rows)
    assert order[:10] != order[10:]
    assert order == [row["task_id"] for row in in_order(rows[::-1], config)]


def test_a_step_is_cut_into_equal_parts_that_fit():
    assert [largest_divisor(*given) for given in ((32, 5), (32, 100), (24, 9), (7, 3))] == [4, 32, 8, 1]


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (None, "tandem train"),
        (["no-such-program-anywhere"], "no-such-program-anywhere: No such file"),
        ([sys.executable, "-c", "import sys; sys.exit('no tasks with facts')"], "no tasks with facts"),
    ],
)
def test_a_server_that_does_not_start_is_told_with_its_command_or_its_own_sentence(
    tmp_path, monkeypatch, command, word
):
    monkeypatch.delenv(COMMAND, raising=False)
    if command:
        monkeypatch.setenv(COMMAND, json.dumps(command))
    with pytest.raises(Fault, match=word):
        Environment(config_of(), tmp_path)


def test_a_folder_of_another_library_becomes_a_checkpoint_that_is_whole_or_passed_over(tmp_path):
    made = tmp_path / ".trl" / "checkpoint-3"
    made.mkdir(parents=True)
    (made / "optimizer.pt").write_bytes(b"moments")
    torch.save({"weight": torch.ones(2)}, made / "model.pt")
    adopt_checkpoint(tmp_path, "policy", {"done": False, "step": 3}, made)
    [found] = whole_checkpoints(tmp_path, lambda sentence: None)
    assert (found.stage, found.state["step"]) == ("policy", 3)
    assert not made.exists()
    (found.path / "optimizer.pt").write_bytes(b"Moments")
    told: list[str] = []
    assert whole_checkpoints(tmp_path, told.append) == []
    assert "optimizer.pt is not what was written" in told[0]


def test_a_run_that_began_before_a_field_was_there_goes_on_with_its_default(tmp_path):
    config = RunConfig(model=ModelConfig(base="somewhere"), data=DataConfig())
    check_same_configuration(tmp_path, config, None)
    file = tmp_path / "configuration.json"
    begun = json.loads(file.read_text())
    del begun["configuration"]["grpo"], begun["configuration"]["data"]["tasks"]
    file.write_text(json.dumps(begun))
    check_same_configuration(tmp_path, config, None)
    other = RunConfig(model=config.model, data=config.data, grpo=GrpoConfig(group=4))
    with pytest.raises(Fault, match="grpo.group is 4 instead of 8"):
        check_same_configuration(tmp_path, other, None)


def test_it_says_how_many_tasks_are_not_played_and_what_would_play_all():
    assert unplayed(GrpoConfig(), 76) is None
    assert unplayed(GrpoConfig(group=4), 150) is None
    assert all(part in unplayed(GrpoConfig(), 150) for part in ("76 of 150", "dialogues to 1200", "group to 4"))
    assert "grpo.group" not in unplayed(GrpoConfig(), 400)


def test_rewards_differ_only_where_a_group_has_two_known_ones():
    assert differ([1.0, 0.5, None, None], 2)
    assert not differ([1.0, 1.0, 0.5, None, None, None], 2)


@pytest.mark.parametrize(("turns", "mean"), [([1, 4], 2.5), ([], None)])
def test_a_step_has_the_mean_number_of_the_agents_messages_in_a_dialogue(tmp_path, turns, mean):
    meter = SimpleNamespace(gpu_use=lambda: None, memory_mb=lambda: 1.0)
    run = SimpleNamespace(config=config_of(), events=Events(tmp_path), meter=meter, seconds_left=lambda *_: 1.0)
    dialogues = SimpleNamespace(turns=turns, leaked=0, played=2, waited=0.0)
    course = Course(run, dialogues, vine=None, tasks=10, held_out=[])
    course.on_log(None, SimpleNamespace(global_step=1, max_steps=2), None, {"loss": 0.5, "learning_rate": 1e-5})
    (step,) = events(tmp_path / "run.json", "step")
    assert step["turns"] == mean
