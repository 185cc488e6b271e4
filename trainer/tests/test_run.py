"""A whole run, from run.json to a model, through every way in which it can be interrupted."""

import json
import os
import shutil
import signal
import time

import pytest
from tiny_run import Trainer, events, preference_rows, tiny_run, train, trajectory_rows, write_lines

from tandem_trainer.check import main as check
from tandem_trainer.data.template import Template
from tandem_trainer.model.load import load_tokenizer
from tandem_trainer.read_config import read_config
from tandem_trainer.running.prepare import prepare


def model_of(path, name="model") -> bytes:
    return (path.parent / name / "model.safetensors").read_bytes()


def states(path) -> list[tuple[str, str]]:
    return [(event["state"], event["stage"]) for event in events(path, "state")]


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A run of SWEET-RL with human preferences that nothing interrupted."""
    path = tiny_run(tmp_path_factory.mktemp("straight"), preferences=True)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    return path


# ----------------------------------------------------------------------------------------------------------------------
# to the end


def test_sweet_rl_goes_through_its_stages_and_leaves_a_model_and_a_critic(straight):
    assert states(straight) == [
        ("preparing", "prepare"),
        ("running", "critic"),
        ("running", "candidates"),
        ("running", "ranking"),
        ("running", "policy"),
        ("running", "export"),
        ("done", "export"),
    ]
    assert {"data", "plan", "step", "evaluation", "sample", "result"} <= {event["event"] for event in events(straight)}
    assert events(straight, "step")[-1]["seconds_left"] is not None
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
        ("sweet-rl", {"critic": {"score": "untrained"}, "candidates": {"rounds": 2}}),
        ("sweet-rl", {"critic": {"hidden_information": False, "length_normalisation": False}, "preferences": True}),
        ("sweet-rl", {"model": {"training": "full"}}),
        ("rft", {}),
        ("rft", {"model": {"training": "full", "dtype": "bfloat16"}, "policy": {"learning_rate": 1e-3}}),
        ("multiturn-dpo", {"preferences": True, "family": "qwen3"}),
    ],
)
def test_every_method_runs_to_its_end(tmp_path, method, changes):
    path = tiny_run(tmp_path, method=method, **changes)
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    assert states(path)[-1] == ("done", "export")
    assert (tmp_path / "model" / "model.safetensors").exists()
    trains_critic = method == "sweet-rl" and changes.get("critic", {}).get("score") != "untrained"
    assert (tmp_path / "critic").exists() == trains_critic


def test_a_run_that_is_done_says_so_when_it_is_started_again(straight):
    before, count = model_of(straight), len(events(straight))
    assert train(straight).code == 0
    assert [event["state"] for event in events(straight)[count:]] == ["done"]
    assert model_of(straight) == before


# ----------------------------------------------------------------------------------------------------------------------
# gone on with when it is done


def continued(path, folder, **policy):
    """A copy of a run that is done, which goes on from its last step with other settings of the policy."""
    shutil.copytree(path.parent, folder, ignore=shutil.ignore_patterns("model", "kept", "lock", "*.txt"))
    shutil.copytree(path.parent / "kept", folder / "checkpoints")
    config = json.loads(path.read_text())
    config["policy"] |= policy
    (folder / "run.json").write_text(json.dumps(config))
    return folder / "run.json"


def policy_steps(path) -> list[tuple[int, float]]:
    return [(event["step"], event["learning_rate"]) for event in events(path, "step") if event["stage"] == "policy"]


@pytest.mark.parametrize("method", ["sweet-rl", "rft"])
def test_more_epochs_of_a_run_that_is_done_end_bit_equal_to_a_run_that_had_them_from_the_start(tmp_path, method):
    # Without patience, which would end both where the held-out examples say so.
    more = {"more_epochs": 1.0, "patience": 0}
    long = tiny_run(tmp_path / "long", method=method, policy=more)
    short = tiny_run(tmp_path / "short", method=method)
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
    patch = "from tandem_trainer.running import run; run.KEPT_BYTES = 1000"
    assert train(path, patch).code == 0
    assert not (tmp_path / "kept").exists()
    assert not list((tmp_path / "checkpoints").iterdir())


# ----------------------------------------------------------------------------------------------------------------------
# killed, and started again

IN_STEP = """
import os, signal
from tandem_trainer.running import optimise
real = optimise._add_gradients
count = 0
def add_gradients(base, objective, *given):
    global count
    count += type(objective).__name__ == "{objective}"
    if count == {step}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(base, objective, *given)
