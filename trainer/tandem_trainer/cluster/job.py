"""The part of a run that is executed in the Ray cluster: the driver of the job, and the workers that train.

    python -m tandem_trainer cluster-job run.json    the entry point of the job that `follow.py` submits

Ray places the workers, connects them and starts them again when one has died; they then go on from the last checkpoint.
With fewer places than `workers` they are fewer, which changes no step of the run.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import IO, Any

from ..fault import Fault
from ..run.attempt import Again, Attempt
from ..run.claim import claim
from ..run.disk import fault_of
from ..run.event_file import Events, last_state
from ..run.stop import StopRequest
from ..run.train import perform
from ..run_json import read_config
from .placement import own_node, tell_nodes
from .record import Job, has_ended, read_job, report_end

# Ray counts a failure for each time that workers or their nodes died, over the whole job; warnings of a cloud that it
# takes a machine away are not counted.
MAX_FAILURES = 10
# Seconds between looks at whether there is room for more workers. A larger group starts from the last checkpoint.
RESIZED_EVERY = 300.0
# Seconds until operations between workers fail. It is long because workers wait while one loads, writes or samples;
# Ray notices earlier when one has died.
PATIENCE = 24 * 3600
CLAIMED_WITHIN = 60  # seconds in which a worker of before must have ended


def main(arguments: list[str]) -> int:
    """Trains the run by Ray Train and returns 0. Errors: Fault, which is also the last event of the run."""
    path = Path(arguments[0])
    config = read_config(path)
    folder = path.resolve().parent
    cluster, job = config.resources.cluster, read_job(folder)
    if cluster is None or job is None:
        raise Fault(f"{path} has no Ray job: `python -m tandem_trainer cluster {path}` submits one.", usage=True)

    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer
    from ray.train.v2.api.exceptions import TrainingFailedError

    on_gpus = cluster.gpus_per_worker == 1
    trainer = TorchTrainer(
        train_on_worker,
        train_loop_config={"run_json": path.resolve(), "job": job},
        torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if on_gpus else "gloo", timeout_s=PATIENCE),
        scaling_config=ScalingConfig(
            num_workers=(1, cluster.workers) if cluster.workers > 1 else 1,
            use_gpu=on_gpus,
            elastic_resize_monitor_interval_s=RESIZED_EVERY,
        ),
        run_config=RunConfig(
            name=job.id,
            storage_path=str(folder / "ray"),
            failure_config=FailureConfig(max_failures=MAX_FAILURES),
        ),
    )
    try:
        trainer.fit()
    except TrainingFailedError as error:
        told = report_end(folder, job, "failed", reason(error))
    else:
        told = report_end(folder, job, "failed", "The workers have ended without a word.")
    if told["state"] == "failed":
        raise Fault(told["message"])
    return 0


def train_on_worker(given: dict[str, Any]) -> None:
    """Trains as one of the workers; Ray calls it in each of them. Errors: Fault, after its event.

    given: `run_json`, the absolute path of the configuration, and `job`, of which this is a part.
    """
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
    lock = _claim(folder, f"{node} in the Ray cluster at {job.address}") if ranks.first else None
    try:
        if ranks.first:
            tell_nodes(folder, job, events, workers, config.resources)
        perform(folder, config, events, StopRequest(folder), attempt, first=ranks.first)
    except Fault as fault:
        attempt.tell(fault)
        if not isinstance(fault, Again):
            events.state("failed", message=str(fault))
        raise
    finally:
        if lock is not None:
            lock.close()


def _claim(folder: Path, host: str) -> IO[str]:
    """Claims the run; the worker of before, which Ray has ended, may still hold it for a moment. Errors: Fault."""
    deadline = time.monotonic() + CLAIMED_WITHIN
    while True:
        try:
            return claim(folder, host)
        except Fault:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def reason(error: BaseException) -> str:
    """Returns one sentence for a failure of Ray Train: a worker's own Fault, or else its first failure."""
    failures = [failure for _, failure in sorted(getattr(error, "worker_failures", {}).items())] or [error]
    causes = [getattr(failure, "_base_exc", failure) for failure in failures]
    faults = [cause if isinstance(cause, Fault) else fault_of(cause) for cause in causes]
    fault = next((each for each in faults if each is not None), None)
    if fault is not None:
        return str(fault)
    words = str(causes[0]).strip().splitlines() or ["no reason was given"]
    return f"The workers have failed again and again, at last by {type(causes[0]).__name__}: {words[-1].strip()}"
