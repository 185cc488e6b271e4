"""A run on a cluster that does not see this machine's files: it is copied there, and its small files come back.

With the job goes a bundle: the configuration, the files that it names, the events so far and this package. The job
copies the run to the folder `resources.cluster.copy_to` of the nodes and trains it there. It prints changes of the
small files, a line for each piece, and the follower writes them into the folder here, so that every view works as for
any other run. Weights stay there.
"""

from __future__ import annotations

import asyncio
import base64
import json
import shlex
import shutil
import socket
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..fault import Fault, UsageFault
from ..regular_file import read_text
from ..run.disk_space import write_whole
from ..run.event_file import Events, last_state
from .record import Job

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

POLL_INTERVAL = 1.0  # seconds between looks at what has changed
MARK = "tandem-file "  # begins a line of the job's log that is a piece of a file
PIECE = 1 << 20  # most bytes of one line, before compression
MAX_LINE = 2 * PIECE  # characters of one line; base64 makes four of three bytes
MAX_EVENTS_BYTES = 1 << 30  # of one job; a run of a week has some 100 MB
MAX_SHOWN = 1000  # characters of a line of the log
GROWING = "events.jsonl"  # the only file that is brought back line by line
# The files that come back. The log is text that anything in the cluster may have written, so no other is taken from it.
WHOLE = ("plan.json", "process.json", "alive")


# ---- on this machine


@contextmanager
def bundle(path: Path) -> Iterator[Path]:
    """Makes the folder that goes to the cluster; deletes it afterwards. Errors: Fault for a shared folder."""
    content = json.loads(read_text(path, "utf-8-sig"))
    if content.get("resources", {}).get("shared"):
        raise UsageFault(
            "resources.shared is a folder of this machine, which a run that is copied to a cluster does not see: leave "
            "it out."
        )
    with tempfile.TemporaryDirectory(prefix="tandem-bundle-") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        for group, names in FILES.items():
            for each in names:
                if value := content.get(group, {}).get(each):
                    content[group][each] = _taken(value, path.parent, folder)
        base = Path(path.parent, content["model"]["base"])
        if base.is_dir():  # the same path there; otherwise it is an ID on the hub
            content["model"]["base"] = str(base.resolve())
        (folder / "run.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        for each in (GROWING, "cluster.json"):
            if (path.parent / each).exists():
                shutil.copy(path.parent / each, folder)
        take_package(folder)
        yield folder


def take_package(folder: Path) -> None:
    package = Path(__file__).parents[1]
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))


# Fields that name files.
FILES = {"data": ("trajectories", "earlier", "preferences", "tasks", "opening"), "model": ("chat_template",)}


def _taken(value: str | list[str], here: Path, folder: Path) -> str | list[str]:
    if isinstance(value, list):
        return [str(_taken(each, here, folder)) for each in value]
    number = len(list((folder / "files").iterdir()))
    name = f"files/{number}-{Path(value).name}"
    shutil.copy(here / value, folder / name)
    return name


