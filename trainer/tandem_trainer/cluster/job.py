"""The driver of a run in the Ray cluster, which has workers train it (`worker.py`).

    python -m tandem_trainer cluster-job run.json    the entry point of the job that `follow_job.py` submits

Where several workers train, or vLLM draws, they end before candidates are sampled, other processes make these
(`tasks.py`), and the workers come back. Ray places the workers, connects them and restarts them from the last
checkpoint when one has died. Fewer places than `workers` change no step of the run.
"""

import os
import socket
from pathlib import Path

from .. import importing
from ..config import RunConfig
from ..fault import Fault, UsageFault
from ..run.disk_space import fault_of
from ..run.event_file import Events
from ..run.stop import STARTED, Stopped, StopRequest
from ..run_json import read_config
from .nodes import connect, require_alike, versions
from .record import Job, has_ended, last_line, read_job, report_end
from .remote import Mirror, unpack
from .tasks import is_handed_over, make_work
from .worker import claimed, train_on_worker

# Ray counts a failure for each time that workers or their nodes died, over the whole job; warnings of a cloud that it
# takes a machine away are not counted.
MAX_FAILURES = 10
# Seconds between looks at whether there is room for more workers. A larger group starts from the last checkpoint.
RESIZE_INTERVAL = 300.0
# Seconds until operations between workers fail. It is long because workers wait while one loads, writes or samples;
# Ray notices earlier when one has died.
JOB_TIMEOUT = 24 * 3600


def main(arguments: list[str]) -> int:
    """Errors: Fault, which is also the last event of the run."""
    path = Path(os.path.realpath(arguments[0]))
    job = read_job(path.parent)
    if job is None:
        raise UsageFault(f"{path} has no Ray job: `python -m tandem_trainer cluster {path}` submits one.")
    if job.folder is None:
        return _train(path, job)
    path, there = unpack(path, job)
    with importing():
        import torch  # noqa: F401  imported when Ray is connected already, it ended the process here
    with Mirror(path.parent, job.since):
        ended = _train(path, there)
        if (path.parent / "model").exists():
            Events(path.parent, prints=False).notice(
                f"The trained model is in {path.parent} on the cluster. Copy its folders `model` and, if there is one, "
                "`critic` into the folder of the run to play with them here."
            )
        return ended


def _train(path: Path, job: Job) -> int:
    from ray.train.v2.api.exceptions import TrainingFailedError

    config, folder = read_config(path), path.parent
    try:
        connect()
        require_alike()
    except Fault as fault:
        report_end(folder, job, "failed", str(fault))
        raise
    try:
        fit(path, config, job)
        while not has_ended(folder, job) and is_handed_over(folder):
            _make_work(path, config, job)
            if not has_ended(folder, job):
                fit(path, config, job)
    except TrainingFailedError as error:
        told = report_end(folder, job, "failed", reason(error))
    else:
        told = report_end(folder, job, "failed", "The workers have ended without a word.")
    if told["state"] == "failed":
        raise Fault(told["message"])
    return 0


def fit(run_json: Path, config: RunConfig, job: Job) -> None:
    """Trains until the run ends or hands its candidates over. Errors: TrainingFailedError."""
    from ray.train import FailureConfig, ScalingConfig
    from ray.train import RunConfig as TrainConfig
    from ray.train.torch import TorchTrainer

    from .network import OverRaysNetwork

    cluster = config.resources.cluster
    on_gpus = cluster.gpus_per_worker == 1
    trainer = TorchTrainer(
        train_on_worker,
        train_loop_config={"run_json": run_json, "job": job, "since": STARTED, "versions": versions()},
        torch_config=OverRaysNetwork(backend="cpu:gloo,cuda:nccl" if on_gpus else "gloo", timeout_s=JOB_TIMEOUT),
        scaling_config=ScalingConfig(
            num_workers=(1, cluster.workers) if cluster.workers > 1 else 1,
            use_gpu=on_gpus,
            elastic_resize_monitor_interval_s=RESIZE_INTERVAL,
        ),
        run_config=TrainConfig(
            name=f"{job.id}-{os.urandom(3).hex()}",  # Ray takes up what it finds under the same name
            storage_path=str(run_json.parent / "ray"),
            failure_config=FailureConfig(max_failures=MAX_FAILURES),
        ),
    )
    trainer.fit()


def _make_work(run_json: Path, config: RunConfig, job: Job) -> None:
    """A stop or a fault becomes the last event of the run."""
    from ray.exceptions import RayError

    folder = run_json.parent
    events, request = Events(folder, prints=False), StopRequest(folder)
    lock = claimed(folder, f"{socket.gethostname()} in the Ray cluster at {job.address}")
    try:
        make_work(run_json, config, events, request)
    except Stopped:
        events.state("stopped")
        request.honoured()
    except Fault as fault:
        events.state("failed", message=str(fault))
    except RayError as error:
        events.state("failed", message=f"Ray cannot make the candidates: {type(error).__name__}: {last_line(error)}")
    finally:
        lock.close()


def reason(error: BaseException) -> str:
    """Returns the sentence of a worker's own Fault, or else of its first failure."""
    failures = [failure for _, failure in sorted(getattr(error, "worker_failures", {}).items())] or [error]
    causes = [getattr(failure, "_base_exc", failure) for failure in failures]
    faults = [cause if isinstance(cause, Fault) else fault_of(cause) for cause in causes]
    fault = next((each for each in faults if each is not None), None)
    if fault is not None:
        return str(fault)
    return f"The workers have failed again and again, at last by {type(causes[0]).__name__}: {last_line(causes[0])}"
