"""What a run that is copied to a cluster brings back, by clients that answer as Ray's does; no cluster is started."""

import base64
import json
import socket
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from ray.exceptions import WorkerCrashedError
from ray.job_submission import JobStatus
from tiny_run import states, tiny_run

from tandem_trainer.cluster import follow_job
from tandem_trainer.cluster import job as driver
from tandem_trainer.cluster.record import Job, has_ended, next_job, read_job
from tandem_trainer.cluster.remote import GROWING, Copy, Mirror, unpack, visible_lines
from tandem_trainer.fault import Fault
from tandem_trainer.run.event_file import Events, last_state

ADDRESS = "http://head:8265"


class Client:
    """A dashboard that has the logs of jobs by their id. All are over; one that is submitted is so at once."""

    def __init__(self, logs: dict[str, str]):
        self.logs = logs
        self.bundled: list[str] = []  # the events that went with each job

    def list_jobs(self):
        return [SimpleNamespace(submission_id=id, status=JobStatus.SUCCEEDED) for id in self.logs]

    def get_job_logs(self, id: str) -> str:
        return self.logs[id]

    async def tail_job_logs(self, id: str):
        yield self.logs[id]

    def submit_job(self, entrypoint: str, submission_id: str, runtime_env: dict) -> None:
        self.bundled.append(Path(runtime_env["working_dir"], GROWING).read_text())
        self.logs[submission_id] = ""


