"""Values candidates by what is played after them: forced answers, or dialogues to their end (`POST /values`).

`tandem serve` plays them with one model throughout, by default the base, so that the values of all rounds mean the
same.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..data.dialogue import Messages, assistant_positions
from ..fault import Fault
from ..turn import Candidates
from .disk_space import write_whole
from .environment import Environment, lost_server
from .run import Run
from .stop import Stopped

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
