"""Starts `tandem serve` for a run that plays, and ends it with the run, however that ends."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from ..config import RunConfig
from ..fault import Fault
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

    def close(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(LEAVING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
    raise Fault(
        f"This run plays against `tandem serve`, whose command is not known: start the run by `tandem "
        f'train`, or set {COMMAND} to a list such as ["tandem", "serve"].',
        usage=True,
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
