"""`python -m tandem_trainer cluster run.json` trains a run on a Ray cluster, and waits for its end.

It submits the run as a Ray job and follows it. The job does not need this process: started again while the job runs,
the command follows it; otherwise it submits another, which resumes from the last checkpoint. For a copied run that
finished meanwhile it only takes over the job's output.

A first SIGTERM or SIGINT asks the run to stop after a checkpoint. A second one, or the first after `killed.json` was
written, stops the job at once.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from http.client import HTTPException
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.request import urlopen

from ..config import ClusterConfig
from ..fault import Fault, UsageFault
from ..run.event_file import Events, StateReader, last_state
from ..run.interpreter import require_cluster
from ..run.stop import STARTED
from ..run_json import read_config
from .capacity import Wait
from .record import Job, has_ended, next_job, read_job, report_end
from .remote import Copy, bundle, visible_lines

if TYPE_CHECKING:
    from ray.job_submission import JobDetails, JobSubmissionClient

POLL_INTERVAL = 1.0  # seconds between looks at the job
ANSWERS = 20.0  # seconds in which a dashboard must answer at first
SILENCE = 600.0  # seconds after which a cluster that no longer answers is given up
SHOWN = 20  # lines of a failed job's log
VARIABLES = {  # of the processes of a job, which find this package where it is here
    "PYTHONPATH": str(Path(__file__).parents[2]),
    "PYTHONNOUSERSITE": "1",
    "PYTHONUTF8": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
NOT_FOUND = (126, 127)  # exit codes of the shell that executes the command of a job
# The remedy for a run that is copied to the nodes: a job is not told with which Python Ray was started.
PYTHON_FIRST = (
    'Start Ray on every node with the trainer\'s Python first in its PATH, as in PATH=FOLDER/bin:"$PATH" ray start.'
)

# Ray's answers while the agent on its head, which starts jobs, is not up; with Python 3.10 it gives the second one.
NO_AGENT = ("No available agent to submit job", "Failed to get head node agent")

T = TypeVar("T")


def main(arguments: list[str]) -> int:
    path = Path(os.path.realpath(arguments[0]))
    cluster = read_config(path).resources.cluster
    if cluster is None:
        raise UsageFault(f"{path} names no cluster: set resources.cluster.address, or leave out `cluster`.")
    requests = Requests(path.parent)
    requests.listen()
    job = read_job(path.parent)
    try:
        require_cluster()
        client = connect(cluster.address)
        if job is None or not (_is_at_work(client, path.parent, job) or _has_done_it(client, path.parent, job)):
            job = _submit(client, path, cluster)
    except Fault as fault:
        if job is None or has_ended(path.parent, job):  # otherwise the job may well be at work
            Events(path.parent).state("failed", message=str(fault))
        raise
    return follow(client, path.parent, job, requests, Wait(path.parent, job, cluster))


class Requests:
    def __init__(self, folder: Path):
        self.stop_path, self.finish_path = folder / "stop", folder / "finish"
        self.killed_path = folder / "killed.json"
        self.signalled: float | None = None
        self.at_once = False  # whether the job is to end without a checkpoint

    def listen(self) -> None:
        """Takes over SIGTERM and SIGINT. Only the main thread may call this."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signal)

    def _signal(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        # Signals within a second count as one, as they do for the trainer (`stop.py`).
        if _is_new(self.killed_path) or (self.signalled is not None and now - self.signalled > 1):
            self.at_once = True
        self.signalled = self.signalled or now

    def is_to_stop(self) -> bool:
        """Passes a signal on by the file, also to a worker that starts later."""
        if self.signalled is not None:
            self.stop_path.touch()
        return _is_new(self.stop_path)

    def made(self) -> list[str]:
        asked = {"stop": self.is_to_stop(), "finish": self.finish_path.exists()}
        return [name for name, is_asked in asked.items() if is_asked]


def _is_new(path: Path) -> bool:
    return path.exists() and path.stat().st_mtime > STARTED


def connect(address: str) -> JobSubmissionClient:
    for name in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):  # Ray would prefer them to the address
        os.environ.pop(name, None)
    from ray.job_submission import JobSubmissionClient

    try:
        urlopen(f"{address.rstrip('/')}/api/version", timeout=ANSWERS).close()  # Ray's client waits without an end
        return JobSubmissionClient(address)
    except (OSError, RuntimeError, ValueError, HTTPException) as error:
        raise Fault(
            f"No Ray dashboard answers at {address}: check the address, and that the cluster is up and was started "
            "with its dashboard."
        ) from error


def _is_at_work(client: JobSubmissionClient, folder: Path, job: Job) -> bool:
    """Waits for a job that is about to end."""
    while True:
        found = _find(client, job)
        if found is None or found.status.is_terminal():
            return False
        if not has_ended(folder, job):
            return True
        time.sleep(POLL_INTERVAL)


