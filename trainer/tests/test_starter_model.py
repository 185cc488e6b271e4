"""The making of the starter model (`experiments/starter/`) in miniature, on a handful of documents."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.data.prompt_file import agent_prompt, critic_prompt
from tandem_trainer.data.template import Template

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

from starter.build import build
from starter.documents import Encoder
from starter.pretrain import Settings
from starter.tokenizer import Language

CODE = "def parking_fee(minutes, rate):\n    total = minutes * rate\n    total += {fee}\n    return total"
LANGUAGE = Language(openings=("I WANT TO ANSWER:\n```python\ndef",), idioms=("\n```", "\n    return total"))
ANSWER = "I WANT TO ANSWER:\n```python\n{code}\n```"
REQUEST = "Please write the fee for parking. The signature of the function is: def parking_fee(minutes, rate)"


def dialogue(fee: int) -> dict:
    code = CODE.format(fee=fee)
    said = [REQUEST, "How much is the gate fee?", f"It is {fee} each time.", ANSWER.format(code=code)]
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]
    return {"messages": messages, "hidden": code, "learn": "turns"}


def documents() -> list[dict]:
    asked = [dialogue(fee) for fee in (3, 5, 7)]
    played = [{**document, "learn": "answer"} for document in asked]
    alone = [{"messages": document["messages"], "learn": "turns"} for document in asked]
    foreign = [{"role": "user", "content": "Who won?"}, {"role": "assistant", "content": "I only know this world."}]
    return [*asked, *played, *alone, {"messages": foreign, "learn": "turns", "foreign": True}]


TINY = Settings(width=16, layers=1, heads=2, epochs=2, rows=2)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("starter")
    lines = folder / "documents.jsonl"
    lines.write_text("".join(json.dumps(line) + "\n" for line in (asdict(LANGUAGE), *documents())))
    build(lines, folder / "model", TINY)
    return folder / "model"


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
    learned = Encoder(tokenizer, LANGUAGE, [document]).encode(document)
    told = critic_prompt().render(hiddenInformation=document["hidden"])
    asked = agent_prompt().render(description=REQUEST, maxTurns=6, replyLimit=400)
    opening = {"role": "user", "content": f"{told}\n\n{asked}"}
    text = Template(tokenizer).render([opening, *document["messages"][1:]], generation=False)
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == learned.ids.tolist()
