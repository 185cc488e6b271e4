"""The part of a run that is executed in the Ray cluster: the driver of the job, and the workers that train.

Where several workers train, they end before candidates are sampled, other processes make these (`tasks.py`), and the
workers come back.

    python -m tandem_trainer cluster-job run.json    the entry point of the job that `follow.py` submits

Ray places the workers, connects them and starts them again when one has died; they then go on from the last checkpoint.
With fewer places than `workers` they are fewer, which changes no step of the run.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import IO, Any

from ..config import RunConfig
from ..fault import Fault
from ..run.attempt import Again, Attempt
from ..run.claim import claim
from ..run.disk import MachineFault, fault_of, full_disk
from ..run.event_file import Events, last_state
from ..run.stop import STARTED, Stopped, StopRequest
from ..run.train import perform
from ..run_json import read_config
from .nodes import connect, require_alike
from .record import Job, has_ended, read_job, report_end
from .tasks import is_handed_over, make_work

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

    try:
        connect()
        require_alike()
    except Fault as fault:
        report_end(folder, job, "failed", str(fault))
        raise

    from ray.train.v2.api.exceptions import TrainingFailedError

    try:
        fit(path.resolve(), config, job)
        while not has_ended(folder, job) and is_handed_over(folder):
            _make_work(path.resolve(), config, job)
            if not has_ended(folder, job):
                fit(path.resolve(), config, job)
    except TrainingFailedError as error:
        told = report_end(folder, job, "failed", reason(error))
    else:
        told = report_end(folder, job, "failed", "The workers have ended without a word.")
    if told["state"] == "failed":
        raise Fault(told["message"])
    return 0


def fit(run_json: Path, config: RunConfig, job: Job) -> None:
    """Trains on the workers until the run ends or hands its candidates over. Errors: TrainingFailedError."""
    from ray.train import FailureConfig, ScalingConfig
    from ray.train import RunConfig as TrainConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    cluster = config.resources.cluster
    assert cluster is not None
    on_gpus = cluster.gpus_per_worker == 1
    trainer = TorchTrainer(
        train_on_worker,
        train_loop_config={"run_json": run_json, "job": job, "since": STARTED},
        torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if on_gpus else "gloo", timeout_s=PATIENCE),
        scaling_config=ScalingConfig(
            num_workers=(1, cluster.workers) if cluster.workers > 1 else 1,
            use_gpu=on_gpus,
            elastic_resize_monitor_interval_s=RESIZED_EVERY,
        ),
        run_config=TrainConfig(
            name=f"{job.id}-{os.urandom(3).hex()}",  # Ray takes up what it finds under the same name
            storage_path=str(run_json.parent / "ray"),
            failure_config=FailureConfig(max_failures=MAX_FAILURES),
        ),
    )
    trainer.fit()


def _make_work(run_json: Path, config: RunConfig, job: Job) -> None:
    """Makes what the workers have handed over; a stop and a fault are the last event of the run then."""
    folder = run_json.parent
    events, request = Events(folder), StopRequest(folder)
    events.stdout = None
    lock = _claim(folder, f"{socket.gethostname()} in the Ray cluster at {job.address}")
    try:
        make_work(run_json, config, events, request)
    except Stopped:
        events.state("stopped")
        request.honoured()
    except Fault as fault:
        events.state("failed", message=str(fault))
    finally:
        lock.close()


def train_on_worker(given: dict[str, Any]) -> None:
    """Trains as one of the workers; Ray calls it in each of them. Errors: Fault, after its event.

    given: `run_json`, the absolute path of the configuration; `job`, of which this is a part; `since`, when the job
    began, in seconds since 1970.
    """
    from ..run.distributed import join
    from ..run.work import HandedOver

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
    lock = _claim(folder, f"{node} in the Ray cluster at {job.address}") if ranks.first else None
    try:
        request = StopRequest(folder, since=given["since"])
        several = config.resources.cluster is not None and config.resources.cluster.workers > 1
        perform(folder, config, events, request, attempt, first=ranks.first, hands_over=several)
    except HandedOver:
        pass  # the driver sees the work and has it made
    except Exception as error:
        attempt.tell(fault)
        if not isinstance(fault, Again):
            events.state("failed", message=str(fault))
        if fault is error:
            raise
        raise fault from error
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
