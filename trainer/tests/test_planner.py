"""`planner` gives the same answers as `plan` in one process, and requests can be cancelled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_run import tiny_run

from tandem_trainer.fault import Fault
from tandem_trainer.run.machine_usage import GIB
from tandem_trainer.run.plan import plan_of
from tandem_trainer.run.planner import Cancelled, _plan
from tandem_trainer.run_json import read_config

TRAINER = Path(__file__).parents[1]


class Process:
    """A planner process as the editor starts it."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tandem_trainer", "planner"],
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE},
            text=True,
            bufsize=1,
            cwd=TRAINER,
        )

    def say(self, **message) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")

    def heard(self) -> dict:
        return json.loads(self.process.stdout.readline())

    def ends(self) -> tuple[int, str]:
        """Closes stdin; returns the exit code and stderr."""
        self.process.stdin.close()
        return self.process.wait(3600), self.process.stderr.read()


@pytest.fixture(scope="module")
def run_json(tmp_path_factory) -> Path:
    return tiny_run(tmp_path_factory.mktemp("run"))


def settled(plan: dict) -> dict:
    """Removes fields that are measured or vary."""
    machine = {name: plan["machine"][name] for name in ("kind", "dtype", "processes", "measured")}
    return {**plan, "machine": machine, "seconds": list(plan["seconds"]), "total_seconds": None, "room": None}


def test_one_process_plans_and_refuses_as_plan_does_and_goes_on_after_what_is_given_up(run_json, tmp_path):
    planner = Process()
    planner.say(id=1, run=str(run_json))
    planner.say(id=2, run=str(run_json))
    planner.say(cancel=2)
    planner.say(cancel=1)
    planner.say(cancel=7)  # an unknown request
    assert [planner.heard(), planner.heard()] == [{"id": 2, "cancelled": True}, {"id": 1, "cancelled": True}]
    expected = settled(json.loads(json.dumps(plan_of(read_config(run_json), run_json.parent).as_dict())))
    for number in (3, 4):
        planner.say(id=number, run=str(run_json))
        answer = planner.heard()
        assert (answer["id"], settled(answer["plan"])) == (number, expected)
    wrong = tiny_run(tmp_path, method="nothing")
    planner.say(id=5, run=str(wrong))
    with pytest.raises(Fault) as refused:
        read_config(wrong)
    assert planner.heard() == {"id": 5, "refused": str(refused.value), "usage": True}
    planner.say(id=6, run=str(run_json))  # it ends with stdin in the middle of a plan
    assert planner.ends() == (0, "")


def test_a_run_on_a_cluster_is_planned_for_the_place_of_a_worker_there(tmp_path):
    cluster = {"address": "http://127.0.0.1:9", "workers": 4, "gpus_per_worker": 1}
    path = tiny_run(tmp_path, resources={"cluster": cluster})
    path.write_text(path.read_text().replace('"device": "cpu"', '"device": "auto"'))

    def plan_for(gpu: str | None, memory: int | None) -> dict:
        return _plan({"id": 1, "run": str(path), "worker": {"gpu": gpu, "memory": memory}}, lambda: True)

    plan = plan_for("NVIDIA H100 80GB HBM3", 80 * GIB)
    machine = plan["machine"]
    assert (machine["name"], machine["dtype"], machine["processes"]) == ("NVIDIA H100 80GB HBM3", "bfloat16", 4)
    assert machine["usable"] == int(0.92 * 80 * GIB) - GIB // 2
    assert (plan["fits"], plan["total_seconds"], machine["measured"]) == (True, None, False)
    small = plan_for(None, 1 << 20)
    assert (small["machine"]["kind"], small["machine"]["dtype"], small["fits"]) == ("cpu", "float32", False)
    assert plan_for(None, None)["machine"]["usable"] is None


def test_it_ends_at_what_is_no_request():
    planner = Process()
    planner.process.stdin.write("plan\n")
    assert planner.process.wait(3600) == 1
    assert "A request is no JSON" in planner.process.stderr.read()


@pytest.mark.parametrize("looks", [0, 20])
def test_reading_and_measuring_stop_soon_after_nobody_wants_the_plan(run_json, looks):
    left = iter([True] * looks)
    with pytest.raises(Cancelled):
        _plan({"id": 1, "run": str(run_json)}, lambda: next(left, False))
