"""Candidates and scores that others make for a run are those that it would have made."""

from importlib.util import find_spec

import pytest
from tiny_run import events, model_of, states, tiny_run, train

from tandem_trainer.cluster.tasks import Maker, Task, tasks, uses_vllm
from tandem_trainer.cluster.worker import hands_over
from tandem_trainer.fault import Fault
from tandem_trainer.run.candidate_work import Work
from tandem_trainer.run_json import read_config

# Shards of two histories, so that a round has several.
SMALL = "from tandem_trainer.run import shards; shards.SHARD = 2"
HANDS_OVER = """
from functools import partial
from tandem_trainer.run import train
from tandem_trainer.run.candidate_work import HandedOver
real = train.perform

def perform(*given, **named):
    try:
        real(*given, hands_over=True, **named)
    except HandedOver:
        pass

train.perform = perform
"""


@pytest.mark.parametrize(
    "changes",
    [
        {"candidates": {"rounds": 2}},
        {"model": {"training": "full"}, "critic": {"score": "value-head"}, "candidates": {"rounds": 2}},
        {"critic": {"score": "untrained"}, "candidates": {"with_logged": True}},
    ],
    ids=["lora", "full-value-head", "untrained"],
)
def test_a_run_whose_candidates_are_made_by_others_ends_with_the_weights_of_one_that_makes_them(
    tmp_path, monkeypatch, changes
):
    straight = tiny_run(tmp_path / "straight", **changes)
    assert train(straight, SMALL).code == 0
    path = tiny_run(tmp_path / "run", **changes)
    monkeypatch.setattr("tandem_trainer.run.shards.SHARD", 2)
    for number in range(1, changes["candidates"].get("rounds", 1) + 1):
        assert train(path, SMALL + HANDS_OVER).code == 0
        work = Work.read(path.parent)
        assert work.round == number
        shards = work.shards(path.parent, read_config(path))
        assert len(shards) > 1
        # Each half by a maker of its own, the later one first, and part of it twice.
        for numbers in ([*range(1, len(shards))], [0, 1]):
            maker = Maker(path)
            maker.load()
            maker.make(None, numbers)
        for name in work.scores:
            assert maker.make(name, shards.missing(name)) == []
        assert not any(map(shards.missing, (None, *work.scores)))
        Work.path(path.parent).unlink()
    assert train(path, SMALL + HANDS_OVER).code == 0
    assert states(path)[-1] == ("done", "export")
    assert model_of(path) == model_of(straight)
    of_both = [{**events(run, "ranking")[0], "at": None} for run in (path, straight)]
    assert of_both[0] == of_both[1]


def test_shards_are_split_into_tasks_of_which_each_maker_gets_several():
    assert tasks("reference-plain", [3, 5, 9], 2) == [Task("reference-plain", [n]) for n in (3, 5, 9)]
    many = tasks(None, range(100), 2)
    assert [number for task in many for number in task.numbers] == list(range(100))
    assert {len(task.numbers) for task in many} == {12, 4}


def test_vllm_draws_where_it_can_and_is_asked_for_and_several_workers_hand_candidates_over(tmp_path, monkeypatch):
    def config(method="sweet-rl", **changes):
        return read_config(
            tiny_run(tmp_path, method=method, resources={"cluster": {"address": "http://head:8265", **changes}})
        )

    assert find_spec("vllm") is None
    on_gpu, asked, own = ({"gpus_per_worker": 1}, {"sampler": "vllm"}, {"gpus_per_worker": 1, "sampler": "own"})
    assert hands_over(config(workers=2))
    for does in (uses_vllm, hands_over):
        assert not does(config(**on_gpu))
        with pytest.raises(Fault, match="install vLLM"):
            does(config(**asked))
    assert not hands_over(config("rft", sampler="vllm"))  # which has no candidates
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    for does in (uses_vllm, hands_over):
        assert [does(config(**fields)) for fields in (on_gpu, asked, own)] == [True, True, False]
    assert not uses_vllm(config())
