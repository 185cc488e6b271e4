"""Whole runs, from run.json to a model, and configurations that are refused."""

import json
import shutil

import pytest
from tiny_run import events, model_of, preference_rows, states, tiny_run, train, trajectory_rows, write_lines

from tandem_trainer.data.template import Template
from tandem_trainer.model.folder import load_tokenizer
from tandem_trainer.run.check import main as check
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config


def test_a_run_tells_its_plan_its_candidates_and_its_control_and_leaves_a_model_and_a_critic(straight):
    assert events(straight, "step")[-1]["seconds_left"] is not None
    (plan,) = events(straight, "plan")
    assert plan["machine"]["measured"]
    written = json.loads((straight.parent / "plan.json").read_text())
    assert {name: plan[name] for name in written} == written
    sample = events(straight, "sample")[0]["candidates"]
    scores = [candidate["score"] for candidate in sample]
    assert scores == sorted(scores, reverse=True)
    assert all("untrained" in candidate for candidate in sample)
    # The control is measured on the very pairs on which the critic is.
    (control,) = events(straight, "control")
    (result,) = events(straight, "result")
    critic = result["stages"]["critic"]
    assert (control["stage"], control["examples"]) == ("critic", critic["held_out_examples"])
    assert control["accuracy"] == critic["held_out_untrained_accuracy"]
    folder = straight.parent
    assert (folder / "model" / "model.safetensors").exists()
    assert (folder / "critic" / "critic.json").exists()
    assert not list(folder.glob("*.writing"))
    assert not list(folder.glob("weights-*"))


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("sweet-rl", {"critic": {"score": "value-head"}, "convention": "reference-code"}),
        ("sweet-rl", {"critic": {"hidden_information": False, "length_normalisation": False}, "preferences": True}),
        ("rft", {"model": {"training": "full", "dtype": "bfloat16"}, "policy": {"learning_rate": 1e-3}}),
        ("multiturn-dpo", {"preferences": True, "family": "qwen3"}),
    ],
)
def test_every_method_runs_to_its_end(tmp_path, method, changes):
    short = {stage: {"epochs": 1.0, **changes.get(stage, {})} for stage in ("critic", "policy")}
    path = tiny_run(tmp_path, method=method, **{**changes, **short})
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    assert states(path)[-1] == ("done", "export")
    assert (tmp_path / "model" / "model.safetensors").exists()
    trains_critic = method == "sweet-rl" and changes.get("critic", {}).get("score") != "untrained"
    assert (tmp_path / "critic").exists() == trains_critic


def test_a_run_of_a_role_learns_from_its_rows_alone(tmp_path):
    data = {"trajectories": [], "preferences": ["roles.jsonl"]}
    path = tiny_run(tmp_path, method="multiturn-dpo", role="verifier", data=data, policy={"epochs": 1.0, "nll": 1.0})
    rows = [{**row, "tandem": {"role": "verifier", "task": f"task-{at}"}} for at, row in enumerate(preference_rows(8))]
    write_lines(tmp_path / "roles.jsonl", [*rows, {**rows[0], "tandem": {"role": "refiner"}}])
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    (told,) = events(path, "data")
    assert told["policy"] == {"train": 6, "held_out": 2}
    assert told["bad_lines"] == 1
    assert (tmp_path / "model" / "model.safetensors").exists()


def test_a_run_that_is_done_says_so_when_it_is_started_again(tmp_path, straight):
    path = shutil.copytree(straight.parent, tmp_path / "again") / "run.json"
    before, count = model_of(path), len(events(path))
    assert train(path).code == 0
    assert [event["state"] for event in events(path)[count:]] == ["done"]
    assert model_of(path) == before


def continued(path, folder, **policy):
    """Copies a finished run and continues it from its last step with other settings of the policy."""
    shutil.copytree(path.parent, folder, ignore=shutil.ignore_patterns("model", "kept", "lock", "*.txt"))
    shutil.copytree(path.parent / "kept", folder / "checkpoints")
    config = json.loads(path.read_text())
    config["policy"] |= policy
    (folder / "run.json").write_text(json.dumps(config))
    return folder / "run.json"


