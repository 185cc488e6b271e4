"""A dialogue as its tokens, played with the model that is trained."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from .client import Episode, Observation, Refused, is_leak

MARK = "\u2063message\u2063"  # stands for the agent's message in a template; invisible separators do not occur in text


@dataclass(frozen=True)
class History:
    """What was said before a message of the agent. exchanges: its earlier messages, each with the reply (`agent`,
    `reply`). ids: the tokens of all of them, which follow those of the prompt."""

    exchanges: tuple[dict[str, str], ...] = ()
    ids: tuple[int, ...] = ()


class Played:
    """A dialogue. times: how often it was begun. leaks: how often a reply leaked. written: number of tokens that the
    agent wrote, all times. Since it was begun last: leaked, and starts, where the agent's messages begin in
    `completion_ids`."""

    episode: Episode  # set before it begins

    def __init__(self, trainer: Any, prompt: list[dict[str, str]], task: str):
        self._tokenizer = trainer.processing_class
        self._prompt = [{"role": each["role"], "content": each["content"]} for each in prompt]
        self._options, self._end_ids = trainer.chat_template_kwargs, trainer.eos_token_ids
        self._history: History | None = None
        self.task = task
        self.prompt_ids: list[int] = self._tokenizer.apply_chat_template(
            self._prompt, add_generation_prompt=True, tokenize=True, return_dict=False, **self._options
        )
        self.times = self.leaks = self.written = 0

    def taken_up_at(self, history: History) -> Played:
        """Returns another dialogue, not begun, that goes on from a history of this one. It is not logged."""
        other = copy(self)
        other._history = history
        other.times = other.leaks = other.written = 0
        return other

    def begin(self, seed: int) -> None:
        """Begins, or begins again: nothing is left of what was said since the history."""
        before = self._history or History()
        choice = {} if self._history is None else {"history": list(before.exchanges)}
        self.episode.reset(task_id=self.task, seed=seed, **choice)
        self._messages = list(self._prompt)
        for each in before.exchanges:
            self._hear(each["agent"], each["reply"])
        self.completion_ids: list[int] = list(before.ids)
        self.mask: list[int] = [0] * len(before.ids)
        self.logprobs: list[float] | None = [0.0] * len(before.ids)
        self.starts: list[int] = []
        self.text = ""
        self.done = self.leaked = False
        self.reward: float | None = None
        self.success: bool | None = None
        self.times += 1

    def step(self) -> Observation | None:
        """Sends the agent's message. Returns None where the developer failed; the dialogue then counts for nothing."""
        try:
            return self.episode.step(self.text)
        except Refused as refused:
            if refused.code != "EXECUTION_ERROR":
                raise
            return None

    @property
    def ids(self) -> list[int]:
        return self.prompt_ids + self.completion_ids

    @property
    def histories(self) -> list[History]:
        """Those before each message that the agent has said since the dialogue began."""
        said = [each["content"] for each in self._messages[len(self._prompt) :]]
        exchanges = tuple({"agent": agent, "reply": reply} for agent, reply in zip(said[::2], said[1::2], strict=True))
        earlier = len(self._history.exchanges) if self._history is not None else 0
        return [
            History(exchanges[:turn], tuple(self.completion_ids[:start]))
            for turn, start in enumerate(self.starts, start=earlier)
        ]

    def say(self, ids: Sequence[int], logprobs: Sequence[float] | None) -> None:
        """Takes the agent's message, end token included where it wrote one."""
        self.text = self._tokenizer.decode(ids, skip_special_tokens=True)
        self.written += len(ids)
        self.starts.append(len(self.completion_ids))
        self.completion_ids += ids
        self.mask += [1] * len(ids)
        self.logprobs = None if logprobs is None or self.logprobs is None else [*self.logprobs, *logprobs]

    def hear(self, observation: Observation | None) -> None:
        if observation is None or observation.done:
            self.done = True
            if observation is not None:
                self.reward, self.success = observation.reward, observation.metadata.get("success")
            return
        if is_leak(observation) and not self.leaked:
            self.leaked = True
            self.leaks += 1
        between = self._between({"role": "user", "content": observation.message})
        self._hear(self.text, observation.message)
        self.completion_ids += between
        self.mask += [0] * len(between)
        if self.logprobs is not None:
            self.logprobs += [0.0] * len(between)

    def _hear(self, text: str, reply: str) -> None:
        self._messages += [{"role": "assistant", "content": text}, {"role": "user", "content": reply}]

    def _between(self, reply: dict[str, str]) -> list[int]:
        """Returns the tokens from the end of the agent's message to the beginning of its next one."""
        messages = [*self._messages, {"role": "assistant", "content": MARK}, reply]
        text = self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False, **self._options
        )
        ids = self._tokenizer(text.split(MARK)[-1], add_special_tokens=False)["input_ids"]
        ended = self.completion_ids[-1:] == ids[:1] and ids[0] in self._end_ids
        return ids[1:] if ended else ids
