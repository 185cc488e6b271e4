"""Reads JSON Lines; a bad line does not affect the others."""

import json
from collections.abc import Iterator
from pathlib import Path

from ..fault import Fault
from .dialogue import Problem

OTHER_FORMATS = {
    b"\xff\xfe": "is in UTF-16; save it as UTF-8",
    b"\xfe\xff": "is in UTF-16; save it as UTF-8",
    b"\x1f\x8b": "is compressed; unpack it first",
    b"PK\x03\x04": "is compressed; unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed; unpack it first",
    b"PAR1": "is Parquet; write it as JSON lines first",
}


def json_lines(file: Path, problems: list[Problem]) -> Iterator[tuple[int, dict]]:
    """Yields the objects of a file with their line numbers (from 1); unreadable lines go into `problems`.

    Raises Fault when the file cannot be read at all.
    """
    try:
        with open(file, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                if number == 1:
                    refuse_other_formats(file, line)
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.isspace():
                    continue
                try:
                    value = parse(line)
                except ValueError as error:
                    problems.append(Problem(str(file), number, f"The line {error} and is passed over."))
                    continue
                if isinstance(value, dict):
                    yield number, value
                else:
                    problems.append(Problem(str(file), number, "The line is not a JSON object and is passed over."))
    except OSError as error:
        if file.is_dir():
            what = "is a folder; give files of rows, which `tandem train` and `tandem score` write of a data folder"
            raise Fault(f"{file} {what}.", usage=True) from error
        raise Fault(f"{file} cannot be read ({error.strerror}); check the path.", usage=True) from error


def parse(line: bytes) -> object:
    """Parses a line; raises ValueError with the reason. A lone surrogate becomes U+FFFD, as in UTF-8."""
    try:
        value = json.loads(line.decode(), parse_constant=refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError("is not valid UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ValueError("is not JSON") from error
    if b"\\ud" not in line.lower():
        return value
    whole = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return json.loads(whole)


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def refuse_other_formats(file: Path, start: bytes) -> None:
    """Raises Fault for formats often mistaken for JSON Lines, in which every line would be reported as unreadable."""
    for signature, what in OTHER_FORMATS.items():
        if start.startswith(signature):
            raise Fault(f"{file} {what}.", usage=True)