optimise._add_gradients = add_gradients
"""

WHEN_CALLED = """
import os, signal
from tandem_trainer.{folder} import {module}
real = {module}.{function}
count = 0
def killing(*given, **named):
    global count
    count += 1
    if count == {call}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given, **named)
{module}.{function} = killing
"""

MOMENTS = {  # in the order in which a run comes to them: stage and moment
    ("prepare", "while the data are read"): WHEN_CALLED.format(
        folder="running", module="prepare", function="read_rows", call=1
    ),
    ("prepare", "before the plan is written"): WHEN_CALLED.format(
        folder="running", module="whole_file", function="os.replace", call=2
    ),
    ("prepare", "when the model is loaded"): WHEN_CALLED.format(
        folder="running", module="run", function="whole_checkpoints", call=1
    ),
    ("critic", "while reference log-probabilities are computed"): WHEN_CALLED.format(
        folder="objective", module="reference_cache", function="score", call=1
    ),
    ("critic", "in its second step"): IN_STEP.format(objective="Critic", step=2),
    ("critic", "between a checkpoint's writing and its renaming"): WHEN_CALLED.format(
        folder="running", module="checkpoint", function="os.rename", call=2
    ),
    ("critic", "while an old checkpoint is deleted"): WHEN_CALLED.format(
        folder="running", module="checkpoint", function="shutil.rmtree", call=8
    ),
    ("candidates", "while they are sampled"): WHEN_CALLED.format(
        folder="ranking", module="candidates", function="score", call=1
    ),
    ("ranking", "in the middle"): WHEN_CALLED.format(folder="ranking", module="ranking", function="score", call=2),
    ("policy", "in its second step"): IN_STEP.format(objective="Policy", step=2),
    ("policy", "when its result is written"): WHEN_CALLED.format(
        folder="running", module="stages", function="Run.finish", call=1
    ),
    ("export", "while the critic is written"): WHEN_CALLED.format(
        folder="result", module="export", function="write_model", call=1
    ),
    ("export", "while the model is written"): WHEN_CALLED.format(
        folder="result", module="export", function="write_model", call=1
    ),
    ("export", "when the result is in its place"): WHEN_CALLED.format(
        folder="running", module="run", function="Run.clear", call=1
    ),
}


def test_a_run_that_was_killed_again_and_again_at_every_stage_ends_bit_equal_to_one_that_was_not(tmp_path, straight):
    path = tiny_run(tmp_path, preferences=True, resources={"checkpoint_minutes": 0})
    for (stage, moment), kill in MOMENTS.items():
        assert train(path, kill).code == -signal.SIGKILL, (stage, moment)
        assert states(path)[-1][1] == stage, moment
    assert {stage for _, stage in states(straight)} == {stage for stage, _ in MOMENTS}
    ran = train(path)
    assert (ran.code, ran.stderr) == (0, "")
    assert [event["event"] for event in events(path)[-2:]] == ["result", "state"]
    assert model_of(path) == model_of(straight)
    assert model_of(path, "critic") == model_of(straight, "critic")


def test_a_damaged_checkpoint_is_passed_over_and_the_run_ends_the_same(tmp_path, straight):
    path = tiny_run(tmp_path, preferences=True, resources={"checkpoint_minutes": 0})
    train(path, IN_STEP.format(objective="Critic", step=5))
    newest = max((tmp_path / "checkpoints").glob("0*"))
    (newest / "optimizer.safetensors").write_bytes(b"")
    assert train(path).code == 0
    assert any("is damaged" in event["message"] for event in events(path, "notice"))
    assert model_of(path) == model_of(straight)


# ----------------------------------------------------------------------------------------------------------------------
# asked to stop

SLOW = """
import time
from tandem_trainer.running import optimise
real = optimise._add_gradients
def slow(*given):
    time.sleep(0.1)
    return real(*given)
