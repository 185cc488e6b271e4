"""The other seat in TRL's GRPOTrainer: the trained model is the collaborator, `tandem serve --agent` plays the agent.

rows = task_rows(url)
replies = Replies(url, rows_per_dialogue=9)
args = GRPOConfig(num_generations=8 * replies.rows_per_dialogue, …)
GRPOTrainer(model, reward_funcs=priced(reward, 1.0), rollout_func=replies, args=args, …)
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .client import Episode, Observation, Refused, is_leak, tasks
from .grpo import THREADS

Rewards = Callable[..., list[float | None]]


def task_rows(url: str, token: str | None = None) -> list[dict[str, Any]]:
    """Returns a row for each task. Its prompt only names the task: the first one depends on what the agent asks."""
    rows = []
    for task in tasks(url, token=token):
        message = {"role": "user", "content": task["description"], "task_id": task["task_id"]}
        rows.append({"prompt": [message], "task_id": task["task_id"]})
    return rows


def priced(of: Rewards, price: float) -> Rewards:
    """Returns the reward function R − λ · [a reply leaked] of a dialogue; None where R is None.

    of: `reward` or `success` of `tandem_env.grpo`. price: λ.
    """

    def priced_reward(tandem_leaked: Sequence[bool], **columns: Any) -> list[float | None]:
        return [
            None if value is None else value - price * leaked
            for value, leaked in zip(of(**columns), tandem_leaked, strict=True)
        ]

    return priced_reward


class Replies:
    """Plays whole dialogues in which the trained model writes the replies: TRL's `rollout_func`.

    Each reply has a prompt of its own, what a simulator reads there, so a dialogue is several of TRL's rows: as many as
    it may have replies. All have its reward, so that each dialogue counts once in the mean of its group (the standard
    deviation over rows is up to 7 % below that over eight dialogues). A row without a reply has no trained token.
    Leaked dialogues are played to their end, for `priced`.

    played, leaked: dialogues of the last call, and those of them in which a reply leaked. dropped: always 0. waited:
    seconds in which the last call waited for the server. turns: number of the agent's messages in each of its dialogues
    with a reward.
    """

    dropped = 0

    def __init__(self, url: str, token: str | None = None, seed: int = 0, *, rows_per_dialogue: int):
        """seed: of the episodes' seeds, by which the agent samples. rows_per_dialogue: one less than the turns
        that the agent may have; TRL's `num_generations` is a multiple of it."""
        self._url, self._token, self._seed = url, token, seed
        self.rows_per_dialogue = rows_per_dialogue
        self._episodes: list[Episode] = []
        self.waited = 0.0
        self.played = self.leaked = 0
        self.turns: list[int] = []

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, list[Any]]:
        """Returns what `Dialogues` returns, a row for each prompt. Errors: Refused, when every dialogue failed."""
        self.waited = 0.0
        asked = [prompt[0]["task_id"] for prompt in prompts[:: self.rows_per_dialogue]]
        while len(self._episodes) < len(asked):
            self._episodes.append(Episode(self._url, self._token))
        chance = random.Random(f"{self._seed} {trainer.state.global_step}")
        # The dialogues of a group begin with the same question, so that they differ by their replies.
        seeds = {task: chance.getrandbits(32) for task in dict.fromkeys(asked)}
        played = [
            _Answered(trainer, task, seeds[task], episode) for task, episode in zip(asked, self._episodes, strict=False)
        ]
        with ThreadPoolExecutor(THREADS) as threads:
            self._wait(threads, _Answered.begin, played)
            while going := [each for each in played if not each.done]:
                ids, logprobs = trainer._generate_single_turn([each.prompt_ids for each in going], None, {}, 1)
                for each, said, own in zip(going, ids, logprobs or [None] * len(ids), strict=True):
                    each.say(said, own)
                self._wait(threads, _Answered.step, going)
        if all(each.refused for each in played):
            raise played[0].refused
        self.played, self.leaked = len(played), sum(each.leaked for each in played)
        self.turns = [each.turns for each in played if each.reward is not None]
        return self._rows(played, trainer.eos_token_ids[0])

    def close(self) -> None:
        for episode in self._episodes:
            episode.close()

    def _wait(self, threads: ThreadPoolExecutor, do: Callable[[_Answered], None], dialogues: list[_Answered]) -> None:
        started = time.perf_counter()
        list(threads.map(do, dialogues))
        self.waited += time.perf_counter() - started

    def _rows(self, played: Sequence[_Answered], end: int) -> dict[str, list[Any]]:
        """end: the token that stands for prompt and reply where a dialogue had none; TRL needs one of each."""
        nothing = ([end], [end], [0.0], [0])
        rows = [
            (each, row)
            for each in played
            for row in [*each.replies, *[nothing] * (self.rows_per_dialogue - len(each.replies))]
        ]
        prompt_ids, completion_ids, logprobs, mask = (
            list(column) for column in zip(*(row for _, row in rows), strict=True)
        )
        return {
            "prompt_ids": prompt_ids,
            "completion_ids": completion_ids,
            "logprobs": logprobs if None not in logprobs else None,
            "env_mask": [
                [0] * len(own) if each.reward is None else own for (each, _), own in zip(rows, mask, strict=True)
            ],
            "tandem_reward": [each.reward for each, _ in rows],
            "tandem_success": [each.success for each, _ in rows],
            "tandem_leaked": [each.leaked for each, _ in rows],
        }


class _Answered:
    """A dialogue. replies: prompt, reply, its log-probabilities (None: unknown) and mask, all by token.

    turns: number of the agent's messages. refused: why the agent failed; the dialogue then counts for nothing.
    """

    def __init__(self, trainer: Any, task: str, seed: int, episode: Episode):
        self._tokenizer, self._options = trainer.processing_class, trainer.chat_template_kwargs
        self._task, self._seed, self._episode = task, seed, episode
        self.replies: list[tuple[list[int], list[int], list[float] | None, list[int]]] = []
        self.prompt_ids: list[int] = []
        self.turns = 0
        self.done = self.leaked = False
        self.reward: float | None = None
        self.success: bool | None = None
        self.refused: Refused | None = None

    def begin(self) -> None:
        self._hear(lambda: self._episode.reset(task_id=self._task, seed=self._seed))

    def say(self, ids: Sequence[int], logprobs: Sequence[float] | None) -> None:
        own = None if logprobs is None else list(logprobs)
        self.replies.append((self.prompt_ids, list(ids), own, [1] * len(ids)))

    def step(self) -> None:
        text = self._tokenizer.decode(self.replies[-1][1], skip_special_tokens=True)
        self._hear(lambda: self._episode.step(text))

    def _hear(self, ask: Callable[[], Observation]) -> None:
        try:
            seen = ask()
        except Refused as refused:
            if refused.code != "EXECUTION_ERROR":
                raise
            self.done, self.refused = True, refused
            return
        self.turns = seen.turn
        self.done, self.leaked = seen.done, self.leaked or is_leak(seen)
        if seen.done:
            self.reward, self.success = seen.reward, seen.metadata.get("success")
            return
        self.prompt_ids = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": seen.prompt}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
            **self._options,
        )
