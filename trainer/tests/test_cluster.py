"""A run on a Ray cluster ends as one on this machine does, whatever becomes of its nodes and of who follows it."""

import json
import os
import shutil
import signal
import time
from importlib import metadata
from pathlib import Path

import pytest
from models import tiny_model
from ray_cluster import RayCluster
from tiny_run import events, states, tiny_run, train

from tandem_trainer.__main__ import _command
from tandem_trainer.cluster.job import reason
from tandem_trainer.cluster.record import next_job, read_job
from tandem_trainer.fault import Fault
from tandem_trainer.run import interpreter
from tandem_trainer.run.candidate_work import Work
from tandem_trainer.run.event_file import Events, last_state

TRAINER = Path(__file__).resolve().parents[1]

# Every process of the job imports this at its start. While the run has a file `hold-STAGE`, it holds the stage: critic
# and policy at its second step, the export between the critic and the model. It ends the first process that is to
# sample candidates.
HOLDING = """
import os, time
from collections import Counter
from tandem_trainer.cluster import job, tasks, worker
job.RESIZE_INTERVAL = 1e9  # Ray looks for room only when it has lost a node
real_perform, real_make = worker.perform, tasks.Maker.make

def perform(folder, *given, **named):
    from tandem_trainer.run import optimise, stages
    from tandem_trainer.run.event_file import last_state
    real_step, real_export, count = optimise._add_gradients, stages.export_model, Counter()

    def hold(at):
        while (folder / f"hold-{at}").exists():
            time.sleep(0.02)

    def step(*given):
        at = last_state(folder)["stage"]
        count[at] += 1
        if count[at] == 2:
            hold(at)
        return real_step(*given)

    def export(*given, **named):
        hold("export")
        return real_export(*given, **named)

    optimise._add_gradients, stages.export_model = step, export
    return real_perform(folder, *given, **named)

def make(self, name, numbers):
    died = self.path.parent / "died"
    if name is None and not died.exists():
        died.touch()
        os._exit(1)
    return real_make(self, name, numbers)

worker.perform, tasks.Maker.make = perform, make
"""


# The driver of a job imports this at its start, as if it had another Ray than the nodes.
ANOTHER_RAY = """
import sys
if "cluster-job" in sys.orig_argv:
    import ray
    ray.__version__ = "2.1.0"
"""

