"""Distillation: its targets by hand, its loss against NumPy, what it learns, and what the student never reads."""

import signal

import numpy as np
import pytest
import torch
from models import tiny_tokenizer
from sets import cache, ids, learn, look, tiny_base
from test_interrupted import IN_STEP
from tiny_run import ANSWERS, SETTINGS, model_of, tiny_run, train, trajectory_rows, write_lines

from tandem_trainer.data.lessons import answer_tokens, choices, is_opening, may_begin_answer
from tandem_trainer.losses import forward_kl, guided_target
from tandem_trainer.methods.config import DistillConfig
from tandem_trainer.methods.distill import Distillation
from tandem_trainer.model.folder import load_template
from tandem_trainer.model.log_probs import token_log_probs
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config
from tandem_trainer.turn import Example, Turn

torch.set_num_threads(1)

BYE = 2
REQUEST = ids(40, 41)
SECRETS = (10, 11)  # tokens of hidden information, which the teacher's prompt begins with


def example(secret: int, task: str = "task") -> Example:
    """A message of one choosing token, which is taught by a teacher that reads the secret."""
    said = Turn(REQUEST, ids(30, BYE))
    return Example(task, (said,), taught=(Turn(ids(secret, *REQUEST), said.response[:1]),))


def distribution(base, prompt: np.ndarray) -> torch.Tensor:
    """log p of each token of the vocabulary behind a prompt, one by one: (V,)."""
    rows = base.model.get_output_embeddings().weight.shape[0]
    with torch.no_grad():
        return torch.cat(token_log_probs(base.model, [Turn(prompt, ids(token)) for token in range(rows)]))


# ---- the choosing tokens


@pytest.mark.parametrize("text", ["I", " I", "I WANT", "I WANT TO ANSWER:\n```python", "OUTPUT:\nI WANT TO ANSWER:"])
def test_an_answer_may_begin_with(text):
    assert may_begin_answer(text)


@pytest.mark.parametrize("text", ["", "\n", "OUTPUT:", "What", "If", "I would", "OUTPUT:\nWhat"])
def test_an_answer_does_not_begin_with(text):
    assert not may_begin_answer(text)


def test_a_message_opens_with_its_output_marker():
    assert all(map(is_opening, ("", "\n", "OUT", "OUTPUT:", "OUTPUT:\n")))
    assert not any(map(is_opening, ("OUTPUT: W", "What", "I WANT")))


def test_the_token_behind_the_opening_chooses_too():
    tokenizer = tiny_tokenizer()
    plain, opened = ("What should", "OUTPUT:\nWhat should")
    tokens = [np.array(tokenizer(text)["input_ids"], np.int32) for text in (plain, opened)]
    first, second = choices(tokenizer, tokens)
    assert first == 1
    assert tokenizer.decode(tokens[1][: second - 1]).strip() == "OUTPUT:"


def test_answer_tokens_are_as_many_as_the_output_layer_has_rows():
    tokenizer = tiny_tokenizer()
    mask = answer_tokens(tokenizer, len(tokenizer) + 8)
    assert len(mask) == len(tokenizer) + 8 and not mask[-8:].any()
    assert mask[tokenizer("I")["input_ids"][0]]


# ---- the target


def test_the_target_tilts_questions_and_keeps_the_probability_of_answering():
    # Tokens: an answer of probability 0.5, and questions of 0.3 and 0.2, which c makes 0.1 and 0.4. With η = 2 their
    # weights are 0.3·(0.1/0.3)² = 1/30 and 0.2·(0.4/0.2)² = 0.8. They share the 0.5 that the answer leaves.
    plain, told = torch.tensor([[0.5, 0.3, 0.2]]).log(), torch.tensor([[0.5, 0.1, 0.4]]).log()
    target = guided_target(plain, told, torch.tensor([True, False, False]), eta=2.0)
    assert target.exp()[0].tolist() == pytest.approx([0.5, 0.02, 0.48], abs=1e-6)


def test_the_target_never_raises_a_token_that_is_implausible_with_the_hidden_information():
    # c makes the last token ten thousand times as likely, and still improbable: it keeps its weight beside 0.5 and 0.5.
    plain = torch.tensor([[0.5 - 5e-9, 0.5 - 5e-9, 1e-8]]).log()
    told = torch.tensor([[0.5, 0.5 - 1e-4, 1e-4]]).log()
    target = guided_target(plain, told, torch.tensor([False, False, False]), eta=4.0)
    assert target.exp()[0].tolist() == pytest.approx([0.5, 0.5, 1e-8], rel=1e-3)


