"""Dialogues as they were played, before any tokenizer has seen them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

Messages = tuple[dict[str, str], ...]  # `role` (system, user or assistant) and `content`, as chat templates want


@dataclass(frozen=True, eq=False)
class Spoken:
    """One turn of the agent: which message it is, and what the sampler said of it.

    position:      index of its message in the dialogue; earlier messages are its history.
    ids:           (L,) int32, the tokens; None while there is only text. `settle.py` leaves none without.
    sampled:       whether `ids` were sampled; otherwise they were tokenised from the text.
    log_probs:     (L,) float32 of `ids`, as the sampler gave them, NaN where it did not say; None when it said none.
    prompt_ids:    (P,) int32, what the sampler read before this turn; None when it did not say.
    finish_reason: "stop" the model ended its turn, "length" it was cut, "other" not known.
    reasoning:     what a server took out of the text that it sampled: the thoughts of a reasoning model.
    foreign:       whether the sampler's ids were another tokenizer's, so that `ids` are those of the text.
    """

    position: int
    ids: np.ndarray | None = None
    sampled: bool = False
    log_probs: np.ndarray | None = None
    prompt_ids: np.ndarray | None = None
    finish_reason: str = "other"
    reasoning: str = ""
    foreign: bool = False


@dataclass(frozen=True, eq=False)
class Dialogue:
    """One trajectory τ: the conversation as the agent saw it, and which of its messages are turns of the agent.

    reward: fraction of tests passed, 0 to 1; None for a side of a human preference.
    hidden_information: c, what only the collaborator and the critic know; None when it is not known.
    """

    id: str
    task: str
    messages: Messages
    turns: tuple[Spoken, ...]
    reward: float | None = None
    hidden_information: str | None = None
    where: str = ""  # `file:line`, for messages to people
    settled: bool = False  # whether all turns have their tokens (`settle.py`)


@dataclass(frozen=True)
class Problem:
    """A line that cannot be used, and why in one sentence. Lines count from 1."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass
class Read:
    """What was read: the good dialogues, the bad lines, and how many are left out for which reason."""

    dialogues: list[Dialogue] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notices: list[str] = field(default_factory=list)  # sentences; nothing is wrong enough to stop


def merge(reads: Iterable[Read]) -> Read:
    """Several sources as one, in their order. A dialogue that was read before (by its id) is left out and counted."""
    merged = Read()
    known: set[str] = set()
    for read in reads:
        merged.problems += read.problems
        merged.left_out.update(read.left_out)
        merged.notices += read.notices
        for dialogue in read.dialogues:
            if dialogue.id in known:
                merged.left_out["read twice"] += 1
            else:
                known.add(dialogue.id)
                merged.dialogues.append(dialogue)
    return merged


def listed(left_out: Counter[str]) -> str:
    """Counts as words: "3 not graded, 1 leaked"."""
    return ", ".join(f"{count} {reason}" for reason, count in left_out.most_common() if count)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """ "1 task", "2 tasks"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def conversation(opening: str, spoken: Sequence[str], replies: Sequence[str | None]) -> Messages:
    """The request, then turns of the agent and the replies to them; a turn without a reply ends the dialogue."""
    messages = [{"role": "user", "content": opening}]
    for text, reply in zip(spoken, replies, strict=True):
        messages.append({"role": "assistant", "content": text})
        if reply is not None:
            messages.append({"role": "user", "content": reply})
    return tuple(messages)


def assistant_positions(messages: Messages) -> list[int]:
    return [index for index, message in enumerate(messages) if message["role"] == "assistant"]
