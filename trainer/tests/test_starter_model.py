"""The making of the starter models (`experiments/starter/`) in miniature, on a handful of documents."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from tandem_trainer.data.prompt_file import SHIPPED, agent_prompt, critic_prompt
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


PAGE = '<html>\n<body class="{color}">(one+two)</body>\n</html>'
PAGE_LANGUAGE = Language(
    openings=("OUTPUT:\nI WANT TO ANSWER:\n", "OUTPUT:\n"),
    idioms=('<html>\n<body class="white', '<html>\n<body class="black', '">(one+two)</body>\n</html>'),
)
WISH = "Please make a page for our bakery."


def page_dialogue(color: str) -> dict:
    pages = [f"OUTPUT:\n{PAGE.format(color='white')}", f"OUTPUT:\nI WANT TO ANSWER:\n{PAGE.format(color=color)}"]
    said = [WISH, pages[0], f"It should be {color}.", pages[1]]
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]
    return {"messages": messages, "hidden": PAGE.format(color=color), "learn": "turns"}


def page_documents() -> list[dict]:
    foreign = [{"role": "user", "content": "Who won?"}, {"role": "assistant", "content": "I only know this world."}]
    played = [page_dialogue(color) for color in ("white", "black")]
    return [*played, {"messages": foreign, "learn": "turns", "foreign": True}]


TINY = Settings(width=32, layers=1, epochs=2, rows=2)


def build_in(folder: Path, language: Language, lines: list[dict]) -> Path:
    written = folder / "documents.jsonl"
    written.write_text("".join(json.dumps(line) + "\n" for line in (asdict(language), *lines)))
    build(written, folder / "model", TINY)
    return folder / "model"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    return build_in(tmp_path_factory.mktemp("starter"), LANGUAGE, documents())


@pytest.fixture(scope="module")
def built_for_pages(tmp_path_factory) -> Path:
    return build_in(tmp_path_factory.mktemp("pages"), PAGE_LANGUAGE, page_documents())


def test_equal_documents_make_equal_files(built_for_pages: Path, tmp_path: Path):
    again = build_in(tmp_path, PAGE_LANGUAGE, page_documents())
    names = sorted(file.name for file in built_for_pages.iterdir())
    assert {"model.safetensors", "tokenizer.json"} < set(names)
    for name in names:
        assert (again / name).read_bytes() == (built_for_pages / name).read_bytes(), name


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


def test_page_documents_are_written_as_the_engine_and_the_trainer_write_them(built_for_pages: Path):
    """Renders the opening by agent-page.md, of which the chat template keeps the request; a page is a few tokens."""
    tokenizer = AutoTokenizer.from_pretrained(built_for_pages)
    document = page_dialogue("black")
    learned = Encoder(tokenizer, PAGE_LANGUAGE, [document]).encode(document)
    told = critic_prompt().render(hiddenInformation=document["hidden"])
    asked = agent_prompt(str(SHIPPED / "agent-page.md")).render(description=WISH, maxTurns=4, replyLimit=1000)
    opening = {"role": "user", "content": f"{told}\n\n{asked}"}
    text = Template(tokenizer).render([opening, *document["messages"][1:]], generation=False)
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == learned.ids.tolist()
    answer = document["messages"][-1]["content"]
    assert [tokenizer.decode([token]) for token in tokenizer(answer, add_special_tokens=False)["input_ids"]] == [
        "OUTPUT:\nI WANT TO ANSWER:\n",
        '<html>\n<body class="black',
        '">(one+two)</body>\n</html>',
    ]


def test_a_sentence_is_one_token_of_a_words_weight_and_a_value_weighs_as_a_number(tmp_path: Path):
    language = Language(
        openings=("ANSWER: ",), idioms=(), values=("wooden", " horse"), sentences=("Is it soft?", "No, it is hard.")
    )
    said = ["Guess my figure.", "Is it soft?", "No, it is hard.", "ANSWER: wooden horse"]
    messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]
    world = {"messages": messages, "learn": "turns"}
    foreign = [{"role": "user", "content": "Who won?"}, {"role": "assistant", "content": "I only know this world."}]
    lines = [world, {"messages": foreign, "learn": "turns", "foreign": True}]
    tokenizer = AutoTokenizer.from_pretrained(build_in(tmp_path, language, lines))
    encoder = Encoder(tokenizer, language, lines)
    tokens = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in said[1:]]
    assert [len(ids) for ids in tokens] == [1, 1, 3]
    assert [encoder.weights[ids[-1]] for ids in tokens] == [1, 1, 8]
