"""The seal at the end of each line of the trajectory log: its number within the segment, and a check sum.

The rules are those of `seal.ts`, `sequence.ts` and `losses.ts` in `src/core/trajectory/segment`. Lines of older Tandems
have no seal and are taken as they are.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from zlib import crc32

from .dialogue import Problem
from .fields import BadRow, time_of

SEAL = re.compile(rb',"number":(\d+),"sum":"([0-9a-f]{8})"\}$')
SUM = re.compile(rb',"sum":"([0-9a-f]{8})"\}$')
BEGINNING = re.compile(rb'\{"version":1,"event":"([^"\\]*)"(?:,"episode":"([^"\\]*)")?')
OF_NO_OTHER = ("segment", "task", "episode-started", "consent")  # say nothing of a dialogue that began before
FRONT = re.compile(rb'\{"version":1,"event":"([a-z-]+)"(?:,"episode":"([^"\\]*)")?')


@dataclass(frozen=True)
class Gap:
    """Where lines were lost of which nobody can tell what they said: they may have been a deletion or a leak mark.

    segment: the number of the file
    line: events of the same file stand behind the gap from this line on; None where only the time is known
    at: the lines were written at this time or before
    """

    segment: int
    line: int | None
    at: datetime


@dataclass
class Segment:
    """Follows the lines of one segment and tells which of them are not what was written."""

    file: Path
    problems: list[Problem]
    damaged: set[str] = field(default_factory=set)  # episodes that have a line here which cannot be read
    known: Container[str] = ()  # episodes that were met before
    without: list[tuple[int, int]] = field(default_factory=list)  # ranges of numbers that were taken out on purpose
    sealed: bool = False
    last: int = 0  # the number of the last line that can be read
    unreadable: int = 0  # lines without a number since then
    told: int = 0  # of these the ones of which is known what they were about
    open: int | None = None  # the first line since then, or the one behind a gap, that may have said anything
    gap: tuple[int, datetime] | None = None  # the last one before a line that can be read: that line, and its time
    lost: datetime | None = None  # until when some were lost before the segment was rewritten
    older: list[dict] = field(default_factory=list)  # what was noted of those that have no check sums

    def events(self, line: bytes, at: int) -> Iterator[bytes]:
        """The events of the line `at` (from 1) that can be trusted: more than one where a line feed was lost."""
        line = line.rstrip(b"\n")
        is_whole = number_of(line) is not None or not (self.sealed or SUM.search(line))
        pieces = [line] if is_whole else split(line)
        yield from (piece for piece in pieces if self.follows(piece, at))

    def follows(self, event: bytes, at: int) -> bool:
        number = number_of(event)
        has_sum = SUM.search(event) is not None
        if number is None and not has_sum and not self.sealed:
            self.unreadable += 1
            self.told += 1
            return True
        self.sealed = True
        front = FRONT.match(event)
        what = "line" if front is None else f"{front[1].decode()} event"
        if number is None:
            self.unreadable += 1
            reason = (
                f"The {what} was changed after it was written: its check sum is wrong. It is passed over."
                if has_sum
                else f"The {what} has no check sum, though the lines before it have one. It is passed over."
            )
        elif number <= self.last:
            reason = f"The {what} stands in a wrong place, or for a second time. It is passed over."
        else:
            self.count(number, at)
            return True
        self.problems.append(Problem(str(self.file), at, reason))
        self.pass_over(event, at)
        return False

    def pass_over(self, event: bytes, at: int) -> None:
        """Takes note of an event that cannot be read: whose it was, or that nobody can tell."""
        beginning = BEGINNING.match(event)
        episode = beginning and beginning[2] and beginning[2].decode(errors="replace")
        if episode and episode in self.known:
            self.damaged.add(episode)
        elif beginning is None or beginning[1].decode(errors="replace") not in OF_NO_OTHER:
            self.open = self.open or at
            return
        self.told += self.sealed

    def read(self, event: dict, at: int) -> None:
        """Takes note of an event that could be read."""
        if event.get("event") == "segment":
            self.without = event.get("without", [])
            self.lost = time_in(event, "lost")
            self.older = event.get("older", [])
        time = time_in(event, "at") if self.open is not None else None
        if time is not None:
            self.gap, self.open = (at, time), None

    def gaps(self, number: int) -> Iterator[Gap]:
        """The last ones: what earlier ones put in doubt they do, too. The file's end is not newer than the file."""
        if self.open is not None:
            written = datetime.fromtimestamp(self.file.stat().st_mtime_ns // 1_000_000 / 1000, timezone.utc)
            yield Gap(number, self.open, written)
        elif self.gap is not None:
            yield Gap(number, *self.gap)
        if self.lost is not None:
            yield Gap(number, None, self.lost)

    def count(self, number: int, at: int) -> None:
        """Tells of the lines that are missing before the one of this number."""
        removed = sum(max(0, min(last, number - 1) - max(first, self.last + 1) + 1) for first, last in self.without)
        between = number - self.last - 1 - removed
        missing = between - self.unreadable
        self.open = at if between > self.told else None
        self.last, self.unreadable, self.told = number, 0, 0
        if missing > 0:
            lines = "1 line is" if missing == 1 else f"{missing} lines are"
            self.problems.append(Problem(str(self.file), at, f"{lines} missing before this one, number {number}."))


def is_changed(file: Path, noted: dict) -> bool:
    """Whether a segment without check sums no longer holds what was noted of it. One that was rewritten may."""
    content = file.read_bytes()
    if crc32(content.partition(b"\n")[0][:256]) != noted.get("fingerprint"):
        return False
    lines = content[: content.rfind(b"\n") + 1]
    return (len(lines), crc32(lines)) != (noted.get("bytes"), noted.get("sum"))


def time_in(event: dict, name: str) -> datetime | None:
    try:
        return time_of(event, name)
    except BadRow:
        return None


def number_of(line: bytes) -> int | None:
    """The number of a line (without its line feed) whose check sum is right."""
    seal = SEAL.search(line)
    if seal is None or crc32(line[: seal.start(2) - len(b',"sum":"')]) != int(seal[2], 16):
        return None
    return int(seal[1])


def split(line: bytes) -> list[bytes]:
    """The events of a line between which the line feed was damaged or lost."""
    starts = sorted({0, *(found.start() for found in FRONT.finditer(line))})
    ends = [*starts[1:], len(line)]
    pieces = [line[start:end] for start, end in zip(starts, ends, strict=True)]
    return [
        piece if piece.endswith(b"}") or index == len(pieces) - 1 else piece[:-1] for index, piece in enumerate(pieces)
    ]
