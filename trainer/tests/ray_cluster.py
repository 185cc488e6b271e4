"""A Ray cluster of two nodes with one processor each, on two hosts: network namespaces that are joined by a cable.

Who uses the cluster is on the second host. The second node may have a folder of its own under the path of one that the
first node sees, as on another machine.

Outside of a namespace Ray listens on the machine's own address, whatever it is told. The system must allow user
namespaces, and have `unshare`, `nsenter` and `ip`. The module is also the program that holds the cluster there, and
does what the lines of its stdin say.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

# Of linux/sched.h; `os.unshare` came with Python 3.12.
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWNET = 0x00020000, 0x04000000, 0x40000000
FIRST, SECOND = "10.77.0.1", "10.77.0.2"
CABLE = f"""
ip link set lo up
ip link add first type veth peer name second
ip address add {FIRST}/24 dev first
ip link set first up
"""


class RayCluster:
    """The cluster, as tests see it: its commands are executed in its namespace.

    apart: a folder with a link to the package. In its place the second node has a small disk with a copy that differs.
    """

    def __init__(self, log: Path, apart: Path):
        self.log = log
        program = f"exec {sys.executable} {__file__} {apart}"
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=log.parent,  # jobs begin in this folder, and would find a package there
                # A run that is copied to the nodes is executed by the Python that is first there.
                env={
                    **os.environ,
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                    "RAY_USAGE_STATS_ENABLED": "0",
                },
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

    def add_a_node(self) -> None:
        """Starts a node again on the host whose node was taken away."""
        self._say("add a node")
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


def _unshare(what: int) -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(what) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _go_to_second_host() -> None:
    """Makes this process, and those that are started from here on, ones of the second host."""
    # The end of the cable is moved by a process that stays on the first host.
    moving = subprocess.Popen(["sh", "-c", f"read go; ip link set second netns {os.getpid()}"], stdin=subprocess.PIPE)
    _unshare(CLONE_NEWNET | CLONE_NEWUTS)
    moving.communicate(b"go\n")
    socket.sethostname("second")
    subprocess.run(
        ["sh", "-ec", f"ip link set lo up; ip address add {SECOND}/24 dev second; ip link set second up"], check=True
    )


def _part(apart: Path) -> None:
    """Gives the processes that are started from here on another disk under this path."""
    package = (apart / "tandem_trainer").resolve()
    _unshare(CLONE_NEWNS)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", apart], check=True)
    shutil.copytree(package, apart / "tandem_trainer", ignore=shutil.ignore_patterns("__pycache__"))
    with open(apart / "tandem_trainer" / "fault.py", "a") as file:
        file.write("# another version\n")


def _end_workers() -> None:
    """Kills what is left of Ray on this host: workers outlive their node for a moment, and would take another step."""
    host = os.readlink("/proc/self/ns/net")
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "ns" / "net") == host and (process / "cmdline").read_bytes().startswith(b"ray::"):
                os.kill(int(process.name), signal.SIGKILL)
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue  # it has ended, or belongs to another user


def _hold(folder: str, apart: Path | None) -> None:
    """Holds the cluster until stdin ends. folder: for Ray's files; its path must be short, because it holds sockets."""
    # Ray and its jobs also note there which cluster is the one of this machine; elsewhere it would be another test's.
    os.environ["RAY_TMPDIR"] = folder
    # On a busy machine a node takes longer than Ray waits for it.
    os.environ |= {"RAY_DASHBOARD_STARTUP_TIMEOUT_S": "3600", "RAY_raylet_start_wait_time_s": "3600"}
    from ray.cluster_utils import Cluster

    Cluster._wait_for_node.__defaults__ = (3600,)
    # A node counts as dead after two seconds without an answer, in place of half a minute.
    soon = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 2}
    subprocess.run(["sh", "-ec", CABLE], check=True)
    head = {"num_cpus": 1, "include_dashboard": True, "dashboard_host": FIRST, "node_ip_address": FIRST}
    cluster = Cluster(initialize_head=True, head_node_args={**head, "_system_config": soon})
    _go_to_second_host()
    if apart is not None:
        _part(apart)
    other = cluster.add_node(num_cpus=1, node_ip_address=SECOND)
    print(f"http://{cluster.webui_url}", flush=True)
    for line in sys.stdin:
        if line.strip() == "end":
            break
        if line.strip() == "add a node":
            other = cluster.add_node(num_cpus=1, node_ip_address=SECOND)
        else:
            cluster.remove_node(other, allow_graceful=False)
            _end_workers()
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends pytest, which then closes stdin
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        _hold(folder, Path(sys.argv[1]) if sys.argv[1:] else None)
