"""Dialogues in which a person played the agent: demonstrations to imitate, which no sampler logged."""

import numpy as np
import pytest
import torch
from tiny_run import SETTINGS, events, tiny_run, train, trajectory_rows, write_lines

from tandem_trainer.methods.rft import is_logged
from tandem_trainer.model.folder import load_template
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config

torch.set_num_threads(1)


def played_by_a_person(row: dict) -> dict:
    """As Tandem exports such a dialogue: its turns name no tokens."""
    turns = [message for message in row["dialogue_history"] if message["role"] == "agent"]
    for turn in turns:
        turn["output"] = f"OUTPUT:\n{turn['content']}"
    said = [{"model": "person", "finish_reason": "other"} for _ in turns]
    return {**row, "tandem": {"version": 1, "agent": "person", "turns": said}}


def run_of(folder, **changes):
    """The rows of persons alone."""
    path = tiny_run(folder, **changes)
    write_lines(folder / "rows.jsonl", [played_by_a_person(row) for row in trajectory_rows()])
    return path


def prepared(path):
    config = read_config(path)
    template = load_template(config.model, path.parent / "base", path.parent)
    return prepare(config, template), template


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "rft"},
        {"method": "distill", "distill": SETTINGS},
        {"method": "distill", "distill": {**SETTINGS, "target": "written"}},
    ],
)
def test_a_person_who_played_the_agent_is_learned_from_in_the_tokens_of_the_text(tmp_path, changes):
    path = run_of(tmp_path, **changes)
    run, template = prepared(path)
    said = [turn for one in run.policy for turn in one.chosen]
    assert said and not run.problems and not any(turn.sampled or is_logged(turn) for turn in said)
    assert all(turn.response[-1] == template.end_of_turn for turn in said)
    text = template.tokenizer.decode(np.concatenate([turn.response for turn in said]))
    assert "OUTPUT:" in text and "I WANT TO ANSWER" in text
    assert train(path).code == 0
    steps = events(path, "step")
    assert steps[-1]["loss"] < steps[0]["loss"]
    assert not any("sampler_difference" in step for step in steps)


def test_the_dialogues_of_persons_count_in_full_where_they_are_replayed(tmp_path):
    path = run_of(tmp_path, method="rft", data={"earlier": ["earlier.jsonl"]})
    others = trajectory_rows(16)[24:]
    write_lines(tmp_path / "earlier.jsonl", [played_by_a_person(row) for row in others])
    assert train(path).code == 0
    (sentence,) = [
        notice["message"] for notice in events(path, "notice") if "Effective sample size" in notice["message"]
    ]
    assert "without log-probabilities of their sampler count in full" in sentence and "mean weight of 1.00" in sentence
