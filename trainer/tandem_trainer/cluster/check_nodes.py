"""`doctor --cluster ADDRESS` checks each node of a Ray cluster, from a machine that reaches the cluster's dashboard.

A Ray job looks at the nodes (`nodes.py`); its findings are judged here. A check is named after its node.
"""

from __future__ import annotations

import json
import secrets
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import ClusterConfig
from ..fault import Fault
from ..run.interpreter import DISK, RAY, Check, Ran, check_driver, check_package, size
from ..run_json import read_config
from .capacity import asked, has, places
from .follow_job import NOT_FOUND, POLL_INTERVAL, PYTHON_FIRST, VARIABLES, connect, submit
from .nodes import SENT, differences, versions
from .remote import take_package

if TYPE_CHECKING:
    from ray.job_submission import JobDetails, JobSubmissionClient

JOB_TIMEOUT = 600  # seconds for the whole job
FULL = 0.95  # share of its disk from which on Ray takes no more objects (`local_fs_capacity_threshold`)
SLOW = 50e6  # bytes per second; a network of 1 Gbit/s has twice that


def examine_cluster(address: str, run_json: Path | None = None, storage: Path | None = None) -> list[Check]:
    """address: the dashboard. run_json: a run with needs to compare. storage: the folder that all nodes should see, by
    default that of the run. A run that is copied to the nodes (`copy_to`) needs nothing of this machine: its package
    goes with the job, and nodes are compared with the Python of the head.
    """
    checks, cluster = [check_package("ray", RAY["ray"])], None
    if run_json is not None:
        try:
            cluster = read_config(run_json).resources.cluster or ClusterConfig(address=address)
            checks.append(Check("run.json", "ok", f"read {run_json}", f"asks for {asked(cluster)}"))
            storage = storage or Path(cluster.copy_to or cluster.storage or run_json.resolve().parent)
        except Fault as fault:
            remedy = "Give the path of a run.json; `check` says more about its content."
            checks.append(Check("run.json", "failed", f"read {run_json}", str(fault), remedy))
    if checks[0].status != "ok":
        return checks
    try:
        client = connect(address)
    except Fault:
        remedy = "Give the address of its dashboard, such as http://head:8265, and start the cluster with it."
        return [*checks, Check("cluster", "failed", f"GET {address}/api/version", "no Ray dashboard answers", remedy)]
    asks = nonce = None
    is_copied = cluster is not None and cluster.copy_to is not None
    if storage is not None:
        name, folder = f".tandem-doctor-{secrets.token_hex(8)}", storage if is_copied else storage.resolve()
        asks = {"folder": str(folder), "nonce": name, "text": secrets.token_hex(16), "written": False}
        nonce = None if is_copied else folder / name
    try:
        if nonce is not None:
            checks.append(_write(nonce, asks))
        found = _ask(client, address, asks, is_copied)
    finally:
        if nonce is not None:
            nonce.unlink(missing_ok=True)
    if isinstance(found, Check):
        return [*checks, found]
    try:  # the answer comes from the log of the job, in which anything may stand
        nodes, here = found["nodes"], found["head"] if is_copied else versions()
        return [*checks, check_room(nodes, cluster, address), *check_nodes(nodes, here, asks, cluster)]
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        remedy = "Look at the job in the dashboard: its log has an answer that this machine's package did not write."
        saw = f"an answer of another form ({type(error).__name__}: {error})"
        return [*checks, Check("cluster", "failed", f"ask the nodes of {address}", saw, remedy)]


def _write(nonce: Path, asks: dict[str, Any]) -> Check:
    """Writes the file that the nodes look for; if that fails, one of them does."""
    command = f"write a file in {nonce.parent}"
    try:
        nonce.write_text(asks["text"], encoding="utf-8")
    except OSError as error:
        remedy = "Make the storage visible here under the same path: a run is launched from its folder there."
        return Check("storage here", "failed", command, f"{error.strerror}: {nonce.parent}", remedy)
    asks["written"] = True
    return Check("storage here", "ok", command, f"this machine writes {nonce.parent}")


