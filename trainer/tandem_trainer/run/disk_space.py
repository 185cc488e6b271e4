"""Writes files that are whole or absent, also after a power cut, and explains failures of the machine with a remedy.

It imports little, because imports may fail by then.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..fault import Fault

RESERVED = 64 << 10  # bytes; enough for a last event and a last line of the log with any block size
MEMORY = ("out of memory", "not enough memory", "can't allocate memory", "Cannot allocate memory")
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DEVICE = (
    "CUDA error",
    "CUDA driver error",
    "CUDA-capable device",
    "HIP error",
    "cuBLAS",
    "CUBLAS_STATUS",
    "NCCL error",
)


class MachineFault(Fault):
    """A failure of the machine; on a cluster its sentence needs the name of the node."""


def not_written(what: str, error: BaseException) -> MachineFault:
    """what: such as `A checkpoint cannot be written to /data`. error: its cause."""
    return MachineFault(
        f"{what}: {reason(error)}. Make room or give permission, then resume the run: it goes on from its last "
        "checkpoint."
    )


def reason(error: BaseException) -> str:
    """Without the path, which the sentence around it names."""
    if "(os error " in str(error):  # from safetensors: "…: No space left on device (os error 28)"
        return os.strerror(int(str(error).rsplit("(os error ", 1)[1].split(")")[0]))
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Reserves disk space inside the context. Errors: Fault when there is none.

    Otherwise neither `events.jsonl` nor `trainer.log` could hold a message about a full disk, and the run would look
    killed.
    """
    path = folder / "reserve"
    try:
        try:
            with open(path, "wb") as file:
                file.write(os.urandom(RESERVED))  # random bytes cannot be compressed by the file system
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise not_written(f"{path} cannot be written", error) from error
        yield
    finally:
        path.unlink(missing_ok=True)


def fault_of(error: BaseException) -> MachineFault | None:
    """None for a bug, because its traceback must be shown."""
    words = str(error).strip()
    first = words.splitlines()[0].rstrip(".") if words else type(error).__name__
    if isinstance(error, MemoryError) or any(sign in words for sign in MEMORY):
        return MachineFault(
            f"Memory ran out ({first}): end what else uses it, or lower resources.token_budget, then resume the run. "
            "It goes on from its last checkpoint."
        )
    if fault := full_disk(error):
        return fault
    if isinstance(error, RuntimeError) and any(sign in words for sign in DEVICE):
        return MachineFault(
            f"The GPU failed in the middle of the work ({first}): it was unplugged or reset, or its driver gave up. "
            "Resume the run when nvidia-smi shows it again; it goes on from its last checkpoint."
        )
    return None


def full_disk(error: BaseException) -> MachineFault | None:
    """None for any other error."""
    words = str(error)
    if (isinstance(error, OSError) and error.errno in DISK) or "No space left on device" in words:
        return not_written(f"{getattr(error, 'filename', None) or 'A file of the run'} cannot be written", error)
    if "local disk's utilization is over capacity" in words:  # Ray's OutOfDiskError
        return MachineFault(
            "The disk with Ray's temporary folder is full, so that Ray takes no more objects: make room there, or "
            "start Ray with another --temp-dir, then resume the run. It goes on from its last checkpoint."
        )
    return None


# ---- whole files


def write_whole(path: Path, data: bytes) -> None:
    """Errors: Fault when the disk is full or refuses."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.writing")  # two runs may share a folder
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        flush_to_disk(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise not_written(f"{path} cannot be written", error) from error


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Gives a folder that becomes `target`, which must not exist, if the context ends well. Errors: OSError."""
    temporary = target.with_name(f"{target.name}.writing")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        yield temporary
        for path in (*sorted(temporary.iterdir()), temporary):
            flush_to_disk(path)
        temporary.rename(target)
        flush_to_disk(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def flush_to_disk(path: Path) -> None:
    """fsync for a file or, if the system supports it, a folder."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