class Copy:
    """Writes the pieces of files that a job prints into the run's folder, and hands requests on to the job.

    For a later follower, `copied.json` says how much of the job's events is there, among this machine's own.
    """

    def __init__(self, client: JobSubmissionClient, folder: Path, job: Job):
        self.client, self.folder, self.job, self.there = client, folder, job, job.folder
        self.about = folder / "copied.json"
        before = json.loads(self.about.read_text()) if self.about.exists() else {}
        self.taken = before["events"] if before.get("job") == job.id else job.since
        self.rest = ""
        self.is_cut = False  # whether `rest` begins inside of a line that is too long
        self.missing_at: int | None = None  # where events were missing when the log was last requested again
        self.has_all = False  # whether the log has come as a whole, so that requesting it again brings nothing
        self.said: set[str] = set()
        self.handed_on: set[str] = set()
        self.closed = threading.Event()
        self.thread = threading.Thread(target=self._follow, name="copy", daemon=True)
        self.thread.start()

    def hand_on(self, name: str) -> None:
        """name: `stop` or `finish`."""
        if name not in self.handed_on:
            self.client.submit_job(entrypoint=shlex.join(["touch", f"{self.there}/{name}"]))
            self.handed_on.add(name)

    def close(self) -> None:
        """Takes the rest of the log, once the job is over."""
        self.closed.set()
        self.thread.join()
        log = self.client.get_job_logs(self.job.id)
        self.rest, self.is_cut, self.has_all = "", False, True
        self._read(log)

    def _follow(self) -> None:
        while not self.closed.is_set():
            try:
                asyncio.run(self._tail())
            except Exception as error:  # of the connection, by any library under it; the next one begins at the start
                print(f"The log of the job is asked for again ({error}).", file=sys.stderr, flush=True)
            self.closed.wait(POLL_INTERVAL)

    async def _tail(self) -> None:
        self.rest, self.is_cut = "", False
        async for text in self.client.tail_job_logs(self.job.id):
            self._read(text)
            if self.closed.is_set():
                return

    def _read(self, text: str) -> None:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            if line.startswith(MARK) and not self.is_cut:
                self._take(line.removeprefix(MARK))
            self.is_cut = False
        if len(self.rest) > MAX_LINE:
            self.rest, self.is_cut = "", True

    def _take(self, line: str) -> None:
        try:
            name, offset, data = _piece_of(line)
        except (ValueError, RecursionError, zlib.error) as error:
            self._say(f"A line of the job's log that has a piece of a file cannot be read: {error}")
            return
        if name == GROWING:
            self._append(offset, data or b"")
        elif data is None:
            (self.folder / name).unlink(missing_ok=True)
        else:
            write_whole(self.folder / name, data)

    def _append(self, offset: int, data: bytes) -> None:
        """Appends events. Doing so twice changes nothing.

        Errors: Missing where earlier events are missing; the second time at the same place they are left out.
        """
        if offset > self.taken:
            if self.missing_at != self.taken and not self.has_all:
                self.missing_at = self.taken
                raise Missing(f"it lacks the events from byte {self.taken} to {offset}")
            self._say(f"The job's log lacks the events from byte {self.taken} to {offset}; they are left out here.")
            self.taken = offset
        known = self.taken - offset
        if known < len(data):
            path = self.folder / GROWING
            size = path.stat().st_size if path.exists() else 0
            if size + len(data) - known > self.job.since + MAX_EVENTS_BYTES:
                self._say(f"The job's events are more than {MAX_EVENTS_BYTES >> 20} MiB; later ones are left out here.")
                return
            with open(path, "ab") as file:
                file.write(data[known:])
            self.taken = offset + len(data)
            write_whole(self.about, json.dumps({"job": self.job.id, "events": self.taken}).encode())

    def _say(self, sentence: str) -> None:
        """Says it once, though the log is read again."""
        if sentence not in self.said:
            self.said.add(sentence)
            print(sentence, file=sys.stderr, flush=True)


class Missing(Exception):
    """Events are missing in what came of a log."""


def _piece_of(line: str) -> tuple[str, int, bytes | None]:
    """Returns the file's name, the piece's place in it in bytes, and its content, or None when the file was deleted.

    Errors: ValueError or zlib.error for anything that `Mirror` would not print.
    """
    piece = json.loads(line)
    if not isinstance(piece, dict):
        raise ValueError("it is no object")
    name, offset, encoded = piece.get("file"), piece.get("offset", 0), piece.get("data")
    if name != GROWING and name not in WHOLE:
        raise ValueError(f"a job writes no file {json.dumps(name)[:100]}")
    if type(offset) is not int or not 0 <= offset < 1 << 53:
        raise ValueError(f"{json.dumps(offset)[:100]} is no place in a file")
    if "data" not in piece:
        return name, offset, None
    if not isinstance(encoded, str):
        raise ValueError("its data are no text")
    inflater = zlib.decompressobj()
    data = inflater.decompress(base64.b64decode(encoded, validate=True), PIECE)
    if not inflater.eof:
        raise ValueError(f"its data are cut off, or more than {PIECE >> 20} MiB")
    if name.endswith(".json"):
        content = json.loads(data)
        if not isinstance(content, dict):
            raise ValueError(f"{name} is no object")
        # Readers look for a process on the machine that the file names, and may kill it.
        if name == "process.json" and content.get("host") == socket.gethostname():
            raise ValueError(f"{name} names a process of this machine")
    return name, offset, data