def _ask(
    client: JobSubmissionClient, address: str, asks: dict[str, Any] | None, is_copied: bool
) -> dict[str, Any] | Check:
    job = f"tandem-doctor-{secrets.token_hex(4)}"
    python = "python" if is_copied else sys.executable
    command = shlex.join([python, "-m", "tandem_trainer", "cluster-nodes", json.dumps({"storage": asks})])
    shown = f"the Ray job {job} at {address}"
    try:
        if is_copied:
            with tempfile.TemporaryDirectory(prefix="tandem-doctor-") as folder:
                take_package(Path(folder))
                variables = {name: value for name, value in VARIABLES.items() if name != "PYTHONPATH"}
                environment = {"env_vars": variables, "working_dir": folder}
                submit(client, entrypoint=command, submission_id=job, runtime_env=environment)
        else:
            submit(client, entrypoint=command, submission_id=job, runtime_env={"env_vars": VARIABLES})
        done = _wait(client, job)
        log = client.get_job_logs(job)
    except (OSError, RuntimeError) as error:
        remedy = "Look at the logs of the cluster's dashboard on its head."
        return Check("cluster", "failed", shown, f"the job could not be followed: {error}", remedy)
    if not done.status.is_terminal():
        remedy = "Look at the job in the dashboard: the head may be overloaded, or a node may hang."
        return Check("cluster", "failed", shown, f"{done.status.value} after {JOB_TIMEOUT} seconds", remedy)
    return read_answer(shown, done.driver_exit_code, log, is_copied)


def _wait(client: JobSubmissionClient, job: str) -> JobDetails:
    deadline = time.monotonic() + JOB_TIMEOUT
    try:
        while True:
            found = client.get_job_info(job)
            if found.status.is_terminal() or time.monotonic() > deadline:
                return found
            time.sleep(POLL_INTERVAL / 2)
    finally:
        client.stop_job(job)  # which leaves one that has ended alone


def read_answer(command: str, code: int | None, log: str, is_copied: bool = False) -> dict[str, Any] | Check:
    lines = [line for line in log.splitlines() if line.strip()]
    answer = next((line for line in lines if line.startswith('{"nodes":')), None)
    if answer is not None:
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            remedy = "Look at the log of the job in the dashboard, and run the same command again."
            return Check("cluster", "failed", command, f"an answer that is cut off or garbled: {error}", remedy)
    saw = f"the job has failed on the head: {lines[-1].strip() if lines else 'it wrote no log'}"
    if code in NOT_FOUND:
        saw = f"its head has no {'`python` in the PATH of Ray' if is_copied else f'Python at {sys.executable}'}"
    remedy = f"Start Ray on every node with {sys.prefix}/bin/ray, and let each see {VARIABLES['PYTHONPATH']}."
    return Check("cluster", "failed", command, saw, PYTHON_FIRST if is_copied else remedy)


def check_room(nodes: list[dict[str, Any]], cluster: ClusterConfig | None, address: str) -> Check:
    command, resources = f"the nodes of {address}", [node["resources"] for node in nodes]
    if cluster is None:
        on_gpus, on_cpus = (ClusterConfig(address=address, gpus_per_worker=count) for count in (1, 0))
        saw = f"{has(on_cpus, resources)} and {has(on_gpus, resources).rpartition(' with ')[2]}"
        return Check("cluster", "ok", command, saw)
    count, saw = places(cluster, resources), f"{has(cluster, resources)}; the run asks for {asked(cluster)}"
    if count == 0:
        remedy = "Add such nodes to the cluster, or change resources.cluster.gpus_per_worker: the run would wait."
        return Check("cluster", "failed", command, saw, remedy)
    if count < cluster.workers:
        remedy = "Add nodes, or lower resources.cluster.workers; as it is, the run has fewer workers and is slower."
        return Check("cluster", "warning", command, saw, remedy)
    return Check("cluster", "ok", command, saw)


def check_nodes(
    nodes: list[dict[str, Any]], here: dict[str, Any], asks: dict[str, Any] | None, cluster: ClusterConfig | None
) -> list[Check]:
    """nodes: from `nodes.look_at_nodes`. here: the versions to compare with. asks: the storage that was looked for."""
    checks = []
    for node in nodes:
        name = node["name"]
        if "problem" in node:
            remedy = f"Look at Ray's logs on {name}; when the node is overloaded or gone, take it out of the cluster."
            checks.append(Check(name, "failed", f"start an actor on {name}", node["problem"], remedy))
            continue
        said = node["said"]
        checks += check_versions(name, said["versions"], here)
        checks += check_gpus(name, node, cluster is not None and cluster.gpus_per_worker > 0)
        checks.append(check_temporary(name, said["temporary"]))
        if asks is not None:
            checks.append(check_storage(name, node["storage"], asks["folder"]))
        if "link" in node:
            checks.append(check_link(name, node["link"]))
    return checks


def check_versions(name: str, there: dict[str, Any], here: dict[str, Any]) -> list[Check]:
    command = f"read the versions of {there['prefix']}/bin/python on {name}"
    found = differences(name, there, here)
    if found:
        return [
            Check(f"{name} versions", "failed" if each.breaks else "warning", command, each.saw, each.remedy)
            for each in found
        ]
    packages = ", ".join(f"{package} {version}" for package, version in there["packages"].items())
    saw = f"Python {there['python']}, {packages}; the trainer of this machine"
    return [Check(f"{name} versions", "ok", command, saw)]


