"""Makes what a run has handed over on the Ray cluster: candidates, and then their scores, as tasks over the shards.

The workers that train are gone meanwhile. In their place come makers, each with the whole model, as many as there were
to be workers and as the cluster has room for. A task is a few shards; it only makes those that are missing, so that it
can be repeated anywhere. A maker that dies is replaced, and its task is another's.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import ClusterConfig, RunConfig
from ..fault import Fault, UsageFault
from ..run.claim import alive
from ..run.disk_space import fault_of, reserved
from ..run.event_file import Events
from ..run.stop import Stopped, StopRequest
from .record import last_line

if TYPE_CHECKING:
    from ray.actor import ActorHandle

POLL_INTERVAL = 0.5  # seconds between looks at requests to stop
MAX_LOST = 20  # makers that may die in one round
WAVES = 4  # tasks for each maker, at least: more balance better, and each loads weights of full fine-tuning again


@dataclass(frozen=True)
class Task:
    """Shards to make, or to give the scores `name`."""

    name: str | None
    numbers: Sequence[int]


def is_handed_over(folder: Path) -> bool:
    from ..run.candidate_work import Work

    return Work.path(folder).exists()


def make_work(run_json: Path, config: RunConfig, events: Events, request: StopRequest) -> None:
    from ..run.candidate_work import Work
    from ..run.run import in_round, told_by

    folder, cluster = run_json.parent, config.resources.cluster
    work = Work.read(folder)
    shards = work.shards(folder, config)
    with alive(folder), reserved(folder):
        events.stage = in_round("candidates", work.round)  # which the workers have said to be begun
        missing = shards.missing()
        if missing and work.round == 1 and uses_vllm(config):
            from .vllm_sampler import draw

            draw(shards, config, folder, request, told_by(events, events.stage, "vllm"))
        tell = told_by(events, events.stage, "candidates")
        with Crew(run_json, cluster, events, request) as crew:
            crew.make(tasks(None, missing, cluster.workers), tell)
            events.state("running", in_round("ranking", work.round))
            found = [(name, shards.missing(name)) for name in work.scores]
            tell = told_by(events, events.stage, "ranking")
            crew.make([task for each in found for task in tasks(*each, cluster.workers)], tell)
    Work.path(folder).unlink()


def uses_vllm(config: RunConfig) -> bool:
    """Not for a base of 4 bits: vLLM would draw from other weights. Errors: Fault when it is asked for and missing."""
    cluster = config.resources.cluster
    has = importlib.util.find_spec("vllm") is not None
    if cluster.sampler == "vllm" and not has:
        raise UsageFault(
            "resources.cluster.sampler is vllm, which the Python of the cluster does not have: install vLLM there, or "
            "set it to auto."
        )
    is_wanted = cluster.sampler == "vllm" or (cluster.sampler == "auto" and cluster.gpus_per_worker == 1)
    return has and is_wanted and config.model.training != "qlora"


def tasks(name: str | None, missing: Sequence[int], makers: int) -> list[Task]:
    size = max(1, len(missing) // (WAVES * makers))
    return [Task(name, missing[start : start + size]) for start in range(0, len(missing), size)]


class Crew:
    """The makers, as a context: they end with it."""

    def __init__(self, run_json: Path, cluster: ClusterConfig, events: Events, request: StopRequest):
        self.run_json, self.cluster, self.events, self.request = run_json, cluster, events, request
        self.free: list[ActorHandle] = []
        self.busy: dict[Any, tuple[ActorHandle, Task | None]] = {}  # by the reference to the maker's result
        self.lost = 0

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        for maker in (*self.free, *(maker for maker, _ in self.busy.values())):
            with contextlib.suppress(ValueError):  # one that is dead already
                ray.kill(maker)

    def make(self, work: Sequence[Task], tell: Callable[[int, int], None]) -> None:
        """`tell` gets how many shards are made, of all. Errors: Fault, Stopped."""
        import ray
        from ray.exceptions import ActorDiedError, ActorUnavailableError, OutOfMemoryError, RayTaskError

        waiting, done, total = deque(work), 0, sum(len(task.numbers) for task in work)
        while len(self.free) + len(self.busy) < min(self.cluster.workers, len(work)):
            self._add()
        while done < total:
            while self.free and waiting:
                maker, task = self.free.pop(), waiting.popleft()
                self.busy[maker.make.remote(task.name, task.numbers)] = maker, task
            if self.request:
                raise Stopped
            ready, _ = ray.wait(list(self.busy), timeout=POLL_INTERVAL)
            for reference in ready:
                maker, task = self.busy.pop(reference)
                try:
                    notices = ray.get(reference)
                except (ActorDiedError, ActorUnavailableError, OutOfMemoryError):
                    self._replace(maker)
                    if task is not None:
                        waiting.appendleft(task)
                except RayTaskError as error:
                    raise _fault(error.cause) from error
                else:
                    self.free.append(maker)
                    for notice in notices or ():
                        self.events.notice(notice)
                    if task is not None:
                        done += len(task.numbers)
                        tell(done, total)

    def _add(self) -> None:
        """Asks the cluster for another maker, which gets tasks as soon as it has a place and has loaded the model."""
        import ray

        options = {"num_cpus": 1, "num_gpus": self.cluster.gpus_per_worker, "max_restarts": 0}
        maker = ray.remote(**options)(Maker).remote(self.run_json)
        self.busy[maker.load.remote()] = maker, None

    def _replace(self, maker: ActorHandle) -> None:
        import ray

        self.lost += 1
        if self.lost > MAX_LOST:
            raise Fault(f"{self.lost} processes that make candidates have died: look at the nodes of the cluster.")
        self.events.notice("A process that makes candidates has died. Another one takes its part.")
        with contextlib.suppress(ValueError):
            ray.kill(maker)
        self._add()


class Maker:
    """Holds the whole model. Methods import what they need, because the driver, too, imports this module."""

    def __init__(self, run_json: Path):
        self.path = run_json
        self.notices = Notices()

    def load(self) -> None:
        import torch

        from ..model.base import load_base
        from ..model.folder import context_length, find_model, quiet
        from ..run.budget import TokenBudget
        from ..run.candidate_work import Work
        from ..run.checkpoint import whole_checkpoints
        from ..run.distributed import Ranks
        from ..run.objective import objective_of
        from ..run.prepare import within_context
        from ..run.reference_cache import ReferenceCache
        from ..run.resume import as_begun
        from ..run.run import in_round
        from ..run_json import read_config

        quiet()
        folder = self.path.parent
        config = read_config(self.path)
        model = as_begun(config.model, folder)
        base = find_model(model, folder, weights=False)
        self.config = config = within_context(replace(config, model=model), context_length(base))
        if config.resources.threads:
            torch.set_num_threads(config.resources.threads)
        work = Work.read(folder)
        self.shards = work.shards(folder, config)
        self.base = load_base(model, run_folder=folder, seed=config.seed)
        # The driver is asked to stop, and ends this process.
        never = StopRequest(folder / "candidates")
        tokens = json.loads((folder / "plan.json").read_text())["token_budget"]
        self.budget = TokenBudget(tokens, Ranks(), never, self.notices, config.resources.logits_mb << 20)

        found = whole_checkpoints(folder / "checkpoints", self.notices.notice)
        results = {checkpoint.stage: checkpoint for checkpoint in found if checkpoint.state["done"]}
        if work.round > 1:
            results[in_round("policy", work.round - 1)].load("trained", self.base.state())
        self.head = None
        if any(name.startswith("critic") for name in work.scores):
            if config.critic.score == "value-head":
                reference = ReferenceCache(self.base, folder, self.budget)
                self.head = objective_of("critic", config, reference)
                results["critic"].load("objective", self.head.state())
            with self.base.adapter("critic"):
                results["critic"].load("trained", self.base.state())

    def make(self, name: str | None, numbers: Sequence[int]) -> list[str]:
        """Makes missing shards, or their scores `name`, beside other makers. Returns notices. Errors: Fault."""
        from ..methods.sweet_rl import score_candidates

        if name is None:
            self.shards.sample(self.base, self.budget, numbers=numbers)
        else:
            critic = self.config.critic
            score_candidates(name, self.shards, critic, self.base, self.budget, self.head, numbers=numbers)
        return self.notices.taken()


class Notices(Events):
    """Keeps notices for another process, which writes the events of the run."""

    def __init__(self) -> None:
        super().__init__(None)
        self.kept: list[str] = []

    def emit(self, event: str, **fields: Any) -> None:
        if event == "notice":
            self.kept.append(fields["message"])

    def taken(self) -> list[str]:
        taken, self.kept = self.kept, []
        return taken


def _fault(cause: BaseException) -> Fault:
    found = cause if isinstance(cause, Fault) else fault_of(cause)
    return found or Fault(f"A process that makes candidates has failed by {type(cause).__name__}: {last_line(cause)}")
