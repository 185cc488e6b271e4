"""A worker of a run on a Ray cluster: one of the processes that train together."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import IO, Any

from ..config import RunConfig
from ..fault import Fault
from ..run.claim import claim
from ..run.disk_space import MachineFault, full_disk
from ..run.event_file import Events, last_state
from ..run.restart import Again, Attempt
from ..run.stop import StopRequest
from ..run.train import perform
from ..run_json import read_config
from .placement import own_node, tell_nodes
from .record import Job, has_ended
from .tasks import uses_vllm
from .versions import require_same, versions

CLAIMED_WITHIN = 60  # seconds in which a worker of before must have ended


def train_on_worker(given: dict[str, Any]) -> None:
    """Trains as one of the workers; Ray calls it in each of them. Errors: Fault, after its event.

    given: `run_json`, the absolute path of the configuration; `job`, of which this is a part; `since`, when the job
    began, in seconds since 1970; `versions` of the driver.
    """
    from ..run.candidate_work import HandedOver
    from ..run.distributed import join

    path: Path = given["run_json"]
    job: Job = given["job"]
    folder = path.parent
    node = socket.gethostname()
    if not path.exists():
        raise Fault(
            f"The node {node} does not see {path}: put the run's folder on storage that every node of the cluster sees "
            "under the same path.",
            usage=True,
        )
    # The driver looked at the nodes that were there when it began; this one may have joined since.
    require_same(node, versions(), given["versions"])
    ranks = join()
    # Ray knows no failure after which it must not start again, so that these workers end a job that nobody follows.
    if ranks.of_first(has_ended(folder, job)):
        return
    is_new = last_state(folder, job.since) is None
    attempt = Attempt(folder, ranks.of_first(0 if is_new else Attempt.after(folder)))
    events = Events(folder if ranks.first else None)
    events.stdout = None  # it is the log of the job, which shall show what is not among the events
    if attempt.fault_before:
        attempt.report(events)
        return
    config = read_config(path)
    workers = ranks.gather(own_node())
    lock = claimed(folder, f"{node} in the Ray cluster at {job.address}") if ranks.first else None
    try:
        if ranks.first:
            tell_nodes(folder, job, events, workers, config.resources)
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
    """Returns whether others make the run's candidates: where several workers train, or vLLM draws. Errors: Fault."""
    cluster = config.resources.cluster
    return cluster is not None and config.method == "sweet-rl" and (cluster.workers > 1 or uses_vllm(config))


def claimed(folder: Path, host: str) -> IO[str]:
    """Claims the run; the worker of before, which Ray has ended, may still hold it for a moment. Errors: Fault."""
    deadline = time.monotonic() + CLAIMED_WITHIN
    while True:
        try:
            return claim(folder, host)
        except Fault:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)
