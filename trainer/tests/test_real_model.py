"""Tests with a real language model, SmolLM2-135M-Instruct, and English text.

`npm test` downloads and converts it and sets TANDEM_REAL_MODEL to its folder.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from sets import cache
from test_policy import trl_trainer
from tiny_run import Trained, events, tiny_run, train, trajectory_rows, write_lines
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.config import ModelConfig, PolicyConfig
from tandem_trainer.data.template import Template
from tandem_trainer.model.base import load_base
from tandem_trainer.sweet_rl import Policy
from tandem_trainer.turn import Example, Turn

torch.set_num_threads(1)

REQUEST = "Please write the price of a parcel by its weight. The signature of the function is: def price(kilograms)"
ASKED = "From how many kilograms is a parcel heavy, and what does a heavy one cost?"
REPLY = "From 20 on; it costs 4.50 more."
GUESSED = "I WANT TO ANSWER:\n```python\ndef price(kilograms):\n    return 5\n```"


@pytest.fixture(scope="module")
def folder() -> Path:
    named = os.environ.get("TANDEM_REAL_MODEL")
    assert named, "TANDEM_REAL_MODEL names no folder: run this by `npm test`, which makes one, or set it to that one."
    return Path(named) / "model"


def test_loss_and_gradients_of_step_wise_dpo_are_those_of_trl(folder, tmp_path):
    base = load_base(ModelConfig(str(folder), training="full", device="cpu", dtype="float32"), run_folder=tmp_path)
    pairs = pairs_of(Template(base.tokenizer))
    policy = Policy(PolicyConfig(beta=0.3, nll=0.0), cache(base, tmp_path))
    policy.precompute(pairs)
    louder(base.model)
    loss, _ = policy.loss(base.model, pairs)
    (loss / len(pairs)).backward()

    trainer = trl_trainer(tmp_path, base.tokenizer, beta=0.3, folder=folder)
    louder(trainer.model)
    theirs = trainer.compute_loss(trainer.model, trainer.data_collator(rows_of(pairs)))
    theirs.backward()
    assert abs(loss.item() / len(pairs) - np.log(2)) > 0.01
    assert loss.item() / len(pairs) == pytest.approx(theirs.item(), abs=1e-5)
    gradients = {name: weight.grad for name, weight in trainer.model.named_parameters()}
    for name, weight in base.model.named_parameters():
        assert (weight.grad - gradients[name]).norm() < 1e-4 * gradients[name].norm(), name


# test/process/real-model/train.test.ts tests two steps of SWEET-RL and their results.
@pytest.mark.parametrize("method", ["rft", "multiturn-dpo"])
def test_two_steps_of_each_method_make_a_model_that_transformers_loads(folder, tmp_path, method):
    ran, path = trained(folder, tmp_path, method)
    assert (ran.code, ran.stderr) == (0, "")
    assert [event["step"] for event in events(path, "step") if event["stage"] == "policy"] == [1, 2]
    before, after = (
        AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32) for place in (folder, path.parent / "model")
    )
    tokenizer = AutoTokenizer.from_pretrained(path.parent / "model")
    text = Template(tokenizer).render([{"role": "user", "content": REQUEST}])
    row = tokenizer(text, add_special_tokens=False, return_tensors="pt")
    with torch.no_grad():
        moved = (before(**row).logits - after(**row).logits).abs().max()
    assert 0 < moved < 10


def louder(model) -> None:
    """Changes the model quickly, so that it differs from its reference."""
    with torch.no_grad():
        for weight in model.parameters():
            weight *= 1.1


def trained(folder: Path, place: Path, method: str) -> tuple[Trained, Path]:
    """Trains two steps with LoRA, on as few dialogues as two steps and a held-out task need."""
    (place / "base").mkdir()
    stage = {"learning_rate": 1e-4, "batch": 2, "max_steps": 2, "patience": 0, "evaluate_every": 10}
    model = {"base": str(folder)}
    path = tiny_run(place, method=method, model=model, policy=stage)
    write_lines(place / "rows.jsonl", trajectory_rows(tasks=4, each=2))
    return train(path), path


def pairs_of(template: Template) -> list[Example]:
    """Makes two pairs that share their request, and one after a reply."""
    opening = [{"role": "user", "content": REQUEST}]
    later = [*opening, {"role": "assistant", "content": ASKED}, {"role": "user", "content": REPLY}]
    said = [(opening, ASKED, GUESSED), (opening, "Which currency?", "Sure!"), (later, GUESSED, ASKED)]

    def turn(prompt, text) -> Turn:
        ids = template.tokenizer([template.render(prompt), text], add_special_tokens=False)["input_ids"]
        return Turn(np.array(ids[0], np.int32), np.array([*ids[1], template.end_of_turn], np.int32))

    return [
        Example(str(number), (turn(prompt, chosen),), (turn(prompt, rejected),))
        for number, (prompt, chosen, rejected) in enumerate(said)
    ]


def rows_of(pairs: list[Example]) -> list[dict[str, list[int]]]:
    return [
        {
            "prompt_ids": pair.chosen[0].prompt.tolist(),
            "chosen_ids": pair.chosen[0].response.tolist(),
            "rejected_ids": pair.rejected[0].response.tolist(),
        }
        for pair in pairs
    ]
