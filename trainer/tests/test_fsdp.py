"""Several processes that hold one model together compute what one process computes, and take over from each other."""

import os
from collections import Counter
from contextlib import nullcontext
from itertools import count
from pathlib import Path

import pytest
import torch
from models import tiny_model
from safetensors.torch import load_file
from sets import secret_pairs, step_pairs
from tiny_run import SERVER

from tandem_trainer.config import (
    CandidatesConfig,
    CriticConfig,
    DataConfig,
    ModelConfig,
    PolicyConfig,
    ResourcesConfig,
    RunConfig,
)
from tandem_trainer.export.folders import export_model
from tandem_trainer.methods.rft import RejectionFineTuning
from tandem_trainer.methods.sweet_rl import Critic, Policy
from tandem_trainer.methods.sweet_rl_variants import ValueHead
from tandem_trainer.model import memory
from tandem_trainer.model.base import Base, load_base
from tandem_trainer.model.flops import shape_of
from tandem_trainer.model.fsdp import part_of, whole
from tandem_trainer.run.budget import TokenBudget, score
from tandem_trainer.run.distributed import Ranks, join, leave
from tandem_trainer.run.event_file import Events
from tandem_trainer.run.machine_usage import Meter
from tandem_trainer.run.objective import turns_of
from tandem_trainer.run.optimise import optimise
from tandem_trainer.run.reference_cache import ReferenceCache
from tandem_trainer.run.run import Run
from tandem_trainer.run.shards import Shards
from tandem_trainer.run.stop import Stopped, StopRequest
from tandem_trainer.turn import Example, History

PORTS = count()
SETTINGS = CriticConfig(learning_rate=1e-2, batch=5, epochs=1.0, evaluate_every=2)  # 12 pairs: 3 steps, the last of 2
CANDIDATES = CandidatesConfig(per_turn=3, max_new_tokens=6)
FAMILIES = {"lora": "llama", "full": "qwen2"}  # the latter has tied embeddings


