"""What people left on single turns: the sign of each signal, its rows, and a run of nothing else."""

import math

import pytest
import torch
from tiny_run import ANSWERS, DESCRIPTION, QUESTIONS, REPLIES, events, states, tiny_run, train, write_lines

from tandem_trainer.data.pairs import return_of
from tandem_trainer.data.rows import read_preferences
from tandem_trainer.fault import UsageFault
from tandem_trainer.losses import preference_loss, reference_point, unpaired_loss

BETA = 0.1


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def kto(ratio, z0, desirable):
    """Equation 8 of arXiv 2402.01306, as it is printed, with λ_D = λ_U = 1."""
    value = sigmoid(BETA * (ratio - z0)) if desirable else sigmoid(BETA * (z0 - ratio))
    return 1 - value


def gradient(desirability, ratio=0.3, z0=None):
    live = torch.tensor(ratio, requires_grad=True)
    unpaired_loss(live, z0, desirability, BETA).backward()
    return live.grad.item()


@pytest.mark.parametrize("desirable", [True, False])
def test_a_turn_without_a_pair_has_the_loss_of_kto(desirable):
    z0 = reference_point([torch.tensor(0.2), torch.tensor(0.6)])
    loss = unpaired_loss(torch.tensor(0.9), z0, float(desirable), BETA)
    assert loss.item() == pytest.approx(kto(0.9, 0.4, desirable))


def test_the_reference_point_is_not_below_zero_and_has_no_gradient():
    live = torch.tensor(-0.5, requires_grad=True)
    z0 = reference_point([live, torch.tensor(0.1)])
    assert z0 == 0 and not z0.requires_grad
    assert reference_point([]) is None


def test_a_thumb_up_raises_a_turn_and_a_thumb_down_lowers_it():
    assert gradient(1.0) < 0 < gradient(0.0)
    assert gradient(1.0) == pytest.approx(-gradient(0.0))


def test_a_choice_raises_the_chosen_turn_and_lowers_the_other():
    sides = [torch.tensor(0.0, requires_grad=True) for _ in range(2)]
    preference_loss(*sides, BETA).backward()
    assert [side.grad.item() for side in sides] == pytest.approx([-BETA / 2, BETA / 2])


def test_an_answer_that_is_kept_is_raised_and_a_rejected_one_lowered():
    kept, half, rejected = (gradient(return_of(outcome, 0, 0.1)) for outcome in (1.0, 0.5, 0.0))
    assert kept < half < rejected and half == pytest.approx(0)


def test_a_price_lowers_questions_the_more_of_them_come():
    free, one, six = (gradient(return_of(1.0, questions, 0.1)) for questions in (0, 1, 6))
    assert free < one < 0 < six


# ---- rows and runs


def row(number: int, label: bool, **tandem) -> dict:
    """A thumb on a question or on a premature answer, with the history as the agent saw it."""
    said = QUESTIONS[0] if label else f"I WANT TO ANSWER: {ANSWERS[1]}"
    return {
        "prompt": [{"role": "user", "content": DESCRIPTION.format(number=number)}],
        "completion": [{"role": "assistant", "content": said}],
        "label": label,
        "tandem": {"task": f"liked-{number}", "turn": 1, "signal": "thumbs", **tandem},
    }


def rows() -> list[dict]:
    thumbs = [row(number, number % 2 == 0) for number in range(6)]
    verdict = row(6, True, signal="verdicts")
    outcome = {**row(7, False, signal="outcomes", questions=1), "reward": 1.0}
    del outcome["label"]
    history = [
        *thumbs[0]["prompt"],
        *thumbs[0]["completion"],
        {"role": "user", "content": REPLIES[0]},
    ]
    choice = {
        "prompt": history,
        "chosen": [{"role": "assistant", "content": QUESTIONS[1]}],
        "rejected": [{"role": "assistant", "content": QUESTIONS[0]}],
        "tandem": {"task": "liked-0", "signal": "choices"},
    }
    return [*thumbs, verdict, outcome, choice]


def run_of(folder, **changes):
    path = tiny_run(folder, **changes)
    write_lines(folder / "feedback.jsonl", rows())
    return path


SIGNALS = {"thumbs": 6, "verdicts": 1, "outcomes": 1, "choices": 1}


def test_a_run_learns_from_feedback_alone(tmp_path):
    path = run_of(
        tmp_path / "run", method="multiturn-dpo", data={"trajectories": [], "preferences": ["feedback.jsonl"]}
    )
    trained = train(path)
    assert trained.code == 0, trained.stderr
    (data,) = events(path, "data")
    assert data["feedback"] == SIGNALS and data["preferences"] == 0 and data["trajectories"] == 0
    steps = events(path, "step")
    assert steps[-1]["margin"] > 0 and steps[-1]["margin"] > steps[0]["margin"]
    assert ("done", "export") in states(path)


@pytest.mark.parametrize("method", ["rft", "distill", "multiturn-dpo"])
def test_feedback_is_added_to_an_ordinary_run(tmp_path, method):
    stage = {"distill": {"distill": {"batch": 8, "epochs": 2.0, "evaluate_every": 2}}}.get(method, {})
    path = run_of(tmp_path / "run", method=method, data={"preferences": ["feedback.jsonl"]}, **stage)
    trained = train(path)
    assert trained.code == 0, trained.stderr
    (data,) = events(path, "data")
    assert data["feedback"] == SIGNALS and data["trajectories"] == 24
    assert any("accuracy" in step for step in events(path, "step"))


def test_a_weight_of_zero_leaves_a_signal_out(tmp_path):
    changes = {"trajectories": [], "preferences": ["feedback.jsonl"], "feedback": {"thumbs": 0.0}}
    path = run_of(tmp_path / "run", method="multiturn-dpo", data=changes)
    assert train(path).code == 0
    (data,) = events(path, "data")
    assert "thumbs" not in data["feedback"] and data["left_out"]["of weight 0 in data.feedback"] == 6


def test_a_row_keeps_the_tokens_that_were_sampled(tmp_path):
    file = tmp_path / "rows.jsonl"
    sampled = {"token_ids": [5, 6, 7], "prompt_token_ids": [1, 2], "finish_reason": "stop"}
    write_lines(file, [row(0, True, completion=sampled)])
    ((thumb,), problems) = read_preferences([file])
    (turn,) = thumb.chosen.turns
    assert not problems and thumb.desirability == 1 and thumb.rejected is None
    assert turn.ids.tolist() == [5, 6, 7] and turn.prompt_ids.tolist() == [1, 2] and turn.sampled


@pytest.mark.parametrize(
    "change",
    [
        {"label": "yes"},
        {"label": None},
        {"completion": [{"role": "user", "content": "Hello."}]},
        {"tandem": {"signal": "smiles"}},
        {"tandem": {"questions": -1}},
    ],
)
def test_a_row_that_says_nothing_is_a_bad_line(tmp_path, change):
    file = tmp_path / "rows.jsonl"
    write_lines(file, [row(0, True), {**row(1, True), **change}])
    preferences, problems = read_preferences([file])
    assert len(preferences) == 1 and len(problems) == 1


def test_a_method_that_learns_from_dialogues_refuses_a_choice_without_a_signal(tmp_path):
    file = tmp_path / "rows.jsonl"
    choice = {name: value for name, value in rows()[-1].items() if name != "tandem"}
    write_lines(file, [choice])
    with pytest.raises(UsageFault, match="without a signal"):
        read_preferences([file], only_feedback=True)