def visible_lines(log: str) -> list[str]:
    """Returns the lines without pieces of files, shortened, and without characters that a terminal would obey."""
    lines = (line for line in log.splitlines() if line.strip() and not line.startswith(MARK))
    return ["".join(each if each.isprintable() else " " for each in line[:MAX_SHOWN]) for line in lines]


# ---- on the cluster


def unpack(path: Path, job: Job) -> tuple[Path, Job]:
    """Copies the bundle around `path` to the run's folder on the cluster. Errors: Fault.

    Events that are only there, because an earlier job's log was lost, are kept. Returns run.json in the folder, and the
    job as it counts there: its events come after the kept ones, unless those finished the run.
    """
    target = Path(job.folder)
    try:
        (target / "files").mkdir(parents=True, exist_ok=True)
        for each in (path.parent / "files").iterdir():
            shutil.copy(each, target / "files")
        is_kept = _goes_on(target / GROWING, path.parent / GROWING)
        for name in ("run.json", "cluster.json", *(() if is_kept else (GROWING,))):
            if (path.parent / name).exists():
                shutil.copy(path.parent / name, target)
    except OSError as error:
        raise Fault(
            f"The run cannot be copied to {target} on the cluster: {error.strerror}. Set resources.cluster.copy_to to "
            "a folder that every node sees under the same path, and that can be written."
        ) from error
    told = last_state(target) if is_kept else None
    if is_kept and (told is None or told["state"] != "done"):
        # The follower must not take the end of the job before for that of this one.
        Events(target, prints=False).state("preparing")
        job = replace(job, since=(target / GROWING).stat().st_size)
    return target / "run.json", job


def _goes_on(events: Path, start: Path) -> bool:
    if not events.exists():
        return False
    known = start.read_bytes() if start.exists() else b""
    with open(events, "rb") as file:
        return file.read(len(known)) == known and file.read(1) != b""


class Mirror:
    """Prints changes of the small files of a run, in a thread, as a context. sent: bytes of the events already sent."""

    def __init__(self, folder: Path, sent: int):
        self.folder, self.sent = folder, sent
        self.seen: dict[str, tuple[int, int]] = {}
        self.said: set[tuple[Path, int | None]] = set()
        self.closed = threading.Event()
        self.thread = threading.Thread(target=self._go, name="mirror", daemon=True)

    def __enter__(self) -> Mirror:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.set()
        self.thread.join()
        self.look()

    def _go(self) -> None:
        while not self.closed.wait(POLL_INTERVAL):
            self.look()

    def look(self) -> None:
        """A file that cannot be read waits for the next call."""
        now: dict[str, tuple[int, int]] = {}
        for path in (self.folder / name for name in (GROWING, *WHOLE)):
            try:
                if path.name == GROWING:
                    self._grown(path)
                    continue
                about = path.stat()
                found = about.st_size, about.st_mtime_ns
                if about.st_size <= PIECE and self.seen.get(path.name) != found:
                    _print({"file": path.name}, path.read_bytes())
                now[path.name] = found
            except FileNotFoundError:  # not made yet, or replaced meanwhile; the next look sees what is there
                continue
            except OSError as error:
                self._say(path, error)
                if path.name in self.seen:
                    now[path.name] = self.seen[path.name]
        for name in self.seen.keys() - now.keys():
            _print({"file": name}, None)
        self.seen = now

    def _say(self, path: Path, error: OSError) -> None:
        if (path, error.errno) not in self.said:
            self.said.add((path, error.errno))
            print(f"{path} cannot be read and is tried again: {error.strerror}", file=sys.stderr, flush=True)

    def _grown(self, path: Path) -> None:
        with open(path, "rb") as file:
            file.seek(self.sent)
            while data := file.read(PIECE):
                _print({"file": GROWING, "offset": self.sent}, data)
                self.sent += len(data)


def _print(piece: dict[str, Any], data: bytes | None) -> None:
    if data is not None:
        piece["data"] = base64.b64encode(zlib.compress(data)).decode()
    sys.stdout.write(f"{MARK}{json.dumps(piece)}\n")
    sys.stdout.flush()
