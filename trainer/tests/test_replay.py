"""Replay of earlier dialogues: which are drawn, what their turns weigh, and what an agent then does not forget."""

import json
import math
import signal
from pathlib import Path

import pytest
import torch
from sets import cache, ids, look, tiny_base
from test_interrupted import IN_STEP
from tiny_run import SETTINGS, events, model_of, tiny_run, train, trajectory_rows, write_lines

from tandem_trainer.config import ModelConfig
from tandem_trainer.data.dialogue import Dialogue, Measure, Read
from tandem_trainer.data.replay import replayed
from tandem_trainer.fault import Fault
from tandem_trainer.losses import effective_sample_size, turn_weight
from tandem_trainer.methods.archer import Actor
from tandem_trainer.methods.config import ArcherConfig
from tandem_trainer.methods.rft import RejectionFineTuning, replay_in_words
from tandem_trainer.model.base import load_base
from tandem_trainer.model.folder import load_template
from tandem_trainer.model.log_probs import token_log_probs
from tandem_trainer.run.prepare import prepare
from tandem_trainer.run_json import read_config
from tandem_trainer.turn import Example, Turn

torch.set_num_threads(1)

# ---- the weights


@pytest.mark.parametrize("sampled", [[0.5, 0.25, 0.8], [0.1, 0.1, 0.1], [0.5, math.nan, 0.8]])
def test_a_weight_is_the_truncated_geometric_mean_of_the_ratios_of_a_transcription(sampled):
    now = [0.2, 0.3, 0.6]
    product, count = 1.0, 0
    for ours, theirs in zip(now, sampled, strict=True):
        if not math.isnan(theirs):
            product, count = product * ours / theirs, count + 1
    weight = turn_weight(torch.tensor(now).log(), torch.tensor(sampled).log()).item()
    assert weight == pytest.approx(min(1.0, product ** (1 / count)))


def test_the_effective_sample_size_is_n_for_equal_weights_and_near_one_when_one_outweighs_all():
    assert effective_sample_size(3.0, 3.0) == 3
    weights = [1.0, 0.01, 0.01]
    assert effective_sample_size(sum(weights), sum(w * w for w in weights)) == pytest.approx(1.04, abs=0.01)


def old_example(base, *differences: float | None) -> Example:
    """A replayed trajectory. differences: log π − log μ of every token of each turn; None where μ was not logged."""
    bare = [Turn(ids(40 + number, 41), ids(50, 51, 2), sampled=True) for number in range(len(differences))]
    with torch.no_grad():
        now = token_log_probs(base.model, bare)
    turns = tuple(
        Turn(turn.prompt, turn.response, True, None if apart is None else (said - apart).numpy())
        for turn, said, apart in zip(bare, now, differences, strict=True)
    )
    return Example("task", turns, replayed=True)


def test_a_replayed_trajectory_loses_by_the_weights_of_its_turns_and_one_that_was_not_logged_counts_in_full(tmp_path):
    base = tiny_base(tmp_path)
    objective = RejectionFineTuning(cache(base, tmp_path))
    old, new = old_example(base, -1.0, None, 2.0), Example("other", (Turn(ids(45), ids(52, 2)),))
    objective.precompute([old, new])
    figures = look(base, objective, [old, new])
    with torch.no_grad():
        nats = [-each.numpy() for each in token_log_probs(base.model, [*old.chosen, *new.chosen])]
    weights = [math.exp(-1), 1, 1]
    by_hand = sum(w * each.sum() for w, each in zip(weights, nats, strict=False)) / 9 + nats[3].mean()
    assert figures["loss"] == pytest.approx(by_hand / 2, rel=1e-5)
    assert figures["effective_sample_size"] == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights) / 3)
    assert "1 without log-probabilities" in replay_in_words(objective.weights[old], 1)


