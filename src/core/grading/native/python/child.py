"""The server's side of one child: gives it its job, reads its results, keeps its time.

What comes from a child is believed only as far as it concerns the child's own calls. Each call begins once and ends
once, in order, and each message carries the job's nonce; anything else ends the job. An answer that finds the nonce can
therefore lie about the values that its own calls return, which it may return anyway.
"""

import os
import secrets
import signal
import socket
import time
from math import inf

from messages import BEGIN, HEADER, MOST_TEXT_BYTES, NONCE_BYTES, RESULT, job_bytes
from zygote import CPU_TIME, FORK, KILL, REQUEST

_BEFORE_FIRST_CALL_SECONDS = 30.0


class Child:
    def __init__(self, number, control):
        """Asks the zygote for a child, which then waits for `start`."""
        self.number = number
        self.job = None
        self.outcome = None  # what to answer the client, once there is something
        self.next_check = inf  # when `keep_time` has something to do, on the monotonic clock, seconds
        self._control = control
        self._calls = []
        self._buffer = bytearray()
        self._current = None  # index of the call that runs
        self._began = (0.0, 0.0)  # wall clock here; CPU time as the child said
        self._closed = False
        job_reader, self._job_writer = os.pipe()
        self.results, results_writer = os.pipe()
        socket.send_fds(control, [REQUEST.pack(FORK, number)], [job_reader, results_writer])
        os.close(job_reader)
        os.close(results_writer)

    def start(self, job):
        self.job = job
        self._nonce = secrets.token_bytes(NONCE_BYTES)
        self._next = job["start"]
        self._limit = job["limitMilliseconds"] / 1000  # CPU time of a call, seconds
        self._wall_limit = job["wallMilliseconds"] / 1000  # the same by the clock on the wall
        self.next_check = time.monotonic() + _BEFORE_FIRST_CALL_SECONDS
        try:
            with open(self._job_writer, "wb") as pipe:
                pipe.write(job_bytes(self._nonce, job))
        except BrokenPipeError:
            pass  # it died; `on_exit` says how
        self._job_writer = None

    def read_results(self):
        if self._closed:
            return
        data = os.read(self.results, 65536)
        if not data:
            self._closed = True  # `on_exit` follows
            self.next_check = inf
            self._send(KILL)
            return
        self._buffer += data
        while self.outcome is None and len(self._buffer) >= HEADER.size:
            nonce, kind, index, seconds, length = HEADER.unpack_from(self._buffer)
            if nonce != self._nonce or length > MOST_TEXT_BYTES or not 0 <= seconds < 1e6:
                return self._reject()
            if len(self._buffer) < HEADER.size + length:
                return
            text = bytes(self._buffer[HEADER.size : HEADER.size + length])
            del self._buffer[: HEADER.size + length]
            self._take(kind, index, seconds, text)

    def _take(self, kind, index, seconds, text):
        if kind == BEGIN and self._current is None and index == self._next < len(self.job["calls"]):
            self._current = index
            self._began = (time.monotonic(), seconds)
            self.next_check = self._began[0] + min(self._limit, self._wall_limit)
        elif kind == RESULT and index == self._current:
            try:
                text = text.decode("ascii")
            except UnicodeDecodeError:
                return self._reject()
            self._calls.append({"kind": "result", "text": text, "milliseconds": round(seconds * 1000, 3)})
            self._current = None
            self._next += 1
            if self._next == len(self.job["calls"]):
                self.outcome = {"calls": self._calls}
        else:
            self._reject()

    def _reject(self):
        """The answer has tampered with the messages: none of its calls counts."""
        self.outcome = {"calls": [{"kind": "tampered"}] * (len(self.job["calls"]) - self.job["start"])}

    def keep_time(self, now):
        """Asks for the CPU time that a slow call has used, and ends it when its wall time is over."""
        if now < self.next_check or self.outcome is not None:
            return
        if self._current is None and not self._calls:
            self.outcome = {"broken": f"A child did not begin its job within {_BEFORE_FIRST_CALL_SECONDS:.0f} s."}
        elif now >= self._began[0] + self._wall_limit:
            self._time_out()
        else:
            self._send(CPU_TIME)
            self.next_check = now + self._limit

    def on_cpu_time(self, seconds):
        used = seconds - self._began[1]
        if used >= self._limit:
            self._time_out()
        else:
            left = self._limit - max(used, 0.0) + 0.001
            self.next_check = min(time.monotonic() + left, self._began[0] + self._wall_limit)

    def _time_out(self):
        self.outcome = {"calls": [*self._calls, {"kind": "timed-out"}]}

    def on_exit(self, status):
        """The child is gone: what it sent before it went still counts."""
        while not self._closed and self.outcome is None:
            self.read_results()
        if self.outcome is not None:
            return
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        if self._current is None and not self._calls:
            self.outcome = {"broken": f"A child ended before its first call ({how})."}
        else:
            self.outcome = {"calls": [*self._calls, {"kind": "died", "how": how, "exited": status >= 0}]}

    def end(self):
        """Kills the process, if it is still there, and closes the pipes."""
        self._send(KILL)
        os.close(self.results)
        if self._job_writer is not None:
            os.close(self._job_writer)

    def _send(self, kind):
        self._control.send(REQUEST.pack(kind, self.number))

