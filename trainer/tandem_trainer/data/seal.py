"""The seal at the end of each line of the trajectory log: its number within the segment, and a check sum.

The rules are those of `seal.ts` and `sequence.ts` in `src/core/trajectory/segment`. Lines of older Tandems have no seal
and are taken as they are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from .dialogue import Problem

SEAL = re.compile(rb',"number":(\d+),"sum":"([0-9a-f]{8})"\}$')
SUM = re.compile(rb',"sum":"([0-9a-f]{8})"\}$')
FRONT = re.compile(rb'\{"version":1,"event":"([a-z-]+)"(?:,"episode":"([^"\\]*)")?')


@dataclass
class Segment:
    """Follows the lines of one segment and tells which of them are not what was written."""

    file: Path
    problems: list[Problem]
    damaged: set[str] = field(default_factory=set)  # episodes that have a line here which cannot be read
    without: list[tuple[int, int]] = field(default_factory=list)  # ranges of numbers that were taken out on purpose
    sealed: bool = False
    last: int = 0  # the number of the last line that can be read
    unreadable: int = 0  # lines without a number since then

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
        if front is not None and front[2] is not None:
            self.damaged.add(front[2].decode(errors="replace"))
        return False

    def count(self, number: int, at: int) -> None:
        """Tells of the lines that are missing before the one of this number."""
        removed = sum(max(0, min(last, number - 1) - max(first, self.last + 1) + 1) for first, last in self.without)
        missing = number - self.last - 1 - self.unreadable - removed
        self.last, self.unreadable = number, 0
        if missing > 0:
            lines = "1 line is" if missing == 1 else f"{missing} lines are"
            self.problems.append(Problem(str(self.file), at, f"{lines} missing before this one, number {number}."))


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
