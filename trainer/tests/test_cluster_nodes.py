"""What is said of the nodes of a Ray cluster, from what they say; tests/test_cluster.py asks a real one."""

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from ray.exceptions import OutOfDiskError
from tiny_run import events, tiny_run

from tandem_trainer.cluster.examine import check_nodes, check_room, examine_cluster, read_answer
from tandem_trainer.cluster.follow import PYTHON_FIRST
from tandem_trainer.cluster.nodes import Probe
from tandem_trainer.cluster.record import next_job
from tandem_trainer.cluster.room import waits
from tandem_trainer.cluster.versions import LEAST, versions
from tandem_trainer.cluster.worker import train_on_worker
from tandem_trainer.config import ClusterConfig
from tandem_trainer.fault import Fault
from tandem_trainer.run.disk import full_disk
from tandem_trainer.run.interpreter import Check

GIB = 1 << 30
HERE = {
    "python": "3.12.4",
    "prefix": "/opt/trainer",
    "packages": {name: f"{least}.1" for name, least in LEAST.items()},
    "trainer": {"folder": "/opt/code/tandem_trainer", "digest": "a"},
}
STORAGE = {"exists": True, "same": True, "free": 200 * GIB, "rate": 450e6}


def node(**changes) -> dict:
    """What a node with two GPUs says when all is well. changes: of its versions, or of the other parts by name."""
    cards = "NVIDIA H100 80GB HBM3, 580.65.06, 81559, 81000\n" * 2
    torch = json.dumps({"torch": "2.15.0+cu130", "cuda": "13.0", "cards": 2})
    return {
        "name": "gpu-1",
        "resources": {"CPU": 32.0, "GPU": 2.0, **changes.get("resources", {})},
        "said": {
            "versions": {**HERE, **changes.get("versions", {})},
            "cards": {"command": "nvidia-smi", "code": 0, "out": cards, "saw": cards, **changes.get("cards", {})},
            "torch": {"command": "python", "code": 0, "out": torch + "\n", "saw": torch, **changes.get("torch", {})},
            "temporary": {"folder": "/tmp/ray", "free": 90 * GIB, "total": 100 * GIB, **changes.get("temporary", {})},
        },
        "storage": {**STORAGE, **changes.get("storage", {})},
        "link": changes.get("link", {"to": "gpu-2", "at": "10.0.0.2:40001", "rate": 1.2e9}),
    }


def judged(of: dict, on_gpus: bool = True) -> list[Check]:
    cluster = ClusterConfig(address="http://head:8265", gpus_per_worker=int(on_gpus))
    return check_nodes([of], HERE, {"folder": "/shared"}, cluster)


def wrong(of: dict) -> tuple[str, str, str, str | None]:
    """Returns the one check that is not in order."""
    found = [check for check in judged(of) if check.status != "ok"]
    assert len(found) == 1, found
    return found[0].name, found[0].status, found[0].saw, found[0].remedy


def test_a_node_in_order_is_described():
    packages = ", ".join(f"{name} {version}" for name, version in HERE["packages"].items())
    card = "NVIDIA H100 80GB HBM3, 79.1 GiB of 79.6 GiB free, driver 580.65.06"
    assert [(check.status, check.name, check.saw) for check in judged(node())] == [
        ("ok", "gpu-1 versions", f"Python 3.12.4, {packages}; the trainer of this machine"),
        ("ok", "gpu-1 GPUs", f"{card}; {card}"),
        ("ok", "gpu-1 temporary folder", "90.0 GiB free in /tmp/ray"),
        ("ok", "gpu-1 storage", "200.0 GiB free in /shared, written at 450 MB/s"),
        ("ok", "gpu-1 network", "1,200 MB/s to gpu-2"),
    ]


def packages(**changed: str | None) -> dict:
    return {"packages": {**HERE["packages"], **changed}}


