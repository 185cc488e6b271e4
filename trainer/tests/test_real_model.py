"""Tests with a real language model, SmolLM2-135M-Instruct, and English text.

`npm test` downloads and converts it and sets TANDEM_REAL_MODEL to its folder.
"""

import os
from pathlib import Path

import pytest
import torch
from tiny_run import Trained, events, tiny_run, train, trajectory_rows, write_lines
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.data.template import Template

torch.set_num_threads(1)

REQUEST = "Please write the price of a parcel by its weight. The signature of the function is: def price(kilograms)"


@pytest.fixture(scope="module")
def folder() -> Path:
    named = os.environ.get("TANDEM_REAL_MODEL")
    assert named, "TANDEM_REAL_MODEL names no folder: run this by `npm test`, which makes one, or set it to that one."
    return Path(named) / "model"


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


def trained(folder: Path, place: Path, method: str) -> tuple[Trained, Path]:
    """Trains two steps with LoRA, on as few dialogues as two steps and a held-out task need."""
    (place / "base").mkdir()
    stage = {"learning_rate": 1e-4, "batch": 2, "max_steps": 2, "patience": 0, "evaluate_every": 10}
    model = {"base": str(folder)}
    path = tiny_run(place, method=method, model=model, policy=stage)
    write_lines(place / "rows.jsonl", trajectory_rows(tasks=4, each=2))
    return train(path), path
