"""The examples of distillation: dialogues as the student reads them, and what a teacher teaches of each message.

Without PyTorch, as all that `check` counts.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from transformers import PreTrainedTokenizerBase

from ..turn import Example, Turn
from .dialogue import Dialogue
from .template import Template


def taught(dialogues: Sequence[Dialogue], template: Template, target: Literal["guided", "written"]) -> list[Example]:
    """Makes one example of each dialogue. Its turns are those of the student: none has hidden information."""
    seen = template.all_turns(dialogues)
    lessons = guided(dialogues, template) if target == "guided" else written(dialogues, seen)
    return [
        Example(dialogue.task, turns, dialogues=(dialogue.id,), taught=of_dialogue)
        for dialogue, turns, of_dialogue in zip(dialogues, seen, lessons, strict=True)
    ]


def guided(dialogues: Sequence[Dialogue], template: Template) -> list[tuple[Turn, ...]]:
    """The choosing tokens of all turns, behind prompts with c. The only place where c is read."""
    informed = template.all_turns(dialogues, hidden=True)
    counts = iter(choices(template.tokenizer, [turn.response for turns in informed for turn in turns]))
    return [tuple(Turn(turn.prompt, turn.response[: next(counts)]) for turn in turns) for turns in informed]


def written(dialogues: Sequence[Dialogue], seen: Sequence[Sequence[Turn]]) -> list[tuple[Turn, ...]]:
    """All tokens of questions and none of answers; the last message counts as an answer."""
    return [
        tuple(
            turn if asks(dialogue, said.position) else Turn(turn.prompt, turn.response[:0])
            for said, turn in zip(dialogue.turns, turns, strict=True)
        )
        for dialogue, turns in zip(dialogues, seen, strict=True)
    ]


def asks(dialogue: Dialogue, position: int) -> bool:
    return position < len(dialogue.messages) - 1 and not answers(dialogue.messages[position]["content"])


# ---- the tokens of a message that decide whether it asks or answers, and what it asks for;
#      src/core/model/local/guidance.ts has the same rules for a teacher that plays


OUTPUT = "OUTPUT:"
ANSWER = "I WANT TO ANSWER"


def is_opening(text: str) -> bool:
    """True while a message has said nothing yet but its `OUTPUT:`."""
    return OUTPUT.startswith(text.strip())


def may_begin_answer(text: str) -> bool:
    """True for the text of a token with which an answer may begin."""
    said = text.lstrip().removeprefix(OUTPUT).strip()
    return said != "" and (ANSWER.startswith(said) or said.startswith(ANSWER))


def answers(text: str) -> bool:
    return ANSWER in text


def answer_tokens(tokenizer: PreTrainedTokenizerBase, rows: int) -> np.ndarray:
    """Returns (rows,) bool: whether an answer may begin with a token. rows: of the model's output layer."""
    known = len(tokenizer)
    texts = _texts(tokenizer, [np.array([token]) for token in range(min(known, rows))])
    return np.array([may_begin_answer(text) for text in texts] + [False] * (rows - len(texts)))


def choices(tokenizer: PreTrainedTokenizerBase, responses: list[np.ndarray]) -> list[int]:
    """Returns how many tokens of each response choose: those of its opening, and the one behind it; at least one."""
    counts = [1] * len(responses)
    open_ones = list(range(len(responses)))
    while open_ones:
        texts = _texts(tokenizer, [responses[number][: counts[number]] for number in open_ones])
        open_ones = [
            number
            for number, text in zip(open_ones, texts, strict=True)
            if is_opening(text) and counts[number] < len(responses[number])
        ]
        for number in open_ones:
            counts[number] += 1
    return counts


def _texts(tokenizer: PreTrainedTokenizerBase, ids: list[np.ndarray]) -> list[str]:
    return tokenizer.batch_decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
