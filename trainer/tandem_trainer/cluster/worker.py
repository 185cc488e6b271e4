"""A worker of a run on a Ray cluster: one of the processes that train together.

The first worker writes the event `nodes` at the start of each attempt: the nodes of the workers, and the lost ones.
Nodes are compared with those of the job's last such event, so that a lost node stays in the list. Ray gives a node that
starts again another id, so it is then recognised by its host name.
"""

import socket
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

from ..config import RunConfig
from ..fault import Fault, UsageFault
from ..methods.settings import method_of
from ..run.claim import claim
from ..run.disk_space import MachineFault, full_disk
from ..run.event_file import Events, StateReader, last_state
from ..run.restart import Again, Attempt
from ..run.stop import StopRequest
from ..run.train import perform
from ..run_json import read_config
from .nodes import require_same, versions
from .record import Job, has_ended
from .tasks import uses_vllm

CLAIMED_WITHIN = 60  # seconds in which a worker of before must have ended


def train_on_worker(given: dict[str, Any]) -> None:
    """Ray calls it in each worker. Errors: Fault, after its event.

    given: `run_json`, an absolute path; `job`; `since`, its start in seconds since 1970; `versions` of the driver.
    """
    from ..run.candidate_work import HandedOver
    from ..run.distributed import join

    path: Path = given["run_json"]
    job: Job = given["job"]
    folder = path.parent
    node = socket.gethostname()
    if not path.exists():
        raise UsageFault(
            f"The node {node} does not see {path}: put the run's folder on storage that every node of the cluster sees "
            "under the same path."
        )
    # The driver looked at the nodes that were there when it began; this one may have joined since.
    require_same(node, versions(), given["versions"])
    ranks = join()
    # Ray knows no failure after which it must not start again, so these workers end a job without a follower.
    if ranks.of_first(has_ended(folder, job)):
        return
    is_new = last_state(folder, job.since) is None
    attempt = Attempt(folder, ranks.of_first(0 if is_new else Attempt.after(folder)))
    # stdout is the log of the job, which shall show what is not among the events.
    events = Events(folder if ranks.first else None, prints=False)
    if attempt.fault_before:
        attempt.report(events)
        return
    config = read_config(path)
    workers = ranks.gather(own_node())
    lock = claimed(folder, f"{node} in the Ray cluster at {job.address}") if ranks.first else None
    try:
        if ranks.first:
            tell_nodes(folder, job, events, workers, config.resources.cluster.workers)
        request = StopRequest(folder, since=given["since"])
        perform(folder, config, events, request, attempt, first=ranks.first, hands_over=hands_over(config))
    except HandedOver:
        pass  # the driver sees the work and has it made
    except Exception as error:
        fault = error if isinstance(error, Fault) else full_disk(error)
        if fault is None:  # Ray starts the workers again
            raise
        if isinstance(fault, MachineFault):
            fault = MachineFault(f"On the node {node}: {fault}")
        attempt.tell(fault)
        if not isinstance(fault, Again):
            events.state("failed", message=str(fault))
        if fault is error:
            raise
        raise fault from error
    finally:
        if lock is not None:
            lock.close()


def hands_over(config: RunConfig) -> bool:
    """True where several workers train, or vLLM draws. Errors: Fault."""
    cluster = config.resources.cluster
    return cluster is not None and method_of(config).candidates and (cluster.workers > 1 or uses_vllm(config))


def claimed(folder: Path, host: str) -> IO[str]:
    """Waits for the worker before, which Ray has ended: it may hold the run a moment longer. Errors: Fault."""
    deadline = time.monotonic() + CLAIMED_WITHIN
    while True:
        try:
            return claim(folder, host)
        except Fault:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


@dataclass(frozen=True)
class Node:
    """id: Ray's. gpus: the name of each worker's GPU. state: `idle` has no worker of the run; `back` was lost."""

    id: str
    host: str
    workers: int
    gpus: list[str]
    state: Literal["works", "back", "lost", "idle"] = "works"


def own_node() -> Node:
    """Only a worker of Ray may call this."""
    import ray
    import torch

    gpus = [torch.cuda.get_device_name()] if torch.cuda.is_available() else []
    return Node(ray.get_runtime_context().get_node_id(), socket.gethostname(), 1, gpus)


def tell_nodes(folder: Path, job: Job, events: Events, workers: Sequence[Node], asked: int) -> None:
    """workers: the node of each worker, by `own_node`. asked: how many workers the run asks for."""
    import ray

    told = StateReader(folder, job.since, "nodes").last()
    before = [Node(**each) for each in told["nodes"]] if told else []
    alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
    nodes = compared(before, joined(workers), alive)
    events.emit("nodes", nodes=[asdict(node) for node in nodes], asked=asked)
    changes = changed(before, nodes) if before else ""
    if changes:
        events.notice(f"{changes}; the run goes on with {len(workers)} of {asked} workers {_place(folder)}.")


def joined(workers: Sequence[Node]) -> list[Node]:
    """Merges equal nodes, in the order of their ranks."""
    nodes: dict[str, Node] = {}
    for worker in workers:
        node = nodes.get(worker.id, replace(worker, workers=0, gpus=[]))
        nodes[worker.id] = replace(node, workers=node.workers + 1, gpus=[*node.gpus, *worker.gpus])
    return list(nodes.values())


def compared(before: Sequence[Node], now: Sequence[Node], alive: Collection[str]) -> list[Node]:
    """Returns the nodes of before with their states of now, then the new ones. alive: the ids that the cluster has."""
    new = {node.id: node for node in now}
    nodes = []
    for node in before:
        same = new.pop(node.id, None)
        if same is None and node.id not in alive:
            known = {each.id for each in before}
            again = next((each for each in new.values() if each.host == node.host and each.id not in known), None)
            same = new.pop(again.id) if again else None
            is_back = again is not None
        else:
            is_back = node.state in ("back", "lost")
        if same is not None:
            nodes.append(replace(same, state="back" if is_back else "works"))
        else:
            nodes.append(replace(node, workers=0, gpus=[], state="idle" if node.id in alive else "lost"))
    return [*nodes, *new.values()]


def changed(before: Sequence[Node], nodes: Sequence[Node]) -> str:
    """Returns the beginning of a sentence; empty when nothing has changed."""
    verbs = {"lost": "is lost", "back": "came back"}
    said = [
        f"the node {node.host} {verbs[node.state]}"
        for node, was in zip(nodes, before, strict=False)
        if node.state in verbs and node.state != was.state
    ]
    said += [f"the node {node.host} has joined" for node in nodes[len(before) :]]
    sentence = ", ".join(said)
    return sentence[:1].upper() + sentence[1:]


def _place(folder: Path) -> str:
    names = sorted(path.name for path in (folder / "checkpoints").glob("*-*-*"))
    if not names:
        return "from the start"
    stage, _, step = names[-1].partition("-")[2].rpartition("-")
    return f"from step {step} of {stage}" if step.isdigit() else f"after {stage}"
