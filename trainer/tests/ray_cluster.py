"""A Ray cluster of two nodes with one processor each, on the loopback of a network namespace of its own.

Outside of one Ray listens on the machine's own address, whatever it is told. The system must allow user namespaces, and
have `unshare`, `nsenter` and `ip`. The module is also the program that holds the cluster there, and does what the lines
of its stdin say.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


class RayCluster:
    """The cluster, as tests see it: its commands are executed in its namespace."""

    def __init__(self, log: Path):
        self.log = log
        program = f"ip link set lo up && exec {sys.executable} {__file__}"
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
            )
        self.address = self._answer()

    def start(self, arguments: list[str], package: Path, output: Path) -> subprocess.Popen:
        """Starts `python -m tandem_trainer` with these arguments. package: the folder that holds the package."""
        inside = ["nsenter", "--target", str(self.process.pid), "--user", "--net", "--preserve-credentials"]
        with open(output, "w") as file:
            return subprocess.Popen(
                [*inside, sys.executable, "-m", "tandem_trainer", *arguments],
                stdout=file,
                stderr=file,
                cwd=output.parent,
                env={**os.environ, "PYTHONPATH": str(package)},
            )

    def take_a_node_away(self) -> None:
        """Kills the processes of the node that does not have the head, and returns when they are gone."""
        self._say("take a node away")
        self._answer()

    def end(self) -> None:
        self._say("end")
        self.process.wait()

    def _say(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _answer(self) -> str:
        said = self.process.stdout.readline().strip()
        assert said, f"There is no Ray cluster, which needs Linux with user namespaces: {self.log.read_text()}"
        return said


def _hold(folder: str) -> None:
    """Holds the cluster until stdin ends. folder: for Ray's files; its path must be short, because it holds sockets."""
    from ray._private.utils import write_ray_address
    from ray.cluster_utils import Cluster

    # A node counts as dead after two seconds without an answer, in place of half a minute.
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 2}
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": True, "temp_dir": folder, "_system_config": soon},
    )
    write_ray_address(cluster.address, folder)  # of several clusters on a machine, jobs take the one of their folder
    other = cluster.add_node(num_cpus=1)
    print(f"http://{cluster.webui_url}", flush=True)
    for line in sys.stdin:
        if line.strip() == "end":
            break
        cluster.remove_node(other, allow_graceful=False)
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends pytest, which then closes stdin
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        _hold(folder)