@pytest.mark.parametrize(
    ("there", "status", "saw", "remedy"),
    [
        (
            {"python": "3.11.9", "prefix": "/usr"},
            "failed",
            "Python 3.11.9 in /usr, but the run has Python 3.12.4",
            "Start Ray on gpu-1 with /opt/trainer/bin/ray.",
        ),
        (
            {"python": "3.12.3"},
            "warning",
            "Python 3.12.3 in /opt/trainer, but the run has Python 3.12.4",
            "Start Ray on gpu-1 with /opt/trainer/bin/ray.",
        ),
        (
            packages(peft=None),
            "failed",
            "no peft in /opt/trainer",
            "Run `/opt/trainer/bin/python -m pip install 'peft==0.21.1'` on gpu-1, then start Ray there again.",
        ),
        (
            packages(transformers="5.1.0"),
            "failed",
            f"transformers 5.1.0 in /opt/trainer, but at least {LEAST['transformers']} is needed",
            f"Run `/opt/trainer/bin/python -m pip install 'transformers=={LEAST['transformers']}.1'` on gpu-1, then "
            "start Ray there again.",
        ),
        (
            packages(ray="2.99.0"),
            "failed",
            f"ray 2.99.0 in /opt/trainer, but the run has ray {LEAST['ray']}.1",
            f"Run `/opt/trainer/bin/python -m pip install 'ray[default,train]=={LEAST['ray']}.1'` on gpu-1, then start "
            "Ray there again.",
        ),
        (
            packages(numpy="9.0.0"),
            "warning",
            f"numpy 9.0.0 in /opt/trainer, but the run has numpy {LEAST['numpy']}.1",
            f"Run `/opt/trainer/bin/python -m pip install 'numpy=={LEAST['numpy']}.1'` on gpu-1, then start Ray there "
            "again.",
        ),
        (
            {"trainer": None},
            "failed",
            "no package tandem_trainer; the run has it in /opt/code/tandem_trainer",
            "Make that folder visible on gpu-1, or copy it there under the same path.",
        ),
        (
            {"trainer": {"folder": "/old/tandem_trainer", "digest": "b"}},
            "failed",
            "another version of the trainer in /old/tandem_trainer than the run has in /opt/code/tandem_trainer",
            "Copy the run's to gpu-1, or give both the same folder.",
        ),
        (
            {"prefix": "/usr"},
            "warning",
            "its Python is in /usr, that of the run in /opt/trainer, with the same versions",
            "Start Ray on gpu-1 with /opt/trainer/bin/ray. Then they stay the same.",
        ),
    ],
)
def test_a_version_that_differs_is_named_with_what_to_do(there, status, saw, remedy):
    assert wrong(node(versions=there)) == ("gpu-1 versions", status, saw, remedy)


def test_a_head_may_have_a_torch_without_cuda():
    assert wrong_names(node(versions=packages(torch=f"{LEAST['torch']}.1+cpu"))) == []


def wrong_names(of: dict) -> list[str]:
    return [check.name for check in judged(of) if check.status != "ok"]


def test_what_driver_torch_and_ray_say_of_gpus_must_fit():
    name, status, saw, remedy = wrong(node(resources={"GPU": 0.0}))
    assert (name, status) == ("gpu-1 GPUs", "warning")
    assert saw.endswith("; but Ray counts 0 GPUs")
    assert remedy == "Start Ray on gpu-1 with --num-gpus 2, unless the others are not meant for it."
    old = node(cards={"out": "Tesla T4, 470.57.02, 15360, 15000\n", "saw": "Tesla T4, 470.57.02, 15360, 15000"})
    assert "which needs 580 or newer" in wrong(old)[2]
    without = json.dumps({"torch": "2.15.0+cpu", "cuda": None, "cards": 0})
    assert wrong(node(torch={"out": without}))[2].endswith("torch 2.15.0+cpu was built without CUDA")
    broken = {"code": 1, "out": "", "saw": "OSError: libcudnn.so.9: cannot open shared object file"}
    assert wrong(node(torch=broken))[:3] == ("gpu-1 torch", "failed", broken["saw"])
    none = node(cards={"code": 127, "out": "", "saw": "nvidia-smi: No such file"}, resources={"GPU": 0.0})
    assert wrong_names(none) == []


