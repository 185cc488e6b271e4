"""Starts `tandem serve` for a run that plays, or asks it for values, and ends it with the run, however that ends."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from ..config import RunConfig
from ..data.dialogue import Messages, assistant_positions
from ..fault import Fault, UsageFault
from ..turn import Candidates
from .disk_space import write_whole
from .run import Run
from .stop import Stopped

COMMAND = "TANDEM_SERVE"  # Tandem sets it when it launches the trainer
ADDRESS = re.compile(r"http://\S+(?=;)")
MOMENTS = 3  # seconds after a broken connection in which a server that dies is gone
LEAVING = 30  # seconds that open episodes have to be logged as abandoned


class Environment:
    """The server of one run, on a free port of 127.0.0.1, with a secret token.

    It ends when its standard input does: the system closes that even when this process is killed. It has its own
    session, so that Ctrl+C reaches the run alone, which then ends it after its last step.
    """

    def __init__(self, config: RunConfig, folder: Path, options: Mapping[str, object] | None = None):
        """folder: of the run. options: of the server; None for those of a method that plays the packs of the run.

        Errors: Fault with the server's own sentence when it does not start.
        """
        self.token = secrets.token_urlsafe(24)
        self.lines: list[str] = []
        command = [*_command(), *_arguments(config, folder, options or _pack_options(config, folder))]
        # The editor's own program is a Node when this is set; a Node does not read it.
        environment = {**os.environ, "TANDEM_SERVE_TOKEN": self.token, "ELECTRON_RUN_AS_NODE": "1"}
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise Fault(f"`tandem serve` cannot be started ({command[0]}: {error.strerror}); see {COMMAND}.") from error
        address = self._address()
        if address is None:
            raise Fault(f"`tandem serve` did not start: {self.last}")
        self.url = address
        Thread(target=self._read, daemon=True).start()

    @property
    def last(self) -> str:
        return self.lines[-1] if self.lines else f"it ended with status {self.process.wait()} and said nothing."

    def has_ended(self) -> bool:
        """True if the server is gone, or goes within moments."""
        try:
            self.process.wait(MOMENTS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(LEAVING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _address(self) -> str | None:
        """Reads until the server says where it listens; None when it ends without."""
        for line in self.process.stderr:
            self._hear(line)
            if (found := ADDRESS.search(line)) is not None:
                return found[0]
        self.process.wait()
        return None

    def _read(self) -> None:
        for line in self.process.stderr:
            self._hear(line)

    def _hear(self, line: str) -> None:
        self.lines = [*self.lines[-20:], line.strip()]
        print(f"tandem serve: {line.strip()}", file=sys.stderr, flush=True)


@contextmanager
def lost_server(environment: Environment) -> Iterator[None]:
    """Turns the errors of a connection that broke, which have many types, into a Fault if the server is gone."""
    try:
        yield
    except (Fault, Stopped):
        raise
    except Exception as error:
        if not environment.has_ended():
            raise
        raise Fault(
            "`tandem serve` ended while the run was playing: resume the run, which goes on from its last checkpoint. "
            f"The server said last: {environment.last}"
        ) from error


def _command() -> list[str]:
    """A list in JSON, which Tandem passes on. Errors: Fault."""
    try:
        command = json.loads(os.environ[COMMAND])
        if isinstance(command, list) and command and all(isinstance(part, str) for part in command):
            return command
    except (KeyError, ValueError):
        pass  # see the sentence below
    raise UsageFault(
        f"This run plays against `tandem serve`, whose command is not known: start the run by `tandem "
        f'train`, or set {COMMAND} to a list such as ["tandem", "serve"].'
    )


def _pack_options(config: RunConfig, folder: Path) -> dict[str, object]:
    settings = config.grpo if config.method == "grpo" else config.archer
    given = {
        "--tasks": config.data.tasks,
        "--max-turns": settings.max_turns,
        # One name for each run: a second server could not write the same collection of a log.
        "--agent-name": f"{config.method}-{folder.name}",
    }
    if config.role == "collaborator":
        given |= {"--agent": settings.agent, "--temperature": settings.temperature}
        given["--max-tokens"] = settings.max_new_tokens
    else:
        given["--simulator"] = settings.simulator
    if config.method == "grpo" and settings.log is not None:
        given["--data"] = settings.log
    return given


def _arguments(config: RunConfig, folder: Path, options: Mapping[str, object]) -> list[str]:
    given = {"--mode": config.data.mode, "--seed": config.seed, "--port": 0, **options}
    if config.data.opening is not None:
        prompts = folder / "prompts"
        prompts.mkdir(exist_ok=True)
        prompt = "simulator.md" if config.role == "collaborator" else "agent.md"
        shutil.copyfile(config.data.opening, prompts / prompt)
        given["--prompts"] = prompts
    parts: list[str] = []
    for name, value in given.items():
        parts += [name, *map(str, value if isinstance(value, list) else [value])]
    return [*parts, "--end-with-input"]


# ---- values of candidates by what is played after them: forced answers, or dialogues to their end (`POST /values`)
#
# One model plays throughout, by default the base, so that the values of all rounds mean the same.


AT_ONCE = 256  # candidates of a request: `MAX_CANDIDATES` in src/core/environment/values.ts
TIMEOUT = 3600.0  # seconds for the candidates of one history
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy would read the token


class PlayedValues:
    """tasks: rows of the pack to serve, by id. task_of_dialogue: the id of each dialogue's task."""

    def __init__(self, run: Run, tasks: Mapping[str, dict], task_of_dialogue: Mapping[str, str]):
        self.run, self.tasks, self.task_of_dialogue = run, tasks, task_of_dialogue
        self.environment: Environment | None = None
        self.has_reported = False

    @contextmanager
    def served(self) -> Iterator[None]:
        """Starts the server, and ends it. Errors: Fault with its own sentence when it does not start."""
        settings, folder = self.run.config.critic, self.run.folder
        pack = folder / "values" / "tasks.jsonl"
        pack.parent.mkdir(exist_ok=True)
        write_whole(pack, "".join(json.dumps(task) + "\n" for task in self.tasks.values()).encode())
        options = {
            "--tasks": pack,
            "--simulator": settings.simulator,
            "--max-turns": settings.max_turns,
            "--value-agent": settings.player or f"local:{self.run.config.model.base}",
        }
        with Environment(self.run.config, folder, options) as self.environment:
            yield

    def of_all(self, candidates: Sequence[Candidates]) -> list[float]:
        return [value for one in candidates for value in self.of(one)]

    def of(self, candidates: Candidates) -> np.ndarray:
        """Returns the values of one history's candidates, (n,); NaN for one that has none.

        The same text is valued once. Errors: Stopped, before a request; Fault for what the server refuses.
        """
        texts = list(candidates.different)
        found: list[float] = []
        for start in range(0, len(texts), AT_ONCE):
            if self.run.stop:
                raise Stopped
            found += self._values(candidates, texts[start : start + AT_ONCE])
        values = dict(zip(texts, found, strict=True))
        return np.array([values[text] for text in candidates.texts])

    def _values(self, candidates: Candidates, texts: list[str]) -> list[float]:
        config, history = self.run.config, candidates.history
        state = {
            "task_id": self.task_of_dialogue[history.group.rpartition("/")[0]],
            "history": exchanges(history.messages),
            "candidates": texts,
        }
        answer = self._post(
            {
                "score": config.critic.score,
                "samples": config.critic.samples,
                "seed": config.seed,
                "max_tokens": config.candidates.max_new_tokens,
                "states": [state],
            }
        )
        try:
            (valued,) = answer["states"]
            found = [each["value"] for each in valued["candidates"]]
            if len(found) != len(texts) or not all(value is None or 0 <= value <= 1 for value in found):
                raise ValueError
        except (KeyError, TypeError, ValueError) as error:
            raise Fault(
                f"`tandem serve` answered without {len(texts)} values from 0 to 1 for the candidates of "
                f"{history.group}: is {self.environment.url} the server of this Tandem?"
            ) from error
        why = next((each.get("why") for each in valued["candidates"] if each["value"] is None), None)
        if why is not None and not self.has_reported:
            self.has_reported = True
            self.run.events.notice(f"A candidate of {history.group} has no value: {why}")
        return [np.nan if value is None else float(value) for value in found]

    def _post(self, body: dict[str, Any]) -> Any:
        server = self.environment
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.token}"}
        request = urllib.request.Request(f"{server.url}/values", json.dumps(body).encode(), headers)
        try:
            with lost_server(server), DIRECT.open(request, timeout=TIMEOUT) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Fault(f"`tandem serve` did not value the candidates: {_detail(error)}") from error
        except (OSError, ValueError) as error:
            raise Fault(f"`tandem serve` did not value the candidates: {error}.") from error


def exchanges(messages: Messages) -> list[dict[str, str]]:
    """Returns the agent's messages and the replies to them, which follow the request."""
    return [
        {"agent": messages[position]["content"], "reply": messages[position + 1]["content"]}
        for position in assistant_positions(messages)
    ]


def _detail(error: urllib.error.HTTPError) -> str:
    text = error.read().decode(errors="replace")
    try:
        detail = json.loads(text)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = text
    return f"{detail if isinstance(detail, str) else json.dumps(detail)} (status {error.code})"
