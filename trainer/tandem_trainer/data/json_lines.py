"""JSON lines, one bad line never costing the others."""

import json
from collections.abc import Callable, Iterable, Iterator
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


def json_lines(
    file: Path,
    problems: list[Problem],
    *,
    torn: bool = False,
    objects: Callable[[bytes, int], Iterable[bytes]] = lambda line, _number: (line,),
    unreadable: Callable[[bytes, int], None] = lambda _line, _number: None,
) -> Iterator[tuple[int, dict]]:
    """The objects of a file with their lines' numbers (from 1); what cannot be read goes into `problems`.

    objects: takes a line and its number, and gives the bytes of its objects, usually one
    unreadable: told of what is no JSON, and of its line's number
    torn: a last line without a line feed is one that is still being written, or whose writer died: it is passed over
        and reported, even if it could be read.
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
                if torn and not line.endswith(b"\n"):
                    problems.append(Problem(str(file), number, "The last line is torn and is passed over."))
                    continue
                for body in objects(line, number):
                    try:
                        value = parse(body)
                    except ValueError as error:
                        problems.append(Problem(str(file), number, f"The line {error} and is passed over."))
                        unreadable(body, number)
                        continue
                    if isinstance(value, dict):
                        yield number, value
                    else:
                        problems.append(Problem(str(file), number, "The line is not a JSON object and is passed over."))
    except OSError as error:
        raise Fault(f"{file} cannot be read ({error.strerror}); check the path.", usage=True) from error


def parse(line: bytes) -> object:
    """Raises ValueError with what the line is instead of JSON. Half a surrogate pair becomes U+FFFD, as on the wire."""
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
    """Files that people do hand over as JSON lines, and of which every line would be reported as unreadable."""
    for signature, what in OTHER_FORMATS.items():
        if start.startswith(signature):
            raise Fault(f"{file} {what}.", usage=True)