def check_gpus(name: str, node: dict[str, Any], on_gpus: bool) -> list[Check]:
    """Driver, torch and Ray must know the same GPUs. on_gpus: whether the run trains on GPUs."""
    cards, torch = Ran(**node["said"]["cards"]), Ran(**node["said"]["torch"])
    label, counted = f"{name} GPUs", int(node["resources"].get("GPU", 0))
    if torch.code != 0:
        remedy = f"Install torch anew in the Python of {name}, until this succeeds there."
        return [Check(f"{name} torch", "failed", torch.command, torch.saw, remedy)]
    if cards.code == 127:
        return [Check(label, "ok", cards.command, f"no nvidia-smi; Ray counts {counted} GPUs")]
    facts = json.loads(torch.out.splitlines()[-1])
    facts["device"] = "cuda" if facts["cards"] else "cpu"
    listed = [[part.strip() for part in line.split(",")] for line in cards.out.splitlines() if line.count(",") == 3]
    driver = check_driver(cards, facts, "cuda" if on_gpus else "cpu")
    if driver.status != "ok":
        return [Check(label, driver.status, driver.command, driver.saw, driver.remedy)]
    saw = "; ".join(
        f"{card}, {size(float(free) * 2**20)} of {size(float(total) * 2**20)} free, driver {version}"
        for card, version, total, free in listed
    )
    if counted != len(listed):
        remedy = f"Start Ray on {name} with --num-gpus {len(listed)}, unless the others are not meant for it."
        return [Check(label, "warning", cards.command, f"{saw}; but Ray counts {counted} GPUs", remedy)]
    return [Check(label, "ok", cards.command, saw)]


def check_temporary(name: str, room: dict[str, Any]) -> Check:
    """Checks the room where Ray keeps logs and the objects that do not fit into memory."""
    label, command = f"{name} temporary folder", f"look at the disk with {room['folder']} on {name}"
    saw = f"{size(room['free'])} free in {room['folder']}"
    remedy = f"Make room on {name}, or start Ray there with another --temp-dir."
    if room["free"] < DISK[0]:
        return Check(label, "failed", command, saw, remedy)
    if room["free"] < (1 - FULL) * room["total"]:
        return Check(label, "warning", command, f"{saw}, from which on Ray takes no more objects", remedy)
    return Check(label, "ok", command, saw)


def check_storage(name: str, found: dict[str, Any], folder: str) -> Check:
    label, command = f"{name} storage", f"read and write files in {folder} on {name}"
    shared = "put storage there that every machine sees, under the same path"
    if "problem" in found:
        remedy = f"Look at the file system with {folder} on {name}: it may hang."
        return Check(label, "failed", command, found["problem"], remedy)
    if not found["exists"]:
        return Check(label, "failed", command, f"{name} has no folder {folder}", f"On {name}, {shared}.")
    if not found["same"]:
        saw = f"{name} has another folder at {folder}: a file that was written there elsewhere is not in it"
        return Check(label, "failed", command, saw, f"On {name}, {shared}.")
    if "error" in found:
        remedy = f"Make room there, or give the user of Ray on {name} the right to write."
        return Check(label, "failed", command, f"{size(SENT)} cannot be written: {found['error']}", remedy)
    saw = f"{size(found['free'])} free in {folder}, written at {rate(found['rate'])}"
    if found["free"] < DISK[1]:
        status = "failed" if found["free"] < DISK[0] else "warning"
        return Check(
            label, status, command, saw, "Free some: a run keeps up to three times the size of its base there."
        )
    return Check(label, "ok", command, saw)


def check_link(name: str, link: dict[str, Any]) -> Check:
    """Checks a port that the system chose, as workers connect."""
    command = f"send {SENT >> 20} MiB from {name} to {link['to']} by TCP"
    if "error" in link:
        remedy = f"Open all ports between {name} and {link['to']}: the workers of a run connect on any."
        saw = f"no connection to {link['to']}" + (f" at {link['at']}" if "at" in link else "")
        return Check(f"{name} network", "failed", command, f"{saw}: {link['error']}", remedy)
    saw = f"{rate(link['rate'])} to {link['to']}"
    if link["rate"] < SLOW:
        remedy = "Look at the network between them: workers exchange their gradients at every step."
        return Check(f"{name} network", "warning", command, saw, remedy)
    return Check(f"{name} network", "ok", command, saw)


def rate(bytes_per_second: float) -> str:
    return f"{bytes_per_second / 1e6:,.0f} MB/s"
