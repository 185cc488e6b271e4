"""What a run that is copied to a cluster brings back, by clients that answer as Ray's does; no cluster is started."""

import base64
import errno
import json
import os
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from ray.job_submission import JobStatus
from tiny_run import states, tiny_run

from tandem_trainer.cluster import follow
from tandem_trainer.cluster.record import Job, has_ended, next_job, read_job
from tandem_trainer.cluster.remote import GROWING, Copy, Mirror, unpack
from tandem_trainer.fault import Fault
from tandem_trainer.run.event_file import Events

ADDRESS = "http://head:8265"


class Client:
    """A dashboard that has the logs of jobs by their id. All are over; one that is submitted is so at once."""

    def __init__(self, logs: dict[str, str]):
        self.logs = logs
        self.submitted: list[str] = []
        self.bundled: list[str] = []  # the events that went with each job

    def list_jobs(self):
        return [SimpleNamespace(submission_id=id, status=JobStatus.SUCCEEDED) for id in self.logs]

    def get_job_logs(self, id: str) -> str:
        return self.logs[id]

    async def tail_job_logs(self, id: str):
        yield self.logs[id]

    def submit_job(self, entrypoint: str, submission_id: str, runtime_env: dict) -> None:
        self.submitted.append(submission_id)
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
    monkeypatch.setattr(follow, "connect", lambda _: client)
    monkeypatch.setattr(follow.Requests, "listen", lambda _: None)
    return path, there, client


def printed(capsys, there: Path) -> str:
    """Returns what the job prints of its files."""
    capsys.readouterr()
    Mirror(there, 0).look()
    return capsys.readouterr().out


def test_a_run_that_was_done_while_nobody_followed_it_gets_its_events_and_no_other_job(run, capsys):
    path, there, client = run
    told(there, ("running", "critic"))
    (path.parent / GROWING).write_bytes((there / GROWING).read_bytes())
    (path.parent / "copied.json").write_text(
        json.dumps({"job": read_job(path.parent).id, "events": (there / GROWING).stat().st_size})
    )
    told(there, ("running", "policy"), ("done", "export"))
    client.logs[read_job(path.parent).id] = printed(capsys, there)
    assert follow.main([str(path)]) == 0
    assert client.submitted == []
    assert (path.parent / GROWING).read_text() == (there / GROWING).read_text()


@pytest.mark.parametrize("end", ["stopped", "failed"])
def test_a_run_that_stopped_or_failed_while_nobody_followed_it_gets_its_events_before_another_job(run, capsys, end):
    path, there, client = run
    told(there, ("running", "critic"), (end, "critic"))
    client.logs[read_job(path.parent).id] = printed(capsys, there)
    assert follow.main([str(path)]) == 0
    assert len(client.submitted) == 1
    assert client.bundled == [(there / GROWING).read_text()]
    assert states(path) == [("running", "critic"), (end, "critic")]


@pytest.mark.parametrize(
    ("code", "last"), [(127, "/bin/sh: 1: python: not found"), (1, "ModuleNotFoundError: No module named 'pydantic'")]
)
def test_a_job_without_the_python_of_the_trainer_says_how_ray_is_started_with_it(tmp_path, code, last):
    job, client = Job("first", ADDRESS, 1, 0, "/there/run"), Client({"first": f"Running entrypoint …\n{last}\n"})
    ended = SimpleNamespace(submission_id="first", status=JobStatus.FAILED, driver_exit_code=code)
    client.list_jobs = lambda: [ended]
    with pytest.raises(Fault) as fault:
        follow.follow(client, tmp_path, job, follow.Requests(tmp_path), None)
    assert str(fault.value) == (
        f"The job has not found the trainer's Python on the head of the cluster ({last}). {follow.PYTHON_FIRST}"
    )
    assert states(tmp_path / "run.json") == [("failed", "prepare")]


@pytest.mark.parametrize(
    "refusal",
    [
        "Request failed with status code 500: No available agent to submit job, please try again later..",
        "Request failed with status code 500: …\nTimeoutError: Failed to get head node agent within 10 seconds.",
    ],
)
def test_a_job_waits_for_the_agent_of_a_cluster_that_has_just_been_started(monkeypatch, refusal):
    monkeypatch.setattr(follow, "EVERY", 0)
    answers, asked = [RuntimeError(refusal), RuntimeError(refusal), None, RuntimeError("no such folder")], []

    def submit_job(**job):
        asked.append(job)
        if answer := answers.pop(0):
            raise answer

    client = SimpleNamespace(submit_job=submit_job)
    follow.submit(client, entrypoint="true", submission_id="first")
    assert asked == [{"entrypoint": "true", "submission_id": "first"}] * 3
    with pytest.raises(RuntimeError, match="no such folder"):
        follow.submit(client, entrypoint="true", submission_id="second")
    assert len(asked) == 4


def test_a_request_that_the_dashboard_did_not_take_is_handed_on_again(tmp_path):
    client, asked = Client({"first": ""}), []

    def submit(entrypoint: str) -> None:
        asked.append(entrypoint)
        if len(asked) == 1:
            raise RuntimeError("the dashboard starts")

    client.submit_job = submit
    copy = Copy(client, tmp_path, Job("first", ADDRESS, 1, 0, "/there/run"))
    with pytest.raises(RuntimeError, match="the dashboard starts"):
        copy.hand_on("stop")
    copy.hand_on("stop")
    copy.hand_on("stop")
    copy.close()
    assert asked == ["touch /there/run/stop"] * 2


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


def test_a_file_that_cannot_be_read_for_a_moment_is_sent_later_and_the_others_meanwhile(tmp_path, capsys, monkeypatch):
    (tmp_path / "plan.json").write_text("{}")
    told(tmp_path, ("running", "critic"))
    mirror = Mirror(tmp_path, 0)
    mirror.look()
    (tmp_path / "plan.json").write_text('{"fits": true}')
    told(tmp_path, ("done", "export"))
    capsys.readouterr()
    read = Path.read_bytes

    def stale(path: Path) -> bytes:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)

    monkeypatch.setattr(Path, "read_bytes", stale)
    mirror.look()
    mirror.look()
    said = capsys.readouterr()
    assert [name for name, _ in pieces(said.out)] == [GROWING]
    assert said.err == f"{tmp_path / 'plan.json'} cannot be read and is tried again: {os.strerror(errno.ESTALE)}\n"
    monkeypatch.setattr(Path, "read_bytes", read)
    mirror.look()
    assert pieces(capsys.readouterr().out) == [("plan.json", b'{"fits": true}')]

    monkeypatch.setattr(Path, "stat", stale)
    with mirror:
        pass
    assert pieces(capsys.readouterr().out) == []


def pieces(printed: str) -> list[tuple[str, bytes]]:
    read = [json.loads(line.removeprefix("tandem-file ")) for line in printed.splitlines()]
    return [(each["file"], zlib.decompress(base64.b64decode(each["data"]))) for each in read]


@pytest.mark.parametrize("instead", ["", "tandem-file {\n", 'tandem-file {"file": "events.jsonl", "data": "eJw="}\n'])
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