def policy_steps(path) -> list[tuple[int, float]]:
    return [(event["step"], event["learning_rate"]) for event in events(path, "step") if event["stage"] == "policy"]


def test_more_epochs_of_a_run_that_is_done_end_bit_equal_to_a_run_that_had_them_from_the_start(tmp_path):
    # With patience, the held-out examples would end both early.
    more = {"more_epochs": 1.0, "patience": 0}
    long = tiny_run(tmp_path / "long", policy=more)
    short = tiny_run(tmp_path / "short")
    assert [train(path).code for path in (long, short)] == [0, 0]
    path = continued(short, tmp_path / "continued", **more)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    assert model_of(path) == model_of(long)
    assert policy_steps(path) == policy_steps(long)  # no step twice, and none left out
    steps, rates = zip(*policy_steps(path), strict=True)
    scheduled = len(policy_steps(short))
    assert len(steps) > scheduled
    assert set(rates[scheduled:]) == {rates[scheduled - 1]}  # a tenth of the highest
    assert model_of(path) != model_of(short)


def test_a_run_with_large_checkpoints_keeps_none(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    patch = "from tandem_trainer.run import run; run.KEPT_BYTES = 1000"
    assert train(path, patch).code == 0
    assert not (tmp_path / "kept").exists()
    assert not list((tmp_path / "checkpoints").iterdir())


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"critic": {"max_tokens": 10}}, "critic.max_tokens (10)"),
        ({"policy": {"max_tokens": 20}}, "leaves room for a turn"),
    ],
)
def test_data_that_cannot_be_used_end_the_run_with_one_sentence_and_exit_code_2(tmp_path, wrong, sentence):
    path = tiny_run(tmp_path, **wrong)
    refused = train(path)
    assert refused.code == 2
    assert refused.stderr.count("\n") == 1
    assert sentence in refused.stderr
    failed = events(path, "state")[-1]
    assert (failed["state"], failed["message"]) == ("failed", refused.stderr.strip())
    assert not (tmp_path / "model").exists()


def test_check_counts_the_data_and_says_what_is_left_out(tmp_path, capsys):
    path = tiny_run(tmp_path, preferences=True)
    with open(tmp_path / "rows.jsonl", "a") as rows:
        rows.write('{"task": \n' + json.dumps({**trajectory_rows(1)[0], "reward": None}) + "\n")
    assert check(["--json", str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tasks"], told["trajectories"], told["successes"], told["preferences"]) == (8, 24, 8, 4)
    assert told["critic"] == {"train": 10, "held_out": 6}
    assert told["bad_lines"] == 1
    assert told["left_out"] == {"not graded": 1}
    assert "not JSON" in told["problems"][0]
    assert check([str(path)]) == 0
    text = capsys.readouterr().out
    assert "24 of 8 tasks" in text and "rows.jsonl:25" in text


def test_human_preferences_of_a_task_that_is_held_out_are_held_out_too(tmp_path):
    path = tiny_run(tmp_path, preferences=True, data={"held_out": 0.5})
    steps = [{**step, "tandem": {"task": f"task-{number}"}} for number, step in enumerate(preference_rows(8))]
    write_lines(tmp_path / "steps.jsonl", steps)
    config = read_config(path)
    prepared = prepare(config, Template(load_tokenizer(config.model, tmp_path / "base", tmp_path)))
    train, held_out = prepared.split(prepared.policy)
    assert (len(train), len(held_out)) == (4, 4)
    assert {prepared.tasks[example.group] for example in held_out} == prepared.apart
    assert {example.group for example in prepared.split(prepared.critic)[1]} == prepared.apart


def test_rows_longer_than_what_the_model_reads_are_left_out(tmp_path, capsys):
    path = tiny_run(tmp_path)
    base = tmp_path / "base" / "config.json"
    base.write_text(json.dumps({**json.loads(base.read_text()), "max_position_embeddings": 580}))
    assert check(["--json", str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["left_out"]["too long for the critic"] > 0
    assert any("580 tokens" in notice for notice in told["notices"])
