"""A run whose policy is ended by request is done, with a model that can play and be trained further."""

import signal

from test_interrupted import IN_STEP, when_called
from test_run import continued
from tiny_run import events, model_of, states, tiny_run, train

SETTINGS = {"epochs": 10.0, "patience": 0}  # 20 steps


def asked_in(path, step, objective="RejectionFineTuning"):
    """Returns a patch that requests the finish in the middle of a step."""
    asking = f"open({str(path.parent / 'finish')!r}, 'w').close()"
    return IN_STEP.format(objective=objective, step=step).replace("os.kill(os.getpid(), signal.SIGKILL)", asking)


def held_out(*losses):
    """Returns a patch that sets the held-out losses of successive evaluations."""
    return f"""
from tandem_trainer.run import optimise
losses = iter({losses})
optimise.evaluate = lambda *given: {{"loss": next(losses)}}
"""


def result_of(path):
    (result,) = events(path, "result")
    return result


def test_it_ends_after_the_step_at_work_with_a_model_of_the_step_that_did_best(tmp_path):
    path = tiny_run(tmp_path / "asked", method="rft", policy=SETTINGS)
    ran = train(path, asked_in(path, 3) + held_out(3.0, 1.0, 2.0))  # evaluations at steps 0, 2 and, as the last one, 3
    assert (ran.code, ran.stderr) == (0, "")
    assert [event["step"] for event in events(path, "step")] == [1, 2, 3]
    assert states(path)[-2:] == [("running", "export"), ("done", "export")]
    result = result_of(path)
    assert result["ended"] == {"stage": "policy", "step": 3, "steps": 20}
    policy = result["stages"]["policy"]
    assert (policy["steps"], policy["planned_steps"], policy["used_step"]) == (3, 20, 2)
    assert "step 3 of 20" in events(path, "state")[-1]["message"]
    assert "| planned steps | 20 |" in (path.parent / "model" / "README.md").read_text()
    assert not (path.parent / "finish").exists()
    other = tiny_run(tmp_path / "before", method="rft", policy=SETTINGS)
    assert train(other, asked_in(other, 2) + held_out(3.0, 1.0)).code == 0
    assert model_of(path) == model_of(other)


def test_killed_again_and_again_after_the_request_it_ends_at_the_same_step(tmp_path):
    path = tiny_run(tmp_path / "killed", method="rft", policy=SETTINGS)
    moments = [
        f"{asked_in(path, 3)}\nexec({when_called('run.optimise', 'evaluate', 3)!r}, {{}})",  # `exec` separates names
        when_called("run.run", "Run.finish"),
        when_called("export.folders", "write_model"),
        when_called("run.run", "Run.clear"),
    ]
    for moment in moments:
        assert train(path, moment).code == -signal.SIGKILL
    assert train(path).code == 0
    straight = tiny_run(tmp_path / "straight", method="rft", policy=SETTINGS)
    assert train(straight, asked_in(straight, 3)).code == 0
    assert model_of(path) == model_of(straight)
    assert [event["step"] for event in events(path, "step")] == [1, 2, 3]
    assert events(path, "result")[-1]["ended"] == result_of(straight)["ended"]


def test_a_request_that_comes_too_early_waits_for_the_first_step_and_one_in_the_last_step_ends_nothing(tmp_path):
    path = tiny_run(tmp_path / "early", method="rft")
    (path.parent / "finish").touch()
    assert train(path).code == 0
    assert result_of(path)["ended"]["step"] == 1
    path = tiny_run(tmp_path / "late", method="rft")
    assert train(path, asked_in(path, 4)).code == 0
    assert events(path, "step")[-1]["step"] == 4
    assert "ended" not in result_of(path)
    assert not (path.parent / "finish").exists()


ROUNDS = {"critic": {"score": "untrained"}, "candidates": {"rounds": 2}}
MORE = {"more_epochs": 1.0, "patience": 0}


def test_the_rounds_behind_it_are_not_begun_and_come_when_it_is_given_more_epochs(tmp_path):
    two_rounds = tiny_run(tmp_path / "straight", policy=MORE, **ROUNDS)  # with more epochs from the start
    assert train(two_rounds).code == 0
    steps = max(event["step"] for event in events(two_rounds, "step") if event["stage"] == "policy")
    asked = 2
    path = tiny_run(tmp_path / "asked", policy={"patience": 0}, **ROUNDS)
    ran = train(path, asked_in(path, asked, "Policy"))
    assert (ran.code, ran.stderr) == (0, "")
    assert [stage for _, stage in states(path)] == ["prepare", "candidates", "ranking", "policy", "export", "export"]
    assert result_of(path)["ended"] == {"stage": "policy", "step": asked, "steps": steps}
    again = continued(path, tmp_path / "continued", **MORE)
    ran = train(again)
    assert (ran.code, ran.stderr) == (0, "")
    assert model_of(again) == model_of(two_rounds)
    assert model_of(again) != model_of(path)


def test_one_that_got_no_better_on_held_out_examples_has_the_rest_of_its_steps_first(tmp_path):
    straight = tiny_run(tmp_path / "straight", method="rft", policy={"epochs": 4.0, "patience": 0})
    assert train(straight, held_out(5.0, 2.0, 3.0, 4.0, 1.0)).code == 0  # evaluations at the steps 0, 2, 4, 6 and 8
    early = tiny_run(tmp_path / "early", method="rft", policy={"epochs": 4.0, "patience": 1})
    assert train(early, held_out(5.0, 2.0, 3.0)).code == 0
    last = events(early, "step")[-1]
    assert (last["step"], last["steps"]) == (4, 8)  # by which Tandem tells that it ended early
    assert "ended" not in result_of(early)
    path = continued(early, tmp_path / "continued", patience=0)
    assert train(path, held_out(4.0, 1.0)).code == 0
    assert [event["step"] for event in events(path, "step")] == list(range(1, 9))
    assert model_of(path) == model_of(straight)
