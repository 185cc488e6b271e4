"""What becomes of a run when Ray fails a process that makes candidates, by a Ray that is told what to answer."""

from types import SimpleNamespace

import pytest
import ray
from ray.exceptions import ActorDiedError, OutOfMemoryError, WorkerCrashedError
from tiny_run import states

from tandem_trainer.cluster import job as driver
from tandem_trainer.cluster.record import Job
from tandem_trainer.cluster.tasks import Crew, Task
from tandem_trainer.config import ClusterConfig
from tandem_trainer.run.event_file import Events, last_event, last_state

JOB = Job("first", "http://head:8265", 1, 0)


@pytest.mark.parametrize("error", [OutOfMemoryError("the node has no memory left"), ActorDiedError()])
def test_a_maker_that_ray_has_killed_is_replaced_and_its_task_is_made_by_another(tmp_path, monkeypatch, error):
    answers, killed = [None, error, None, None], []  # of load and make, of the first maker and then of the second

    def get(_):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    promise = SimpleNamespace(remote=lambda *_: "reference")
    maker = SimpleNamespace(load=promise, make=promise)
    monkeypatch.setattr(ray, "remote", lambda **_: lambda _: SimpleNamespace(remote=lambda *_: maker))
    monkeypatch.setattr(ray, "wait", lambda references, timeout: (references, []))
    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(ray, "kill", killed.append)
    told = []
    with Crew(tmp_path / "run.json", ClusterConfig(address=JOB.address), Events(tmp_path), False) as crew:
        crew.make([Task(None, [0, 1])], lambda *given: told.append(given))
    assert (told, answers, crew.lost, len(killed)) == ([(2, 2)], [], 1, 2)
    said = last_event(tmp_path, "notice")["message"]
    assert said == "A process that makes candidates has died. Another one takes its part."


def test_another_failure_of_ray_ends_the_run_with_one_sentence(tmp_path, monkeypatch):
    def fail(*_):
        raise WorkerCrashedError

    monkeypatch.setattr(driver, "make_work", fail)
    driver._make_work(tmp_path / "run.json", None, JOB)
    assert states(tmp_path / "run.json") == [("failed", "prepare")]
    assert last_state(tmp_path)["message"] == (
        "Ray cannot make the candidates: WorkerCrashedError: The worker died unexpectedly while executing this task. "
        "Check python-core-worker-*.log files for more information."
    )
