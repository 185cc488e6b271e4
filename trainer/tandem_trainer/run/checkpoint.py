"""Checkpoints and other files, which are whole or absent whatever happens while they are written.

A checkpoint is a folder `<number>-<stage>-<step>`; the highest number is the newest. Its `checkpoint.json` holds the
state and the length and CRC-32 of each other file. It is written under another name, flushed to the disk and renamed.
Tensors lie in folders of safetensors files, to which each process of a run writes its parts, by
torch.distributed.checkpoint; any other number of processes reads them.
"""

import json
import os
import random
import shutil
import sys
import zlib
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from safetensors import SafetensorError
from torch import Tensor
from torch.distributed.checkpoint import CheckpointException, HuggingFaceStorageReader, HuggingFaceStorageWriter

from ..fault import Fault, UsageFault
from .disk_space import flush_to_disk, not_written, reason, write_whole
from .distributed import Ranks

VERSION = 2
TEMPORARY = ".writing"
LEAVING = ".deleting"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    path: Path
    stage: str
    state: dict[str, Any]

    def load(self, name: str, into: Mapping[str, Tensor]) -> None:
        """Overwrites tensors, or this process's parts of them. Errors: UsageFault when others were saved."""
        saved = self._saved(name)
        if {key: shape for key, (shape, _) in saved.items()} != {key: tensor.shape for key, tensor in into.items()}:
            raise UsageFault(
                f"The checkpoint {self.path.name} does not fit the model: its settings were changed since the run "
                "began; change them back or start a new run."
            )
        if into:
            with torch.no_grad():
                dcp.load(dict(into), storage_reader=HuggingFaceStorageReader(str(self.path / name)), no_dist=True)

    def tensors(self, name: str) -> dict[str, Tensor]:
        """Whole tensors, on the CPU."""
        read = {key: torch.empty(shape, dtype=dtype) for key, (shape, dtype) in self._saved(name).items()}
        self.load(name, read)
        return read

    def _saved(self, name: str) -> dict[str, tuple[torch.Size, torch.dtype]]:
        if not (self.path / name).exists():
            return {}  # nothing was to be saved
        metadata = HuggingFaceStorageReader(str(self.path / name)).read_metadata().state_dict_metadata
        return {key: (about.size, about.properties.dtype) for key, about in metadata.items()}


def write_checkpoint(
    folder: Path,
    stage: str,
    state: Mapping[str, Any],
    tensors: Mapping[str, Mapping[str, Tensor]],
    ranks: Ranks = Ranks(),  # noqa: B008  it is frozen
) -> Checkpoint:
    """`state["step"]` becomes part of its name. All ranks must call this.

    tensors: by the folder in which they are saved, none sharing memory with another.
    Errors: Fault when the disk is full or refuses; earlier checkpoints are then untouched.
    """
    temporary = folder / TEMPORARY
    fault = written = None
    try:
        if ranks.first:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
        ranks.wait()
        for name, named in tensors.items():
            if named:
                writer = HuggingFaceStorageWriter(str(temporary / name), save_distributed=True)
                dcp.save(dict(named), storage_writer=writer, no_dist=ranks.world == 1)
        if ranks.first:
            written = adopt_checkpoint(folder, stage, state, temporary)
    except (OSError, SafetensorError, CheckpointException) as error:
        if ranks.first:
            shutil.rmtree(temporary, ignore_errors=True)
        fault = _not_written(folder, error)
    except Fault as error:
        fault = error
    if (fault := next(filter(None, ranks.gather(fault)), None)) is not None:
        raise fault
    return ranks.of_first(written)


def adopt_checkpoint(folder: Path, stage: str, state: Mapping[str, Any], temporary: Path) -> Checkpoint:
    """Moves the folder `temporary`, perhaps another library's, to a checkpoint, or deletes it. Errors: Fault."""
    try:
        files = {}
        for file in sorted(temporary.rglob("*")):
            if file.is_file():
                files[file.relative_to(temporary).as_posix()] = {"bytes": file.stat().st_size, "crc32": _crc32(file)}
            flush_to_disk(file)
        about = {"version": VERSION, "stage": stage, "state": dict(state), "files": files}
        (temporary / "checkpoint.json").write_text(json.dumps(about, indent=1) + "\n")
        flush_to_disk(temporary / "checkpoint.json")
        flush_to_disk(temporary)
        number = max((_number(path) for path in _folders(folder)), default=0) + 1
        target = folder / f"{number:06d}-{stage}-{state['step']}"
        os.rename(temporary, target)
        flush_to_disk(folder)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise _not_written(folder, error) from error
    return Checkpoint(target, stage, dict(state))


