"""Candidates are ranked by values that `tandem serve` plays, here a stand-in."""

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fake_values import value
from sets import tiny_base
from test_ranking import shards
from tiny_run import events, states, tiny_run, train, trajectory_rows, write_lines

from tandem_trainer.config import CriticConfig
from tandem_trainer.fault import Fault
from tandem_trainer.methods.sweet_rl import rank_candidates
from tandem_trainer.run.budget import TokenBudget
from tandem_trainer.run.distributed import Ranks
from tandem_trainer.run.environment import COMMAND, PlayedValues
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.plan import plan_of
from tandem_trainer.run.prepare import played_tasks
from tandem_trainer.run.stop import StopRequest
from tandem_trainer.run_json import read_config
from tandem_trainer.turn import Candidates, History

PLAYED = {"score": "answer-now", "samples": 2, "player": "openai:player", "simulator": "openai:developer"}


def command(folder: Path, mode: str) -> str:
    return json.dumps([sys.executable, str(Path(__file__).parent / "fake_values.py"), str(folder), mode, "serve"])


def asked(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "asked.jsonl").read_text().splitlines()]


def test_a_run_ranks_by_played_values_and_keeps_the_untrained_control(tmp_path):
    path = tiny_run(tmp_path, critic=PLAYED)
    assert train(path, patch_command(tmp_path, "values")).code == 0
    samples = events(path, "sample")
    assert samples
    for candidate in (each for sample in samples for each in sample["candidates"]):
        assert candidate["score"] == value(candidate["text"])
        assert isinstance(candidate["untrained"], float)
    assert not (tmp_path / "critic").exists()

    arguments = json.loads((tmp_path / "arguments.json").read_text())
    options = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    assert (options["--value-agent"], options["--simulator"]) == ("openai:player", "openai:developer")
    pack = [json.loads(line) for line in Path(options["--tasks"]).read_text().splitlines()]
    assert all(task["test_cases"] for task in pack)
    first = asked(tmp_path)[0]
    assert (first["path"], first["is_known"], first["score"]) == ("/values", True, "answer-now")
    assert (first["samples"], first["seed"], first["max_tokens"]) == (2, 1, 8)
    assert first["states"][0]["task_id"] in {task["id"] for task in pack}
    later = next(each["states"][0] for each in asked(tmp_path) if each["states"][0]["history"])
    assert later["history"][0]["reply"].startswith("It returns None.")
    assert len(set(later["candidates"])) == len(later["candidates"])


def test_a_run_that_stops_while_it_values_resumes_with_the_values_it_has(tmp_path):
    path = tiny_run(tmp_path, critic=PLAYED)
    small = "from tandem_trainer.run import shards; shards.SHARD = 2\n"
    assert train(path, patch_command(tmp_path, "stop") + small).code == 0
    assert states(path)[-1][0] == "stopped"
    before = len(asked(tmp_path))
    assert before == 2
    ran = train(path, patch_command(tmp_path, "values") + small)
    assert ran.code == 0, ran.stderr
    assert states(path)[-1] == ("done", "export")
    valued = [json.dumps(each["states"]) for each in asked(tmp_path)]
    (figures,) = events(path, "ranking")
    assert len(valued) == figures["histories"]


def test_the_plan_has_no_time_for_what_a_server_plays(tmp_path):
    plan = plan_of(read_config(tiny_run(tmp_path, critic=PLAYED)), tmp_path)
    assert plan.seconds["ranking"] is None
    assert plan.as_dict()["total_seconds"] is None


def patch_command(folder: Path, mode: str) -> str:
    return f"import os; os.environ[{COMMAND!r}] = {command(folder, mode)!r}\n"


