"""Says what of this machine the sandbox has to hold, so that this interpreter runs in it with its libraries.

    python3 -E -B describe.py '{"required": ["numpy"], "optional": ["pandas"]}'

Prints {"refused": "why and what to do"}, or
    {"executable": file, "libraries": [shared libraries], "folders": [those with modules], "path": [sys.path],
     "versions": {"python": "3.12.1", "numpy": "2.0.1"}}
"""

import ctypes
import json
import os
import site
import sys
import sysconfig

from modules import import_all


def main():
    wanted = json.loads(sys.argv[1])
    versions, missing = import_all([*wanted["required"], *wanted["optional"]])
    for name in wanted["required"]:
        if name in missing:
            return {"refused": f"{sys.executable} cannot import {name} ({missing[name]}): install {name} for it."}
    folders = _folders()
    return {
        "executable": os.path.realpath(sys.executable),
        "libraries": [path for path in _libraries() if not _is_below(path, folders)],
        "folders": folders,
        "path": [path for path in sys.path if _is_below(path, folders)],
        "versions": {"python": "%d.%d.%d" % sys.version_info[:3], **versions},
    }


def _folders():
    """The standard library and the site-packages folders."""
    paths = sysconfig.get_paths()
    known = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    known += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        known.append(site.getusersitepackages())
    folders = []
    for folder in sorted({os.path.abspath(path) for path in known}):
        if os.path.isdir(folder) and not _is_below(folder, folders):
            folders.append(folder)
    return folders


def _is_below(path, folders):
    return any((path + "/").startswith(folder + "/") for folder in folders)


class _Loaded(ctypes.Structure):
    """The beginning of dl_phdr_info of dl_iterate_phdr(3)."""

    _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))


def _libraries():
    """The shared libraries of this process, by the paths under which the dynamic linker found them; it itself too."""
    found = ["/etc/ld.so.cache"] if os.path.exists("/etc/ld.so.cache") else []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Loaded), ctypes.c_size_t, ctypes.c_void_p)
    def visit(loaded, *_):
        name = os.fsdecode(loaded.contents.name or b"")
        if name.startswith("/"):  # the program has no name, and what the kernel maps has no path
            found.append(os.path.abspath(name))
        return 0

    ctypes.CDLL(None).dl_iterate_phdr(visit, None)
    return found


if __name__ == "__main__":
    print(json.dumps(main()))
