"""
Boots the interpreter in WebAssembly: loads what answers commonly import, so that it is part of the memory image that
every job starts from, and hands the host the addresses of two functions and of a stack. The host calls `prepare`, then
`step` once per test, takes the returned bytes out of memory, and puts the image back after the job. Nothing else in the
guest can produce a result, so an answer finds no channel to forge one on.

The host (interpreter.ts) runs this text in a namespace with a private copy of the built-ins and with `load` of
evaluation.py, STACK_BYTES and RECURSION_MARK.
"""

import io
import json
import posix
import sys
import time

# fmt: off
import abc, array, base64, bisect, calendar, cmath, collections.abc, contextlib, copy, dataclasses, datetime, decimal  # noqa: E401, F401
import difflib, enum, fractions, functools, hashlib, heapq, itertools, math, numbers, operator, queue, random, re  # noqa: E401, F401
import statistics, string, struct, textwrap, traceback, types, typing, unicodedata, urllib.parse, uuid, warnings, zlib  # noqa: E401, F401
# fmt: on


class Discard(io.RawIOBase):
    """What is written here is gone: megabytes of it cost nothing."""

    def writable(self):
        return True

    def write(self, data):
        return len(data)


def output():
    return io.TextIOWrapper(io.BufferedWriter(Discard(), 1 << 16), encoding='utf-8')


read, chdir, loads, job = posix.read, posix.chdir, json.loads, {}
stdout, stderr = output(), output()
setrecursionlimit = sys.setrecursionlimit


def prepare():
    """Reads the job, which the host serves on standard input in this call only, and compiles its source."""
    setrecursionlimit(1000)
    parts = []
    while part := read(0, 1 << 20):
        parts.append(part)
    given = loads(b''.join(parts))
    job['evaluate'] = load(given['source'], given['split'], given['seed'], given['own'], given['imported'])  # noqa: F821
    job['calls'] = iter(list(enumerate(given['calls']))[given['start'] :])
    sys.stdout, sys.stderr = stdout, stderr
    return b'ready'


def step():
    chdir('/')  # files last for one call, and so does the folder
    index, call = next(job['calls'])
    return job['evaluate'](index, call).encode('ascii')


nothing = ()
# Room below the stack for what jobs allocate: without it every job grows the memory, which nothing shrinks again.
room = bytes(3 << 20)
# The stack that the binary comes with holds some fifty calls that go through C. The jobs run on this one.
stack = bytes(STACK_BYTES)  # noqa: F821
del room
# The host finds the counters of recursion in memory by this number; `prepare` sets the limit right again.
sys.setrecursionlimit(RECURSION_MARK)  # noqa: F821
posix.write(1, b'%d %d %d %d %d' % (id(prepare), id(step), id(nothing), id(bytes), id(stack)))
time.clock_getres(time.CLOCK_MONOTONIC)  # the host takes the image here and never returns
