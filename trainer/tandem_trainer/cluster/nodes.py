"""Looks at each node of a Ray cluster from within it.

    python -m tandem_trainer cluster-nodes REQUEST    the entry point of the job that `check_nodes.py` submits

The job prints one line of JSON, `{"nodes": [{name, resources, said?, storage?, link?, problem?}], "head": VERSIONS}`,
with the versions of its own Python. One actor on each node asks for no processor, GPU or memory, and looks for a
limited time.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import shutil
import socket
import sys
import threading
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..fault import Fault
from ..run import interpreter
from ..run.interpreter import run
from . import versions as versions_module
from .record import last_line
from .versions import require_same, versions

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
        raise Fault(
            f"The cluster was started with Ray {rays[0]} and Python {pythons[0]}, but the trainer has Ray {rays[1]} "
            f"and Python {pythons[1]}: start Ray on every node with {sys.prefix}/bin/ray.",
            usage=True,
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

    for module in (sys.modules[__name__], interpreter, versions_module):
        cloudpickle.register_pickle_by_value(module)


def _alive() -> dict[str, dict[str, Any]]:
    """Returns the nodes that are alive, by name: the machine's, with the node's id where several have the same."""
    import ray

    nodes = [node for node in ray.nodes() if node["Alive"]]
    count = Counter(node["NodeManagerHostname"] for node in nodes)
    return {_name(node, count[node["NodeManagerHostname"]] > 1): node for node in nodes}


def _name(node: dict[str, Any], is_shared: bool) -> str:
    host = node["NodeManagerHostname"]
    return f"{host} ({node['NodeID'][:6]})" if is_shared else host


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
