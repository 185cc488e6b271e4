"""Looks at each node of a Ray cluster from within it.

    python -m tandem_trainer cluster-nodes REQUEST    the entry point of the job that `check_nodes.py` submits

The job prints one line of JSON, `{"nodes": [{name, resources, said?, storage?, link?, problem?}], "head": VERSIONS}`,
with the versions of its own Python. One actor on each node asks for no processor, GPU or memory, and looks for a
limited time. Ray carries this module there by value, because the node may lack this package.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import re
import secrets
import shutil
import socket
import sys
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

from ..fault import UsageFault
from ..run import interpreter
from ..run.interpreter import PACKAGES, RAY, release, requirement, run
from .record import last_line

# Seconds in which a node must have started its actor and imported torch, for which `interpreter.run` has 180.
NODE_TIMEOUT_SECONDS = 300
STEP = 60  # seconds for each later question to a node
UNLIKE = 30  # seconds that a run waits for the versions of its nodes
SENT = 64 << 20  # bytes that are sent from node to node, and written to the storage
PART = 1 << 20
CONNECTED = 10  # seconds in which a connection between two nodes must be there

# Ray hides GPUs from an actor that asks for none. NVML counts them without taking memory of a card.
TORCH = """
import json, os
os.environ.pop("CUDA_VISIBLE_DEVICES", None)
os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
import torch
print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "cards": torch.cuda.device_count()}))
"""
CARDS = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,memory.free", "--format=csv,noheader,nounits"]


class Probe:
    """Looks at the node on which it is executed. Ray carries it there by value: the node may lack this package."""

    def look(self) -> dict[str, Any]:
        """Returns the versions, what nvidia-smi and torch say of GPUs, and the room where Ray keeps its files."""
        import ray

        folder = ray.get_runtime_context().get_temp_dir()
        room = shutil.disk_usage(folder)
        return {
            "versions": versions(),
            "cards": asdict(run(CARDS)),
            "torch": asdict(run([sys.executable, "-c", TORCH])),
            "temporary": {"folder": folder, "free": room.free, "total": room.total},
        }

    def put(self, folder: str, name: str, text: str) -> None:
        Path(folder, name).write_text(text, encoding="utf-8")

    def store(self, folder: str, nonce: str, text: str) -> dict[str, Any]:
        """Reads the file `nonce` of a folder, and writes SENT bytes there, which are deleted.

        Returns `exists`; `same`, whether the file has the text; `free` bytes; `rate` in bytes per second, or `error`.
        """
        there = Path(folder)
        if not there.is_dir():
            return {"exists": False}
        try:
            same = (there / nonce).read_text(encoding="utf-8") == text
        except OSError:
            same = False
        told: dict[str, Any] = {"exists": True, "same": same}
        path = there / f".tandem-doctor-{secrets.token_hex(8)}"
        part = os.urandom(PART)
        try:
            told["free"] = shutil.disk_usage(there).free
            began = time.perf_counter()
            with open(path, "wb") as file:
                for _ in range(SENT // PART):
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            told["rate"] = SENT / (time.perf_counter() - began)
        except OSError as error:
            told["error"] = error.strerror or str(error)
        finally:
            path.unlink(missing_ok=True)
        return told

    def listen(self, address: str) -> int:
        """Waits for one connection to this node, and reads it to its end. Returns the port."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        server = socket.create_server((address, 0), family=family)
        server.settimeout(STEP)

        def read() -> None:
            with server, server.accept()[0] as connection:
                while connection.recv(PART):
                    pass
                connection.sendall(b"\0")

        threading.Thread(target=read, daemon=True).start()
        return server.getsockname()[1]

    def send(self, address: str, port: int) -> dict[str, Any]:
        part = bytes(PART)
        try:
            with socket.create_connection((address, port), timeout=CONNECTED) as connection:
                connection.settimeout(STEP / 2)
                began = time.perf_counter()
                for _ in range(SENT // PART):
                    connection.sendall(part)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)
                return {"rate": SENT / (time.perf_counter() - began)}
        except OSError as error:
            return {"error": error.strerror or str(error)}


