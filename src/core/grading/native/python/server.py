"""Runs untrusted Python with the libraries of this machine: one confined child process per job.

Started by launch.py with one argument, JSON:
    {"required": ["numpy"], "optional": ["pandas"], "memoryBytes": 536870912, "evaluation": "/…/evaluation"}
Reads lines of JSON, writes lines of JSON:
    <- {"id": 1, "source": "...", "calls": ["f(1)"], "start": 0, "split": false, "seed": "0a1b",
        "own": ["f"], "imported": ["math"], "limitMilliseconds": 1000 of CPU time for each call, "wallMilliseconds": 9000}
    <- {"cancel": 1}
    -> {"walls": [...], "versions": {...}}, once, or {"refused": "why and what to do"}, and the end
    -> {"id": 1, "calls": [...]}, or {"id": 1, "broken": "why"}
with calls from `start` on, the last one perhaps not a result:
    {"kind": "result", "text": what evaluation.py said, "milliseconds": CPU time}
    {"kind": "timed-out"} | {"kind": "died", "how": "signal SIGSEGV", "exited": false} | {"kind": "tampered"}
Ends when its input does.

Two trusted processes: this one holds jobs and results and keeps the time; the zygote (zygote.py) holds the imported
libraries and is forked from. The server speaks with each child through two pipes that only this child has.
"""

import json
import os
import selectors
import socket
import sys
import time
from math import inf

from child import Child
from confinement import enter_namespaces
from system_calls import die_with_parent
from zygote import CPU_TIME, GREETING_BYTES, REPLY, serve


def main():
    control = start_zygote(json.loads(sys.argv[1]))
    greeting = control.recv(GREETING_BYTES).decode()
    if not greeting:
        sys.exit("The process that imports the libraries died.")
    print(greeting, flush=True)
    if "walls" in json.loads(greeting):
        Server(control).run()


def start_zygote(configuration):
    """Forks the zygote into namespaces of its own. Returns the socket to it."""
    namespaces = enter_namespaces()
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        die_with_parent()
        here.close()
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        serve(there, configuration, namespaces)
    there.close()
    return here


class Server:
    def __init__(self, control):
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._running = {}  # number of the child -> child
        self._input = b""
        self._children = 0
        self._spare = self._new_child()

    def _new_child(self):
        """A child that waits, confined, for its job; there is always one, so that no job waits for a fork."""
        self._children += 1
        return Child(self._children, self._control)

    def run(self):
        os.set_blocking(0, False)
        self._selector.register(0, selectors.EVENT_READ)
        self._selector.register(self._control, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select(self._wait()):
                if key.fileobj == 0:
                    if not self._read_input():
                        return
                elif key.fileobj is self._control:
                    self._read_control()
                elif key.data.number in self._running:
                    # Else it was cancelled a moment ago, and another child's pipe may have the number of its own by now.
                    key.data.read_results()
            now = time.monotonic()
            for child in list(self._running.values()):
                child.keep_time(now)
                if child.outcome is not None:
                    self._settle(child)

    def _wait(self):
        """Seconds until a child needs attention; None for no limit."""
        check = min((child.next_check for child in self._running.values()), default=inf)
        return None if check == inf else max(0.0, check - time.monotonic())

    def _read_input(self):
        """Takes the lines that have come. False at the end of the input."""
        data = os.read(0, 1 << 20)
        if not data:
            return False
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "cancel" in message:
                self._cancel(message["cancel"])
            else:
                self._start(message)
        return True

    def _start(self, job):
        child, self._spare = self._spare, self._new_child()
        self._running[child.number] = child
        self._selector.register(child.results, selectors.EVENT_READ, child)
        child.start(job)

    def _cancel(self, identifier):
        for child in list(self._running.values()):
            if child.job["id"] == identifier:
                self._remove(child)

    def _read_control(self):
        message = self._control.recv(REPLY.size)
        if not message:
            sys.exit("The process that children are forked from died.")
        kind, number, value = REPLY.unpack(message)
        if number == self._spare.number:
            sys.exit(f"A child ended before it had a job (status {int(value)}).")
        child = self._running.get(number)
        if child is not None:
            child.on_cpu_time(value) if kind == CPU_TIME else child.on_exit(int(value))

    def _settle(self, child):
        self._remove(child)
        # ASCII, so that a lone surrogate in a message survives.
        print(json.dumps({"id": child.job["id"], **child.outcome}), flush=True)

    def _remove(self, child):
        del self._running[child.number]
        self._selector.unregister(child.results)
        child.end()


if __name__ == "__main__":
    main()
