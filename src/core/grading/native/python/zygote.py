"""The trusted process that children are forked from: it has imported the libraries, and nothing else.

It never sees a job. A child reads its job only after the fork, so that an answer which searches its memory finds no
other job's source, and no value that a reference returned.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
from time import clock_gettime  # the real one, which `clock.install` replaces in its module

import answer
import clock
from confinement import Refused, Sandbox, holes

# Datagrams on the control socket. To the zygote: kind, child. From it: kind, child, number.
REQUEST = struct.Struct("=cQ")
REPLY = struct.Struct("=cQd")
FORK, KILL, CPU_TIME = b"f", b"k", b"c"  # the reply to FORK is an exit, when it comes
EXIT = b"x"
GREETING_BYTES = 65536


def serve(control, configuration, namespaces):
    """Imports, says what it has on `control`, then forks on request until the socket closes. Does not return."""
    clock.install()
    try:
        versions = _import_modules(configuration["required"], configuration["optional"])
        clock.install_in_numpy()
        load = answer.load_evaluation(configuration["evaluation"])
        sandbox = Sandbox.prepare(namespaces, configuration["memoryBytes"])
        _check(sandbox)
    except Refused as refusal:
        control.send(json.dumps({"refused": str(refusal)}).encode())
        os._exit(0)
    os.environ.clear()
    gc.collect()
    gc.freeze()  # what exists now is never looked at by a child's collector, so its pages stay shared
    control.send(json.dumps({"walls": sandbox.walls, "versions": versions}).encode())
    Zygote(control, sandbox, load).run()


def _import_modules(required, optional):
    versions = {"python": "%d.%d.%d" % sys.version_info[:3]}
    for name in (*answer.MODULES, *required, *optional):
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            if name in required:
                raise Refused(f"{sys.executable} cannot import {name} ({error}): install {name} for it.") from error
            continue
        if name not in answer.MODULES:
            versions[name] = str(getattr(module, "__version__", ""))
    return versions


def _check(sandbox):
    """Forks one child to try the walls. Raises Refused when one cannot be raised or does not hold."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            sandbox.enter({writer})
            found = ", ".join(holes())
            report = found and f"The sandbox does not hold on this machine: a process inside could {found}."
        except Exception as error:
            report = f"The sandbox cannot be entered on this machine ({type(error).__name__}: {error})."
        os.write(writer, report.encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as handle:
        report = handle.read()
    _, status = os.waitpid(child, 0)
    if report or status:
        raise Refused(report or f"A process in the sandbox ends at once on this machine (status {status}).")


class Zygote:
    def __init__(self, control, sandbox, load):
        self._control = control
        self._sandbox = sandbox
        self._load = load
        self._children = {}  # number given by the server -> process id, until it is reaped

    def run(self):
        wake_reader, wake_writer = os.pipe()
        os.set_blocking(wake_reader, False)
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(wake_reader, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake_reader:
                    os.read(wake_reader, 4096)
                    self._reap()
                elif not self._obey():
                    self._end()

    def _obey(self):
        """Does what one datagram asks. False when the server has gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, REQUEST.size, 2)
        except ConnectionResetError:
            return False
        if not message:
            return False
        kind, number = REQUEST.unpack(message)
        if kind == FORK:
            self._fork(number, *descriptors)
        elif number in self._children:
            if kind == KILL:
                os.kill(self._children[number], signal.SIGKILL)
            elif kind == CPU_TIME:
                self._control.send(REPLY.pack(CPU_TIME, number, _cpu_seconds(self._children[number])))
        return True

    def _fork(self, number, job, results):
        child = os.fork()
        if child == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                self._sandbox.enter({job, results})
                answer.run(self._load, job, results)
            finally:
                os._exit(1)
        os.close(job)
        os.close(results)
        self._children[number] = child

    def _reap(self):
        for number, child in list(self._children.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                del self._children[number]
                self._control.send(REPLY.pack(EXIT, number, os.waitstatus_to_exitcode(status)))

    def _end(self):
        for child in self._children.values():
            os.kill(child, signal.SIGKILL)
        os._exit(0)


def _cpu_seconds(process):
    """CPU time that a child has used. The clock's number is made as clock_getcpuclockid(3) makes it."""
    return clock_gettime(ctypes.c_int((~process << 3) | 2).value)