def main(arguments: list[str]) -> int:
    """arguments: a request, `{"storage": {folder, nonce, text, written} | null}`."""
    request = json.loads(arguments[0])
    connect()
    print(json.dumps({"nodes": look_at_nodes(request["storage"]), "head": versions()}), flush=True)
    return 0


def connect() -> None:
    """Connects this process, the driver of a job, to its cluster. Errors: Fault when their versions differ."""
    import ray

    try:
        ray.init(ignore_reinit_error=True, logging_level=logging.ERROR)
    except RuntimeError as error:
        if "Version mismatch" not in str(error):
            raise
        # Ray names the versions of the cluster, then those of this process.
        rays, pythons = re.findall(r"Ray: (\S+)", str(error)), re.findall(r"Python: (\S+)", str(error))
        raise UsageFault(
            f"The cluster was started with Ray {rays[0]} and Python {pythons[0]}, but the trainer has Ray {rays[1]} "
            f"and Python {pythons[1]}: start Ray on every node with {sys.prefix}/bin/ray."
        ) from error


def require_alike() -> None:
    """Errors: Fault for the first node with other versions than this process.

    A node that does not answer in time, or joins later, is asked by the worker that begins there (`worker.py`).
    """
    import ray

    _carry_by_value()
    nodes = _alive()
    look = ray.remote(versions)
    asked = {look.options(**_on(node)).remote(): name for name, node in nodes.items()}
    answered, _ = ray.wait(list(asked), num_returns=len(asked), timeout=UNLIKE)
    here = versions()
    for reference in answered:
        there, _ = _ask(reference, UNLIKE)
        if there:
            require_same(asked[reference], there, here)


def look_at_nodes(storage: dict[str, Any] | None) -> list[dict[str, Any]]:
    """A node that does not answer has a `problem` in words."""
    import ray

    _carry_by_value()
    nodes = _alive()
    probe = ray.remote(Probe)
    probes = {name: probe.options(**_on(node)).remote() for name, node in nodes.items()}
    found = {name: {"name": name, "resources": node["Resources"]} for name, node in nodes.items()}
    looking = {name: each.look.remote() for name, each in probes.items()}
    deadline = time.monotonic() + NODE_TIMEOUT_SECONDS
    for name, reference in looking.items():
        said, problem = _ask(reference, max(1, deadline - time.monotonic()))
        found[name] |= {"problem": problem} if problem else {"said": said}
    fit = [name for name in probes if "said" in found[name]]
    if storage is not None:
        for name in fit:
            given = storage["folder"], storage["nonce"], storage["text"]
            if not storage["written"]:
                # A node that cannot write says so itself below.
                storage["written"] = _ask(probes[name].put.remote(*given), STEP)[1] is None
            said, problem = _ask(probes[name].store.remote(*given), STEP)
            found[name]["storage"] = said or {"problem": problem}
    for name, other in zip(fit, fit[1:] + fit[:1], strict=True):
        if name != other:
            found[name]["link"] = {"to": other, **_link(probes[name], probes[other], nodes[other])}
    return list(found.values())


def _link(sender: Any, receiver: Any, node: dict[str, Any]) -> dict[str, Any]:
    address = node["NodeManagerAddress"]
    port, problem = _ask(receiver.listen.remote(address), STEP)
    if problem:
        return {"error": problem}
    said, problem = _ask(sender.send.remote(address, port), STEP)
    return {"error": problem} if problem else {"at": f"{address}:{port}", **said}


def _carry_by_value() -> None:
    from ray import cloudpickle

    for module in (sys.modules[__name__], interpreter):
        cloudpickle.register_pickle_by_value(module)


def _alive() -> dict[str, dict[str, Any]]:
    """Returns the nodes that are alive, by name: the machine's, with the node's id where several have the same."""
    import ray

    nodes = [node for node in ray.nodes() if node["Alive"]]
    count = Counter(node["NodeManagerHostname"] for node in nodes)
    hosts = [(node["NodeManagerHostname"], node) for node in nodes]
    return {host if count[host] == 1 else f"{host} ({node['NodeID'][:6]})": node for host, node in hosts}


def _on(node: dict[str, Any]) -> dict[str, Any]:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    pinned = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    return {"num_cpus": 0, "num_gpus": 0, "memory": 0, "scheduling_strategy": pinned}