def _not_written(folder: Path, error: Exception) -> Fault:
    if isinstance(error, CheckpointException):  # the errors of all processes
        error = next(iter(error.failures.values()))[0]
    return not_written(f"A checkpoint cannot be written to {folder}", error)


def whole_checkpoints(folder: Path, notice: Callable[[str], None]) -> list[Checkpoint]:
    """Newest first; damaged ones are skipped with a notice."""
    shutil.rmtree(folder / TEMPORARY, ignore_errors=True)
    shutil.rmtree(folder / LEAVING, ignore_errors=True)
    whole = []
    for path in sorted(_folders(folder), key=_number, reverse=True):
        try:
            whole.append(_read(path))
        except (OSError, ValueError, KeyError, TypeError) as error:
            notice(f"The checkpoint {path.name} is damaged ({reason(error)}) and is passed over.")
    return whole


def keep_only(folder: Path, paths: Collection[Path]) -> None:
    """Deletes all others, oldest first. Each is renamed before, so that a partial one is never read."""
    for path in sorted(_folders(folder), key=_number):
        if path not in paths:
            os.rename(path, folder / LEAVING)
            shutil.rmtree(folder / LEAVING)


def _read(path: Path) -> Checkpoint:
    about = json.loads((path / "checkpoint.json").read_text())
    if about["version"] != VERSION:
        raise ValueError(f"version {about['version']} is not known")
    for name, file in about["files"].items():
        if (path / name).stat().st_size != file["bytes"] or _crc32(path / name) != file["crc32"]:
            raise ValueError(f"{name} is not what was written")
    return Checkpoint(path, about["stage"], about["state"])


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*-*-*") if path.is_dir() and path.name.split("-")[0].isdigit()]


def _number(path: Path) -> int:
    return int(path.name.split("-")[0])


def _crc32(path: Path) -> int:
    value = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 22):
            value = zlib.crc32(piece, value)
    return value


def make_missing(
    paths: Mapping[int, Path],
    make: Callable[[int | None], bytes],
    ranks: Ranks,
    *,
    within: Callable[[], AbstractContextManager] = nullcontext,
    progress: Callable[[int, int], None] | None = None,
    shared: Path | None = None,
) -> None:
    """Writes the missing files of `paths`; all ranks return when all exist.

    make:     makes the content of the file of a number. Ranks call it in step, so that it may communicate; with None
              where a rank has no work left.
    within:   context that is entered once, if anything is missing.
    progress: gets (done, all), counting missing files.
    shared:   a folder shared with other runs, which copy from it and add to it. Equal names must mean equal content.
    """
    missing = [number for number, path in paths.items() if not path.exists()]
    if shared is not None:
        random.Random().shuffle(missing)  # so that simultaneous runs do not make the same files
    missing = ranks.of_first(missing)
    with within() if missing else nullcontext():
        for first in range(0, len(missing), ranks.world):
            mine = first + ranks.rank
            number = missing[mine] if mine < len(missing) else None
            if number is not None and shared is not None and _take(paths[number], shared):
                number = None
            # The work may be skipped only if all ranks found their files, because they go in step.
            if ranks.highest(number is not None):
                data = make(number)
                if number is not None:
                    write_whole(paths[number], data)
                    if shared is not None:
                        shared = _give(shared, paths[number].name, data)
            if progress:
                progress(min(first + ranks.world, len(missing)), len(missing))
    ranks.wait()


def _take(path: Path, shared: Path) -> bool:
    try:
        data = (shared / path.name).read_bytes()
    except OSError:  # it is not there, or cannot be read and is then made here
        return False
    write_whole(path, data)
    return True


def _give(shared: Path, name: str, data: bytes) -> Path | None:
    """Returns None, and says so, when the folder cannot be written: no other run needs the file."""
    try:
        write_whole(shared / name, data)
    except Fault as fault:
        print(f"{fault} Other runs make what this one made.", file=sys.stderr)
        return None
    return shared
