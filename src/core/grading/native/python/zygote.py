"""The first process of a sandbox: it has imported the libraries, and is forked for each job.

    python3 -B zygote.py '{"path": [...], "modules": ["numpy"], "memoryBytes": 536870912, "evaluation": "/tandem/evaluation"}'

It never sees a job. A child reads its job after the fork, from descriptor 0; what it says of its results passes through
one buffer here that is wiped. So an answer that searches its memory finds no other job's source, and no value that a
reference returned. There is one child at a time.

Descriptor 1, to Node: frames of kind, bytes, and so many bytes. Descriptor 3: requests of kind and the child's number,
which counts from 1. An end of descriptor 3 is the end.
"""

import ctypes
import gc
import json
import os
import select
import signal
import struct
import sys
from time import clock_gettime  # the real one, which `clock.install` replaces in its module

import answer
import clock
from confinement import confine, has_shared_objects, holes, mapped_bytes, own_state, protect
from modules import import_all

_FRAME = struct.Struct("<cI")
_GREETING = b"g"  # JSON: {"refused": "why"} or {}
_SAID = b"s"  # what the child wrote
_CPU_TIME = b"c"  # CPU time that the child has used so far, seconds
_EXIT, _LAST_EXIT = b"x", b"l"  # its exit status, or a signal's number below 0; after the last one this process ends
_REQUEST = struct.Struct("<cI")
_ASK_CPU_TIME, _KILL = b"c", b"k"
_CONTROL = 3
_PART_BYTES = 1 << 16
_MOST_PARTS = 16  # in a pipe, which may be enlarged to a megabyte
_LOOK_MILLISECONDS = 100  # how often a child is looked at that says nothing


def main():
    configuration = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path[:] = configuration["path"]
    frames = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)  # what the libraries print
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a handler no signal of a child reaches the first process
    protect()
    clock.install()
    import_all(configuration["modules"])
    clock.install_in_numpy()
    zygote = Zygote(frames, null, configuration)
    refused = zygote.check()
    zygote.send(_GREETING, json.dumps({"refused": refused} if refused else {}).encode())
    if not refused:
        zygote.run()


class Zygote:
    def __init__(self, frames, null, configuration):
        self._frames = frames
        self._null = null
        self._load = answer.load_evaluation(configuration["evaluation"])
        self._buffer = bytearray(_PART_BYTES)
        self._memory_bytes = mapped_bytes() + configuration["memoryBytes"]
        self._state = own_state()
        os.environ.clear()
        gc.collect()
        gc.freeze()  # what exists now is never looked at by a child's collector, so its pages stay shared

    def send(self, kind, data):
        self._write(_FRAME.pack(kind, len(data)))
        self._write(data)

    def check(self):
        """Tries the walls in a child. Returns what is wrong with them, or an empty text."""
        child, reader = self._fork(lambda: os.write(3, ", ".join(holes()).encode()))
        with open(reader) as pipe:
            found = pipe.read()
        _, status = os.waitpid(child, 0)
        if found:
            return f"a process inside could {found}"
        return f"a process inside ends with status {os.waitstatus_to_exitcode(status)}" if status else ""

    def run(self):
        number = 0
        while self._serve(number := number + 1):
            pass

    def _serve(self, number):
        """Runs one child from its start to its end. False when what it left must not reach the next one."""
        child, reader = self._fork(lambda: answer.run(self._load))
        self._attend(child, reader, number)
        _kill_all()
        while self._pass_on(reader):
            pass
        os.close(reader)
        self._buffer[:] = bytes(len(self._buffer))
        _, status = os.waitpid(child, 0)
        _reap_all()
        whole = own_state() == self._state and not has_shared_objects()
        self.send(_EXIT if whole else _LAST_EXIT, struct.pack("<i", os.waitstatus_to_exitcode(status)))
        return whole

    def _fork(self, work):
        """A confined child that works, and the pipe of what it says."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                confine(writer, self._null, self._memory_bytes)
                work()
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writer)
        return child, reader

    def _attend(self, child, reader, number):
        """Passes on what a child says until it ends, or is to be killed."""
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        poll.register(_CONTROL, select.POLLIN)
        while not has_shared_objects():
            ready = [descriptor for descriptor, _ in poll.poll(_LOOK_MILLISECONDS)]
            if reader in ready and not self._pass_on(reader):
                return
            if _CONTROL in ready:
                kind, of = _REQUEST.unpack(_read_request())
                if of != number:
                    continue  # a child that has ended meanwhile
                if kind == _KILL:
                    return
                if kind == _ASK_CPU_TIME:
                    self._tell_cpu_time(child, reader)

    def _tell_cpu_time(self, child, reader):
        """Passes on first what the child has said, so that no one is told of the time of a call that has ended."""
        os.set_blocking(reader, False)
        try:
            for _ in range(_MOST_PARTS):
                self._pass_on(reader)
        except BlockingIOError:
            pass
        os.set_blocking(reader, True)
        self.send(_CPU_TIME, struct.pack("<d", _cpu_seconds(child)))

    def _pass_on(self, reader):
        """False at the end of what a child said."""
        size = os.readv(reader, [self._buffer])
        if size > 0:
            self._write(_FRAME.pack(_SAID, size))
            self._write(memoryview(self._buffer)[:size])
        return size > 0

    def _write(self, data):
        data = memoryview(data)
        while len(data) > 0:
            data = data[os.write(self._frames, data) :]


def _read_request():
    data = b""
    while len(data) < _REQUEST.size:
        part = os.read(_CONTROL, _REQUEST.size - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


def _kill_all():
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _reap_all():
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def _cpu_seconds(process):
    """The clock's number is made as clock_getcpuclockid(3) makes it."""
    return clock_gettime(ctypes.c_int((~process << 3) | 2).value)


if __name__ == "__main__":
    main()
