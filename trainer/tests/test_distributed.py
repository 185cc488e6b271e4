"""A run in two processes makes the same losses and decisions as one process."""

import os
import time
from itertools import count
from pathlib import Path

import pytest
from hub import Hub
from models import tiny_model
from tiny_run import Trainer, events, tiny_run

from tandem_trainer.run.distributed import Ranks

PORTS = count()


@pytest.fixture
def free_port() -> int:
    """Returns a port from the process id, below the range from which systems assign ports."""
    return 10_000 + (4 * os.getpid() + next(PORTS)) % 20_000


@pytest.mark.parametrize("world", [1, 2, 3, 7])
def test_the_parts_of_all_ranks_are_the_batch_in_its_order(world):
    lengths = [5, 1, 1, 1, 8, 2, 30, 1]
    parts = [Ranks(rank, world).share([7, 2, 3, 0, 1, 4, 6, 5], lengths.__getitem__) for rank in range(world)]
    assert [index for part in parts for index in part] == [7, 2, 3, 0, 1, 4, 6, 5]


@pytest.mark.parametrize(("lengths", "parts"), [([10, 10, 10, 10, 20, 20], [[0, 1, 2, 3], [4, 5]]), ([100], [[], [0]])])
def test_ranks_get_about_as_many_tokens_each(lengths, parts):
    shared = [Ranks(rank, 2).share(range(len(lengths)), lengths.__getitem__) for rank in range(2)]
    assert sorted(shared, key=len) == parts or shared == parts


def two_ranks(path: Path, port: int, patch: str = "", restarts: int = 0) -> list[Trainer]:
    """Starts two ranks, with the variables that `torchrun --nproc-per-node 2` sets."""
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    shared["TORCHELASTIC_RESTART_COUNT"] = str(restarts)
    return [Trainer(path, patch, {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(2)]


def test_two_processes_take_the_steps_of_one(tmp_path, straight, free_port):
    together = tiny_run(tmp_path, preferences=True)
    for trained in [trainer.wait() for trainer in two_ranks(together, free_port)]:
        assert (trained.code, trained.stderr) == (0, "")
    steps, same = events(straight, "step"), events(together, "step")
    assert [(step["stage"], step["step"]) for step in steps] == [(step["stage"], step["step"]) for step in same]
    assert {step["stage"] for step in steps} == {"critic", "policy"}
    for one, two in zip(steps, same, strict=True):
        assert one["loss"] == pytest.approx(two["loss"], abs=1e-4)
        assert one["gradient_norm"] == pytest.approx(two["gradient_norm"], rel=1e-2)
    # Only the first rank writes.
    assert len(events(together, "state")) == len(events(straight, "state"))
    assert (together.parent / "stdout-1.txt").read_text() == ""


def test_the_first_rank_decides_which_commit_of_the_hub_is_trained(tmp_path, free_port):
    path = tiny_run(tmp_path / "run", method="rft", model={"base": "tiny/model"})
    (path.parent / "stop").touch()
    os.utime(path.parent / "stop", (time.time() + 10_000,) * 2)
    with Hub() as hub:
        hub.push("tiny/model", tiny_model(tmp_path / "model"))
        patch = f"from hub import heed; heed({hub.environment(tmp_path / 'home')})"
        assert [rank.wait().code for rank in two_ranks(path, free_port, patch)] == [0, 0]
        assert hub.asked == 1


THE_SECOND_RANK_IS_SMALL = """
import os, torch
from tandem_trainer.methods.sweet_rl import Policy
real = Policy.loss
def loss(self, model, examples):
    if os.environ["RANK"] == "1" and len(examples) > {most}:
        raise torch.OutOfMemoryError("CUDA out of memory.")
    return real(self, model, examples)
Policy.loss = loss
"""


def test_when_one_rank_runs_out_of_memory_both_begin_again_with_smaller_pieces(tmp_path, free_port):
    path = tiny_run(tmp_path, method="multiturn-dpo", resources={"token_budget": 4096, "checkpoint_minutes": 0})
    patch = THE_SECOND_RANK_IS_SMALL.format(most=1)
    first, second = (rank.wait() for rank in two_ranks(path, free_port, patch))
    assert (first.code, second.code) == (1, 1)
    assert second.stderr.startswith("Out of memory: micro-batches have at most ")
    assert first.stderr == "Another process of this run has ended.\n"
    assert "failed" not in [event["state"] for event in events(path, "state")]
    number = 1
    while [rank.wait().code for rank in two_ranks(path, free_port + number, patch, restarts=number)] != [0, 0]:
        number += 1
        assert number < 8
    budgets = [event["token_budget"] for event in events(path, "notice") if "Out of memory" in event["message"]]
    assert len(budgets) == number and budgets == sorted(budgets, reverse=True)
    steps = [event["step"] for event in events(path, "step")]
    assert steps == list(range(1, len(steps) + 1))


def test_a_fault_of_one_rank_ends_all_with_its_sentence_and_they_do_not_begin_again(tmp_path, free_port):
    path = tiny_run(tmp_path, method="multiturn-dpo", resources={"token_budget": 1})  # one example at a time
    patch = THE_SECOND_RANK_IS_SMALL.format(most=0)
    trained = [rank.wait() for rank in two_ranks(path, free_port, patch)]
    assert [one.code for one in trained] == [1, 1]
    assert all("alone does not fit into memory" in one.stderr for one in trained)
    assert "alone does not fit into memory" in events(path, "state")[-1]["message"]
    told = events(path)
    again = [rank.wait() for rank in two_ranks(path, free_port + 1, patch, restarts=1)]
    assert [(one.code, one.stderr) for one in again] == [(1, ""), (1, "")]
    assert events(path) == told


def test_a_rank_that_is_killed_ends_all_and_they_go_on_from_the_last_checkpoint(tmp_path, straight, free_port):
    path = tiny_run(tmp_path, preferences=True, resources={"checkpoint_minutes": 0})
    killed = [rank.wait() for rank in two_ranks(path, free_port, THE_SECOND_RANK_GETS.format(signal=9))]
    assert [one.code for one in killed] == [1, -9]
    assert killed[0].stderr == "Another process of this run has ended.\n"
    assert [rank.wait().code for rank in two_ranks(path, free_port + 1, restarts=1)] == [0, 0]
    steps, same = ([(event["stage"], event["step"]) for event in events(run, "step")] for run in (straight, path))
    assert steps == same
    assert events(path, "state")[-1]["state"] == "done"


THE_SECOND_RANK_GETS = """
import os
from tandem_trainer.run import optimise
real = optimise._add_gradients
count = 0
def add_gradients(*given):
    global count
    count += 1
    if count == 3 and os.environ["RANK"] == "1":
        os.kill(os.getpid(), {signal})
    return real(*given)
optimise._add_gradients = add_gradients
"""


def test_a_signal_to_one_rank_stops_all_after_the_same_step(tmp_path, free_port):
    path = tiny_run(tmp_path, method="multiturn-dpo")
    ranks = two_ranks(path, free_port, THE_SECOND_RANK_GETS.format(signal=15))
    assert [rank.wait().code for rank in ranks] == [0, 0]
    assert [event["state"] for event in events(path, "state")][-2:] == ["stopping", "stopped"]
    assert len(events(path, "step")) == 2
