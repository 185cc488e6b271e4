"""The tokens of a message that decide whether it asks or answers, and what it asks for.

`src/core/model/local/guidance.ts` has the same rules for a teacher that plays.
"""

import numpy as np
from transformers import PreTrainedTokenizerBase

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