def test_turns_that_the_policy_itself_wrote_are_all_worth_themselves(tmp_path):
    base = tiny_base(tmp_path)
    objective = RejectionFineTuning(cache(base, tmp_path))
    old = [old_example(base, 0.0, 0.0), old_example(base, 0.0)]
    objective.precompute(old)
    assert look(base, objective, old)["effective_sample_size"] == pytest.approx(1, abs=1e-6)
    plain = [Example(each.group, each.chosen) for each in old]
    assert look(base, objective, old)["loss"] == pytest.approx(look(base, objective, plain)["loss"], rel=1e-6)


def test_archer_has_the_effective_sample_size_of_the_turns_that_it_sampled(tmp_path):
    base = tiny_base(tmp_path)
    sampled = [Example("0/0", (turn,), target=0.5) for turn in old_example(base, 0.0, -1.0).chosen]
    weights = [1, math.exp(-1)]
    share = sum(weights) ** 2 / sum(w * w for w in weights) / 2
    assert look(base, Actor(ArcherConfig(), cache(base, tmp_path)), sampled)["effective_sample_size"] == pytest.approx(
        share
    )


def test_a_run_says_when_less_than_a_fifth_of_the_replayed_turns_count():
    assert "less than a fifth" in replay_in_words(torch.tensor([1.0] + [1e-3] * 9), 0)
    assert "less than a fifth" not in replay_in_words(torch.ones(10), 0)


# ---- the draw


def dialogues(prefix: str, tasks: int, each: int = 2, **fields) -> Read:
    return Read(
        [Dialogue(f"{prefix}{n}/{m}", f"{prefix}{n}", (), (), **fields) for n in range(tasks) for m in range(each)]
    )


def test_the_replayed_dialogues_are_the_given_share_and_whole_tasks():
    new, earlier = dialogues("new", 6), dialogues("old", 20)
    read = replayed(new, earlier, 0.25, seed=1)
    old = [dialogue for dialogue in read.dialogues if dialogue.replayed]
    assert (len(read.dialogues), len(old)) == (16, 4)
    assert len({dialogue.task for dialogue in old}) == 2
    assert read.dialogues[:12] == new.dialogues
    assert [one.id for one in replayed(new, earlier, 0.25, seed=1).dialogues] == [one.id for one in read.dialogues]


def test_an_earlier_dialogue_that_is_new_or_of_another_measure_is_not_replayed():
    new = dialogues("new", 2)
    pages = dialogues("page", 2, measure=Measure("checks"))
    read = replayed(new, Read(new.dialogues + pages.dialogues), 0.5, seed=1)
    assert read.dialogues == new.dialogues
    assert read.left_out["earlier, of another measure"] == 4


# ---- runs


def skill(name: str, answer: str, count: int = 4) -> list[dict]:
    rows = trajectory_rows(tasks=count, each=1)
    for number, row in enumerate(rows):
        task = {**row["task"], "id": f"{name}-{number}", "problem_description": f"{name} number {number}"}
        row |= {"task": task, "answer": answer, "reward": 1.0}
        row["dialogue_history"] = [{"role": "agent", "content": f"I WANT TO ANSWER: {answer}"}]
    return rows


RFT = {**SETTINGS, "learning_rate": 3e-3, "epochs": 15.0, "patience": 0}
LONG = {**RFT, "epochs": 45.0}  # the first round learns from nothing


def run_of(folder: Path, rows: list[dict], base: str = "", earlier: list[dict] | None = None, **resources) -> Path:
    folder.mkdir()
    if earlier:
        write_lines(folder / "earlier.jsonl", earlier)
    path = tiny_run(
        folder,
        method="rft",
        policy=RFT if base else LONG,
        model={"base": base or "base", "training": "full"},
        data={"earlier": ["earlier.jsonl"], "replay": 0.5} if earlier else {},
        resources=resources,
    )
    write_lines(folder / "rows.jsonl", rows)
    return path