def _ask(reference: Any, seconds: float) -> tuple[Any, str | None]:
    import ray
    from ray.exceptions import GetTimeoutError, RayError

    try:
        return ray.get(reference, timeout=seconds), None
    except GetTimeoutError:
        return None, f"no answer within {seconds:.0f} seconds"
    except RayError as error:
        return None, last_line(error)


# ---- versions that nodes must share


MIN_VERSIONS = {**RAY, **PACKAGES}
SAME = ("ray", "torch")  # packages by which processes speak with each other


def versions() -> dict[str, Any]:
    """Returns the versions of the Python that executes this; nothing is imported.

    python, prefix: version and folder. packages: None for a missing one. trainer: folder and SHA-256 of this package's
    files; None when it is missing.
    """
    packages: dict[str, str | None] = {}
    for name in MIN_VERSIONS:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = None
    found = util.find_spec("tandem_trainer")
    trainer = None
    if found is not None and found.submodule_search_locations:
        folder = Path(next(iter(found.submodule_search_locations)))
        digest = hashlib.sha256()
        files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        for path in sorted(path for path in files if path.name != "README.md"):  # an installed package has none
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
        trainer = {"folder": str(folder), "digest": digest.hexdigest()}
    return {"python": platform.python_version(), "prefix": sys.prefix, "packages": packages, "trainer": trainer}


@dataclass(frozen=True)
class Difference:
    """A run that would meet it `breaks`, or else may go well."""

    saw: str
    remedy: str
    breaks: bool = True


def differences(node: str, there: dict[str, Any], here: dict[str, Any]) -> list[Difference]:
    """The most important difference comes first. there, here: from `versions`."""
    found = []
    start = f"Start Ray on {node} with {here['prefix']}/bin/ray."
    if there["python"] != here["python"]:
        # Ray itself refuses another patch level, unless it was told not to.
        breaks = release(there["python"])[:2] != release(here["python"])[:2]
        saw = f"Python {there['python']} in {there['prefix']}, but the run has Python {here['python']}"
        found.append(Difference(saw, start, breaks))
    for name, least in MIN_VERSIONS.items():
        got, wanted = _public(there["packages"][name]), _public(here["packages"][name])
        there_too = f"in {there['prefix']}"
        if got is None:
            found.append(Difference(f"no {name} {there_too}", _install(node, there, name, least, wanted)))
        elif release(got) < release(least):
            saw = f"{name} {got} {there_too}, but at least {least} is needed"
            found.append(Difference(saw, _install(node, there, name, least, wanted)))
        elif got != wanted:
            saw = f"{name} {got} {there_too}, but the run has {name} {wanted}"
            found.append(Difference(saw, _install(node, there, name, least, wanted), breaks=name in SAME))
    trainer, wanted = there["trainer"], here["trainer"]
    if trainer is None:
        saw = f"no package tandem_trainer; the run has it in {wanted['folder']}"
        found.append(Difference(saw, f"Make that folder visible on {node}, or copy it there under the same path."))
    elif trainer["digest"] != wanted["digest"]:
        saw = f"another version of the trainer in {trainer['folder']} than the run has in {wanted['folder']}"
        found.append(Difference(saw, f"Copy the run's to {node}, or give both the same folder."))
    if not found and there["prefix"] != here["prefix"]:
        saw = f"its Python is in {there['prefix']}, that of the run in {here['prefix']}, with the same versions"
        found.append(Difference(saw, f"{start} Then they stay the same.", breaks=False))
    return found


def require_same(node: str, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Errors: Fault, for the most important difference that would break the run."""
    for difference in differences(node, there, here):
        if difference.breaks:
            raise UsageFault(f"The node {node} has {difference.saw}. {difference.remedy}")


def _public(version: str | None) -> str | None:
    """Removes the name of the build: the head may have a torch without CUDA (`2.13.0+cpu`)."""
    return None if version is None else version.split("+")[0]


def _install(node: str, there: dict[str, Any], name: str, least: str, wanted: str | None) -> str:
    what = requirement(name, least) if wanted is None else requirement(name, least).replace(f">={least}", f"=={wanted}")
    return f"Run `{there['prefix']}/bin/python -m pip install '{what}'` on {node}, then start Ray there again."
