"""What stands between an answer and the machine: namespaces, an empty root, landlock, limits, no identity.

`Sandbox.prepare` runs once, in a trusted process. `Sandbox.enter` runs in each child before untrusted code does.
docs/decisions/native-grader.md says which of these must be there.
"""

import ctypes
import os
import resource
import struct
import sys
from os import getppid  # the real one, which `clock.install` replaces in its module

from system_calls import (
    die_with_parent,
    filter_program,
    library_call,
    load_filter,
    set_no_new_privileges,
    system_call,
)

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_NAMESPACES = {
    "mount": _CLONE_NEWNS,
    "network": _CLONE_NEWNET,
    "process": _CLONE_NEWPID,
    "ipc": _CLONE_NEWIPC,
    "host name": _CLONE_NEWUTS,
}
_NOBODY = 65534


def enter_namespaces():
    """Moves this process into namespaces of its own; the process namespace holds for its children.

    Returns the names of those that the kernel gave, which may be none: containers often refuse.
    """
    given = [name for name, flag in _NAMESPACES.items() if _unshared(flag)] if os.getuid() == 0 else []
    if given:
        return given
    user, group = os.getuid(), os.getgid()
    if not _unshared(_CLONE_NEWUSER | sum(_NAMESPACES.values())):
        return []
    maps = (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"))
    for file, text in maps:
        try:
            with open(f"/proc/self/{file}", "w") as handle:
                handle.write(text)
        except PermissionError:
            break  # root without the right to map root: it goes on as nobody, which is good enough
    return ["user", *_NAMESPACES]


def _unshared(flags):
    try:
        library_call("unshare", flags)
    except OSError:
        return False
    return True


_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
_MNT_DETACH = 2


def _mount(source, target, kind, flags):
    library_call("mount", os.fsencode(source), os.fsencode(target), kind, flags, None)


def enter_library_root(folders):
    """Swaps the root folder for an empty one in which only the given folders exist, read-only.

    Needs a mount namespace of its own. Raises OSError where mounting is refused; the old root is still there then.
    """
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    # /proc exists everywhere, holds no library, and an answer must not see it: the new root is built on top of it.
    root = "/proc"
    _mount("tmpfs", root, b"tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    for folder in folders:
        place = root + folder
        os.makedirs(place, exist_ok=True)
        _mount(folder, place, None, _MS_BIND | _MS_REC)
        # A mount that came from a less private namespace keeps its flags, so they are given again.
        kept = os.statvfs(place).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
        _mount("none", place, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV | kept)
    os.chdir(root)
    system_call("pivot_root", b".", b".")
    library_call("umount2", b".", _MNT_DETACH)
    os.chdir("/")
    _mount("none", "/", None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def library_folders():
    """Where this interpreter's modules lie: the standard library and the site-packages folders."""
    import site
    import sysconfig

    paths = sysconfig.get_paths()
    known = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    known += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        known.append(site.getusersitepackages())
    folders = []
    for folder in sorted({os.path.abspath(path) for path in known}):
        if os.path.isdir(folder) and not any(folder.startswith(f + "/") for f in folders):
            folders.append(folder)
    return folders


# Rights of struct landlock_ruleset_attr that each version of the interface added (Documentation/userspace-api/landlock.rst).
_FILE_RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))  # version, number of rights known to it
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
_BIND_TCP_AND_CONNECT_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3


def landlock_rules(folders):
    """A landlock rule set that allows reading below the folders and nothing else.

    Returns its file descriptor. Raises OSError when the kernel has no landlock.
    """
    version = system_call("landlock_create_ruleset", 0, 0, 1)
    files = (1 << max(count for since, count in _FILE_RIGHTS if version >= since)) - 1
    attributes = struct.pack("=Q", files)
    if version >= 4:
        attributes += struct.pack("=Q", _BIND_TCP_AND_CONNECT_TCP)
    if version >= 6:
        attributes += struct.pack("=Q", _ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = system_call("landlock_create_ruleset", attributes, len(attributes), 0)
    os.set_inheritable(rules, False)
    for folder in folders:
        handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        try:
            beneath = struct.pack("=Qi", _READ_FILE | _READ_DIRECTORY, handle)
            system_call("landlock_add_rule", rules, 1, beneath, 0)
        finally:
            os.close(handle)
    return rules


class Refused(Exception):
    """This machine does not let the sandbox be built; the message says why and what to do."""


class Sandbox:
    """The confinement of every child, prepared once."""

    def __init__(self, walls, rules, program, null, drop_root, memory_bytes):
        self.walls = walls
        self._rules = rules
        self._program = program
        self._null = null
        self._drop_root = drop_root
        self._memory_bytes = memory_bytes

    @staticmethod
    def prepare(namespaces, memory_bytes):
        """Builds all that can be built before a child exists, in a process that has imported its modules.

        `memory_bytes` comes on top of what this process has mapped already.
        Raises Refused when the walls would not be enough.
        """
        try:
            program = filter_program()
        except OSError as error:
            raise Refused(f"There is no system call filter for this machine: {error.strerror}.") from error
        walls = ["seccomp"]
        mapped = int(_read("/proc/self/statm").split()[0]) * resource.getpagesize()
        null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        folders = library_folders()
        sys.path[:] = [path for path in sys.path if any((path + "/").startswith(f + "/") for f in folders)]
        try:
            if "mount" not in namespaces:
                raise OSError("no mount namespace")
            enter_library_root(folders)
            walls.append("library root")
        except OSError as error:
            root_refusal = error
        try:
            rules = landlock_rules(folders)
            walls.append("landlock")
        except OSError as error:
            if "library root" not in walls:
                raise Refused(
                    "Neither landlock nor a private root folder can be had here "
                    f"({error}; {root_refusal}), so files could not be kept from answers. "
                    "Use a Linux kernel of 5.13 or newer with landlock enabled, or allow user namespaces."
                ) from error
            rules = None
        walls += [f"{name} namespace" for name in namespaces]
        drop_root = os.getuid() == 0 and "user" not in namespaces
        return Sandbox(walls, rules, program, null, drop_root, mapped + memory_bytes)

    def enter(self, keep):
        """Confines the calling process for good. `keep`: the file descriptors that stay open."""
        for standard in (0, 1, 2):
            os.dup2(self._null, standard, inheritable=False)
        kept = {0, 1, 2, *keep}
        if self._rules is not None:
            kept.add(self._rules)
        _close_all_but(kept)
        if self._drop_root:
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        die_with_parent()  # after the change of user, which would undo it
        _drop_capabilities()
        set_no_new_privileges()
        if self._rules is not None:
            system_call("landlock_restrict_self", self._rules, 0)
            os.close(self._rules)
        for limit, value in (*_LIMITS, (resource.RLIMIT_AS, self._memory_bytes)):
            _, most = resource.getrlimit(limit)
            value = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(limit, (value, value))
        load_filter(self._program)


# The CPU limit is a last resort, should the parent that keeps the time hang; seconds.
_LIMITS = (
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_CPU, 600),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_MEMLOCK, 0),
    (resource.RLIMIT_NOFILE, 64),
    (resource.RLIMIT_NPROC, 0),
)


def _close_all_but(kept):
    first = 0
    for descriptor in sorted(kept):
        if descriptor > first:  # an empty range at 0 would close everything
            os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _drop_capabilities():
    version_3 = struct.pack("=Ii", 0x20080522, 0)
    system_call("capset", version_3, bytes(24))


def holes():
    """What the calling process can do though an answer must not. Run in a confined child before the sandbox is used."""
    import socket

    attempts = {
        "read a file outside the libraries": lambda: open("/etc/passwd").close(),
        "list a folder": lambda: os.listdir("/etc"),
        "write a file": lambda: open("/tmp/answer", "w").close(),
        "open a socket": lambda: socket.socket().close(),
        "start a process": _start_process,
        "signal another process": lambda: os.kill(getppid(), 0),
        "raise its own limits": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    }
    return [name for name, attempt in attempts.items() if _succeeds(attempt)]


def _start_process():
    if os.fork() == 0:
        os._exit(0)


def _succeeds(attempt):
    try:
        attempt()
    except (OSError, ValueError):  # ValueError: how `resource` words a refusal
        return False
    return True


def _read(path):
    with open(path) as handle:
        return handle.read()