def logged(path: Path, rows: list[dict]) -> tuple[list[dict], float]:
    """Rows with the tokens that the model of a run would have logged, and their mean negative log-likelihood."""
    config = read_config(path)
    folder = path.parent / "model"
    template = load_template(ModelConfig(str(folder), device="cpu"), folder, path.parent)
    turns = [turn for example in prepare(config, template).policy for turn in example.chosen if not example.replayed]
    base = load_base(ModelConfig(str(folder), training="full", device="cpu"), run_folder=path.parent)
    with torch.no_grad():
        said = token_log_probs(base.model, turns)
    of_turns = [
        {"token_ids": turn.response.tolist(), "logprobs": each.tolist(), "finish_reason": "stop"}
        for turn, each in zip(turns, said, strict=True)
    ]
    return [{**row, "tandem": {"turns": [turn]}} for row, turn in zip(rows, of_turns, strict=True)], -float(
        torch.cat(said).mean()
    )


def unlikelihood(path: Path, rows: list[dict]) -> float:
    """The negative log-likelihood per token of rows under the model of a run."""
    write_lines(path.parent / "rows.jsonl", rows)
    return logged(path, rows)[1]


@pytest.mark.slow
def test_an_agent_keeps_what_an_earlier_round_taught_if_its_dialogues_are_replayed_and_forgets_it_otherwise(tmp_path):
    old, new = skill("alpha", "def solve(values): return sorted(values)"), skill("omega", "class Other: size = 12345")
    first = run_of(tmp_path / "first", old)
    assert train(first).code == 0
    earlier, learned = logged(first, old)
    base = str(tmp_path / "first" / "model")
    paths = {
        "plain": run_of(tmp_path / "plain", new, base),
        "replay": run_of(tmp_path / "replay", new, base, earlier),
        "killed": run_of(tmp_path / "killed", new, base, earlier, checkpoint_minutes=0),
    }
    assert train(paths["killed"], IN_STEP.format(objective="RejectionFineTuning", step=3)).code == -signal.SIGKILL
    for path in paths.values():
        ran = train(path)
        assert (ran.code, ran.stderr) == (0, "")
    assert model_of(paths["killed"]) == model_of(paths["replay"])

    steps = events(paths["replay"], "step")
    sizes = [step["effective_sample_size"] for step in steps if "effective_sample_size" in step]
    assert sizes == pytest.approx([1] * len(sizes), abs=1e-3) and len(sizes) > 0
    assert not any("effective_sample_size" in step for step in events(paths["plain"], "step"))
    messages = [event["message"] for event in events(paths["replay"], "notice")]
    assert any("4 are replayed beside 4 new ones" in message for message in messages)
    assert any("Effective sample size of 4 replayed turns: 4" in message for message in messages)

    kept, lost = unlikelihood(paths["replay"], old), unlikelihood(paths["plain"], old)
    assert max(learned, kept) < 0.5 and lost > 1, json.dumps([learned, kept, lost])
    assert unlikelihood(paths["replay"], new) < 0.5


def test_dialogues_of_an_earlier_round_need_new_ones_beside_them(tmp_path):
    only_earlier = {"trajectories": [], "earlier": ["rows.jsonl"]}
    path = tiny_run(tmp_path, method="multiturn-dpo", preferences=True, data=only_earlier)
    with pytest.raises(Fault, match="data.earlier"):
        read_config(path)


def test_earlier_rows_that_cannot_be_used_are_named_and_end_no_run(tmp_path):
    path = tiny_run(tmp_path, method="rft", data={"earlier": ["earlier.jsonl"]})
    write_lines(tmp_path / "earlier.jsonl", [{**row, "reward": None} for row in trajectory_rows()])
    config = read_config(path)
    prepared = prepare(config, load_template(config.model, tmp_path / "base", tmp_path))
    assert prepared.counts["trajectories"] == 24
    assert any("No earlier dialogue is replayed" in notice and "24 not graded" in notice for notice in prepared.notices)
