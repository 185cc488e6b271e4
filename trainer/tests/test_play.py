"""New dialogues are played by the trainer's own sampler, and become dialogues as those of a log."""

from types import SimpleNamespace

import numpy as np
import pytest
from models import tiny_tokenizer

from tandem_env import Refused
from tandem_env.client import Observation
from tandem_trainer.data.template import Template
from tandem_trainer.run import play as playing
from tandem_trainer.turn import Turn

TEMPLATE = Template(tiny_tokenizer())
ENVIRONMENT = SimpleNamespace(url="http://here", token="secret")


class Scripted:
    """An episode that ends with its second step. task: what happens in the first one."""

    def __init__(self, url: str, token: str):
        self.steps = 0

    def reset(self, task_id: str, seed: int) -> Observation:
        self.task = task_id
        return Observation("", False, 0, prompt=f"Write {task_id}.")

    def step(self, message: str) -> Observation:
        self.steps += 1
        if self.task == "fails":
            raise Refused("EXECUTION_ERROR", "The developer is away.")
        leak = {"leak": {"leaked": self.task == "leaks"}}
        is_over = self.steps == 2
        return Observation("" if is_over else f"Reply to {message}", is_over, 0.5 if is_over else 0, metadata=leak)

    def close(self) -> None:
        self.task = "closed"


class Sampler:
    """Says the number of the message."""

    settings = SimpleNamespace(max_new_tokens=8)

    def __init__(self):
        self.seeds: list[int] = []

    def sample(self, prompts, seed: int) -> list[list[Turn]]:
        self.seeds.append(seed)
        ids = TEMPLATE.encoder.encode([f"{len(self.seeds)}<|im_end|>"])[0]
        said = np.full(len(ids), -0.5, np.float32)
        return [[Turn(prompt, ids, sampled=True, log_probs=said)] for prompt in prompts]


def rows_of(monkeypatch, *tasks: str, max_tokens: int = 1000, with_leaked: bool = False):
    monkeypatch.setattr(playing, "Episode", Scripted)
    return playing.play(
        ENVIRONMENT, tasks, Sampler(), TEMPLATE, (0, "play"), max_tokens=max_tokens, with_leaked=with_leaked
    )


def test_a_played_dialogue_has_the_prompts_and_the_tokens_of_the_sampler(monkeypatch, tmp_path):
    playing.write_rows(tmp_path / "play-2.jsonl", rows_of(monkeypatch, "first"))
    (dialogue,) = playing.read_dialogues(tmp_path / "play-2.jsonl", {"first": "return 1"})
    assert [message["content"] for message in dialogue.messages] == ["Write first.", "1", "Reply to 1", "2"]
    assert (dialogue.id, dialogue.task, dialogue.reward) == ("play-2-0", "first", 0.5)
    assert dialogue.hidden_information == "return 1"
    turns = TEMPLATE.turns(dialogue)
    assert [TEMPLATE.tokenizer.decode(turn.response) for turn in turns] == ["1<|im_end|>", "2<|im_end|>"]
    assert all(turn.sampled and (turn.log_probs == -0.5).all() for turn in turns)
    for turn, spoken in zip(turns, dialogue.turns, strict=True):
        rendered = TEMPLATE.render(dialogue.messages[: spoken.position])
        assert TEMPLATE.tokenizer.decode(turn.prompt) == rendered
        assert "return 1" not in rendered


@pytest.mark.parametrize(("with_leaked", "kept"), [(False, [0]), (True, [0, 1])])
def test_dialogues_without_a_reward_and_leaked_ones_are_dropped(monkeypatch, with_leaked, kept):
    rows = rows_of(monkeypatch, "plays", "leaks", "fails", with_leaked=with_leaked)
    assert [row["number"] for row in rows] == kept


def test_a_dialogue_ends_where_no_message_has_room(monkeypatch):
    assert rows_of(monkeypatch, "long", max_tokens=20) == []
