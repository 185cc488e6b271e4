"""Documents to learn from: dialogues as tokens, each token with how much its loss weighs."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from .tokenizer import AGENT, END, HIDDEN, IDIOMS, OPENING, USER

VALUE_WEIGHT = 8.0  # of what has to be copied into a program: numbers and comparisons
IDIOM_WEIGHT = 4.0  # of what else a program consists of: which steps it has, in which order
TALK_WEIGHT = 3.0  # of what the agent asks, and of beginning an answer: what has been asked is not easily remembered
REPLY_WEIGHT = 0.3  # of what the collaborator says, where the hidden code stands in front and decides it
VALUE = re.compile(r"[0-9.]+| >=? ")


@dataclass(frozen=True, eq=False)
class Document:
    """ids: (L,) int64, the conversation. weights: (L,) float32, 0 where nothing is learned from predicting a token."""

    ids: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)


def read(file: Path) -> Iterator[dict]:
    """`demonstrations.ts` writes them: {messages, hidden?, learn: "turns" or "code"}."""
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


class Encoder:
    """Writes conversations as the chat template does, piece by piece, each distinct message tokenised once."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, documents: Iterable[dict]):
        self.user, self.agent, self.hidden, self.end = tokenizer.convert_tokens_to_ids([USER, AGENT, HIDDEN, END])
        self.weights = np.array([weight_of(tokenizer.decode([token])) for token in range(len(tokenizer))], np.float32)
        distinct = list(dict.fromkeys(texts(documents)))
        encoded = tokenizer.backend_tokenizer.encode_batch(distinct, add_special_tokens=False)
        self.ids = {text: (*of_text.ids, self.end) for text, of_text in zip(distinct, encoded, strict=True)}
        self.opening = len(tokenizer(OPENING, add_special_tokens=False)["input_ids"])

    def encode(self, document: dict) -> Document:
        hidden, code_only = document.get("hidden"), document["learn"] == "code"
        pieces = [] if hidden is None else [self.piece(self.hidden, hidden, 0)]
        last = len(document["messages"]) - 1
        for place, message in enumerate(document["messages"]):
            text = message["content"]
            if message["role"] == "user":
                pieces.append(self.piece(self.user, text, REPLY_WEIGHT if hidden is not None and place > 0 else 0))
            elif not code_only:
                pieces.append(self.turn(text))
            else:
                pieces.append(self.piece(self.agent, text, float(place == last), after=self.opening))
        return Document(*map(np.concatenate, zip(*pieces, strict=True)))

    def turn(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """A message of the agent that all is learned of."""
        if not text.startswith(OPENING):
            return self.piece(self.agent, text, TALK_WEIGHT)
        ids, weights = self.piece(self.agent, text, 1)
        weights[1 : 1 + self.opening] = TALK_WEIGHT
        return ids, weights

    def piece(self, role: int, text: str, scale: float, after: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """One message behind the token of its role. `scale` weighs its tokens from the `after`-th on, and its end."""
        ids = np.array((role, *self.ids[text]), np.int64)
        weights = self.weights[ids] * np.float32(scale)
        weights[: 1 + after] = 0
        return ids, weights


def weight_of(text: str) -> float:
    """What the loss of a token weighs among those of one message."""
    if VALUE.fullmatch(text):
        return VALUE_WEIGHT
    return IDIOM_WEIGHT if text in IDIOMS and text != OPENING else 1.0


def batches(documents: Sequence[Document], rows: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Indices of one epoch in batches of `rows`, of like lengths so that little is padded, in random order."""
    pool = rows * 16
    order = rng.permutation(len(documents))
    made = []
    for start in range(0, len(order), pool):
        alike = sorted(order[start : start + pool], key=lambda index: len(documents[index]))
        made += [np.array(alike[at : at + rows]) for at in range(0, len(alike), rows)]
    rng.shuffle(made)
    return made


def texts(documents: Iterable[dict]) -> Iterator[str]:
    """All that is said in them, and the hidden code."""
    for document in documents:
        if "hidden" in document:
            yield document["hidden"]
        for message in document["messages"]:
            yield message["content"]