def test_the_disks_of_a_node_need_room_and_the_storage_is_the_same_for_all():
    assert wrong(node(temporary={"free": GIB}))[:3] == (
        "gpu-1 temporary folder",
        "failed",
        "1.0 GiB free in /tmp/ray",
    )
    assert wrong(node(temporary={"free": 4 * GIB}))[1:] == (
        "warning",
        "4.0 GiB free in /tmp/ray, from which on Ray takes no more objects",
        "Make room on gpu-1, or start Ray there with another --temp-dir.",
    )
    assert wrong(node(storage={"exists": False}))[:3] == ("gpu-1 storage", "failed", "gpu-1 has no folder /shared")
    assert "another folder at /shared" in wrong(node(storage={"same": False}))[2]
    full = wrong(node(storage={"error": "No space left on device", "free": 0}))
    assert full[1:3] == ("failed", "0.1 GiB cannot be written: No space left on device")
    assert wrong(node(storage={"free": 10 * GIB}))[1] == "warning"
    assert wrong(node(storage={"problem": "no answer within 60 seconds"}))[2] == "no answer within 60 seconds"


def test_a_connection_that_is_missing_or_slow_is_named():
    name, status, saw, remedy = wrong(node(link={"to": "gpu-2", "at": "10.0.0.2:40001", "error": "timed out"}))
    assert (name, status, saw) == ("gpu-1 network", "failed", "no connection to gpu-2 at 10.0.0.2:40001: timed out")
    assert remedy == "Open all ports between gpu-1 and gpu-2: the workers of a run connect on any."
    assert wrong(node(link={"to": "gpu-2", "at": "", "rate": 11e6}))[1:3] == ("warning", "11 MB/s to gpu-2")


def test_a_node_that_does_not_answer_is_one_sentence():
    silent = {"name": "gpu-1", "resources": {}, "problem": "no answer within 120 seconds"}
    assert wrong(silent) == (
        "gpu-1",
        "failed",
        "no answer within 120 seconds",
        "Look at Ray's logs on gpu-1; when the node is overloaded or gone, take it out of the cluster.",
    )


def test_the_job_says_why_it_could_not_look():
    assert read_answer("job", 0, 'INFO …\n{"nodes": []}\n') == {"nodes": []}
    missing = read_answer("job", 127, "/bin/sh: 1: /opt/python: not found\n")
    assert (missing.status, missing.saw) == ("failed", f"its head has no Python at {sys.executable}")
    other = read_answer("job", 1, "Traceback …\n/usr/bin/python: No module named tandem_trainer\n\n")
    assert other.saw == "the job has failed on the head: /usr/bin/python: No module named tandem_trainer"
    assert other.remedy.startswith(f"Start Ray on every node with {sys.prefix}/bin/ray, and let each see ")
    copied = read_answer("job", 127, "/bin/sh: 1: python: not found\n", is_copied=True)
    assert (copied.saw, copied.remedy) == ("its head has no `python` in the PATH of Ray", PYTHON_FIRST)
    assert read_answer("job", 1, "No module named 'ray'\n", is_copied=True).remedy == PYTHON_FIRST


@pytest.mark.parametrize(
    ("workers", "gpus", "status", "saw"),
    [
        (4, 1, "ok", "2 nodes with 4 GPUs; the run asks for 4 workers with one GPU each"),
        (5, 1, "warning", "2 nodes with 4 GPUs; the run asks for 5 workers with one GPU each"),
        (1, 0, "failed", "2 nodes with 0 processors; the run asks for 1 worker with one processor"),
    ],
)
def test_the_places_of_a_cluster_are_counted_for_the_run(workers, gpus, status, saw):
    cluster = ClusterConfig(address="http://head:8265", workers=workers, gpus_per_worker=gpus)
    check = check_room([{"resources": {"GPU": 2.0}}] * 2, cluster, "http://head:8265")
    assert (check.status, check.saw) == (status, saw)
    assert (check.remedy is None) == (status == "ok")