def test_without_guidance_the_target_is_the_reference():
    plain, told = torch.randn(5, 7).log_softmax(-1), torch.randn(5, 7).log_softmax(-1)
    answers = torch.arange(7) < 2
    assert torch.allclose(guided_target(plain, told, answers, eta=0.0), plain, atol=1e-6)


def test_forward_kl_ignores_tokens_that_the_target_excludes():
    target, live = torch.tensor([[0.0, 1.0]]).log(), torch.tensor([[0.5, 0.5]]).log()
    assert forward_kl(target, live).tolist() == pytest.approx([np.log(2)])


# ---- the loss


def numpy_loss(base, one: Example, eta: float) -> float:
    """The loss of an example with one message of a choosing token and its end, before any training."""
    answers = answer_tokens(base.tokenizer, len(distribution(base, REQUEST)))
    (said,), (lesson,) = one.chosen, one.taught
    plain, told = (distribution(base, prompt).double().numpy() for prompt in (said.prompt, lesson.prompt))
    tilt = eta * (told - plain)
    tilt = np.where(told < told[~answers].max() + np.log(0.01), np.minimum(tilt, 0), tilt)
    weights = np.exp(plain + tilt) * ~answers
    target = np.where(answers, np.exp(plain), weights / weights.sum() * np.exp(plain)[~answers].sum())
    # At the end of the message the student is still the reference, so that KL is 0 there.
    return float((target * (np.log(target) - plain)).sum())


@pytest.mark.parametrize("family", ["llama", "gemma2"])
def test_the_loss_equals_a_transcription_in_numpy(tmp_path, family):
    base = tiny_base(tmp_path, family)
    objective = Distillation(DistillConfig(eta=3.0), cache(base, tmp_path))
    one = example(SECRETS[0])
    objective.precompute([one])
    figures = look(base, objective, [one])
    expected = numpy_loss(base, one, eta=3.0)
    assert expected > 1e-4
    assert figures["loss"] == pytest.approx(expected, rel=1e-3)
    assert figures["kl"] == pytest.approx(0, abs=1e-6)


def test_pieces_of_the_vocabulary_change_nothing(tmp_path):
    base = tiny_base(tmp_path, training="full")
    whole, pieces = (Distillation(DistillConfig(), cache(base, tmp_path / name)) for name in ("whole", "pieces"))
    pieces.reference.logits_bytes = 1  # a row at a time
    examples = [example(secret) for secret in SECRETS]
    gradients = []
    for objective in (whole, pieces):
        objective.precompute(examples)
        base.model.zero_grad()
        objective.loss(base.model, examples)[0].backward()
        gradients.append(torch.cat([weight.grad.flatten() for _, weight in base.trainable()]))
    assert torch.allclose(*gradients, atol=1e-6) and gradients[0].abs().max() > 1e-4


@pytest.mark.parametrize("training", ["lora", "full"])
def test_without_guidance_there_is_no_gradient_at_the_start(tmp_path, training):
    base = tiny_base(tmp_path, training=training)
    objective = Distillation(DistillConfig(eta=0.0), cache(base, tmp_path))
    examples = [example(secret) for secret in SECRETS]
    objective.precompute(examples)
    loss, _ = objective.loss(base.model, examples)
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-5)
    assert all(weight.grad is None or weight.grad.abs().max() < 1e-4 for _, weight in base.trainable())


def test_the_student_learns_the_mean_of_the_teachers_over_hidden_information(tmp_path):
    """Shows E_c π_T(· | o, c): one history occurs with two secrets, one three times as often as the other."""
    base = tiny_base(tmp_path, training="full")
    answers = torch.from_numpy(answer_tokens(base.tokenizer, len(distribution(base, REQUEST))))
    plain = distribution(base, REQUEST)
    told = [distribution(base, ids(secret, *REQUEST)) for secret in SECRETS]
    teachers = [guided_target(plain[None], each[None], answers, eta=4.0).exp()[0] for each in told]
    best = 0.75 * teachers[0] + 0.25 * teachers[1]

    objective = Distillation(DistillConfig(eta=4.0), cache(base, tmp_path))
    examples = [example(SECRETS[number == 3], f"task-{number}") for number in range(4)]
    before, after = learn(base, objective, examples, examples, steps=80, rate=3e-3)

    student = distribution(base, REQUEST).exp()
    started, ended = ((one - best).abs().sum() / 2 for one in (plain.exp(), student))
    assert ended < 0.03 and ended < started / 5
    assert student[answers].sum() == pytest.approx(plain.exp()[answers].sum().item(), abs=0.01)
    assert after["loss"] < before["loss"] and after["kl"] < 1e-2


