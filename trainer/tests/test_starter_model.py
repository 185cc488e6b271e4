"""The making of the starter model (`experiments/starter/`) in miniature, on a handful of documents."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.data.prompt_file import agent_prompt, critic_prompt
from tandem_trainer.data.template import Template

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

from starter.build import build
from starter.documents import Encoder
from starter.muon import Muon
from starter.pretrain import Settings
from starter.tokenizer import OPENING

CODE = "def parking_fee(minutes, rate):\n    total = minutes * rate\n    total += {fee}\n    return total"
ANSWER = "I WANT TO ANSWER:\n```python\n{code}\n```"
REQUEST = "Please write the fee for parking. The signature of the function is: def parking_fee(minutes, rate)"


def dialogue(fee: int) -> dict:
    code = CODE.format(fee=fee)
    said = [REQUEST, "How much is the gate fee?", f"It is {fee} each time.", ANSWER.format(code=code)]
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]
    return {"messages": messages, "hidden": code, "learn": "turns"}


def documents() -> list[dict]:
    asked = [dialogue(fee) for fee in (3, 5, 7)]
    played = [{**document, "learn": "code"} for document in asked]
    alone = [{"messages": document["messages"], "learn": "turns"} for document in asked]
    foreign = [{"role": "user", "content": "Who won?"}, {"role": "assistant", "content": "I only know this world."}]
    return [*asked, *played, *alone, {"messages": foreign, "learn": "turns", "foreign": True}]


TINY = Settings(width=16, layers=1, heads=2, inner=32, epochs=2, rows=2)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("starter")
    return made(folder)


def made(folder: Path) -> Path:
    lines = folder / "documents.jsonl"
    lines.write_text("".join(json.dumps(document) + "\n" for document in documents()))
    build(lines, folder / "model", TINY)
    return folder / "model"


def test_the_same_documents_give_the_same_files(built: Path, tmp_path: Path):
    again = made(tmp_path)
    names = sorted(file.name for file in built.iterdir())
    assert names == sorted(file.name for file in again.iterdir())
    assert all((built / name).read_bytes() == (again / name).read_bytes() for name in names)


def test_what_was_built_is_a_model_folder_of_transformers(built: Path):
    tokenizer = AutoTokenizer.from_pretrained(built)
    model = AutoModelForCausalLM.from_pretrained(built)
    assert type(model).__name__ == "LlamaForCausalLM"
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id
    ids = tokenizer(" parking_fee gate 7", add_special_tokens=False)["input_ids"]
    assert [tokenizer.decode([token]) for token in ids] == [" parking_fee", " gate", " ", "7"]
    foreign = "Naïve 漢字\u0085\n\t…"
    assert tokenizer.decode(tokenizer(foreign, add_special_tokens=False)["input_ids"]) == foreign


def test_documents_are_written_as_the_engine_and_the_trainer_write_them(built: Path):
    """Renders the opening by agent.md and critic.md; the chat template keeps only request and hidden code."""
    tokenizer = AutoTokenizer.from_pretrained(built)
    document = dialogue(7)
    learned = Encoder(tokenizer, [document]).encode(document)
    told = critic_prompt().render(hiddenInformation=document["hidden"])
    asked = agent_prompt().render(description=REQUEST, maxTurns=6, replyLimit=400)
    opening = {"role": "user", "content": f"{told}\n\n{asked}"}
    text = Template(tokenizer).render([opening, *document["messages"][1:]], generation=False)
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == learned.ids.tolist()


def test_values_weigh_more_and_what_others_say_nothing_unless_the_hidden_code_tells_it(built: Path):
    tokenizer = AutoTokenizer.from_pretrained(built)
    critics = dialogue(7)
    alone = {"messages": critics["messages"], "learn": "turns"}
    program = {"messages": critics["messages"], "learn": "code"}
    encoder = Encoder(tokenizer, [critics])

    def weights_of(document: dict, token: str) -> list[float]:
        learned = encoder.encode(document)
        (one,) = tokenizer(token, add_special_tokens=False)["input_ids"]
        return learned.weights[learned.ids == one].tolist()

    assert weights_of(alone, "7") == [0, 8]
    assert weights_of(critics, "7") == pytest.approx([0, 2.4, 8])
    assert weights_of(alone, "\n```") == [4]
    assert weights_of(alone, OPENING) == [3]
    assert weights_of(program, OPENING) == [0]
    assert np.count_nonzero(encoder.encode(program).weights) < np.count_nonzero(encoder.encode(alone).weights)


@pytest.mark.parametrize("shape", [(8, 24), (24, 8), (8, 8)])
def test_muon_goes_where_pytorchs_goes_but_for_its_rounding(shape: tuple[int, int]):
    torch.manual_seed(0)
    start = torch.randn(shape)
    ours, theirs = start.clone().requires_grad_(), start.clone().requires_grad_()
    steps = [Muon([ours], lr=0.02, weight_decay=0.01), torch.optim.Muon([theirs], lr=0.02, weight_decay=0.01)]
    for _ in range(3):
        ours.grad = torch.randn(shape)
        theirs.grad = ours.grad.clone()
        for optimiser in steps:
            optimiser.step()
    ours_moved, theirs_moved = (moved.detach() - start for moved in (ours, theirs))
    assert (ours_moved - theirs_moved).norm() < 0.05 * theirs_moved.norm()
