"""Writes and trains a tiny run: a tiny model, dialogues as published rows, human preferences, and run.json."""

import json
import multiprocessing
import os
import random
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models import tiny_model
from pydantic import TypeAdapter

from tandem_trainer.__main__ import main
from tandem_trainer.events import RunEvent
from tandem_trainer.run import stop

DECLARED = TypeAdapter(RunEvent)
QUESTIONS = ("What should the function return when the list is empty?", "Should the result be sorted?")
REPLIES = ("It returns None.", "Yes, in ascending order.")
ANSWERS = ("def solve(values): return sorted(values)", "def solve(values): return 0")
DESCRIPTION = "Write a function that works on the {number} values of a list.\ndef solve(values):"
SETTINGS = {  # settings of a stage: two steps per epoch, deliberately unlike real ones
    "learning_rate": 1e-2,
    "batch": 4,
    "epochs": 2.0,
    "max_tokens": 1024,
    "evaluate_every": 2,
}


def tiny_run(
    folder: Path, *, method: str = "sweet-rl", family: str = "llama", preferences: bool = False, **changes: Any
) -> Path:
    """Writes a run into `folder` and returns its run.json.

    changes: fields of run.json by name; objects are merged into what is there, as in `critic={"score": "value-head"}`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "base").exists():
        tiny_model(folder / "base", family)
    write_lines(folder / "rows.jsonl", trajectory_rows())
    write_lines(folder / "steps.jsonl", preference_rows())
    (folder / "opening.md").write_text("{{description}}")
    config = {
        "model": {"base": "base", "device": "cpu", "lora_rank": 4},
        "data": {"trajectories": ["rows.jsonl"], "held_out": 0.25, "opening": "opening.md"},
        "method": method,
        "seed": 1,
        "critic": dict(SETTINGS),
        "candidates": {"per_turn": 4, "pairs_per_turn": 1, "trajectories": 0.25, "max_new_tokens": 8},
        "policy": dict(SETTINGS),
        "resources": {"token_budget": 2048, "checkpoint_activations": False, "threads": 1},
    }
    if preferences:
        config["data"]["preferences"] = ["steps.jsonl"]
    for name, value in changes.items():
        config[name] = {**config.get(name, {}), **value} if isinstance(value, dict) else value
    path = folder / "run.json"
    path.write_text(json.dumps(config, indent=1))
    return path


def trajectory_rows(tasks: int = 8, each: int = 3) -> list[dict]:
    """Makes published rows: the first trajectory of each task succeeds, the others fail; one to three turns."""
    chance = random.Random(0)
    rows = []
    for number in range(tasks):
        task = {
            "id": f"task-{number}",
            "problem_description": DESCRIPTION.format(number=number),
            "ground_truth": ANSWERS[0],
            "hidden_information": ANSWERS[0],
            "test_cases": {"test1": "solve([2, 1])"},
        }
        for attempt in range(each):
            history = []
            for turn in range(chance.randint(0, 2)):
                history.append({"role": "agent", "content": QUESTIONS[turn]})
                history.append({"role": "human", "content": f"{REPLIES[turn]} {chance.randint(0, 99)}"})
            answer = ANSWERS[min(attempt, 1)]
            history.append({"role": "agent", "content": f"I WANT TO ANSWER: {answer}"})
            reward = 1.0 if attempt == 0 else 0.3 * chance.randint(0, 2)
            rows.append({"task": task, "dialogue_history": history, "answer": answer, "reward": reward})
    return rows


def preference_rows(count: int = 4) -> list[dict]:
    """Makes preferences for asking over answering."""
    return [
        {
            "prompt": [{"role": "user", "content": DESCRIPTION.format(number=100 + number)}],
            "chosen": [{"role": "assistant", "content": QUESTIONS[0]}],
            "rejected": [{"role": "assistant", "content": f"I WANT TO ANSWER: {ANSWERS[1]}"}],
        }
        for number in range(count)
    ]


def write_lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def train(path: Path, patch: str = "") -> "Trained":
    """Runs the trainer on a run.json in a process of its own, to its end.

    patch: Python that is executed there first, so that a test can inject a failure at a certain point.
    """
    return Trainer(path, patch).wait()


class Trainer:
    """A trainer process like `-m tandem_trainer`, but forked from one that has imported torch already.

    Its output goes into files beside the run folder. environment: variables as torchrun sets them.
    """

    def __init__(self, path: Path, patch: str = "", environment: dict[str, str] | None = None):
        environment = environment or {}
        rank = environment.get("RANK", "0")
        self.outputs = [path.parent / f"{name}-{rank}.txt" for name in ("stdout", "stderr")]
        self.process = SERVER.Process(target=_main, args=(path, patch, self.outputs, environment))
        self.process.start()

    def wait(self, seconds: float = 3600) -> "Trained":
        self.process.join(seconds)
        assert self.process.exitcode is not None, "the trainer hangs"
        return Trained(self.process.exitcode, *(output.read_text() for output in self.outputs))


@dataclass(frozen=True)
class Trained:
    """The exit of a trainer; a negative code is the signal that killed it."""

    code: int
    stdout: str
    stderr: str


def in_process(program: str) -> int:
    """Executes Python in a process of its own; returns its exit code, negative for the signal that killed it."""
    process = SERVER.Process(target=exec, args=(textwrap.dedent(program), {}))
    process.start()
    process.join()
    return process.exitcode


SERVER = multiprocessing.get_context("forkserver")
# The fork server has only the trainer's folder, in which the tests run, on its path; it skips failed imports.
SERVER.set_forkserver_preload(["tests.forked_from"])


def _main(path: Path, patch: str, outputs: list[Path], environment: dict[str, str]) -> None:
    os.environ.update(environment)
    for descriptor, output in enumerate(outputs, start=1):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv[1:] = [str(path)]
    stop.STARTED = time.time()
    exec(patch, {})
    main()


def events(path: Path, kind: str | None = None) -> list[dict]:
    """Reads the events of a run, optionally of one kind. Each must be as `events.py` declares it."""
    lines = (path.parent / "events.jsonl").read_text().split("\n")[:-1]  # the last one is still being written
    for line in lines:
        DECLARED.validate_json(line)
    return [event for event in map(json.loads, lines) if kind in (None, event["event"])]


def model_of(path, name="model") -> bytes:
    return (path.parent / name / "model.safetensors").read_bytes()


def states(path) -> list[tuple[str, str]]:
    return [(event["state"], event["stage"]) for event in events(path, "state")]
