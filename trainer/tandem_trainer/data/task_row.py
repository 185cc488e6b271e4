"""The task of a row: its fields, and the ids that Tandem gives to tasks and rows that have none."""

import hashlib
import json

from .fields import BadRow, object_of, text_of


def task_of(row: dict) -> dict:
    """Returns the task's fields, which may be in the row itself or in a string of JSON."""
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
    for name in ("ground_truth", "hidden_information", "id"):
        if not isinstance(task.get(name), str | None):
            raise BadRow(f"The field {name} of the task must be a string.")
    return task


def content_id(task: dict) -> str:
    """Returns the id that Tandem gives to a task without one (`src/core/task/row.ts`)."""
    return digest(content_of(task))[:16]


def row_id(task: dict, texts, contents, replies, row: dict, reward: float | None) -> str:
    """Returns the id under which Tandem imports the row (`src/core/trajectory/publishedRow.ts`)."""
    messages = []
    for text, content, reply in zip(texts, contents, replies, strict=True):
        messages.append(["agent", text, content])
        if reply is not None:
            messages.append(["collaborator", reply, None])
    number = int(reward) if reward is not None and reward.is_integer() else reward  # JavaScript writes 1, not 1.0
    return "imported-" + digest([content_of(task), messages, row.get("answer"), number])[:32]


def content_of(task: dict) -> list:
    """Returns the fields of the task that its id depends on. Tests `test1` … `testN` are sorted by number."""
    cases = object_of(task, "test_cases")
    names = list(cases)
    prefixes = {name.rstrip("0123456789") for name in names}
    if len(prefixes) == 1 and all(name not in prefixes for name in names):
        before = len(prefixes.pop())
        names.sort(key=lambda name: number_order(name[before:]))
    return [task["problem_description"], task.get("ground_truth"), [cases[name] for name in names]]


def number_order(digits: str) -> tuple[int, str]:
    """Returns a sort key for whole numbers of any length: without leading zeros the longer one is greater."""
    bare = digits.lstrip("0")
    return len(bare), bare


def digest(content: list) -> str:
    """Returns the SHA-256 of the text that JavaScript's `JSON.stringify` writes."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