def _has_done_it(client: JobSubmissionClient, folder: Path, job: Job) -> bool:
    """True if the job finished the run while no one followed it; takes over its output. A stopped run needs another."""
    if job.folder is None or _find(client, job) is None:
        return False
    before, copy = last_state(folder, job.since), Copy(client, folder, job)
    try:
        copy.close()
    except (OSError, RuntimeError) as error:  # the node that had the log may be gone; `unpack` keeps the events there
        print(f"The log of the Ray job {job.id} cannot be read: {error}", file=sys.stderr, flush=True)
        return False
    told = last_state(folder, job.since)
    return told is not None and told["state"] == "done" and told != before


def _find(client: JobSubmissionClient, job: Job) -> JobDetails | None:
    return next((each for each in _patiently(client.list_jobs) if each.submission_id == job.id), None)


def _patiently(call: Callable[[], T]) -> T:
    """Retries for up to SILENCE seconds; the network or the head may be away. Errors: Fault."""
    deadline = time.monotonic() + SILENCE
    while True:
        try:
            return call()
        except (OSError, RuntimeError) as error:
            if time.monotonic() > deadline:
                raise Fault(
                    f"The Ray cluster has not answered for {SILENCE:.0f} seconds ({error}). When it does again, resume "
                    "the run: its job is found when it is still at work."
                ) from error
            time.sleep(POLL_INTERVAL)


def _submit(client: JobSubmissionClient, path: Path, cluster: ClusterConfig) -> Job:
    """The nodes need this Python and this package under the same paths. If they do not see the files of this machine,
    the package goes with the job, and Python is the first one in the PATH with which Ray was started.
    """
    job = next_job(path.parent, cluster.address, cluster.copy_to)
    variables = {
        **VARIABLES,
        "RAY_TRAIN_V2_ENABLED": "1",
        # Ray counts a lost node for some twenty seconds, and waits so long for its place before it counts again.
        "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "20",
    }
    if cluster.gpus_per_worker == 0:
        variables["CUDA_VISIBLE_DEVICES"] = ""
    command = shlex.join([sys.executable, "-m", "tandem_trainer", "cluster-job", str(path)])
    environment: dict[str, Any] = {"env_vars": variables}
    with ExitStack() as within:
        if job.folder is not None:
            command = "python -m tandem_trainer cluster-job run.json"
            del variables["PYTHONPATH"]
            environment["working_dir"] = str(within.enter_context(bundle(path)))
        try:
            submit(client, entrypoint=command, submission_id=job.id, runtime_env=environment)
        except (OSError, RuntimeError, ValueError) as error:
            raise Fault(f"The Ray cluster at {cluster.address} has not taken the job: {error}") from error
    return job


def submit(client: JobSubmissionClient, **job: Any) -> None:
    """Retries for up to SILENCE seconds while the agent that starts jobs is not up. job: for Ray's `submit_job`."""
    deadline = time.monotonic() + SILENCE
    while True:
        try:
            client.submit_job(**job)
            return
        except RuntimeError as error:
            if not any(each in str(error) for each in NO_AGENT) or time.monotonic() > deadline:
                raise
        time.sleep(POLL_INTERVAL)


def follow(client: JobSubmissionClient, folder: Path, job: Job, requests: Requests, wait: Wait) -> int:
    shown, states = None, StateReader(folder, job.since)
    copy = Copy(client, folder, job) if job.folder else None
    while True:
        found = _find(client, job)
        if found is None:
            raise _failure(
                folder, job, f"The Ray cluster at {job.address} was restarted and has lost the job {job.id}."
            )
        if found.status != shown:
            shown = found.status
            print(f"Ray job {job.id} at {job.address}: {shown.value}", file=sys.stderr, flush=True)
        if found.status.is_terminal():
            break
        told = states.last()
        waits = told is None  # for room in the cluster: there is no worker yet that could read a request
        has_failed = told is not None and told["state"] == "failed"  # and Ray is about to start the workers again
        if waits and found.job_id is not None:
            wait.look(found.job_id)
        if requests.at_once or has_failed or (requests.is_to_stop() and waits):
            _patiently(lambda: client.stop_job(job.id))
        elif copy:
            for name in requests.made():
                _patiently(partial(copy.hand_on, name))
        time.sleep(POLL_INTERVAL)
    if copy:
        _patiently(copy.close)
    requests.stop_path.unlink(missing_ok=True)
    if found.status == "SUCCEEDED":
        return 0
    if found.status == "STOPPED":
        told = report_end(folder, job, "stopped")
        if told["state"] == "failed":
            raise Fault(told["message"])
        return 0
    # A driver that could not begin, on a node without the run's folder for one, has only its log to say so.
    log = visible_lines(_patiently(lambda: client.get_job_logs(job.id)))
    if not has_ended(folder, job):
        print("\n".join(log[-SHOWN:]), file=sys.stderr)
    last = log[-1] if log else "it wrote no log"
    sentence = f"The Ray job {job.id} has failed: {last}"
    if job.folder and (found.driver_exit_code in NOT_FOUND or "No module named" in last):
        sentence = f"The job has not found the trainer's Python on the head of the cluster ({last}). {PYTHON_FIRST}"
    raise _failure(folder, job, sentence)


def _failure(folder: Path, job: Job, sentence: str) -> Fault:
    """Prefers the run's own words; otherwise the sentence becomes the run's last event."""
    return Fault(report_end(folder, job, "failed", sentence).get("message", sentence))
