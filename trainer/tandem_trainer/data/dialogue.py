"""Dialogues as they were played, before tokenization."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

Messages = tuple[dict[str, str], ...]  # `role` (system, user or assistant) and `content`, as chat templates want


@dataclass(frozen=True, eq=False)
class Spoken:
    """One turn of the agent: its message, and the sampler's record of it.

    position:      index of its message in the dialogue; earlier messages are its history.
    ids:           (L,) int32, the tokens; None until `tokenize_turns.py` tokenizes a turn that has only text.
    sampled:       whether `ids` were sampled; otherwise they were tokenised from the text.
    log_probs:     (L,) float32 of `ids` from the sampler, NaN for tokens without one; None when there are none.
    prompt_ids:    (P,) int32, the sampler's prompt of this turn; None when it is unknown.
    finish_reason: "stop": the model ended its turn; "length": it was cut; "other": unknown.
    reasoning:     the thoughts of a reasoning model, which a server removed from the sampled text.
    selected:      whether a critic chose it among candidates, so that it is no plain sample of its model.
    foreign:       whether the sampler's ids came from another tokenizer, so that `ids` were made from the text.
    """

    position: int
    ids: np.ndarray | None = None
    sampled: bool = False
    log_probs: np.ndarray | None = None
    prompt_ids: np.ndarray | None = None
    finish_reason: str = "other"
    reasoning: str = ""
    selected: bool = False
    foreign: bool = False


@dataclass(frozen=True)
class Measure:
    """What a reward measures; two rewards of different measures are never compared.

    name:     "tests" of a function; of a page "structure", "checks" or "clip", None when its row does not say.
    version:  of the page's measure.
    mode:     of the page's grade, "fixed" or "paper".
    renderer: the program that drew the page.
    """

    name: str | None = "tests"
    version: int | None = None
    mode: str | None = None
    renderer: str | None = None

    def __str__(self) -> str:
        if self.name is None:
            return "an unknown measure"
        more = [f"mode {self.mode}"] if self.mode else []
        more += [f"drawn by {self.renderer}"] if self.renderer else []
        name = self.name if self.version is None else f"{self.name} {self.version}"
        return f"{name} ({', '.join(more)})" if more else name


TESTS = Measure()


@dataclass(frozen=True)
class Parent:
    """Where a fork leaves its parent.

    turn: the number of the first turn that they do not share, from 0.
    by:   "message": they part at the agent's message of that turn; "reply": only at the reply to it.
    """

    id: str
    turn: int
    by: str

    @property
    def inherited(self) -> int:
        """The number of the agent's messages that the fork repeats."""
        return self.turn + (self.by == "reply")


@dataclass(frozen=True, eq=False)
class Dialogue:
    """One trajectory τ: the conversation as the agent saw it, and the agent's turns in it.

    reward: fraction of tests passed or score of a page, 0 to 1; None for a side of a human preference.
    hidden_information: c, known to the collaborator and the critic only; of a page the HTML of the wanted one; None
        when it is unknown.
    drafts: the number of each turn that showed a page, from 0, and its score; None when the row has no such scores.
    """

    id: str
    task: str
    messages: Messages
    turns: tuple[Spoken, ...]
    reward: float | None = None
    hidden_information: str | None = None
    measure: Measure = TESTS
    drafts: tuple[tuple[int, float], ...] | None = None
    where: str = ""  # `file:line`, for messages
    replayed: bool = False  # whether it is of `data.earlier`
    settled: bool = False  # whether all turns have their tokens (`tokenize_turns.py`)
    parent: Parent | None = None  # of a fork

    @property
    def is_page(self) -> bool:
        return self.measure != TESTS


def own_turns(dialogue: Dialogue) -> Dialogue:
    """Leaves out the turns that a fork repeats, which are its parent's data, and the scores of its drafts with them."""
    if dialogue.parent is None or dialogue.parent.inherited == 0:
        return dialogue
    return replace(dialogue, turns=dialogue.turns[dialogue.parent.inherited :], drafts=None)


@dataclass(frozen=True)
class Problem:
    """A line that cannot be used, with the reason in one sentence. Lines count from 1."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass
class Read:
    """left_out: the number of dialogues left out, by reason."""

    dialogues: list[Dialogue] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notices: list[str] = field(default_factory=list)  # sentences about problems that do not stop the run


def merge(reads: Iterable[Read]) -> Read:
    """Joins several sources in their order. A dialogue with a known id is left out and counted."""
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
    """ "3 not graded, 1 leaked"."""
    return ", ".join(f"{count} {reason}" for reason, count in left_out.most_common() if count)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """ "1 task", "2 tasks"."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"


def conversation(opening: str, spoken: Sequence[str], replies: Sequence[str | None]) -> Messages:
    """A turn without a reply ends the dialogue."""
    messages = [{"role": "user", "content": opening}]
    for text, reply in zip(spoken, replies, strict=True):
        messages.append({"role": "assistant", "content": text})
        if reply is not None:
            messages.append({"role": "user", "content": reply})
    return tuple(messages)


def assistant_positions(messages: Messages) -> list[int]:
    return [index for index, message in enumerate(messages) if message["role"] == "assistant"]
