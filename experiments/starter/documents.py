"""Encodes dialogues as tokens, each with the weight of its loss."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from .tokenizer import AGENT, END, HIDDEN, USER, Language

VALUE_WEIGHT = 8.0  # numbers and comparisons, which are copied into a program
IDIOM_WEIGHT = 4.0  # other parts of an answer: the steps of a program and their order, the decisions of a page
TALK_WEIGHT = 3.0  # questions, and the opening of an answer; the agent easily forgets what it has asked
REPLY_WEIGHT = 0.3  # the collaborator's replies, only when the hidden code precedes and determines them
VALUE = re.compile(r"[0-9.]+| >=? ")


@dataclass(frozen=True, eq=False)
class Document:
    """ids: (L,) int64, the conversation. weights: (L,) float32, 0 for tokens whose prediction is not learned."""

    ids: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)


def read(file: Path) -> tuple[Language, list[dict]]:
    """Reads what `demonstrations.ts` wrote: the world's language, then lines of {messages, hidden?, learn, foreign?}.

    learn: "turns", or "answer" for the last message alone, after its opening.
    """
    with file.open(encoding="utf-8") as lines:
        language, *documents = map(json.loads, lines)
    return Language(**{part: tuple(stretches) for part, stretches in language.items()}), documents


class Encoder:
    """Encodes conversations as the chat template does, piece by piece; each distinct message is tokenised once."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, language: Language, documents: Iterable[dict]):
        self.user, self.agent, self.hidden, self.end = tokenizer.convert_tokens_to_ids([USER, AGENT, HIDDEN, END])
        self.weights = np.array(
            [weight_of(tokenizer.decode([token]), language) for token in range(len(tokenizer))], np.float32
        )
        distinct = list(dict.fromkeys(texts(documents)))
        encoded = tokenizer.backend_tokenizer.encode_batch(distinct, add_special_tokens=False)
        self.ids = {text: (*of_text.ids, self.end) for text, of_text in zip(distinct, encoded, strict=True)}
        self.openings = language.openings

    def encode(self, document: dict) -> Document:
        hidden, answer_only = document.get("hidden"), document["learn"] == "answer"
        pieces = [] if hidden is None else [self.piece(self.hidden, hidden, 0)]
        last = len(document["messages"]) - 1
        for place, message in enumerate(document["messages"]):
            text = message["content"]
            if message["role"] == "user":
                pieces.append(self.piece(self.user, text, REPLY_WEIGHT if hidden is not None and place > 0 else 0))
            elif not answer_only:
                pieces.append(self.turn(text))
            else:
                pieces.append(self.piece(self.agent, text, float(place == last), after=1))
        return Document(*map(np.concatenate, zip(*pieces, strict=True)))

    def turn(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Encodes a message of the agent that is learned whole."""
        if not text.startswith(self.openings):
            return self.piece(self.agent, text, TALK_WEIGHT)
        ids, weights = self.piece(self.agent, text, 1)
        weights[1] = TALK_WEIGHT  # an opening is one token
        return ids, weights

    def piece(self, role: int, text: str, scale: float, after: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Encodes a message after its role token. `scale` multiplies the weights of token `after` and later ones."""
        ids = np.array((role, *self.ids[text]), np.int64)
        weights = self.weights[ids] * np.float32(scale)
        weights[: 1 + after] = 0
        return ids, weights


def weight_of(text: str, language: Language) -> float:
    """Returns the weight of a token's loss relative to the others of its message."""
    if VALUE.fullmatch(text) or text in language.values:
        return VALUE_WEIGHT
    return IDIOM_WEIGHT if text in language.idioms else 1.0


def batches(documents: Sequence[Document], rows: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Returns the indices of one epoch in random batches of `rows`, of similar lengths to avoid padding."""
    pool = rows * 16
    order = rng.permutation(len(documents))
    made = []
    for start in range(0, len(order), pool):
        alike = sorted(order[start : start + pool], key=lambda index: len(documents[index]))
        made += [np.array(alike[at : at + rows]) for at in range(0, len(alike), rows)]
    rng.shuffle(made)
    return made


def texts(documents: Iterable[dict]) -> Iterator[str]:
    """Yields the texts of all messages, and the hidden information."""
    for document in documents:
        if "hidden" in document:
            yield document["hidden"]
        for message in document["messages"]:
            yield message["content"]
