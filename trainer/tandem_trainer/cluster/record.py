"""`cluster.json` in a run's folder: the last Ray job of the run."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..run.disk_space import write_whole
from ..run.event_file import FINAL, Events, last_state


@dataclass(frozen=True)
class Job:
    """address: the cluster's dashboard. since: the size of events.jsonl in bytes when the job was made; later events
    are the job's. attempt: how many jobs this run has had, from 1. folder: that of the run on the cluster, if it is a
    copy.
    """

    id: str
    address: str
    attempt: int
    since: int
    folder: str | None = None


def read_job(folder: Path) -> Job | None:
    try:
        return Job(**json.loads((folder / "cluster.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def next_job(folder: Path, address: str, copy_to: str | None = None) -> Job:
    """Records another job of the run before it is submitted. copy_to: the cluster's folder for runs. Errors: Fault."""
    last = read_job(folder)
    attempt = 1 if last is None else last.attempt + 1
    events = folder / "events.jsonl"
    # The random part distinguishes runs in folders of the same name.
    random = os.urandom(3).hex()
    copied = copy_to and str(PurePosixPath(copy_to) / f"{folder.name}-{random}")
    if last is not None and last.folder and copied and PurePosixPath(last.folder).parent == PurePosixPath(copy_to):
        copied = last.folder
    size = events.stat().st_size if events.exists() else 0
    job = Job(f"tandem-{folder.name}-{attempt}-{random}", address, attempt, size, copied)
    write_whole(folder / "cluster.json", (json.dumps(asdict(job)) + "\n").encode())
    return job


def last_line(error: BaseException) -> str:
    """The last line of an error of Ray is the cause, after all the traces."""
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else f"{type(error).__name__} without a word"


def has_ended(folder: Path, job: Job) -> bool:
    told = last_state(folder, job.since)
    return told is not None and told["state"] in FINAL


def report_end(folder: Path, job: Job, state: str, message: str | None = None) -> dict[str, Any]:
    """Reports the end of a run with dead workers, unless they have reported one. Returns that event."""
    if not has_ended(folder, job):
        last = last_state(folder, job.since)
        Events(folder, prints=False).state(state, last and last.get("stage"), message)
    return last_state(folder, job.since)
