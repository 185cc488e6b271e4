"""Tandem's tasks in TRL's GRPOTrainer.

A model that writes text, as Tandem's own agents do, plays by `Dialogues`, TRL's `rollout_func`:

    rows = dataset(url, split="train")
    dialogues = Dialogues(url, rows)
    GRPOTrainer(model, reward_funcs=reward, train_dataset=Dataset.from_list(rows), rollout_func=dialogues, args=…)

A model that calls tools plays by `developer(url)`, TRL's `environment_factory`, with the rows of `tool_dataset`.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from .client import Episode, Observation, Refused, is_leak, tasks
from .played import Played

THREADS = 32
MAX_REPLAYS = 2  # of a dialogue in which a reply gave the reference away
INSTRUCTION = (
    "You write a Python function for a colleague, who knows what it must do and has not said everything. Call `ask` "
    "with one question at a time until you know enough, then call `answer` with the whole code.\n\n"
)


def tool_dataset(url: str, split: str | None = None, token: str | None = None) -> list[dict[str, Any]]:
    """Returns a row for each task for a model with tools; `reset` of the environment adds the request to `prompt`."""
    prompt = [{"role": "user", "content": INSTRUCTION}]
    return [{"prompt": prompt, "task_id": task["task_id"]} for task in tasks(url, split, token)]


def reward(tandem_reward: Sequence[float | None], **_: Any) -> list[float | None]:
    """The reward function for `Dialogues`: the fraction of the tests that the answer passes; None where none counts."""
    return list(tandem_reward)


def success(tandem_success: Sequence[bool | None], **_: Any) -> list[float | None]:
    """Another one for `Dialogues`: 1 for an answer that passes all tests, else 0; None where none counts."""
    return [None if each is None else float(each) for each in tandem_success]


class Dialogues:
    """Plays whole dialogues with the model that is trained: TRL's `rollout_func`.

    All dialogues of a batch go on together, one message of the agent at a time, so that the model writes them in one
    batch. What the developer says is masked (`env_mask`): only the agent's tokens are trained.

    A dialogue in which a reply gives the reference away ends there and is played again with another seed, at most
    MAX_REPLAYS times. One that leaks every time is dropped: without a reward it is in neither the mean nor the standard
    deviation of its group, and without a trained token in neither the KL divergence nor the loss's number of tokens.

    last: the dialogues of the last call. waited: seconds in which it waited for the server. played, leaked: number of
    its dialogues, replays included, and of those in which a reply leaked. dropped: number of dropped ones. turns:
    number of the agent's messages in each dialogue with a reward.
    """

    rows_per_dialogue = 1  # of TRL; see `Replies`

    def __init__(
        self,
        url: str,
        rows: Sequence[dict[str, Any]],
        token: str | None = None,
        seed: int = 0,
        *,
        with_leaked: bool = False,
    ):
        """rows: of `dataset`. seed: of the seeds of the episodes, which decide the wording of the rules. They depend on
        the trainer's step and on which dialogues leak, so that a resumed training plays the episodes that it would have
        had. with_leaked: leaked dialogues are played to their end and count.
        Errors: ValueError for rows by which tasks cannot be told apart."""
        self._url, self._token = url, token
        self._tasks = _tasks_by_request(rows)
        self._seed, self._with_leaked = seed, with_leaked
        self._chance = random.Random(seed)
        self._episodes: list[Episode] = []
        self.last: list[Played] = []
        self.waited = 0.0
        self.played = self.leaked = self.dropped = 0
        self.turns: list[int] = []

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        """Returns `prompt_ids`, `completion_ids`, `logprobs`, `env_mask` (1: the agent's, none of a dialogue without a
        reward), `tandem_reward`, `tandem_success` and `tandem_leaked`."""
        self.waited = 0.0
        self._chance = random.Random(f"{self._seed} {trainer.state.global_step}")
        played = self.last = [Played(trainer, prompt, self._task_of(prompt[0])) for prompt in prompts]
        self.play(played, trainer, len(played))
        self.played = sum(each.times for each in played)
        self.leaked = sum(each.leaks for each in played)
        self.dropped = 0 if self._with_leaked else sum(each.leaked for each in played)
        self.turns = [len(each.starts) for each in played if each.reward is not None]
        with_logprobs = all(each.logprobs is not None for each in played)
        return {
            "prompt_ids": [each.prompt_ids for each in played],
            "completion_ids": [each.completion_ids for each in played],
            "logprobs": [each.logprobs for each in played] if with_logprobs else None,
            "env_mask": [[0] * len(each.mask) if each.reward is None else each.mask for each in played],
            "tandem_reward": [each.reward for each in played],
            "tandem_success": [each.success for each in played],
            "tandem_leaked": [each.leaked for each in played],
        }

    def play(self, dialogues: Sequence[Played], trainer: Any, at_once: int) -> None:
        """Plays dialogues to their end, `at_once` of them side by side: where one ends, the next begins. Their seeds
        follow those of the last call of `Dialogues`."""
        while len(self._episodes) < at_once:
            self._episodes.append(Episode(self._url, self._token))
        free, waiting, going = deque(self._episodes[:at_once]), deque(dialogues), []
        with ThreadPoolExecutor(THREADS) as threads:
            while waiting or going:
                begun = [waiting.popleft() for _ in range(min(len(free), len(waiting)))]
                for each in begun:
                    each.episode = free.popleft()
                self._begin(begun, threads)
                going += begun
                ids, logprobs = trainer._generate_single_turn([each.ids for each in going], None, {}, 1)
                for each, said, own in zip(going, ids, logprobs or [None] * len(ids), strict=True):
                    each.say(said, own)
                seen = self._wait(threads.map(Played.step, going))
                for each, observation in zip(going, seen, strict=True):
                    each.hear(observation)
                if not self._with_leaked:
                    leaked = [each for each in going if each.leaked]
                    for each in leaked:
                        each.done = True
                    self._begin([each for each in leaked if each.times <= MAX_REPLAYS], threads)
                free += [each.episode for each in going if each.done]
                going = [each for each in going if not each.done]

    def close(self) -> None:
        for episode in self._episodes:
            episode.close()

    def _begin(self, dialogues: Sequence[Played], threads: ThreadPoolExecutor) -> None:
        seeds = [self._chance.getrandbits(32) for _ in dialogues]
        self._wait(threads.map(Played.begin, dialogues, seeds))

    def _task_of(self, message: dict[str, str]) -> str:
        return message.get("task_id") or self._tasks[message["content"]]

    def _wait(self, replies: Iterable[Any]) -> list[Any]:
        started = time.perf_counter()
        seen = list(replies)
        self.waited += time.perf_counter() - started
        return seen


def _tasks_by_request(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Returns the task of each request for rows whose messages do not name it."""
    found: dict[str, str] = {}
    for row in rows:
        message, task = row["prompt"][0], row["task_id"]
        if message.get("task_id"):
            continue
        other = found.setdefault(message["content"], task)
        if other != task:
            raise ValueError(
                f'The rows of the tasks "{other}" and "{task}" have the same first message and cannot be told apart: '
                "take the rows of `tandem_env.dataset`, whose messages hold `task_id`, or leave one out."
            )
    return found


