"""`planner` plans runs one after another, for a form that replans after every change. It imports torch once.

    python -m tandem_trainer planner

Each line of stdin asks, each line of stdout answers, in JSON:

    {"id": 1, "run": "/folder/run.json"}    {"id": 1, "plan": {…}}, as `plan --json` writes it,
                                            or {"id": 1, "refused": "The sentence.", "usage": true}
    {"id": 2, "run": …, "worker": {"gpu": "NVIDIA H100 80GB HBM3", "memory": 85520809984}}
                                            plans for the run's cluster, whose workers have such a place each
    {"cancel": 1}                           {"id": 1, "cancelled": true}, unless it was answered already

One run is planned at a time, in the order of the requests. The process ends when its stdin closes, whatever it is
doing. An unexpected error ends it too and is reported on stderr, as by `plan`.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from .. import importing
from ..fault import Fault, UsageFault
from ..run_json import read_config


class Cancelled(Exception):
    """The request for this plan was cancelled."""


class Asked:
    """Requests, which a thread reads from stdin, and their answers."""

    def __init__(self, out: int):
        """out: the file descriptor of the answers."""
        self.out = open(out, "w", encoding="utf-8")  # noqa: SIM115  open as long as the process
        self.queue: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self.waiting: set[int] = set()
        self.lock = Lock()
        Thread(target=self._read, daemon=True).start()

    def next(self) -> dict[str, Any]:
        while True:
            request = self.queue.get()
            if self.is_wanted(request["id"]):
                return request

    def is_wanted(self, number: int) -> bool:
        with self.lock:
            return number in self.waiting

    def answer(self, number: int, answer: dict[str, Any]) -> None:
        """Does nothing if the request was answered or cancelled before."""
        with self.lock:
            if number in self.waiting:
                self.waiting.discard(number)
                print(json.dumps({"id": number, **answer}), file=self.out, flush=True)

    def _read(self) -> None:
        try:
            for line in sys.stdin:
                self._hear(json.loads(line))
        except ValueError as error:
            print(f"A request is no JSON: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)  # the reader of the answers is gone

    def _hear(self, message: dict[str, Any]) -> None:
        if "cancel" in message:
            self.answer(message["cancel"], {"cancelled": True})
            return
        with self.lock:
            self.waiting.add(message["id"])
        self.queue.put(message)


def main(arguments: list[str]) -> int:
    if arguments:
        raise UsageFault("planner takes no arguments: it reads requests from stdin.")
    out = os.dup(1)
    os.dup2(2, 1)  # keeps the output of libraries away from the answers
    asked = Asked(out)

    # These take seconds to import; the thread reads stdin meanwhile.
    with importing():
        import torch

        from .budget import free_memory

    threads = torch.get_num_threads()
    while True:
        request = asked.next()
        number = request["id"]
        torch.set_num_threads(threads)  # the last run may have set another number
        try:
            asked.answer(number, {"plan": _plan(request, lambda: asked.is_wanted(number))})  # noqa: B023
        except Cancelled:
            pass  # the cancellation was its answer
        except Fault as fault:
            asked.answer(number, {"refused": str(fault), "usage": fault.usage})
        free_memory()


def _plan(request: dict[str, Any], is_wanted: Callable[[], bool]) -> dict[str, Any]:
    """Errors: Fault; Cancelled soon after the request was cancelled."""
    with importing():
        from ..data.template import Template
        from .machine_usage import WorkerMemory
        from .plan import plan_of

    def go_on(_: str = "") -> None:
        if not is_wanted():
            raise Cancelled

    class Watching(Template):
        """Checks for cancellation whenever it renders, because rendering many dialogues takes longest."""

        def render(self, *given, **named) -> str:
            go_on()
            return super().render(*given, **named)

    worker = WorkerMemory(**request["worker"]) if request.get("worker") else None
    path = Path(request["run"])
    config = read_config(path)
    return plan_of(config, path.resolve().parent, worker=worker, tell=go_on, template_of=Watching).as_dict()
