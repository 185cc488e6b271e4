"""Plays episodes of `tandem serve`, which speaks OpenEnv 0.10 over a WebSocket."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from websockets.sync.client import connect

TIMEOUT = 600.0  # seconds for a reply: an answer may wait until others are graded
MAX_MESSAGE_BYTES = 16 << 20  # bytes of one message
# The environment's proxy is not used, as by the WebSocket: it would read the token.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(RuntimeError):
    """The server refused a message. code: of OpenEnv, such as VALIDATION_ERROR or CAPACITY_REACHED."""

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True)
class Observation:
    """message: the developer's request or reply, empty at the end. prompt: after a reset, the whole first message of a
    conversation. reward: 0 before the end, then the fraction of tests passed, 0 to 1; None when the answer cannot be
    graded. metadata: see docs/environment.md. turn: number of the agent's messages so far.
    """

    message: str
    done: bool
    reward: float | None
    prompt: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    turn: int = 0


def is_leak(observation: Observation) -> bool:
    """True if the developer's reply gives the reference away."""
    return observation.metadata.get("leak", {}).get("leaked", False)


class Episode:
    """A connection that plays one episode at a time. Close it, or use it in a `with`."""

    def __init__(self, url: str, token: str | None = None):
        """url: of the server, such as http://127.0.0.1:8000. token: where the server requires one. Errors: OSError."""
        parts = urlsplit(url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        address = urlunsplit((scheme, parts.netloc, f"{parts.path.rstrip('/')}/ws", "", ""))
        self._socket = connect(
            address, additional_headers=authorization(token), max_size=MAX_MESSAGE_BYTES, proxy=None, ping_interval=None
        )

    def reset(self, **choice: Any) -> Observation:
        """Begins an episode. choice: task_id, split, index, seed, episode_id, history (a list of `agent` and `reply`,
        from which it goes on), each of which may be left out. Errors: Refused."""
        return self._observe({"type": "reset", "data": choice})

    def step(self, message: str, kind: Literal["message", "ask", "answer"] = "message") -> Observation:
        """Says something to the developer. kind: `message` is a whole message of an agent, which answers when it says
        I WANT TO ANSWER:; `ask` a question; `answer` the code alone. Errors: Refused."""
        return self._observe({"type": "step", "data": {"message": message, "kind": kind}})

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Episode:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _observe(self, message: dict[str, Any]) -> Observation:
        self._socket.send(json.dumps(message))
        said = json.loads(self._socket.recv(TIMEOUT))
        data = said["data"]
        if said["type"] == "error":
            raise Refused(data["code"], data["message"])
        seen = data["observation"]
        return Observation(
            seen["message"],
            data["done"],
            data["reward"],
            seen.get("prompt"),
            data.get("metadata") or {},
            seen["turn"],
        )


def tasks(url: str, split: str | None = None, token: str | None = None) -> list[dict[str, Any]]:
    """Returns the tasks of a split, or of all, without what is hidden: `task_id`, `split`, `description`."""
    found = []
    for name in [split] if split is not None else splits(url, token):
        body = json.dumps({"split": name}).encode()
        asked = urllib.request.Request(
            f"{url.rstrip('/')}/tandem/tasks", body, {"Content-Type": "application/json", **authorization(token)}
        )
        with DIRECT.open(asked, timeout=TIMEOUT) as answer:
            found += [{"split": name, **task} for task in json.load(answer)["tasks"]]
    return found


def dataset(url: str, split: str | None = None, token: str | None = None) -> list[dict[str, Any]]:
    """Returns a row for each task: `prompt`, the first message of its dialogue, and `task_id`. The message holds the
    `task_id`, too, because tasks may have the same request and differ in what is hidden."""
    rows = []
    with Episode(url, token) as episode:
        for task in tasks(url, split, token):
            task_id = task["task_id"]
            prompt = episode.reset(task_id=task_id, seed=0).prompt
            rows.append({"prompt": [{"role": "user", "content": prompt, "task_id": task_id}], "task_id": task_id})
    return rows


def splits(url: str, token: str | None = None) -> list[str]:
    """Returns the names of the splits, one for each pack."""
    asked = urllib.request.Request(f"{url.rstrip('/')}/tandem/splits", headers=authorization(token))
    with DIRECT.open(asked, timeout=TIMEOUT) as answer:
        return [split["name"] for split in json.load(answer)]


def authorization(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}
