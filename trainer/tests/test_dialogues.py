"""Which tasks `Dialogues` plays, with a server and a model that stand in."""

from types import SimpleNamespace

import pytest

from tandem_env import Observation
from tandem_env import grpo as played_by
from tandem_env.grpo import Dialogues

begun: list[str] = []  # the tasks of the episodes


class StandIn:
    """An episode that ends with the first message of the agent."""

    def __init__(self, url, token):
        pass

    def reset(self, task_id, seed):
        begun.append(task_id)

    def step(self, message):
        return Observation("", True, 1.0)


class Tokenizer:
    def apply_chat_template(self, messages, **options):
        assert all(set(message) == {"role", "content"} for message in messages)
        return [1, 2]

    def decode(self, ids, **options):
        return "OUTPUT:"


def row(task: str, **names: str) -> dict:
    return {"prompt": [{"role": "user", "content": "Write a function.", **names}], "task_id": task}


def test_tasks_with_the_same_request_are_each_played(monkeypatch):
    monkeypatch.setattr(played_by, "Episode", StandIn)
    begun.clear()
    trainer = SimpleNamespace(
        processing_class=Tokenizer(),
        chat_template_kwargs={},
        eos_token_ids=[0],
        state=SimpleNamespace(global_step=0),
        _generate_single_turn=lambda ids, *_: ([[3]] * len(ids), None),
    )
    rows = [row("a", task_id="a"), row("b", task_id="b")]
    made = Dialogues("http://127.0.0.1:1", rows)([each["prompt"] for each in rows], trainer)
    assert sorted(begun) == ["a", "b"]
    assert made["tandem_reward"] == [1.0, 1.0]


def test_rows_by_which_tasks_cannot_be_told_apart_are_refused():
    Dialogues("http://127.0.0.1:1", [row("a"), row("a")])
    with pytest.raises(ValueError, match='"a" and "b" have the same first message'):
        Dialogues("http://127.0.0.1:1", [row("a"), row("b")])