optimise._add_gradients = slow
"""


def wait_for(path, kind, count):
    """Until the run has told so many events of a kind."""
    for _ in range(600):
        if (path.parent / "events.jsonl").exists() and len(events(path, kind)) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"no {kind}")


@pytest.mark.parametrize("how", ["file", "SIGTERM", "SIGINT"])
def test_a_run_that_is_asked_to_stop_saves_and_goes_on_to_the_same_end(tmp_path, straight, how):
    path = tiny_run(tmp_path, preferences=True)
    trainer = Trainer(path, SLOW)
    wait_for(path, "step", 2)
    if how == "file":
        (tmp_path / "stop").touch()
    else:
        os.kill(trainer.process.pid, getattr(signal, how))
    stopped = trainer.wait()
    assert (stopped.code, stopped.stderr) == (0, "")
    assert states(path)[-2:] == [("stopping", "critic"), ("stopped", "critic")]
    assert not (tmp_path / "stop").exists()
    steps = len(events(path, "step"))
    assert train(path).code == 0
    assert model_of(path) == model_of(straight)
    assert len(events(path, "step")) == len(events(straight, "step"))
    assert steps < len(events(path, "step"))


def test_a_second_signal_leaves_at_once(tmp_path):
    path = tiny_run(tmp_path)
    trainer = Trainer(path, SLOW.replace("0.1", "60"))
    wait_for(path, "evaluation", 1)
    time.sleep(0.3)
    os.kill(trainer.process.pid, signal.SIGTERM)
    time.sleep(1.2)  # signals within a second are one
    os.kill(trainer.process.pid, signal.SIGTERM)
    assert trainer.wait(10).code == 128 + signal.SIGTERM


def test_a_request_during_the_preparation_stops_before_the_first_step(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    (tmp_path / "stop").touch()
    os.utime(tmp_path / "stop", (time.time() + 60,) * 2)  # as if it came after the start
    assert train(path).code == 0
    assert states(path) == [("preparing", "prepare"), ("stopped", "prepare")]
    assert train(path).code == 0
    assert states(path)[-1] == ("done", "export")


def test_an_old_request_to_stop_does_not_stop_a_new_start(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    (tmp_path / "stop").touch()
    time.sleep(0.05)
    assert train(path).code == 0
    assert states(path)[-1][0] == "done"


# ----------------------------------------------------------------------------------------------------------------------
# refused


def test_a_second_trainer_on_a_live_run_is_refused_and_the_first_goes_on(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    trainer = Trainer(path, SLOW)
    wait_for(path, "step", 1)
    about = json.loads((tmp_path / "process.json").read_text())
    assert about["pid"] == trainer.process.pid
    assert about["started"].endswith("Z")
    for output in trainer.outputs:
        output.rename(output.with_suffix(".first"))
    second = train(path)
    assert second.code == 2
    assert second.stderr == (
        f"{tmp_path} is being trained by process {about['pid']} on {about['host']}: stop that trainer first.\n"
    )
    trainer.process.join(60)
    assert trainer.process.exitcode == 0
    assert states(path)[-1][0] == "done"


def test_a_changed_configuration_does_not_go_on_with_an_old_run(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    assert train(path, IN_STEP.format(objective="RejectionFineTuning", step=2)).code == -signal.SIGKILL
    changed = json.loads(path.read_text())
    changed["policy"]["batch"] = 3
    path.write_text(json.dumps(changed))
    refused = train(path)
    assert refused.code == 2
    assert "because policy.batch is 3 instead of 4, which is not what it began with" in refused.stderr


def test_changed_data_do_not_go_on_with_an_old_run(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    assert train(path, IN_STEP.format(objective="RejectionFineTuning", step=2)).code == -signal.SIGKILL
    rows = (tmp_path / "rows.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_text("".join(rows[3:]))
    refused = train(path)
    assert refused.code == 2
    assert "the data are not what it began with" in refused.stderr


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"data": {"trajectories": ["gone.jsonl"]}}, "there is no file at"),
        ({"model": {"base": "./gone"}}, "there is no model folder at"),
        ({"critic": {"beta": -1}}, "critic.beta must be a number above 0, not -1"),
        ({"critic": {"max_tokens": 10}}, "are longer than critic.max_tokens (10)"),
        ({"policy": {"max_tokens": 20}}, "leaves room for a turn"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_exit_code_2(tmp_path, wrong, sentence):
    refused = train(tiny_run(tmp_path, **wrong))
    assert refused.code == 2
    assert refused.stderr.count("\n") == 1
    assert sentence in refused.stderr
    assert not (tmp_path / "model").exists()


def test_without_a_pair_there_is_nothing_to_train_on(tmp_path):
    path = tiny_run(tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    write_lines(tmp_path / "rows.jsonl", [{**row, "reward": 0.5} for row in rows])
    refused = train(path)
    assert refused.code == 2
    assert "No pair of a better and a worse trajectory" in refused.stderr
    failed = events(path, "state")[-1]
    assert failed["state"] == "failed"
    assert failed["message"] == refused.stderr.strip()


def test_a_model_without_a_chat_template_is_refused(tmp_path):
    path = tiny_run(tmp_path)
    (tmp_path / "base" / "chat_template.jinja").unlink()
    refused = train(path)
    assert refused.code == 2
    assert "has no chat template" in refused.stderr


# ----------------------------------------------------------------------------------------------------------------------
# looked at before it starts


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
    assert "24 of 8 tasks, 8 successes" in text
    assert "1 not graded" in text
    assert "rows.jsonl:25" in text


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
    assert "The model reads at most 580 tokens, so longer rows are left out." in told["notices"]


# ----------------------------------------------------------------------------------------------------------------------
# what the machine does to it: each of these is what the system says, when it is allowed no more

NO_ROOM = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))"
NO_MEMORY = "import resource, torch; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); torch.empty(1 << 30)"
NO_GPU = "raise RuntimeError('CUDA error: unspecified launch failure\\nCUDA kernel errors might be reported later.')"


@pytest.mark.parametrize("stage", ["critic", "policy"])
@pytest.mark.parametrize(
    ("happens", "sentence"),
    [
        (
            NO_ROOM,
            "A checkpoint cannot be written to {folder}/checkpoints: File too large. Make room or give permission, "
            "then resume the run: it goes on from its last checkpoint.\n",
        ),
        (NO_MEMORY, "Memory ran out ("),
        (NO_GPU, "The GPU failed in the middle of the work (CUDA error: unspecified launch failure): it was "),
    ],
    ids=["full disk", "no memory", "GPU unplugged"],
)
def test_what_the_machine_does_to_a_run_is_one_sentence_and_it_goes_on_to_the_same_end(
    tmp_path, straight, happens, sentence, stage
):
    path = tiny_run(tmp_path, preferences=True, resources={"checkpoint_minutes": 0})
    moment = IN_STEP.format(objective=stage.capitalize(), step=3)
    failed = train(path, moment.replace("os.kill(os.getpid(), signal.SIGKILL)", happens))
    assert failed.code == 1
    assert failed.stderr.startswith(sentence.format(folder=tmp_path))
    assert failed.stderr.count("\n") == 1
    last = events(path, "state")[-1]
    assert (last["state"], last["stage"], last["message"]) == ("failed", stage, failed.stderr.strip())
    assert not (tmp_path / "reserve").exists()
    assert train(path).code == 0
    # At most the step whose checkpoint was lost is repeated.
    assert len(events(path, "step")) - len(events(straight, "step")) <= 1
    assert model_of(path) == model_of(straight)
