"""A clock, randomness and names of processes and threads that are the same for a reference and its answers, as in
WebAssembly (wasi/system.ts).

`install` takes the place of the machine's in the process that children are forked from, before the libraries are
imported, so that they take these functions along, and `install_in_numpy` after numpy was. `start_call` resets clock and
randomness.
"""

import _thread
import ctypes
import datetime
import functools
import gc
import os
import random
import resource
import sys
import threading
import time
import uuid

from c_clock import replace_time

EPOCH_NANOSECONDS = 1_735_732_800 * 10**9  # every call starts at this instant: 2025-01-01 12:00 UTC
TICK_NANOSECONDS = 10_000  # how far the clock goes on each time it is read
PROCESS, THREAD = 42, 1
SLEEP_LIMIT_NANOSECONDS = 10**9  # a call that sleeps longer in all runs out of time

_real_sleep = time.sleep
_plain_seed = random.Random.seed
_stream = random.Random(0)
_elapsed = 0
_slept = 0


def start_call(seed, index):
    """seed: hexadecimal, the job's; index: of the call."""
    global _elapsed, _slept
    _elapsed = _slept = 0
    _plain_seed(_stream, "%s/%d" % (seed, index))
    uuid._last_timestamp = None


def install():
    _install_time()
    _install_dates()
    _install_randomness()
    _install_numbers()
    _install_usage()


def install_in_numpy():
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        core = "numpy._core" if "numpy._core" in sys.modules else "numpy.core"  # before numpy 2
        replace_time(sys.modules[core + "._multiarray_umath"], time.time)


def _read():
    global _elapsed
    _elapsed += TICK_NANOSECONDS
    return _elapsed


def _sleep(seconds):
    global _elapsed, _slept
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    nanoseconds = int(seconds * 1e9)
    _slept += nanoseconds
    _elapsed += nanoseconds
    if _slept > SLEEP_LIMIT_NANOSECONDS:
        _real_sleep(10**6)


def _install_time():
    def nanoseconds_of(epoch):
        return lambda *_: epoch + _read()

    def seconds_of(epoch):
        return lambda *_: (epoch + _read()) / 1e9

    time.time, time.time_ns = seconds_of(EPOCH_NANOSECONDS), nanoseconds_of(EPOCH_NANOSECONDS)
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, seconds_of(10**9))
        setattr(time, name + "_ns", nanoseconds_of(10**9))
    time.clock_gettime = lambda clock: (time.time if clock == time.CLOCK_REALTIME else time.monotonic)()
    time.clock_gettime_ns = lambda clock: (time.time_ns if clock == time.CLOCK_REALTIME else time.monotonic_ns)()
    time.sleep = _sleep
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _now_without(getattr(time, name)))
    local, as_text, formatted = time.localtime, time.asctime, time.strftime
    time.asctime = lambda when=None: as_text(local() if when is None else when)
    time.strftime = lambda form, when=None: formatted(form, local() if when is None else when)


def _now_without(convert):
    """The function of the seconds since 1970 with the clock here where none are given."""

    @functools.wraps(convert)
    def converted(seconds=None):
        return convert(time.time() if seconds is None else seconds)

    return converted


def _install_dates():
    """In place: other modules have the classes already, and a value has to be of the class that Python knows."""

    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    def utcnow(cls):
        return cls.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)

    def today(cls):
        return cls.fromtimestamp(time.time())

    _put(datetime.datetime, now=now, utcnow=utcnow)
    _put(datetime.date, today=today)


def _put(kind, **methods):
    """Sets class methods of a class that is written in C."""
    (attributes,) = gc.get_referents(kind.__dict__)
    for name, method in methods.items():
        attributes[name] = classmethod(method)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _install_randomness():
    def urandom(size):
        return _stream.randbytes(size)

    def seed(self, a=None, version=2):
        return _plain_seed(self, _stream.getrandbits(128) if a is None else a, version)

    os.urandom = random._urandom = urandom
    os.getrandom = lambda size, flags=0: urandom(size)
    random.Random.seed = seed
    random.seed = random._inst.seed
    # Made from the time and from a number of the machine, past the functions above.
    uuid._generate_time_safe = None
    uuid._node = 0x020000000001


def _install_numbers():
    """Of the process and of its only thread; threading knows the thread by its number."""
    os.getpid, os.getppid = lambda: PROCESS, lambda: 1
    os.getpgrp, os.getpgid, os.getsid = lambda: PROCESS, lambda _: PROCESS, lambda _: PROCESS
    threading.get_ident = threading.get_native_id = _thread.get_ident = _thread.get_native_id = lambda: THREAD
    main = threading.main_thread()
    threading._active.clear()
    threading._active[THREAD] = main
    main._ident = main._native_id = THREAD


def _install_usage():
    """Processor time is the time of the clock here; nothing else was used."""
    os.times = lambda: os.times_result((time.process_time(), 0.0, 0.0, 0.0, time.monotonic()))
    resource.getrusage = lambda who: resource.struct_rusage((time.process_time(), *(0,) * 15))