def together(work, folder: Path, world: int, *given) -> dict:
    """Calls work(ranks, folder, *given) in so many processes; returns what the first of them returns."""
    port = str(10_000 + (8 * os.getpid() + next(PORTS)) % 20_000)  # below those of clients
    folder.mkdir(parents=True, exist_ok=True)
    processes = [SERVER.Process(target=_rank, args=(work, folder, world, rank, port, given)) for rank in range(world)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * world
    return torch.load(folder / "told.pt", weights_only=False)


def _rank(work, folder: Path, world: int, rank: int, port: str, given) -> None:
    torch.set_num_threads(1)
    os.environ |= {"WORLD_SIZE": str(world), "RANK": str(rank), "LOCAL_RANK": str(rank)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = join()
    told = work(ranks, folder, *given)
    if ranks.first:
        torch.save(told, folder / "told.pt")
    leave()


def loaded(ranks: Ranks, folder: Path, training: str) -> Base:
    base = str(folder.parent / FAMILIES[training])
    config = ModelConfig(base=base, training=training, device="cpu", lora_rank=4)
    base = load_base(config, run_folder=folder, mesh=ranks.mesh(torch.device("cpu")))
    base.checkpoint_activations(training == "full")
    return base


def a_run(ranks: Ranks, folder: Path, base: Base) -> Run:
    config = RunConfig(
        base.config, DataConfig(), resources=ResourcesConfig(checkpoint_minutes=0), policy=PolicyConfig(more_epochs=0)
    )
    stop, events = StopRequest(folder), Events(None)
    budget = TokenBudget(24, ranks, stop, events)  # one pair in a micro-batch, so that ranks have different numbers
    meter = Meter(shape_of(base.model.config), base.config.training, None, base.device, ranks.world)
    expected = {"critic": 1.0, "policy": 1.0}
    return Run(folder, config, budget, meter, expected)


def train(ranks: Ranks, folder: Path, training: str) -> dict:
    """Trains every objective; returns the figures and weights of each, and the reference's log-probabilities."""
    base, told = loaded(ranks, folder, training), {}
    pairs, held_out = secret_pairs(12, 0), secret_pairs(3, 1)
    singles = [Example(pair.group, pair.chosen, target=float(number % 2)) for number, pair in enumerate(pairs)]
    run = a_run(ranks, folder, base)
    reference = ReferenceCache(base, folder, run.budget)
    objectives = {
        "critic": (Critic(SETTINGS, reference), pairs, held_out),
        "critic by a value head": (ValueHead(reference), singles, singles[:3]),
        "policy": (Policy(PolicyConfig(), reference), step_pairs(12, 0), step_pairs(3, 1)),
        "rft": (RejectionFineTuning(reference), singles, singles[:3]),
    }
    for name, (objective, examples, apart) in objectives.items():
        stage = "critic" if name.startswith("critic") else "policy"
        run = a_run(ranks, folder / name, base)
        with base.adapter(stage):
            objective.precompute([*examples, *apart])
            figures = optimise(stage, base, objective, examples, apart, SETTINGS, run)
            weights = {key: whole(weight).clone() for key, weight in base.state().items()}
            told[name] = (figures, {**weights, **objective.state()})
    with base.reference():
        told["reference"] = score(base, turns_of(pairs), run.budget)
    return told


@pytest.mark.parametrize("training", ["lora", "full"])
def test_two_processes_train_what_one_trains(tmp_path, training):
    tiny_model(tmp_path / FAMILIES[training], FAMILIES[training])
    one, two = (together(train, tmp_path / str(world), world, training) for world in (1, 2))
    for left, right in zip(one.pop("reference"), two.pop("reference"), strict=True):
        assert left == pytest.approx(right, abs=1e-5)
    for name, (figures, weights) in one.items():
        same, moved = two[name]
        left_out = ("seconds", "tokens")  # neighbours that were separated share no prefix
        assert {k: v for k, v in figures.items() if k not in left_out} == pytest.approx(
            {k: v for k, v in same.items() if k not in left_out}, abs=1e-4
        ), name
        assert distance(weights, moved) < 1e-5, name  # Adam magnifies rounding where gradients are tiny


def distance(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> float:
    """Returns the norm of the difference, in units of the norm of `left`."""
    assert left.keys() == right.keys()
    apart, norm = (
        sum(float(tensor.double().square().sum()) for tensor in tensors) ** 0.5
        for tensors in ((left[key] - right[key] for key in left), left.values())
    )
    return apart / norm


class Until(Events):
    """Asks the last of the processes to stop when a step is finished."""

    def __init__(self, step: int, ranks: Ranks):
        super().__init__(None)
        self.step = step if ranks.rank == ranks.world - 1 else None
        self.is_reached = False

    def emit(self, event: str, **fields) -> None:
        self.is_reached |= event == "step" and fields["step"] == self.step

    def __bool__(self) -> bool:
        return self.is_reached


def part_way(ranks: Ranks, folder: Path, training: str, last: int) -> dict:
    """Trains a policy in the run folder `run` from its last checkpoint to the step `last`; returns its weights."""
    base, at = loaded(ranks, folder, training), folder.parent / "run"
    run = a_run(ranks, at, base)
    run.events = run.budget.stop = Until(last, ranks)
    reference = ReferenceCache(base, at, a_run(ranks, at, base).budget)
    policy = Policy(PolicyConfig(), reference)
    policy.precompute(step_pairs(12, 0))
    with pytest.raises(Stopped) if last < 3 else nullcontext():
        optimise("policy", base, policy, step_pairs(12, 0), [], SETTINGS, run)
    assert run.checkpoints[0].state["step"] == last
    return {key: whole(weight).clone() for key, weight in base.state().items()}


@pytest.mark.parametrize(("training", "worlds"), [("lora", (1, 2, 3)), ("full", (3, 1, 2))])
def test_another_number_of_processes_goes_on_where_the_last_ones_stopped(tmp_path, training, worlds):
    for folder in (tmp_path, tmp_path / "straight"):
        tiny_model(folder / FAMILIES[training], FAMILIES[training])
    straight = together(part_way, tmp_path / "straight" / "1", 1, training, 3)
    for last, world in enumerate(worlds, start=1):
        ended = together(part_way, tmp_path / str(last), world, training, last)
    assert distance(straight, ended) < 1e-5


def sample(ranks: Ranks, folder: Path, most_whole: float) -> list:
    from tandem_trainer.model import base as module

    module.MAX_MEMORY_FRACTION = most_whole
    base = loaded(ranks, folder, "lora")
    histories = [History(pair.group, pair.chosen[0].prompt, None, ()) for pair in step_pairs(35, 0)]
    shards = Shards(folder, histories, CANDIDATES, base.stop_ids, seed=5)
    budget = TokenBudget(4096, ranks, StopRequest(folder), Events(None))
    shards.sample(base, budget)
    return [
        [(turn.response.tolist(), turn.log_probs) for turn in one.turns]
        for number in range(len(shards))
        for one in shards.read(number)
    ]


def test_candidates_are_the_same_however_they_are_sampled(tmp_path):
    tiny_model(tmp_path / FAMILIES["lora"], FAMILIES["lora"])
    ways = {"one": (1, 1.0), "each with the whole model": (2, 1.0), "in step": (2, 0.0)}
    alone, *others = (together(sample, tmp_path / name, *way) for name, way in ways.items())
    assert Counter(len(turns) for turns in alone) == {3: 35}
    for other in others:
        for left, right in zip(alone, other, strict=True):
            assert [ids for ids, _ in left] == [ids for ids, _ in right]
            for (_, one), (_, two) in zip(left, right, strict=True):
                assert one == pytest.approx(two, abs=1e-5)


def export(ranks: Ranks, folder: Path, training: str) -> dict:
    base = loaded(ranks, folder, training)
    held = memory.fixed(shape_of(base.model.config), base.config, "float32", processes=ranks.world)
    parts = [part_of(weight).numel() for weight in base.model.parameters()]
    assert 4 * sum(parts) == pytest.approx(
        held["weights"] + held["adapters"], rel=0.02
    )  # parts of odd sizes differ a little
    run = a_run(ranks, folder, base)
    imitate = RejectionFineTuning(ReferenceCache(base, folder, run.budget))
    pairs = [Example(pair.group, pair.chosen) for pair in secret_pairs(12, 0)]
    optimise("policy", base, imitate, pairs, [], SETTINGS, run)
    check = export_model(base, "policy", folder / "model", turns_of(pairs), lambda made: made.sentence)
    assert (check is None) == (ranks.rank > 0)
    return {key: whole(weight).clone() for key, weight in base.state().items()}


@pytest.mark.parametrize("training", ["lora", "full"])
def test_the_first_process_writes_the_whole_model(tmp_path, training):
    tiny_model(tmp_path / FAMILIES[training], FAMILIES[training])
    for world in (1, 2):
        together(export, tmp_path / str(world), world, training)
    one, two = (load_file(tmp_path / str(world) / "model" / "model.safetensors") for world in (1, 2))
    assert distance(one, two) < 1e-5