def told(folder: Path, *given: tuple[str, str]) -> None:
    """Writes states of a run into its folder."""
    events = Events(folder)
    events.stdout = None
    for state, stage in given:
        events.state(state, stage)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with a job that nobody follows any more: its run.json, its folder on the cluster, and the dashboard."""
    there = tmp_path / "there"
    there.mkdir()
    path = tiny_run(tmp_path / "run", resources={"cluster": {"address": ADDRESS, "copy_to": str(tmp_path)}})
    next_job(path.parent, ADDRESS, str(tmp_path))
    client = Client({})
    monkeypatch.setattr(follow_job, "connect", lambda _: client)
    monkeypatch.setattr(follow_job.Requests, "listen", lambda _: None)
    return path, there, client


def printed(capsys, there: Path) -> str:
    """Returns what the job prints of its files."""
    capsys.readouterr()
    Mirror(there, 0).look()
    return capsys.readouterr().out


@pytest.mark.parametrize(("end", "jobs"), [("done", 0), ("stopped", 1), ("failed", 1)])
def test_a_run_that_ended_while_no_one_followed_it_gets_its_events_before_another_job(run, capsys, end, jobs):
    path, there, client = run
    told(there, ("running", "critic"))
    (path.parent / GROWING).write_bytes((there / GROWING).read_bytes())
    (path.parent / "copied.json").write_text(
        json.dumps({"job": read_job(path.parent).id, "events": (there / GROWING).stat().st_size})
    )
    told(there, (end, "critic"))
    client.logs[read_job(path.parent).id] = printed(capsys, there)
    assert follow_job.main([str(path)]) == 0
    assert client.bundled == [(there / GROWING).read_text()] * jobs
    assert (path.parent / GROWING).read_text() == (there / GROWING).read_text()


@pytest.mark.parametrize(
    ("code", "last"), [(127, "/bin/sh: 1: python: not found"), (1, "ModuleNotFoundError: No module named 'pydantic'")]
)
def test_a_job_without_the_python_of_the_trainer_says_how_ray_is_started_with_it(tmp_path, code, last):
    job, client = Job("first", ADDRESS, 1, 0, "/there/run"), Client({"first": f"Running entrypoint …\n{last}\n"})
    ended = SimpleNamespace(submission_id="first", status=JobStatus.FAILED, driver_exit_code=code)
    client.list_jobs = lambda: [ended]
    with pytest.raises(Fault) as fault:
        follow_job.follow(client, tmp_path, job, follow_job.Requests(tmp_path), None)
    assert last in str(fault.value) and follow_job.PYTHON_FIRST in str(fault.value)
    assert states(tmp_path / "run.json") == [("failed", "prepare")]


def test_a_job_waits_for_the_agent_of_a_cluster_that_has_just_been_started(monkeypatch):
    monkeypatch.setattr(follow_job, "POLL_INTERVAL", 0)
    refusals = (
        "Request failed with status code 500: No available agent to submit job, please try again later..",
        "Request failed with status code 500: …\nTimeoutError: Failed to get head node agent within 10 seconds.",
    )
    answers, asked = [*map(RuntimeError, refusals), None, RuntimeError("no such folder")], []

    def submit_job(**job):
        asked.append(job)
        if answer := answers.pop(0):
            raise answer

    client = SimpleNamespace(submit_job=submit_job)
    follow_job.submit(client, entrypoint="true", submission_id="first")
    assert asked == [{"entrypoint": "true", "submission_id": "first"}] * 3
    with pytest.raises(RuntimeError, match="no such folder"):
        follow_job.submit(client, entrypoint="true", submission_id="second")
    assert len(asked) == 4


def test_events_that_are_only_on_the_cluster_are_kept_and_brought_back(tmp_path, capsys):
    there, bundle = tmp_path / "there", tmp_path / "bundle"
    there.mkdir()
    (bundle / "files").mkdir(parents=True)
    (bundle / "run.json").write_text("{}")
    told(there, ("running", "critic"))
    (bundle / GROWING).write_bytes((there / GROWING).read_bytes())
    since = (there / GROWING).stat().st_size
    told(there, ("stopped", "critic"))
    job = Job("second", ADDRESS, 2, since, str(there))
    path, known = unpack(bundle / "run.json", job)
    assert states(path) == [("running", "critic"), ("stopped", "critic"), ("preparing", "prepare")]
    assert not has_ended(there, known)
    capsys.readouterr()
    Mirror(there, job.since).look()
    first = json.loads(capsys.readouterr().out.splitlines()[0].removeprefix("tandem-file "))
    assert (first["file"], first["offset"]) == (GROWING, since)

    # A run that was done needs nothing more, so the job ends at once.
    told(there, ("done", "export"))
    assert has_ended(there, unpack(bundle / "run.json", job)[1])
    assert states(path)[-1] == ("done", "export")

    # Events of this machine's own replace those there.
    told(bundle, ("failed", "critic"))
    unpack(bundle / "run.json", job)
    assert (there / GROWING).read_bytes() == (bundle / GROWING).read_bytes()


@pytest.mark.parametrize("instead", ["", "tandem-file {\n"])
def test_events_after_a_line_that_is_lost_or_garbled_still_come_and_it_is_said_once(tmp_path, capsys, instead):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    mirror = Mirror(there, 0)
    for state in ("preparing", "running", "done"):
        told(there, (state, "critic"))
        mirror.look()
    lines = capsys.readouterr().out.splitlines(keepends=True)
    client = Client({"first": "".join([lines[0], instead, lines[2]])})
    copy = Copy(client, here, Job("first", ADDRESS, 1, 0, str(there)))
    while not has_ended(here, copy.job):
        assert copy.thread.is_alive()
        time.sleep(0.05)
    copy.close()
    assert states(here / "run.json") == [("preparing", "critic"), ("done", "critic")]
    said = capsys.readouterr().err.splitlines()
    assert len([line for line in said if "; they are left out here." in line]) == 1
    assert len([line for line in said if "cannot be read" in line]) == (1 if instead else 0)
    # What one answer lacked is in another.
    client.logs["first"] = "".join(lines)
    (here / GROWING).unlink()
    (here / "copied.json").unlink()
    Copy(client, here, copy.job).close()
    assert (here / GROWING).read_bytes() == (there / GROWING).read_bytes()


def piece(file, content: bytes = b"{}", **fields) -> str:
    data = base64.b64encode(zlib.compress(content)).decode()
    return f"tandem-file {json.dumps({'file': file, 'data': data, **fields})}\n"


HOSTILE = [
    *(piece(name) for name in ("run.json", "lock", "stop", "copied.json", "cluster.json", "events.jsonl.copy", "a")),
    *(piece(name) for name in ("../plan.json", "/etc/plan.json", "..", ".", "", "model/plan.json", 7, None, ["alive"])),
    *(piece("events.jsonl", offset=offset) for offset in (-1, 1e308, True, "0", None, 1 << 60)),
    piece("plan.json", b"0" * (1 << 21)),  # it is small until it is inflated
    piece("plan.json", b"[]"),
    piece("plan.json", b"[" * 100_000),
    piece("process.json", json.dumps({"pid": 1, "started": "", "host": socket.gethostname()}).encode()),
    piece("plan.json", data="%%%"),
    piece("plan.json", data=base64.b64encode(b"no zlib").decode()),
    piece("plan.json", data=7),
    *(f"tandem-file {line}\n" for line in ("", "7", "null", "[" * 100_000, '{"file":', "{}")),
    f"tandem-file {'x' * (1 << 22)}\n",
]


def test_a_job_writes_no_other_file_and_a_hostile_line_ends_nothing(tmp_path, capsys):
    here = tmp_path / "run"
    here.mkdir()
    (here / "run.json").write_text("own")
    stated = b'{"event":"state"}\n{"event":"state",\n{"at":"","event":"state","state":"running","stage":"critic"}\n'
    log = "".join([*HOSTILE, piece("events.jsonl", stated), piece("plan.json", b'{"fits":true}')])
    copy = Copy(Client({"first": log}), here, Job("first", ADDRESS, 1, 0, "/there/run"))
    copy.close()
    names = {"run.json", "plan.json", "events.jsonl", "copied.json"}
    assert {path.name for path in here.iterdir()} == names and list(tmp_path.iterdir()) == [here]
    assert (here / "run.json").read_text() == "own" and json.loads((here / "plan.json").read_text()) == {"fits": True}
    assert last_state(here)["state"] == "running"
    said = capsys.readouterr().err.splitlines()
    assert all(line.startswith("A line of the job's log that has a piece of a file cannot be read: ") for line in said)
    assert len(said) > 20


def test_a_log_without_line_ends_takes_no_memory(tmp_path):
    copy = Copy(Client({"first": ""}), tmp_path, Job("first", ADDRESS, 1, 0, "/there/run"))
    copy.close()
    for _ in range(20):
        copy._read("tandem-file " + "x" * (1 << 20))
    assert len(copy.rest) < 1 << 22
    copy._read("\n" + piece("plan.json", b'{"fits":true}'))
    assert (tmp_path / "plan.json").exists()


def test_lines_of_a_failed_job_are_shown_without_terminal_codes():
    assert visible_lines("\x1b]0;title\x07red\n" + "x" * 5000) == [" ]0;title red", "x" * 1000]


def test_another_failure_of_ray_ends_the_run_with_one_sentence(tmp_path, monkeypatch):
    def fail(*_):
        raise WorkerCrashedError

    monkeypatch.setattr(driver, "make_work", fail)
    driver._make_work(tmp_path / "run.json", None, Job("first", ADDRESS, 1, 0))
    assert states(tmp_path / "run.json") == [("failed", "prepare")]
    assert "WorkerCrashedError" in last_state(tmp_path)["message"]
