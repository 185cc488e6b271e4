"""Whole runs on dialogues about web pages."""

import json

import pytest
from page_rows import page_rows
from tiny_run import events, tiny_run, train, trajectory_rows, write_lines

from tandem_trainer.data.prompt_file import critic_prompt
from tandem_trainer.data.template import Template
from tandem_trainer.fault import Fault
from tandem_trainer.model.folder import load_tokenizer
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config

# Rewards of a task: 0.9, 0.6, 0.25 and 0.35. Five pairs are at least 0.1 apart and so is 0.35 − 0.25.
PAIRS = 6


def page_run(folder, rows=None, **changes):
    path = tiny_run(folder, **changes)
    write_lines(folder / "rows.jsonl", rows or page_rows())
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = page_run(tmp_path_factory.mktemp("pages"))
    trained = train(path)
    assert trained.code == 0, trained.stderr
    return path


def test_a_run_on_pages_pairs_by_margin_and_leaves_a_model_and_a_critic(run):
    (data,) = events(run, "data")
    assert data["trajectories"] == 32
    assert data["critic"]["train"] + data["critic"]["held_out"] == 8 * PAIRS
    about = json.loads((run.parent / "critic" / "critic.json").read_text())
    assert about["prompt"] == critic_prompt("critic-page.md").text
    assert (run.parent / "model" / "model.safetensors").exists()


def test_it_compares_credits_with_the_gains_of_held_out_drafts(run):
    (gains,) = events(run, "gains")
    # Two of eight tasks are held out; the dialogue with one message has no order.
    assert (gains["stage"], gains["dialogues"]) == ("critic", 6)
    assert gains["low"] <= gains["rank_correlation"] <= gains["high"]
    assert -1 <= gains["untrained_rank_correlation"] <= 1
    (result,) = events(run, "result")
    assert result["stages"]["gains"]["rank_correlation"] == gains["rank_correlation"]


def test_the_cards_say_what_was_measured_and_where_the_critic_differs_from_the_paper(run):
    for folder in ("critic", "model"):
        card = (run.parent / folder / "README.md").read_text()
        assert "structure 1 (mode fixed, drawn by Chromium 140)" in card
        assert "regression head" in card
        assert "### gains" in card


def prepared(path):
    config = read_config(path)
    return prepare(config, Template(load_tokenizer(config.model, path.parent / "base", path.parent)))


@pytest.mark.parametrize(("method", "examples"), [("rft", 8), ("multiturn-dpo", 8 * PAIRS)])
def test_the_baselines_learn_from_the_best_dialogues_and_from_pairs(tmp_path, method, examples):
    counts = prepared(page_run(tmp_path, method=method)).counts
    assert sum(counts["policy"].values()) == examples


def test_pages_and_functions_are_refused_together_and_one_of_them_is_chosen(tmp_path):
    path = page_run(tmp_path, [*page_rows(), *trajectory_rows()])
    with pytest.raises(Fault, match='24 by tests; set data.measure to "structure" or "tests"'):
        prepared(path)
    chosen = prepared(page_run(tmp_path, [*page_rows(), *trajectory_rows()], data={"measure": "tests"}))
    assert chosen.counts["trajectories"] == 24
    assert chosen.counts["left_out"] == {"of another measure": 32}


def test_grpo_refuses_pages(tmp_path):
    path = page_run(tmp_path, method="grpo", data={"trajectories": [], "tasks": ["pack.jsonl"]})
    write_lines(tmp_path / "pack.jsonl", [page_rows()[0]["task"]])
    with pytest.raises(Fault, match=r"pack.jsonl:1 is a web page, which grpo cannot play yet"):
        prepared(path)