def test_a_run_that_waits_for_others_says_that_they_hold_the_places():
    cluster = ClusterConfig(address="http://head:8265", workers=2, gpus_per_worker=1)
    assert waits(cluster, [{"GPU": 4.0, "CPU": 8.0}]) == (
        "The run waits for room: it asks for 2 workers with one GPU each, and the cluster at http://head:8265 has 1 "
        "node with 4 GPUs, which other work holds."
    )


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "head:8265", "http://[", "silent"])
def test_an_address_that_is_no_dashboard_is_one_failed_check(address):
    def hang_up() -> None:
        connection, _ = server.accept()
        connection.sendall(b"220 mail.example ESMTP\r\n")
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        if address == "silent":
            threading.Thread(target=hang_up, daemon=True).start()
            address = f"http://127.0.0.1:{server.getsockname()[1]}"
        [ray, cluster] = examine_cluster(address)
    assert ray.status == "ok"
    assert (cluster.name, cluster.status, cluster.saw) == ("cluster", "failed", "no Ray dashboard answers")
    assert cluster.command == f"GET {address}/api/version"


def test_a_probe_tells_a_folder_that_is_shared_from_another_and_from_one_that_cannot_be_written(tmp_path):
    probe = Probe()
    assert probe.store(str(tmp_path / "none"), "nonce", "x") == {"exists": False}
    assert probe.store(str(tmp_path), "nonce", "x")["same"] is False
    probe.put(str(tmp_path), "nonce", "x")
    told = probe.store(str(tmp_path), "nonce", "x")
    assert told["same"] is True and told["rate"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["nonce"]
    assert probe.store("/sys", "nonce", "x")["error"]  # not writable even for root


def test_a_probe_without_a_connection_says_why():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert Probe().send("127.0.0.1", port) == {"error": "Connection refused"}


def test_the_versions_of_this_python_are_those_of_the_package_here():
    found = versions()
    assert found["trainer"]["folder"] == str(Path(__file__).resolve().parents[1] / "tandem_trainer")
    assert found["packages"].keys() == LEAST.keys()
    assert found == versions()


def test_a_full_disk_of_a_worker_ends_the_run_with_the_name_of_the_node(tmp_path):
    path = tiny_run(tmp_path / "run", resources={"cluster": {"address": "http://head:8265"}, "checkpoint_minutes": 0})
    next_job(path.parent, "http://head:8265")
    code = """
import resource, sys
from pathlib import Path
from tandem_trainer.cluster import worker
from tandem_trainer.cluster.record import read_job
from tandem_trainer.cluster.versions import versions
worker.own_node = worker.tell_nodes = lambda *_: None  # they would start a Ray of their own
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
path = Path(sys.argv[1])
given = {"run_json": path, "job": read_job(path.parent), "since": 0.0, "versions": versions()}
worker.train_on_worker(given)
"""
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    last = events(path, "state")[-1]
    assert last["state"] == "failed"
    assert last["message"].startswith(f"On the node {socket.gethostname()}: ")
    assert f" cannot be written to {path.parent}/" in last["message"]
    assert "File too large" in last["message"]
    assert ran.stderr.splitlines()[-1].endswith(last["message"])


def test_a_worker_on_a_node_that_joined_with_another_trainer_trains_nothing_and_names_the_node(tmp_path):
    path = tiny_run(tmp_path / "run", resources={"cluster": {"address": "http://head:8265"}})
    job = next_job(path.parent, "http://head:8265")
    of_driver = {**versions(), "trainer": {"folder": "/opt/code/tandem_trainer", "digest": "another"}}
    with pytest.raises(
        Fault, match=f"^The node {socket.gethostname()} has another version of the trainer in "
    ) as fault:
        train_on_worker({"run_json": path, "job": job, "since": 0.0, "versions": of_driver})
    remedy = f"Copy the run's to {socket.gethostname()}, or give both the same folder."
    assert str(fault.value).endswith(f"than the run has in /opt/code/tandem_trainer. {remedy}")
    assert not (path.parent / "events.jsonl").exists()


def test_ray_without_room_for_its_objects_is_a_full_disk():
    assert str(full_disk(OutOfDiskError("…"))).startswith("The disk with Ray's temporary folder is full")
    assert full_disk(OSError("Connection closed by peer")) is None
