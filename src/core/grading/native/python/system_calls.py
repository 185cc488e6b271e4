"""Raw Linux system calls, and the filter that says which of them an answer may make.

The filter denies by default. It is written as classic BPF and loaded with prctl, so that it needs nothing but the
standard library. See seccomp(2), and Documentation/userspace-api/seccomp_filter.rst in the Linux sources.
"""

import ctypes
import errno
import os
import platform
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

MACHINE = platform.machine()

# Numbers of the calls that the sandbox itself makes: (x86-64, aarch64).
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(MACHINE)
_OWN = {
    "capset": (126, 91),
    "pivot_root": (155, 41),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}

# What an answer may call. Each entry acts on the process itself, reads the clock, or reads an open or permitted file.
_ALLOWED = {
    # memory
    "brk": (12, 214),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    # open files; `openat` and `fcntl` are narrowed below
    "close": (3, 57),
    "dup": (32, 23),
    "fstat": (5, 80),
    "getdents64": (217, 61),
    "lseek": (8, 62),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "pread64": (17, 67),
    "read": (0, 63),
    "readv": (19, 65),
    "stat": (4, None),
    "statx": (332, 291),
    "write": (1, 64),
    "writev": (20, 66),
    # waiting, and the clock
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "futex": (202, 98),
    "gettimeofday": (96, 169),
    "nanosleep": (35, 101),
    "poll": (7, None),
    "ppoll": (271, 73),
    "pselect6": (270, 72),
    "restart_syscall": (219, 128),
    "sched_yield": (24, 124),
    "select": (23, None),
    "time": (201, None),
    # who and where am I
    "getcwd": (79, 17),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "sched_getaffinity": (204, 123),
    "times": (100, 153),
    "uname": (63, 160),
    # own signal handlers, and the end
    "exit": (60, 93),
    "exit_group": (231, 94),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
}
_OPENAT = (257, 56)
_FCNTL = (72, 25)
_IOCTL = (16, 29)
_CLONE3 = (435, 435)

_OPEN_FLAGS = os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
# F_SETOWN and F_SETSIG, which send signals to other processes, are not among them.
_FCNTL_COMMANDS = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Offsets into struct seccomp_data; the low half of argument n on a little-endian machine.
_NUMBER, _ARCHITECTURE = 0, 4


def _argument(n):
    return 16 + 8 * n


def system_call(name, *arguments):
    """Makes one call by number. Returns its result; raises OSError with the kernel's errno."""
    if _COLUMN is None:
        raise OSError(errno.ENOSYS, f"system calls of {MACHINE} are not known")
    return _checked(_libc.syscall(ctypes.c_long(_OWN[name][_COLUMN]), *_words(arguments)), name)


def library_call(name, *arguments):
    """Calls a C library function that returns -1 and sets errno on failure. Raises OSError then."""
    return _checked(getattr(_libc, name)(*_words(arguments)), name)


def _words(arguments):
    """Numbers as machine words (C would take an int for a narrower one); bytes and None as pointers."""
    return [a if a is None or isinstance(a, bytes) else ctypes.c_ulong(a) for a in arguments]


def _checked(result, name):
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def filter_program():
    """The BPF program, ready for `load_filter`. Raises OSError on a machine whose call numbers are not known."""
    if _COLUMN is None:
        raise OSError(errno.ENOSYS, f"system calls of {MACHINE} are not known")

    program = []

    def emit(code, value, when_true=0, when_false=0):
        program.append(struct.pack("=HBBI", code, when_true, when_false, value & 0xFFFFFFFF))

    def fail(number):
        emit(_RETURN, 0x00050000 | number)

    # A 32-bit call has other numbers: another architecture ends the process.
    emit(_LOAD, _ARCHITECTURE)
    emit(_EQUAL, _AUDIT_ARCH[MACHINE], when_true=1)
    emit(_RETURN, _KILL_PROCESS)
    emit(_LOAD, _NUMBER)
    if MACHINE == "x86_64":  # so does the x32 interface
        emit(_AT_LEAST, 0x40000000, when_false=1)
        emit(_RETURN, _KILL_PROCESS)

    for numbers in _ALLOWED.values():
        if numbers[_COLUMN] is not None:
            emit(_EQUAL, numbers[_COLUMN], when_false=1)
            emit(_RETURN, _ALLOW)

    # openat: for reading only.
    emit(_EQUAL, _OPENAT[_COLUMN], when_false=4)
    emit(_LOAD, _argument(2))
    emit(_ANY_BIT, ~_OPEN_FLAGS, when_false=1)
    fail(errno.EPERM)
    emit(_RETURN, _ALLOW)

    emit(_EQUAL, _FCNTL[_COLUMN], when_false=2 + 2 * len(_FCNTL_COMMANDS))
    emit(_LOAD, _argument(1))
    for command in _FCNTL_COMMANDS:
        emit(_EQUAL, command, when_false=1)
        emit(_RETURN, _ALLOW)
    fail(errno.EPERM)

    # "Not a terminal" and "no such call" are the answers that the C library handles well.
    emit(_EQUAL, _IOCTL[_COLUMN], when_false=1)
    fail(errno.ENOTTY)
    emit(_EQUAL, _CLONE3[_COLUMN], when_false=1)
    fail(errno.ENOSYS)
    fail(errno.EPERM)

    return _Program(b"".join(program))


class _Program(ctypes.Structure):
    """struct sock_fprog; keeps the instructions alive."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    def __init__(self, code):
        self.buffer = ctypes.create_string_buffer(code, len(code))
        super().__init__(len(code) // 8, ctypes.addressof(self.buffer))


_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2


def load_filter(program):
    """From here on the calling process makes only the calls that the program allows, for good."""
    library_call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program), 0, 0)


def set_no_new_privileges():
    library_call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def die_with_parent():
    library_call("prctl", _PR_SET_PDEATHSIG, 9, 0, 0, 0)
