"""What a run asks a cluster for and what the cluster has, also while the run waits for it."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..config import ClusterConfig
from ..data.dialogue import counted
from ..run.event_file import Events
from .record import Job

SAID_AFTER = 30.0  # seconds for which Ray Train has asked for room
POLL_INTERVAL = 5.0  # seconds between looks whether it asks
MAX_LISTED = 10_000  # nodes and reservations that Ray lists


class Wait:
    """Says once, after a while, that the cluster has no room for a worker of the run."""

    def __init__(self, folder: Path, job: Job, cluster: ClusterConfig):
        self.folder, self.job, self.cluster = folder, job, cluster
        self.next_look = 0.0
        self.asks = False  # Ray Train does not while the process of the job begins, which takes long on a busy node

    def look(self, ray_job: str) -> None:
        """Reports among the events and on stderr that the run waits for room. ray_job: Ray's own id of the job.

        Only while no worker has reported anything: until then the follower may write the events. Errors: Fault.
        """
        if time.monotonic() < self.next_look:
            return
        path = self.folder / "events.jsonl"
        if path.exists() and path.stat().st_size > self.job.since:
            return  # it was said already
        from ray.util.state.exception import RayStateApiException

        try:
            if self.asks:
                self._say_unless_reserved(ray_job)
            else:
                self.asks = self._has_controller(ray_job)
        except (OSError, RuntimeError, RayStateApiException) as error:
            print(f"The Ray cluster does not say what places it has: {error}", file=sys.stderr, flush=True)
        self.next_look = time.monotonic() + (SAID_AFTER if self.asks else POLL_INTERVAL)

    def _has_controller(self, ray_job: str) -> bool:
        from ray.util.state import list_actors

        own = [("job_id", "=", ray_job), ("class_name", "=", "TrainController"), ("state", "=", "ALIVE")]
        return bool(list_actors(self.job.address, filters=own, raise_on_missing_output=False))

    def _say_unless_reserved(self, ray_job: str) -> None:
        from ray.util.state import list_nodes, list_placement_groups

        address, own = self.job.address, [("creator_job_id", "=", ray_job)]
        reserved = list_placement_groups(address, filters=own, limit=MAX_LISTED, raise_on_missing_output=False)
        if any(each.state == "CREATED" for each in reserved):
            return  # the workers have their places, and are about to begin
        nodes = list_nodes(address, limit=MAX_LISTED, raise_on_missing_output=False)
        sentence = waits(self.cluster, [node.resources_total for node in nodes if node.state == "ALIVE"])
        print(sentence, file=sys.stderr, flush=True)
        Events(self.folder, prints=False).notice(sentence)


def places(cluster: ClusterConfig, nodes: Sequence[dict[str, float]]) -> int:
    """Returns how many workers have a place when nothing else runs. nodes: the resources of each."""
    kind = "GPU" if cluster.gpus_per_worker else "CPU"
    return sum(int(node.get(kind, 0)) for node in nodes)


def asked(cluster: ClusterConfig) -> str:
    """Returns such as `2 workers with one GPU each`."""
    one = _place(cluster)
    return f"1 worker with one {one}" if cluster.workers == 1 else f"{cluster.workers} workers with one {one} each"


def has(cluster: ClusterConfig, nodes: Sequence[dict[str, float]]) -> str:
    """Returns such as `2 nodes with 0 GPUs`."""
    return f"{counted(len(nodes), 'node')} with {counted(places(cluster, nodes), _place(cluster))}"


def waits(cluster: ClusterConfig, nodes: Sequence[dict[str, float]]) -> str:
    taken = ", which other work holds" if places(cluster, nodes) else ""
    return (
        f"The run waits for room: it asks for {asked(cluster)}, and the cluster at {cluster.address} has "
        f"{has(cluster, nodes)}{taken}."
    )


def _place(cluster: ClusterConfig) -> str:
    return "GPU" if cluster.gpus_per_worker else "processor"