def of_texts(tmp_path, *texts: str) -> np.ndarray:
    run = SimpleNamespace(
        config=read_config(tiny_run(tmp_path, critic=PLAYED)), folder=tmp_path, stop=False, events=Events(tmp_path)
    )
    values = PlayedValues(run, {"a": {"id": "a"}}, {"dialogue": "a"})
    with values.served():
        return values.of(Candidates(History("dialogue/0", np.zeros(1, np.int32), None), (), texts))


def test_the_same_text_is_valued_once_and_one_without_a_value_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv(COMMAND, command(tmp_path, "null"))
    found = of_texts(tmp_path, "first", "other", "first", "no")
    np.testing.assert_array_equal(found, [np.nan, value("other"), np.nan, value("no")])
    assert asked(tmp_path)[0]["states"][0]["candidates"] == ["first", "other", "no"]
    (notice,) = [each for each in events(tmp_path / "run.json") if each["event"] == "notice"]
    assert notice["message"] == "A candidate of dialogue/0 has no value: Its answer cannot be graded here."


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("refuse", r"did not value the candidates: There is no task of this name. \(status 400\)"),
        ("short", "answered without 2 values from 0 to 1 for the candidates of dialogue/0"),
        ("end", "ended while the run was playing: resume the run.*The server said last: no memory"),
    ],
)
def test_a_bad_answer_of_the_server_is_one_sentence(tmp_path, monkeypatch, mode, sentence):
    monkeypatch.setenv(COMMAND, command(tmp_path, mode))
    with pytest.raises(Fault, match=sentence):
        of_texts(tmp_path, "first", "other")


def test_histories_with_a_candidate_without_a_value_are_left_out_of_the_ranking(tmp_path):
    base = tiny_base(tmp_path)
    made = shards(tmp_path, base, count=3)
    heard = TokenBudget(4096, Ranks(), StopRequest(tmp_path), Events(tmp_path))

    def ranked(samples: int, *unvalued: str) -> list[str]:
        def of_all(candidates: Sequence[Candidates]) -> list[float]:
            return [
                np.nan if one.history.group in unvalued else value(text) for one in candidates for text in one.texts
            ]

        values = SimpleNamespace(of_all=of_all, served=nullcontext)
        settings = CriticConfig(score="monte-carlo", samples=samples)
        return [one.candidates.history.group for one in rank_candidates(made, settings, base, heard, values=values)]

    assert ranked(1, "t/1") == ["t/0", "t/2"]
    assert "1 of 3 histories are left out of the ranking" in (tmp_path / "events.jsonl").read_text()
    with pytest.raises(Fault, match="None of 3 histories can be ranked"):
        ranked(2, "t/0", "t/1", "t/2")


@pytest.mark.parametrize(
    ("changes", "simulator", "sentence"),
    [
        ({"test_cases": None}, "openai:m", "critic.score: 8 of 8 tasks .* have no tests"),
        ({"kind": "page", "test_cases": None}, "openai:m", "critic.score: 8 of 8 tasks .* are web pages"),
        ({}, "rules", "critic.simulator: 8 of 8 tasks .* have no facts"),
    ],
)
def test_tasks_that_cannot_be_played_are_refused(tmp_path, changes, simulator, sentence):
    rows = [{**row, "task": {**row["task"], **changes}} for row in trajectory_rows()]
    write_lines(tmp_path / "rows.jsonl", rows)
    with pytest.raises(Fault, match=sentence):
        played_tasks([tmp_path / "rows.jsonl"], {row["task"]["id"] for row in rows}, simulator)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"resources": {"cluster": {"address": "http://head:8265"}}}, "answer-now, which plays on this machine"),
        ({"resources": {"processes": 2}}, "resources.processes is above 1"),
        ({"model": {"base": "owner/name"}, "critic": {**PLAYED, "player": None}}, "critic.player is not set"),
    ],
)
def test_what_cannot_play_is_refused_by_its_field(tmp_path, changes, sentence):
    with pytest.raises(Fault, match=sentence):
        read_config(tiny_run(tmp_path, **{"critic": PLAYED, **changes}))
