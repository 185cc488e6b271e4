"""Limits what a child may use, on top of the walls that bubblewrap built around all processes here.

docs/decisions/native-grader.md says what stands between an answer and the machine.
"""

import ctypes
import mmap
import os
import platform
import resource
import socket

RESULTS = 3  # descriptor of a child's pipe
_NOBODY = 65534
_libc = ctypes.CDLL(None, use_errno=True)

# The CPU limit is a last resort, should whoever keeps the time hang; seconds.
_LIMITS = (
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_CPU, 600),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_MSGQUEUE, 0),
    (resource.RLIMIT_NOFILE, 64),
    (resource.RLIMIT_NPROC, 0),
)
_PR_SET_DUMPABLE = 4
_JOIN_SESSION_KEYRING = 1


def protect():
    """Keeps this process, which children are forked from, from them: they cannot look into it or trace it."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    # Else the keyring would be that of the user who started Tandem, with their keys. The number is of keyctl(2), for
    # which the C library has no function.
    _libc.syscall(250 if platform.machine() == "x86_64" else 219, _JOIN_SESSION_KEYRING, None)


def confine(results, null, memory_bytes):
    """For good: of the descriptors only the job's (0) and that of `results` stay, as RESULTS."""
    os.setsid()  # a signal to its group is one to itself
    os.dup2(results, RESULTS)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.closerange(RESULTS + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    if os.getuid() == 0:  # nobody may do less, and the capabilities go with the number
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    for limit, value in (*_LIMITS, (resource.RLIMIT_AS, memory_bytes)):
        _, most = resource.getrlimit(limit)
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(limit, (value, value))


def mapped_bytes():
    """Address space that this process has, to a page; there is no /proc that would say so."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 47
    while high - low > mmap.PAGESIZE:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, mmap.PAGESIZE).close()
            high = middle
        except OSError:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return high


def own_state():
    """Returns what a child of the same user could change of this process, and its next children would inherit."""
    limits = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    return (
        [resource.getrlimit(limit) for limit in limits],
        os.sched_getaffinity(0),
        os.sched_getscheduler(0),
        os.getpriority(os.PRIO_PROCESS, 0),
    )


def has_shared_objects():
    """Whether there are shared memory, queues or semaphores of System V, which outlive who made them: see shmctl(2)."""
    counts = (ctypes.c_int * 64)()
    _libc.shmctl(0, 14, counts)
    found = counts[0]
    _libc.msgctl(0, 12, counts)
    found += counts[0]
    _libc.semctl(0, 0, 19, counts)
    return found + counts[7] > 0


def holes():
    """What the process can do though an answer must not. Run in a confined child before the sandbox is used."""
    attempts = {
        "read a file outside the libraries": lambda: open("/etc/passwd").close(),
        "look at other processes": lambda: os.listdir("/proc"),
        "write a file": lambda: os.mkdir("/tandem/answer"),
        "start a process": _start_process,
        "trace its parent": _trace_parent,
        "become root": lambda: os.setuid(0),
        "raise its own limits": lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2),
        "see a network": _see_network,
    }
    return [name for name, attempt in attempts.items() if _succeeds(attempt)]


def _start_process():
    if os.fork() == 0:
        os._exit(0)


def _trace_parent():
    seize = 0x4206
    if _libc.ptrace(seize, 1, None, None) == -1:
        raise PermissionError


def _see_network():
    if [name for _, name in socket.if_nameindex()] in ([], ["lo"]):
        raise OSError


def _succeeds(attempt):
    try:
        attempt()
    except (OSError, ValueError):  # ValueError: how `resource` words a refusal
        return False
    return True