def test_written_questions_are_learned_and_answers_are_kept(tmp_path):
    base = tiny_base(tmp_path)
    asked, answered = Turn(REQUEST, ids(30, 31, BYE)), Turn(ids(42, 43), ids(50, 51, BYE))
    one = Example("task", (asked, answered), taught=(asked, Turn(answered.prompt, ids())))
    objective = Distillation(DistillConfig(target="written"), cache(base, tmp_path))
    (kept,) = token_log_probs(base.model, [answered])
    before, after = learn(base, objective, [one], [one], steps=40)
    assert after["nll"] < before["nll"] - 1 and after["kl"] < 0.05
    (now,) = token_log_probs(base.model, [answered])
    assert (now - kept).abs().max() < 0.5


# ---- the examples of a run


def prepared(folder, **distill):
    config = read_config(tiny_run(folder, method="distill", distill={**SETTINGS, **distill}))
    template = load_template(config.model, folder / "base", folder)
    return prepare(config, template), template


def test_no_input_of_the_student_has_hidden_information(tmp_path):
    run, template = prepared(tmp_path)
    hidden = f"<hidden>\n{ANSWERS[0]}"
    assert len(run.policy) == len(run.dialogues) == 24
    for one in run.policy:
        texts = [template.tokenizer.decode(np.concatenate([turn.prompt, turn.response])) for turn in one.turns]
        assert not any(hidden in text for text in texts)
        assert all(hidden in template.tokenizer.decode(turn.prompt) for turn in one.taught)
        assert [len(turn.response) for turn in one.taught] == [1] * len(one.chosen)


def test_the_teacher_alone_reads_the_code_after_the_edits_of_a_dialogue_about_own_code(tmp_path):
    path = tiny_run(tmp_path, method="distill", distill=SETTINGS)
    code = "def solve(values): return sorted(set(values))"
    rows = [{**row, "reward": None} for row in trajectory_rows()]
    for row in rows:
        row["task"].update(ground_truth="", test_cases={}, hidden_information=code)
    rows[-1]["task"] = {**rows[-1]["task"], "hidden_information": ""}  # exported, without the code
    write_lines(tmp_path / "rows.jsonl", rows)
    config = read_config(path)
    template = load_template(config.model, tmp_path / "base", tmp_path)
    run = prepare(config, template)
    assert len(run.policy) == 23 and run.counts["left_out"] == {"without hidden information": 1}
    for one in run.policy:
        texts = [template.tokenizer.decode(np.concatenate([turn.prompt, turn.response])) for turn in one.turns]
        assert not any(code in text for text in texts)
        assert all(code in template.tokenizer.decode(turn.prompt) for turn in one.taught)


def test_of_written_dialogues_all_messages_but_the_last_are_taught(tmp_path):
    run, _ = prepared(tmp_path, target="written")
    for one in run.policy:
        *asked, last = one.taught
        assert len(last.response) == 0
        assert all(
            np.array_equal(turn.response, said.response) for turn, said in zip(asked, one.chosen[:-1], strict=True)
        )


def test_dialogues_need_no_grade_and_those_without_hidden_information_are_left_out(tmp_path):
    path = tiny_run(tmp_path, method="distill", distill=SETTINGS)
    rows = [{**row, "reward": None} for row in trajectory_rows()]
    del rows[0]["task"]["hidden_information"], rows[0]["task"]["ground_truth"]  # of a task with three dialogues
    write_lines(tmp_path / "rows.jsonl", rows)
    config = read_config(path)
    run = prepare(config, load_template(config.model, tmp_path / "base", tmp_path))
    assert len(run.policy) == 21 and run.counts["left_out"] == {"without hidden information": 3}


@pytest.mark.parametrize("training", ["lora", "full"])
def test_a_run_that_was_killed_ends_bit_equal_to_one_that_was_not(tmp_path, training):
    paths = [
        tiny_run(
            tmp_path / name,
            method="distill",
            distill=SETTINGS,
            model={"training": training},
            resources={"checkpoint_minutes": 0},
        )
        for name in ("straight", "killed")
    ]
    straight, killed = paths
    assert train(killed, IN_STEP.format(objective="Distillation", step=2)).code == -signal.SIGKILL
    for path in paths:
        ran = train(path)
        assert (ran.code, ran.stderr) == (0, "")
    assert model_of(straight) == model_of(killed)