# The follower imports this at its start.
IMPATIENT = """
import sys
if "cluster" in sys.orig_argv:
    from tandem_trainer.cluster import capacity
    capacity.SAID_AFTER = 0
"""


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """A folder with the package, in whose place the second node has another one."""
    return package_in(tmp_path_factory.mktemp("apart"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, apart):
    held = RayCluster(tmp_path_factory.mktemp("ray") / "log.txt", apart)
    yield held
    held.end()


def package_in(folder: Path, at_start: str | None = None) -> Path:
    """Makes a folder from which the package is imported. at_start: what each Python executes first."""
    folder.mkdir(exist_ok=True)
    (folder / "tandem_trainer").symlink_to(TRAINER / "tandem_trainer")
    if at_start is not None:
        (folder / "sitecustomize.py").write_text(at_start)
    return folder


@pytest.fixture
def package(tmp_path):
    """A folder from which the package is imported with HOLDING."""
    return package_in(tmp_path / "package", HOLDING)


class Follower:
    """`python -m tandem_trainer cluster run.json`, in a process of its own."""

    def __init__(self, cluster: RayCluster, path: Path, package: Path, name: str):
        self.output = path.parent / f"{name}.txt"
        self.process = cluster.start(["cluster", str(path)], package, self.output)

    def said(self) -> str:
        return self.output.read_text()

    def wait_for(self, happens) -> None:
        """Waits for something in the cluster, as long as the process lives."""
        while not happens():
            assert self.process.poll() is None, self.said()
            time.sleep(0.05)

    def wait(self) -> int:
        return self.process.wait(3600)


def said_of_job(follower: Follower) -> list[str]:
    """Returns the lines about the job; on a busy machine the follower also tells that the run waits for room."""
    return [line for line in follower.said().splitlines() if line.startswith("Ray job ")]


def on_cluster(folder: Path, address: str, **fields) -> Path:
    resources = {"cluster": {"address": address, "workers": 2, **fields}, "checkpoint_minutes": 0}
    return tiny_run(folder / "run", preferences=True, resources=resources)


def has_step(path: Path, count: int = 1, stage: str = "critic") -> bool:
    """Whether the run has written so many steps of a stage."""
    if not (path.parent / "events.jsonl").exists():
        return False
    return [step["stage"] for step in events(path, "step")].count(stage) >= count


def hold(path: Path, *stages: str) -> None:
    for stage in stages:
        (path.parent / f"hold-{stage}").touch()


def let_go(path: Path, stage: str) -> None:
    (path.parent / f"hold-{stage}").unlink()


def assert_same_steps(path: Path, straight: Path) -> None:
    """Asserts that two runs made the same steps; one that was repeated counts as it was made last."""
    steps = {(step["stage"], step["step"]): step for step in events(path, "step")}
    same = {(step["stage"], step["step"]): step for step in events(straight, "step")}
    assert steps.keys() == same.keys()
    for at, step in steps.items():
        assert step["loss"] == pytest.approx(same[at]["loss"], abs=1e-4), at
        assert step["gradient_norm"] == pytest.approx(same[at]["gradient_norm"], rel=1e-2), at


def test_two_workers_take_the_steps_of_one_process_whoever_follows_or_stops_them_and_whenever_a_node_is_taken_away(
    tmp_path, straight, cluster, package
):
    path = on_cluster(tmp_path, cluster.address)
    hold(path, "critic", "export")
    first = Follower(cluster, path, package, "first")
    first.wait_for(lambda: has_step(path))
    first.process.kill()
    first.process.wait()
    stopped = Follower(cluster, path, package, "stopped")
    stopped.wait_for(lambda: "RUNNING" in stopped.said())
    stopped.process.send_signal(signal.SIGTERM)
    stopped.wait_for((path.parent / "stop").exists)
    let_go(path, "critic")
    assert stopped.wait() == 0, stopped.said()
    assert states(path)[-2:] == [("stopping", "critic"), ("stopped", "critic")]
    assert not (path.parent / "stop").exists()
    assert read_job(path.parent).attempt == 1
    hold(path, "critic")
    before = len(states(path))
    steps = len(events(path, "step"))
    resumed = Follower(cluster, path, package, "resumed")
    resumed.wait_for(lambda: has_step(path, steps + 1))
    cluster.take_a_node_away()
    let_go(path, "critic")
    resumed.wait_for(lambda: has_step(path, steps + 2))
    cluster.add_a_node()
    resumed.wait_for(lambda: (path.parent / "critic").exists())
    cluster.take_a_node_away()
    resumed.wait_for(lambda: states(path)[before:].count(("preparing", "prepare")) == 4)
    let_go(path, "export")
    assert resumed.wait() == 0, resumed.said()
    cluster.add_a_node()
    job = read_job(path.parent)
    assert job.attempt == 2
    assert said_of_job(resumed)[-2:] == [
        f"Ray job {job.id} at {cluster.address}: {state}" for state in ("RUNNING", "SUCCEEDED")
    ]
    ahead = states(straight)
    at = ahead.index(("running", "policy"))
    # The worker that is left goes on with the critic. The workers end before candidates are sampled, and come back when
    # these are ranked. The one that is left then goes on with the export.
    assert states(path)[before:] == [
        *(("preparing", "prepare"), ("running", "critic")) * 2,
        *ahead[ahead.index(("running", "critic")) + 1 : at],
        ("preparing", "prepare"),
        *ahead[at - 2 : -1],
        ("preparing", "prepare"),
        *ahead[-2:],
    ]
    assert_same_steps(path, straight)
    told = events(path, "nodes")
    assert [[(node["workers"], node["state"]) for node in by_host(event)] for event in told] == [
        [(1, "works"), (1, "works")],
        [(1, "works"), (1, "works")],
        [(0, "lost"), (1, "works")],
        [(1, "back"), (1, "works")],
        [(0, "lost"), (1, "works")],
    ]
    assert {event["asked"] for event in told} == {2}
    assert about_nodes(path) == [
        f"The node second is lost; the run goes on with 1 of 2 workers {place_after(path, told[2])}.",
        "The node second came back; the run goes on with 2 of 2 workers after critic.",
        "The node second is lost; the run goes on with 1 of 2 workers after policy.",
    ]
    assert (path.parent / "died").exists()
    assert ["has died. Another" in each["message"] for each in events(path, "notice")].count(True) == 1
    for made in (straight.parent / "candidates").glob("*.jsonl"):
        assert (path.parent / "candidates" / made.name).read_bytes() == made.read_bytes()
    assert not Work.path(path.parent).exists()
    # A reader of another machine, and of this one, goes by `alive` and the events, because the process is elsewhere.
    assert json.loads((path.parent / "process.json").read_text())["host"].endswith(
        f" in the Ray cluster at {cluster.address}"
    )


def test_a_run_that_waits_for_room_in_the_cluster_says_so_and_is_stopped_without_a_worker(tmp_path, cluster):
    path = on_cluster(tmp_path, cluster.address, gpus_per_worker=1)
    waiting = Follower(cluster, path, package_in(tmp_path / "package", IMPATIENT), "waiting")
    waiting.wait_for(lambda: "The run waits" in waiting.said())
    (path.parent / "stop").touch()
    assert waiting.wait() == 0, waiting.said()
    (sentence,) = (notice["message"] for notice in events(path, "notice"))
    assert "2 nodes with 0 GPUs" in sentence
    assert waiting.said().splitlines().count(sentence) == 1
    assert states(path) == [("stopped", "prepare")]
    assert not (path.parent / "stop").exists()


def test_doctor_finds_the_node_with_another_trainer_and_the_one_with_another_folder(tmp_path, cluster, apart):
    path, output = on_cluster(tmp_path, cluster.address), tmp_path / "doctor.json"
    asked = ["doctor", "--cluster", cluster.address, str(path), "--storage", str(apart), "--json"]
    assert cluster.start(asked, apart, output).wait(3600) == 1
    report = json.loads(output.read_text().splitlines()[-1])
    checks = report["checks"]
    assert [check["name"] for check in checks[:4]] == ["ray", "run.json", "storage here", "cluster"]
    assert checks[3]["saw"].startswith("2 nodes with 2 processors")

    def of_nodes(what: str) -> dict[str, list[str]]:
        each = [check for check in checks if check["name"].endswith(f" {what}")]
        return {status: [check["saw"] for check in each if check["status"] == status] for status in ("ok", "failed")}

    versions, storage, network, gpus = map(of_nodes, ("versions", "storage", "network", "GPUs"))
    assert ["another version of the trainer" in saw for saw in versions["failed"]] == [True]
    assert len(versions["ok"]) == 1
    assert [f"another folder at {apart}" in saw for saw in storage["failed"]] == [True]
    assert network["failed"] == []
    assert len([check for check in checks if "MB/s to " in check["saw"]]) == 2
    assert len(gpus["ok"]) == 2 or shutil.which("nvidia-smi")
    assert sorted(each.name for each in apart.iterdir()) == ["tandem_trainer"]  # nothing is left in the storage


def test_a_run_is_refused_with_the_node_that_has_another_trainer_and_where_ray_is_another(tmp_path, cluster, apart):
    path = on_cluster(tmp_path, cluster.address)
    refused = Follower(cluster, path, apart, "refused")
    assert refused.wait() == 1
    sentence = refused.said().splitlines()[-1]
    assert sentence.startswith("The node ")
    assert f"has another version of the trainer in {apart}/tandem_trainer than the run has" in sentence
    another = Follower(cluster, path, package_in(tmp_path / "package", ANOTHER_RAY), "another")
    assert another.wait() == 1
    assert "Ray 2.1.0" in another.said().splitlines()[-1] and metadata.version("ray") in another.said()
    assert [state["message"] for state in events(path, "state")] == [sentence, another.said().splitlines()[-1]]


def test_a_run_that_the_nodes_do_not_see_is_copied_to_them_and_its_small_files_come_back(tmp_path, cluster, apart):
    there = tmp_path / "there"
    there.mkdir()
    fields = {"address": cluster.address, "workers": 2, "copy_to": str(there)}
    tiny_model(tmp_path / "base")  # it must be where the nodes see it

    def run(name: str, **changes) -> Path:
        # The second node does not see this folder.
        resources = {"cluster": fields, "checkpoint_minutes": 0}
        path = tiny_run(apart / name, method="rft", model={"base": str(tmp_path / "base")}, resources=resources)
        read = json.loads(path.read_text())
        path.write_text(json.dumps({**read, **changes}))
        return path

    policy = {"learning_rate": 1e-2, "batch": 4, "epochs": 1000.0}
    path = run("stopped", policy=policy)
    output = tmp_path / "doctor.json"
    doctor = ["doctor", "--cluster", cluster.address, str(path), "--json"]
    assert cluster.start(doctor, TRAINER, output).wait(3600) == 0, output.read_text()
    checks = json.loads(output.read_text().splitlines()[-1])["checks"]
    of_storage = [check["saw"] for check in checks if check["name"].endswith(" storage")]
    assert [f" free in {there}, written at " in saw for saw in of_storage] == [True, True]
    stopped = Follower(cluster, path, TRAINER, "stopped")
    stopped.wait_for(lambda: has_step(path, stage="policy"))
    (path.parent / "stop").touch()
    assert stopped.wait() == 0, stopped.said()
    assert states(path)[-2:] == [("stopping", "policy"), ("stopped", "policy")]
    assert not (path.parent / "stop").exists()
    assert json.loads((path.parent / "plan.json").read_text())["fits"]
    copy = Path(read_job(path.parent).folder)
    assert copy.parent == there
    here = (path.parent / "events.jsonl").read_text().splitlines()
    # On a busy machine the cluster may take long to begin, which the follower tells here only.
    assert [line for line in here if "The run waits for room" not in line] == (
        copy / "events.jsonl"
    ).read_text().splitlines()
    assert not (path.parent / "checkpoints").exists() and not (path.parent / "alive").exists()
    whole = run("whole")
    ended = Follower(cluster, whole, TRAINER, "whole")
    assert ended.wait() == 0, ended.said()
    assert ("done", "export") in states(whole)
    copy = Path(read_job(whole.parent).folder)
    assert events(whole, "notice")[-1]["message"].startswith(f"The trained model is in {copy} on the cluster.")
    straight = run("straight")
    assert train(straight).code == 0
    assert_same_steps(whole, straight)
    assert (copy / "model" / "config.json").exists() and not (whole.parent / "model").exists()


def place_after(path: Path, event: dict) -> str:
    """Returns where the run goes on after an event: how much the checkpoint has that was written before it."""
    later = events(path)[events(path).index(event) :]
    step = next(each for each in later if each["event"] == "step")
    return f"from step {step['step'] - 1} of {step['stage']}" if step["step"] > 1 else "after critic"


def by_host(event: dict) -> list[dict]:
    """Returns the nodes of an event: that of the second host first."""
    return sorted(event["nodes"], key=lambda node: node["host"] != "second")


def about_nodes(path: Path) -> list[str]:
    return [notice["message"] for notice in events(path, "notice") if notice["message"].startswith("The node ")]


def refusal(path: Path) -> Fault:
    """Runs the command in this process, which must refuse the run."""
    with pytest.raises(Fault) as refused:
        _command(["cluster", str(path)])
    return refused.value


def test_what_another_try_would_not_help_ends_the_job_with_the_sentence_of_the_run(tmp_path, cluster):
    path = on_cluster(tmp_path, cluster.address)
    (path.parent / "stop").touch()
    os.utime(path.parent / "stop", (time.time() + 10_000,) * 2)
    assert train(path).code == 0
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 2'))
    refused = Follower(cluster, path, TRAINER, "refused")
    assert refused.wait() == 1
    sentence = refused.said().splitlines()[-1]
    assert "seed is 2 instead of 1" in sentence
    assert events(path, "state")[-1]["message"] == sentence
    assert [state for state, _ in states(path)].count("failed") == 1


def test_an_address_that_does_not_answer_is_one_sentence_that_the_run_shows_unless_a_job_may_be_at_work(tmp_path):
    path = on_cluster(tmp_path / "new", "http://127.0.0.1:9")
    told = refusal(path)
    assert "http://127.0.0.1:9" in str(told) and not told.usage
    assert events(path, "state")[0]["message"] == str(told)
    assert states(path) == [("failed", "prepare")]
    path = on_cluster(tmp_path / "at work", "http://127.0.0.1:9")
    next_job(path.parent, "http://127.0.0.1:9")
    Events(path.parent).state("running", "critic")
    refusal(path)
    assert states(path) == [("running", "critic")]


def test_without_ray_or_a_cluster_the_run_is_refused(tmp_path, monkeypatch):
    assert "resources.cluster.address" in str(refusal(tiny_run(tmp_path / "here")))
    monkeypatch.setattr(interpreter, "find_spec", lambda name: None)
    told = refusal(on_cluster(tmp_path, "http://127.0.0.1:9"))
    ray = interpreter.requirement("ray", interpreter.RAY["ray"])
    assert told.usage and ray in str(told)
    assert f'ray = ["{ray}"]' in (TRAINER / "pyproject.toml").read_text()


def test_each_job_of_a_run_has_a_name_of_its_own_and_knows_which_events_are_its(tmp_path):
    assert read_job(tmp_path) is None
    first = next_job(tmp_path, "http://head:8265")
    Events(tmp_path).state("stopped")
    assert last_state(tmp_path, first.since)["state"] == "stopped"
    second = next_job(tmp_path, "http://head:8265")
    assert read_job(tmp_path) == second
    assert (first.attempt, second.attempt) == (1, 2)
    assert second.id.startswith(f"tandem-{tmp_path.name}-2-")
    assert last_state(tmp_path, second.since) is None


def test_of_workers_that_failed_the_one_with_a_sentence_is_believed():
    from ray.train.v2.api.exceptions import WorkerGroupError

    lost = RuntimeError("Connection closed by peer [10.0.0.7]:47799")
    known = WorkerGroupError("…", {0: lost, 1: Fault("There is no room for a batch.")})
    assert reason(known) == "There is no room for a batch."
    assert "RuntimeError: Connection closed by peer" in reason(WorkerGroupError("…", {0: lost}))
