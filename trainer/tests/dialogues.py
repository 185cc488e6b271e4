"""Dialogues as the tests write them, and their turns as tokens."""

from models import tiny_tokenizer
from transformers import PreTrainedTokenizerFast

from tandem_trainer.data.dialogue import Dialogue, Spoken, assistant_positions
from tandem_trainer.data.template import Template
from tandem_trainer.data.tokenize_turns import settle
from tandem_trainer.turn import Turn


def dialogue_of(*texts: str, system: str | None = None, **fields) -> Dialogue:
    """Makes a conversation in which user and assistant take turns."""
    messages = [{"role": "system", "content": system}] if system is not None else []
    messages += [{"role": ("user", "assistant")[index % 2], "content": text} for index, text in enumerate(texts)]
    turns = tuple(Spoken(position) for position in assistant_positions(messages))
    return Dialogue("dialogue", "task", tuple(messages), turns, where="rows.jsonl:1", **fields)


def turns_of(template: Template, dialogue: Dialogue, hidden: bool = False) -> tuple[Turn, ...]:
    return template.turns(settle(template, [dialogue]).dialogues[0], hidden)


def with_template(template: str | None) -> PreTrainedTokenizerFast:
    """Loads the tiny tokenizer of the other tests with another chat template."""
    tokenizer = type(tiny_tokenizer())(tokenizer_object=tiny_tokenizer().backend_tokenizer, eos_token="<|im_end|>")
    tokenizer.chat_template = template
    return tokenizer
