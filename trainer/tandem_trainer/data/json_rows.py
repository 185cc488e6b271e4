"""Reads rows from JSON Lines: their lines, their fields, and the ids that Tandem gives to tasks and rows without one.

Each field is checked once, where it is read. A bad line does not affect the others.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..fault import UsageFault
from ..regular_file import require_regular
from .dialogue import Problem, Spoken

MAX_LINE = 256 << 20  # bytes
WRITE_LINES = (
    'write it as JSON lines, with pandas by to_json(FILE, orient="records", lines=True), with datasets by to_json(FILE)'
)
OTHER_FORMATS = {
    "is in UTF-16; save it as UTF-8": (b"\xff\xfe", b"\xfe\xff"),
    "is compressed; unpack it first": (b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"),
    f"is Parquet; {WRITE_LINES}": (b"PAR1",),
    f"is Arrow; {WRITE_LINES}": (b"ARROW1",),
}
# Column names of published rows, which are never alone on a line of JSON Lines.
CSV_HEADER = re.compile(rb"[^{}\[\]]*\b(problem_description|dialogue_history|messages|prompt)\b[^{}\[\]]*")


def json_lines(file: Path, problems: list[Problem]) -> Iterator[tuple[int, dict]]:
    """Yields objects, without fields that are null, and their line numbers from 1; bad lines go into `problems`.

    Errors: Fault for an unreadable file.
    """
    require_regular(file)
    try:
        with open(file, "rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE), b""), start=1):
                if len(line) == MAX_LINE:
                    raise UsageFault(f"Line {number} of {file} has no end within {MAX_LINE:,} bytes: cut it out.")
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
                    yield number, without_nulls(value)
                else:
                    problems.append(Problem(str(file), number, "The line is not a JSON object and is passed over."))
    except OSError as error:
        if file.is_dir():
            what = "is a folder; give files of rows, which `tandem train` and `tandem score` write of a data folder"
            raise UsageFault(f"{file} {what}.") from error
        raise UsageFault(f"{file} cannot be read ({error.strerror}); check the path.") from error


def parse(line: bytes) -> object:
    """Errors: ValueError with the reason. A lone surrogate becomes U+FFFD, as in UTF-8."""
    try:
        value = json.loads(line.decode(), parse_constant=refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError("is not valid UTF-8") from error
    except PythonConstant:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError("is not JSON") from error
    if b"\\ud" not in line.lower():
        return value
    whole = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return json.loads(whole)


class PythonConstant(ValueError):
    pass


def refuse_constant(name: str) -> None:
    raise PythonConstant(f"has {name}, which is not JSON (write null in its place),")


def refuse_other_formats(file: Path, start: bytes) -> None:
    """Every line of such a file would be reported as unreadable. Errors: Fault."""
    for what, signatures in OTHER_FORMATS.items():
        if start.startswith(signatures):
            raise UsageFault(f"{file} {what}.")
    text = start.removeprefix(b"\xef\xbb\xbf").strip()
    if text == b"[" or text.startswith(b"[{"):
        raise UsageFault(f"{file} is one JSON array; {WRITE_LINES}.")
    if CSV_HEADER.fullmatch(text):
        raise UsageFault(f"{file} is CSV; {WRITE_LINES}.")


class BadRow(Exception):
    """An error whose message says in one sentence why a row cannot be used."""


def object_of(row: dict, name: str) -> dict:
    value = row.get(name)
    if not isinstance(value, dict | None):
        raise BadRow(f"The field {name} must be an object.")
    return without_nulls(value or {})


def without_nulls(fields: dict) -> dict:
    """Hugging Face `datasets` pads objects with nulls to the same fields."""
    return {name: value for name, value in fields.items() if value is not None}


def text_of(row: dict, name: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str) or value.strip() == "":
        raise BadRow(f"The field {name} is missing or not a text.")
    return value


def reward_of(row: dict) -> float | None:
    reward = row.get("reward")
    if reward is None:
        return None
    if type(reward) not in (int, float) or not 0 <= reward <= 1:
        raise BadRow("The field reward must be a number from 0 to 1.")
    return float(reward)


def spoken(position: int, turn: dict, where: str) -> Spoken:
    """Checks the recorded tokens of a turn. Log-probabilities without ids are useless and ignored.

    Servers may leave out the log-probability of the last token of a turn that the model ended; it becomes NaN.
    """
    tokens = ids_of(turn.get("token_ids"), f"The token ids of {where}")
    found = Spoken(
        position,
        tokens,
        sampled=tokens is not None,
        prompt_ids=ids_of(turn.get("prompt_token_ids"), f"The prompt's token ids of {where}"),
        finish_reason=str(turn.get("finish_reason") or "other"),
        reasoning=str(turn.get("reasoning") or ""),
        selected=turn.get("selection") is not None,
    )
    if tokens is None or turn.get("logprobs") is None:
        return found
    values = numbers(turn["logprobs"])
    if values.dtype.kind not in "fi" or not np.isfinite(values).all():
        raise BadRow(f"The log-probabilities of {where} must be a list of numbers.")
    if len(values) == len(tokens) - 1 and found.finish_reason == "stop":
        values = np.append(values, np.nan)
    if len(values) != len(tokens):
        raise BadRow(f"{where} has {len(tokens)} token ids and {len(values)} log-probabilities.")
    return replace(found, log_probs=values.astype(np.float32))


def ids_of(value: object, what: str) -> np.ndarray | None:
    """Returns token ids, (L,) int32; None for null and for an empty list. pandas may have written 12 as 12.0."""
    if value is None or value == []:
        return None
    ids = numbers(value)
    if ids.dtype.kind not in "if" or (ids != np.floor(ids)).any() or ids.min() < 0 or ids.max() >= 2**31:
        raise BadRow(f"{what} must be a list of whole numbers from 0.")
    return ids.astype(np.int32)


def numbers(value: object) -> np.ndarray:
    """Returns a list as a one-dimensional array; of dtype object when its items are not single values."""
    flat = isinstance(value, list) and not any(isinstance(each, list) for each in value)
    return np.asarray(value) if flat else np.empty(0, dtype=object)


def task_of(row: dict) -> dict:
    """The fields may be in the row itself or in a string of JSON."""
    task = row.get("task")
    if task is None:
        task = row
    elif isinstance(task, str):
        try:
            task = json.loads(task)
        except RecursionError as error:
            raise BadRow("The field task is JSON that is nested too deeply.") from error
        except ValueError as error:
            raise BadRow("The field task is a string that is not JSON.") from error
    if not isinstance(task, dict):
        raise BadRow("The field task must be an object.")
    text_of(task, "problem_description")
    task = {**task, "id": name_of(task.get("id"))}
    for name in ("ground_truth", "hidden_information", "id"):
        if not isinstance(task.get(name), str | None):
            raise BadRow(f"The field {name} of the task must be a string.")
    return task


PAGE = re.compile(r"<(html|body|!doctype)\b", re.IGNORECASE)


def is_page(task: dict) -> bool:
    """Tells a web page from a function, as `src/core/task/row.ts` does: published rows of pages do not say it."""
    if task.get("kind") == "page":
        return True
    return task.get("test_cases") is None and PAGE.search(task.get("ground_truth") or "") is not None


def name_of(value: object) -> object:
    """Returns a whole number as the text that pandas made a number of, as `src/core/task/row.ts` does."""
    if type(value) in (int, float) and value == value // 1 and abs(value) < 2**53:
        return str(int(value))
    return value


def content_id(task: dict) -> str:
    """Makes the id of a task without one, as `src/core/task/row.ts` does."""
    return digest(content_of(task))[:16]


def row_id(task: dict, texts, contents, replies, row: dict, reward: float | None) -> str:
    """Makes the id under which Tandem imports the row, as `src/core/trajectory/publishedRow.ts` does."""
    messages = []
    for text, content, reply in zip(texts, contents, replies, strict=True):
        messages.append(["agent", text, content])
        if reply is not None:
            messages.append(["collaborator", reply, None])
    number = int(reward) if reward is not None and reward.is_integer() else reward  # JavaScript writes 1, not 1.0
    return "imported-" + digest([content_of(task), messages, row.get("answer"), number])[:32]


def content_of(task: dict) -> list:
    """Returns the fields that a task's id depends on. Tests `test1` … `testN` are sorted by number."""
    cases = object_of(task, "test_cases")
    names = list(cases)
    prefixes = {name.rstrip("0123456789") for name in names}
    if len(prefixes) == 1 and all(name not in prefixes for name in names):
        before = len(prefixes.pop())
        # Whole numbers of any length: without leading zeros the longer one is greater.
        names.sort(key=lambda name: (len(bare := name[before:].lstrip("0")), bare))
    return [task["problem_description"], task.get("ground_truth"), [cases[name] for name in names]]


def digest(content: list) -> str:
    """Hashes the text that JavaScript's `JSON.stringify` writes."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
