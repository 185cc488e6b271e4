"""Turn advantages by an exported critic equal those of the live adapters."""

import json
import shutil

import numpy as np
import pytest
import torch
from models import tiny_model
from tiny_critic import tiny_critic

from tandem_trainer.__main__ import _command
from tandem_trainer.data.prompt_file import critic_prompt
from tandem_trainer.data.rows import read_rows
from tandem_trainer.data.template import Template
from tandem_trainer.data.tokenize_turns import settle
from tandem_trainer.export.folders import export_critic
from tandem_trainer.fault import Fault
from tandem_trainer.model.log_probs import last_hidden, token_log_probs

torch.set_num_threads(1)

ROWS = [
    {
        "task": {
            "id": f"task-{number}",
            "problem_description": "Add up a list.",
            "hidden_information": "return sum(v)",
        },
        "dialogue_history": [
            {"role": "agent", "content": "What of an empty list?"},
            {"role": "human", "content": "It gives 0."},
            {"role": "agent", "content": "I WANT TO ANSWER:\nreturn sum(values)"},
        ],
        "answer": "return sum(values)",
        "reward": number,
    }
    for number in (0, 1)
]


class Setting:
    """A base with a critic that differs from it, and a file of trajectories."""

    def __init__(self, folder, **critic):
        self.folder = folder
        self.base, self.config = tiny_critic(folder, **critic)
        self.rows = folder / "rows.jsonl"
        self.write(ROWS)

    def write(self, rows) -> None:
        self.rows.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def export(self, head=None) -> None:
        shutil.rmtree(self.folder / "critic", ignore_errors=True)
        turns = [turn for turns in self.turns(hidden=True) for turn in turns]
        export_critic(
            self.base, self.folder / "critic", turns, lambda check: check.sentence, self.config, critic_prompt(), head
        )

    def turns(self, *, hidden: bool):
        template = Template(self.base.tokenizer)
        return template.all_turns(settle(template, read_rows([self.rows]).dialogues).dialogues, hidden)

    def live(self, within, *, hidden: bool) -> list[list[np.ndarray]]:
        with within, torch.no_grad():
            return [[p.numpy() for p in token_log_probs(self.base.model, turns)] for turns in self.turns(hidden=hidden)]

    def score(self, *options) -> list[dict]:
        out = self.folder / "out.jsonl"
        assert (
            _command(["score", "--critic", str(self.folder / "critic"), "--out", str(out), *options, str(self.rows)])
            == 0
        )
        return [json.loads(line) for line in out.read_text().splitlines()]


def test_advantages_are_those_of_the_live_critic_and_the_untrained_control_stands_beside(tmp_path):
    setting = Setting(tmp_path)
    setting.export()
    critic = setting.live(setting.base.adapter("critic"), hidden=True)
    hidden = setting.live(setting.base.reference(), hidden=True)
    plain = setting.live(setting.base.reference(), hidden=False)
    rows = setting.score("--tokens")
    assert [(row["task"], row["reward"]) for row in rows] == [("task-0", 0), ("task-1", 1)]
    for number, row in enumerate(rows):
        assert [turn["turn"] for turn in row["turns"]] == [0, 1]
        for place, turn in enumerate(row["turns"]):
            ratios = critic[number][place] - hidden[number][place]
            control = hidden[number][place] - plain[number][place]
            assert turn["tokens"] == len(ratios) == len(turn["token_ids"]) == len(turn["texts"])
            said = ROWS[number]["dialogue_history"][2 * place]["content"]
            assert "".join(turn["texts"]).split() == said.split()
            np.testing.assert_allclose(turn["log_ratios"], ratios, atol=1e-4)
            np.testing.assert_allclose(turn["untrained_log_ratios"], control, atol=1e-4)
            assert turn["advantage"] == pytest.approx(ratios.mean(), abs=1e-4)
            assert turn["untrained"] == pytest.approx(control.mean(), abs=1e-4)
    assert abs(rows[0]["turns"][0]["advantage"]) > 0.01


@pytest.mark.parametrize(
    ("critic", "hidden", "total"),
    [
        ({"convention": "reference-code"}, True, np.mean),
        ({"hidden_information": False, "length_normalisation": False}, False, np.sum),
    ],
    ids=["reference code", "without hidden information and normalisation"],
)
def test_a_critic_is_compared_with_a_base_that_does_not_see_the_hidden_information(tmp_path, critic, hidden, total):
    setting = Setting(tmp_path, **critic)
    setting.export()
    live = setting.live(setting.base.adapter("critic"), hidden=hidden)
    plain = setting.live(setting.base.reference(), hidden=False)
    turn = setting.score()[0]["turns"][1]
    assert turn["advantage"] == pytest.approx(total(live[0][1] - plain[0][1]), abs=1e-3)
    assert "log_ratios" not in turn


def test_a_value_head_scores_what_it_predicts_after_the_turn(tmp_path):
    setting = Setting(tmp_path, score="value-head")
    head = {"value_head.weight": torch.linspace(-1, 1, 32), "value_head.bias": torch.tensor(0.25)}
    setting.export(head)
    with setting.base.adapter("critic"), torch.no_grad():
        states = last_hidden(setting.base.model, setting.turns(hidden=True)[1])
    values = (states @ head["value_head.weight"] + 0.25).tolist()
    turns = setting.score("--tokens")[1]["turns"]
    assert [turn["advantage"] for turn in turns] == pytest.approx(values, abs=1e-4)
    assert turns[0]["log_ratios"] is None
    assert turns[0]["untrained"] is not None


def test_trajectories_without_a_reward_are_scored_and_those_that_cannot_be_are_told(tmp_path, capsys):
    setting = Setting(tmp_path)
    setting.export()
    ungraded = {key: value for key, value in ROWS[0].items() if key != "reward"}
    setting.write([ungraded, {"task": {}}])
    assert [row["reward"] for row in setting.score()] == [None]
    assert "rows.jsonl:2:" in capsys.readouterr().err
    (tmp_path / "out.jsonl").unlink()
    setting.write([{**ROWS[0], "task": {"problem_description": "Add up a list."}}])
    with pytest.raises(Fault, match="1 without hidden information"):
        setting.score()
    assert not (tmp_path / "out.jsonl").exists()


def test_a_folder_that_is_no_critic_and_a_base_that_is_gone_or_another_are_refused(tmp_path):
    setting = Setting(tmp_path)
    (tmp_path / "critic").mkdir()
    with pytest.raises(Fault, match="is not an exported critic"):
        setting.score()
    for about, word in (('{"version": 9}', "version 9"), ('{"version": 1}', "cannot be read")):
        (tmp_path / "critic" / "critic.json").write_text(about)
        with pytest.raises(Fault, match=word):
            setting.score()
    setting.export()
    (tmp_path / "base").rename(tmp_path / "moved")
    with pytest.raises(Fault, match="--base"):
        setting.score()
    assert len(setting.score("--base", str(tmp_path / "moved"))) == 2
    tiny_model(tmp_path / "base", hidden_size=64)
    with pytest.raises(Fault, match="is not the one"):
        setting.score()
