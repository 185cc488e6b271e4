"""Plays new dialogues with the live policy against `tandem serve`, by the trainer's own sampler.

All dialogues go on together, one message of the agent at a time. A dialogue in which a reply gives the reference away,
or whose developer failed, is dropped; so is one whose history leaves no room for another message.
"""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tandem_env import Refused
from tandem_env.client import Episode, Observation, is_leak

from ..data.batch_order import lot
from ..data.dialogue import Dialogue, Spoken
from ..data.template import Template
from ..turn import Turn
from .disk_space import write_whole
from .environment import Environment
from .sampler import Sampler

THREADS = 32


@dataclass
class Game:
    """A dialogue that is being played. turns: of the agent, with the prompts that it read."""

    task: str
    episode: Episode
    messages: list[dict[str, str]]
    turns: list[Turn] = field(default_factory=list)
    reward: float | None = None
    is_over: bool = False
    has_leaked: bool = False

    def say(self, turn: Turn, text: str) -> None:
        """Sends a message of the agent and hears the reply. Errors: Refused, unless the developer failed."""
        self.turns.append(turn)
        self.messages.append({"role": "assistant", "content": text})
        try:
            seen = self.episode.step(text)
        except Refused as refused:
            if refused.code != "EXECUTION_ERROR":
                raise
            self.is_over = True
            return
        self.is_over, self.has_leaked = seen.done, self.has_leaked or is_leak(seen)
        if seen.done:
            self.reward = seen.reward
        else:
            self.messages.append({"role": "user", "content": seen.message})


def play(
    environment: Environment,
    tasks: Sequence[str],
    sampler: Sampler,
    template: Template,
    seed: tuple[object, ...],
    *,
    max_tokens: int,
    with_leaked: bool,
) -> list[dict[str, Any]]:
    """Returns a row for each dialogue that came to its end; see `dialogue_of_row`. Errors: Stopped; Fault.

    tasks: of each dialogue. sampler: with one turn for each prompt. seed: what the draws depend on. max_tokens: of a
    history with a message.
    """
    games = [_begin(environment, task, (*seed, number)) for number, task in enumerate(tasks)]
    try:
        step = 0
        with ThreadPoolExecutor(THREADS) as threads:
            while going := [game for game in games if not game.is_over]:
                texts = [template.render(tuple(game.messages)) for game in going]
                pairs = list(zip(going, template.encoder.encode(texts), strict=True))
                room = max_tokens - sampler.settings.max_new_tokens
                for game, prompt in pairs:
                    game.is_over = len(prompt) > room
                pairs = [(game, prompt) for game, prompt in pairs if not game.is_over]
                if not pairs:
                    break
                drawn = sampler.sample([prompt for _, prompt in pairs], _number(*seed, "sample", step))
                turns = [turn for (turn,) in drawn]
                said = [template.tokenizer.decode(turn.response, skip_special_tokens=True) for turn in turns]
                list(threads.map(Game.say, [game for game, _ in pairs], turns, said))
                for game in going:
                    game.is_over = game.is_over or (game.has_leaked and not with_leaked)
                step += 1
    finally:
        for game in games:
            game.episode.close()
    return [
        _row(game, number)
        for number, game in enumerate(games)
        if game.reward is not None and (with_leaked or not game.has_leaked)
    ]


def _begin(environment: Environment, task: str, seed: tuple[object, ...]) -> Game:
    episode = Episode(environment.url, environment.token)
    seen: Observation = episode.reset(task_id=task, seed=_number(*seed) >> 24)
    return Game(task, episode, [{"role": "user", "content": seen.prompt or seen.message}])


def _number(*parts: object) -> int:
    return int.from_bytes(lot(*parts)[:7], "big")


def _row(game: Game, number: int) -> dict[str, Any]:
    return {
        "number": number,
        "task": game.task,
        "reward": game.reward,
        "messages": game.messages,
        "turns": [
            {"prompt": turn.prompt.tolist(), "ids": turn.response.tolist(), "log_probs": turn.log_probs.tolist()}
            for turn in game.turns
        ],
    }


def dialogue_of_row(row: dict[str, Any], name: str, hidden: str | None) -> Dialogue:
    """name: of the round of play. hidden: the hidden information of the task."""
    positions = range(1, 2 * len(row["turns"]), 2)
    turns = tuple(
        Spoken(
            position,
            np.asarray(turn["ids"], np.int32),
            sampled=True,
            log_probs=np.asarray(turn["log_probs"], np.float32),
            prompt_ids=np.asarray(turn["prompt"], np.int32),
        )
        for position, turn in zip(positions, row["turns"], strict=True)
    )
    return Dialogue(
        id=f"{name}-{row['number']}",
        task=row["task"],
        messages=tuple(row["messages"]),
        turns=turns,
        reward=row["reward"],
        hidden_information=hidden,
        where=f"{name}:{row['number'] + 1}",
        settled=True,
    )


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    write_whole(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def read_dialogues(path: Path, hidden: dict[str, str | None]) -> list[Dialogue]:
    """hidden: the hidden information of each task."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [dialogue_of_row(row, path.stem, hidden[row["task"]]) for row in rows]
