"""What is said of the nodes of a Ray cluster, from what they say; tests/test_cluster.py asks a real one."""

import json
import socket
import sys
from pathlib import Path

import pytest
from ray.exceptions import OutOfDiskError
from tiny_run import tiny_run

from tandem_trainer.cluster.capacity import waits
from tandem_trainer.cluster.check_nodes import check_nodes, check_room, examine_cluster, read_answer
from tandem_trainer.cluster.follow_job import PYTHON_FIRST
from tandem_trainer.cluster.nodes import MIN_VERSIONS, Probe, versions
from tandem_trainer.cluster.record import next_job
from tandem_trainer.cluster.worker import train_on_worker
from tandem_trainer.config import ClusterConfig
from tandem_trainer.fault import Fault
from tandem_trainer.run.disk_space import full_disk
from tandem_trainer.run.interpreter import Check

GIB = 1 << 30
HERE = {
    "python": "3.12.4",
    "prefix": "/opt/trainer",
    "packages": {name: f"{least}.1" for name, least in MIN_VERSIONS.items()},
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


def packages(**changed: str | None) -> dict:
    return {"packages": {**HERE["packages"], **changed}}


@pytest.mark.parametrize(
    ("there", "status", "saw", "remedy"),
    [
        ({"python": "3.11.9", "prefix": "/usr"}, "failed", "Python 3.11.9 in /usr", "/opt/trainer/bin/ray"),
        ({"python": "3.12.3"}, "warning", "Python 3.12.3", "/opt/trainer/bin/ray"),
        (packages(peft=None), "failed", "no peft", "'peft==0.21.1'"),
        (
            packages(transformers="5.1.0"),
            "failed",
            "transformers 5.1.0",
            f"'transformers=={MIN_VERSIONS['transformers']}.1'",
        ),
        (packages(ray="2.99.0"), "failed", "ray 2.99.0", f"'ray[default,train]=={MIN_VERSIONS['ray']}.1'"),
        (packages(numpy="9.0.0"), "warning", "numpy 9.0.0", f"'numpy=={MIN_VERSIONS['numpy']}.1'"),
        ({"trainer": None}, "failed", "no package tandem_trainer", "copy it there"),
        ({"trainer": {"folder": "/old", "digest": "b"}}, "failed", "another version of the trainer in /old", "Copy"),
        ({"prefix": "/usr"}, "warning", "its Python is in /usr", "/opt/trainer/bin/ray"),
    ],
)
def test_a_version_that_differs_is_named_with_what_to_do(there, status, saw, remedy):
    name, found, told, what = wrong(node(versions=there))
    assert (name, found) == ("gpu-1 versions", status)
    assert saw in told and remedy in what


def test_a_head_may_have_a_torch_without_cuda():
    assert {check.status for check in judged(node(versions=packages(torch=f"{MIN_VERSIONS['torch']}.1+cpu")))} == {"ok"}


T4 = "Tesla T4, 470.57.02, 15360, 15000"
WITHOUT_CUDA = json.dumps({"torch": "2.15.0+cpu", "cuda": None, "cards": 0})


@pytest.mark.parametrize(
    ("changes", "what", "status", "word"),
    [
        ({"resources": {"GPU": 0.0}}, "GPUs", "warning", "Ray counts 0 GPUs"),
        ({"cards": {"out": f"{T4}\n", "saw": T4}}, "GPUs", "failed", "580 or newer"),
        ({"torch": {"out": WITHOUT_CUDA}}, "GPUs", "failed", "without CUDA"),
        ({"torch": {"code": 1, "out": "", "saw": "OSError: libcudnn.so.9"}}, "torch", "failed", "libcudnn.so.9"),
        ({"temporary": {"free": GIB}}, "temporary folder", "failed", "1.0 GiB"),
        ({"temporary": {"free": 4 * GIB}}, "temporary folder", "warning", "4.0 GiB"),
        ({"storage": {"exists": False}}, "storage", "failed", "no folder /shared"),
        ({"storage": {"same": False}}, "storage", "failed", "another folder at /shared"),
        ({"storage": {"error": "No space left", "free": 0}}, "storage", "failed", "No space left"),
        ({"storage": {"free": 10 * GIB}}, "storage", "warning", "10.0 GiB"),
        ({"storage": {"problem": "no answer within 60 seconds"}}, "storage", "failed", "no answer within 60 seconds"),
        ({"link": {"to": "gpu-2", "at": "10.0.0.2:40001", "error": "timed out"}}, "network", "failed", "timed out"),
        ({"link": {"to": "gpu-2", "at": "", "rate": 11e6}}, "network", "warning", "11 MB/s to gpu-2"),
    ],
)
def test_what_does_not_fit_or_suffice_on_a_node_is_one_check_with_a_remedy(changes, what, status, word):
    name, found, saw, remedy = wrong(node(**changes))
    assert (name, found) == (f"gpu-1 {what}", status)
    assert word in saw and remedy


def test_a_node_without_a_card_is_in_order_and_one_that_does_not_answer_is_not():
    none = node(cards={"code": 127, "out": "", "saw": "nvidia-smi: No such file"}, resources={"GPU": 0.0})
    assert {check.status for check in judged(none)} == {"ok"}
    silent = {"name": "gpu-1", "resources": {}, "problem": "no answer within 120 seconds"}
    assert wrong(silent)[:3] == ("gpu-1", "failed", "no answer within 120 seconds")


def test_the_job_says_why_it_could_not_look():
    assert read_answer("job", 0, 'INFO …\n{"nodes": []}\n') == {"nodes": []}
    missing = read_answer("job", 127, "/bin/sh: 1: /opt/python: not found\n")
    assert missing.status == "failed" and sys.executable in missing.saw
    other = read_answer("job", 1, "Traceback …\n/usr/bin/python: No module named tandem_trainer\n\n")
    assert "No module named tandem_trainer" in other.saw and f"{sys.prefix}/bin/ray" in other.remedy
    copied = read_answer("job", 127, "/bin/sh: 1: python: not found\n", is_copied=True)
    assert copied.remedy == PYTHON_FIRST
    assert read_answer("job", 1, "No module named 'ray'\n", is_copied=True).remedy == PYTHON_FIRST
    garbled = read_answer("job", 0, '{"nodes": [\n')
    assert garbled.status == "failed" and "cut off or garbled" in garbled.saw


@pytest.mark.parametrize(
    "found", [{"nodes": 7}, {"nodes": [7]}, {"nodes": [{}]}, {"nodes": [{"name": "a", "said": 1}]}]
)
def test_an_answer_of_another_form_is_one_failed_check(monkeypatch, found):
    monkeypatch.setattr("tandem_trainer.cluster.check_nodes.connect", lambda _: None)
    monkeypatch.setattr("tandem_trainer.cluster.check_nodes._ask", lambda *_: found)
    [*_, check] = examine_cluster("http://head:8265")
    assert (check.name, check.status) == ("cluster", "failed") and "another form" in check.saw


@pytest.mark.parametrize(
    ("workers", "gpus", "status", "saw"),
    [
        (4, 1, "ok", "2 nodes with 4 GPUs"),
        (5, 1, "warning", "2 nodes with 4 GPUs"),
        (1, 0, "failed", "2 nodes with 0 processors"),
    ],
)
def test_the_places_of_a_cluster_are_counted_for_the_run(workers, gpus, status, saw):
    cluster = ClusterConfig(address="http://head:8265", workers=workers, gpus_per_worker=gpus)
    check = check_room([{"resources": {"GPU": 2.0}}] * 2, cluster, "http://head:8265")
    assert check.status == status and check.saw.startswith(saw)
    assert (check.remedy is None) == (status == "ok")
    assert saw in waits(cluster, [{"GPU": 2.0, "CPU": 1.0}] * 2) or gpus == 0


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://["])
def test_an_address_that_is_no_dashboard_is_one_failed_check(address):
    [ray, cluster] = examine_cluster(address)
    assert (ray.status, cluster.name, cluster.status) == ("ok", "cluster", "failed")


def test_a_probe_tells_which_folder_is_shared_which_cannot_be_written_and_why_there_is_no_connection(tmp_path):
    probe = Probe()
    assert probe.store(str(tmp_path / "none"), "nonce", "x") == {"exists": False}
    assert probe.store(str(tmp_path), "nonce", "x")["same"] is False
    probe.put(str(tmp_path), "nonce", "x")
    told = probe.store(str(tmp_path), "nonce", "x")
    assert told["same"] is True and told["rate"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["nonce"]
    assert probe.store("/sys", "nonce", "x")["error"]  # not writable even for root
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert probe.send("127.0.0.1", port) == {"error": "Connection refused"}


def test_the_versions_of_this_python_are_those_of_the_package_here():
    found = versions()
    assert found["trainer"]["folder"] == str(Path(__file__).resolve().parents[1] / "tandem_trainer")
    assert found["packages"].keys() == MIN_VERSIONS.keys()
    assert found == versions()


def test_a_worker_on_a_node_that_joined_with_another_trainer_trains_nothing_and_names_the_node(tmp_path):
    path = tiny_run(tmp_path / "run", resources={"cluster": {"address": "http://head:8265"}})
    job = next_job(path.parent, "http://head:8265")
    of_driver = {**versions(), "trainer": {"folder": "/opt/code/tandem_trainer", "digest": "another"}}
    with pytest.raises(Fault, match=f"^The node {socket.gethostname()} has another version of the trainer"):
        train_on_worker({"run_json": path, "job": job, "since": 0.0, "versions": of_driver})
    assert not (path.parent / "events.jsonl").exists()


def test_ray_without_room_for_its_objects_is_a_full_disk():
    assert str(full_disk(OutOfDiskError("…"))).startswith("The disk with Ray's temporary folder is full")
    assert full_disk(OSError("Connection closed by peer")) is None
