"""A run resumes after every kind of interruption."""

import contextlib
import json
import os
import signal
import time

import pytest
from tiny_run import Trainer, events, model_of, states, tiny_run, train

IN_STEP = """
import os, signal
from tandem_trainer.run import optimise
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
from {package} import {module}
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


def when_called(module: str, function: str, call: int = 1) -> str:
    """Returns a patch that kills the run when a function of the package is called so often."""
    package, _, name = f"tandem_trainer.{module}".rpartition(".")
    return WHEN_CALLED.format(package=package, module=name, function=function, call=call)


MOMENTS = {  # stage and moment, in the order of a run
    ("prepare", "while the data are read"): when_called("run.prepare", "read_rows"),
    ("prepare", "before the plan is written"): when_called("run.checkpoint", "os.replace", 2),
    ("prepare", "when the model is loaded"): when_called("run.run", "whole_checkpoints"),
    ("critic", "while reference log-probabilities are computed"): when_called("run.reference_cache", "score"),
    ("critic", "in its second step"): IN_STEP.format(objective="Critic", step=2),
    ("critic", "between a checkpoint's writing and its renaming"): when_called("run.checkpoint", "os.rename", 2),
    ("critic", "while an old checkpoint is deleted"): when_called("run.checkpoint", "shutil.rmtree", 8),
    ("candidates", "while they are sampled"): when_called("run.shards", "score"),
    ("ranking", "in the middle"): when_called("methods.sweet_rl", "score", 2),
    ("policy", "in its second step"): IN_STEP.format(objective="WithFeedback", step=2),  # it has preferences
    ("policy", "when its result is written"): when_called("run.run", "Run.finish"),
    ("export", "while the critic is written"): when_called("export.folders", "write_model"),
    ("export", "while the model is written"): when_called("export.folders", "write_model"),
    ("export", "when the result is in its place"): when_called("run.run", "Run.clear"),
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


HELD = """
import os, time
from tandem_trainer.run import optimise
real = optimise._add_gradients
count = 0
def held(*given):
    global count
    count += 1
    while count == {step} and not os.path.exists({go!r}):
        time.sleep(0.02)
    return real(*given)
optimise._add_gradients = held
"""


def held_in(step, path):
    """Returns a patch that holds a run in a step until `let_go`, so that it cannot end too early."""
    return HELD.format(step=step, go=str(path.parent / "go"))


def let_go(path):
    (path.parent / "go").touch()


def wait_for(path, kind, count):
    """Waits until the run has emitted so many events of a kind."""
    for _ in range(72_000):
        if (path.parent / "events.jsonl").exists() and len(events(path, kind)) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"no {kind}")


def test_a_run_that_is_asked_to_stop_in_every_way_saves_and_goes_on_to_the_same_end(tmp_path, straight):
    path = tiny_run(tmp_path, preferences=True)
    steps = 0
    for how in ("file", "SIGTERM", "SIGINT"):
        trainer = Trainer(path, held_in(2, path))
        wait_for(path, "step", steps + 1)
        if how == "file":
            (tmp_path / "stop").touch()
        else:
            os.kill(trainer.process.pid, getattr(signal, how))
        let_go(path)
        stopped = trainer.wait()
        assert (stopped.code, stopped.stderr) == (0, ""), how
        assert states(path)[-2:] == [("stopping", "critic"), ("stopped", "critic")], how
        assert not (tmp_path / "stop").exists()
        (tmp_path / "go").unlink()
        steps = len(events(path, "step"))
    assert train(path).code == 0
    assert model_of(path) == model_of(straight)
    assert len(events(path, "step")) == len(events(straight, "step"))


def test_a_second_signal_leaves_at_once(tmp_path):
    path = tiny_run(tmp_path)
    trainer = Trainer(path, held_in(1, path))
    wait_for(path, "evaluation", 1)
    while trainer.process.is_alive():
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.kill(trainer.process.pid, signal.SIGTERM)
        time.sleep(1.2)  # signals within a second count as one
    assert trainer.wait().code == 128 + signal.SIGTERM


def test_a_request_during_the_preparation_stops_before_the_first_step_and_an_old_one_stops_nothing(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    (tmp_path / "stop").touch()
    os.utime(tmp_path / "stop", (time.time() + 60,) * 2)  # makes it newer than the start
    assert train(path).code == 0
    assert states(path) == [("preparing", "prepare"), ("stopped", "prepare")]
    (tmp_path / "stop").touch()
    time.sleep(0.05)
    assert train(path).code == 0
    assert states(path)[-1] == ("done", "export")


def test_a_second_trainer_on_a_live_run_is_refused_and_the_first_goes_on(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    trainer = Trainer(path, held_in(2, path))
    wait_for(path, "step", 1)
    about = json.loads((tmp_path / "process.json").read_text())
    assert about["pid"] == trainer.process.pid
    for output in trainer.outputs:
        output.rename(output.with_suffix(".first"))
    second = train(path)
    assert second.code == 2
    assert f"process {about['pid']} on {about['host']}" in second.stderr
    let_go(path)
    trainer.process.join()
    assert trainer.process.exitcode == 0
    assert states(path)[-1][0] == "done"


def test_a_changed_configuration_or_changed_data_do_not_go_on_with_an_old_run(tmp_path):
    path = tiny_run(tmp_path, method="rft")
    assert train(path, IN_STEP.format(objective="RejectionFineTuning", step=2)).code == -signal.SIGKILL
    begun = path.read_text()
    changed = json.loads(begun)
    changed["policy"]["batch"] = 3
    path.write_text(json.dumps(changed))
    refused = train(path)
    assert refused.code == 2
    assert "policy.batch is 3 instead of 4" in refused.stderr
    path.write_text(begun)
    rows = (tmp_path / "rows.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "rows.jsonl").write_text("".join(rows[3:]))
    refused = train(path)
    assert refused.code == 2
    assert "the data are not" in refused.stderr


NO_ROOM = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))"
NO_MEMORY = "import resource, torch; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); torch.empty(1 << 30)"
NO_GPU = "raise RuntimeError('CUDA error: unspecified launch failure\\nCUDA kernel errors might be reported later.')"


@pytest.mark.parametrize(  # all stages of steps are one loop (`optimise`), so each failure comes in one of them
    ("stage", "happens", "sentence"),
    [
        ("policy", NO_ROOM, "A checkpoint cannot be written to {folder}/checkpoints: File too large."),
        ("critic", NO_MEMORY, "Memory ran out ("),
        ("policy", NO_GPU, "The GPU failed in the middle of the work (CUDA error: unspecified launch failure)"),
    ],
    ids=["full disk", "no memory", "GPU unplugged"],
)
def test_what_the_machine_does_to_a_run_is_one_sentence_and_it_goes_on_to_the_same_end(
    tmp_path, straight, stage, happens, sentence
):
    path = tiny_run(tmp_path, preferences=True, resources={"checkpoint_minutes": 0})
    objective = {"critic": "Critic", "policy": "WithFeedback"}[stage]
    moment = IN_STEP.format(objective=objective, step=3)
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