def developer(url: str, token: str | None = None, *, with_leaked: bool = False) -> Callable[[], Developer]:
    """Returns TRL's `environment_factory`: a colleague to ask for each rollout.

    with_leaked: dialogues in which a reply gives the reference away have a reward, too."""
    return lambda: Developer(url, token, with_leaked=with_leaked)


class Developer:
    """A colleague who knows what the function must do, for a model that calls tools. TRL offers the public methods."""

    def __init__(self, url: str, token: str | None = None, *, with_leaked: bool = False):
        self._episode = Episode(url, token)
        self._with_leaked = with_leaked
        self._seen: Observation | None = None
        self._has_failed = False  # no reply, or one that gives the reference away

    def reset(self, task_id: str | None = None, seed: int | None = None, **_: Any) -> str:
        """Begins an episode; returns the request."""
        self._has_failed = False
        self._seen = self._episode.reset(task_id=task_id, seed=seed)
        return self._seen.message

    def ask(self, question: str) -> str:
        """
        Asks your colleague a question about the function.

        Args:
            question: One question, in plain words.

        Returns:
            The reply.
        """
        return self._say(question, "ask")

    def answer(self, code: str) -> str:
        """
        Hands in the function, which ends the task.

        Args:
            code: The whole Python code.

        Returns:
            A confirmation.
        """
        return self._say(code, "answer")

    def get_reward(self) -> float | None:
        """Returns the fraction of the tests that the answer passes, 0 without an answer, None when it cannot be graded,
        or the developer failed or gave the reference away."""
        if self._has_failed:
            return None
        return self._seen.reward if self._seen is not None and self._seen.done else 0.0

    def _say(self, message: str, kind: Literal["ask", "answer"]) -> str:
        if self._has_failed or self._seen is None or self._seen.done:
            return "The task is over."
        try:
            self._seen = self._episode.step(message, kind)
        except Refused as refused:
            if refused.code != "EXECUTION_ERROR":
                raise
            self._has_failed = True
        else:
            self._has_failed = is_leak(self._seen) and not self._with_leaked
        if self._has_failed:
            return "The task is over."
        return "Thank you, the task is over." if self._seen.done else self._seen.message
