"""The tasks of logged dialogues, with their hidden tests, for a run that plays on from those dialogues."""

from collections.abc import Collection, Iterable
from pathlib import Path

from ..fault import Fault
from .dialogue import counted
from .json_rows import BadRow, is_page, json_lines, object_of, task_of
from .rows import task_id


def played_tasks(files: Iterable[str | Path], wanted: Collection[str], simulator: str) -> dict[str, dict]:
    """Returns the rows of a pack by the ids of their tasks.

    wanted: ids of tasks. simulator: as for `tandem serve`. Errors: Fault(usage) when a task cannot be played.
    """
    found: dict[str, dict] = {}
    for file in files:
        for _, row in json_lines(Path(file), []):
            try:
                task = task_of(row)
                id = task_id(task, object_of(row, "tandem"))
            except BadRow:
                continue  # its dialogue was left out and reported
            if id in wanted and id not in found:
                found[id] = {**task, "id": id}
    pages = [id for id, task in found.items() if is_page(task)]
    untested = [id for id in wanted if not found.get(id, {}).get("test_cases")]
    unanswered = [id for id, task in found.items() if not task.get("facts")]
    if pages:
        raise _refused("score", "are web pages, which are scored by a critic: choose another score", pages, wanted)
    if untested:
        raise _refused(
            "score", "have no tests in their rows, by which answers are graded: choose another score", untested, wanted
        )
    if simulator == "rules" and unanswered:
        raise _refused("simulator", "have no facts, from which rules reply: name a model", unanswered, wanted)
    return found


def _refused(field: str, why: str, ids: Collection[str], wanted: Collection[str]) -> Fault:
    whose = f"{len(ids)} of {counted(len(wanted), 'task')} whose candidates are ranked (such as {min(ids)})"
    return Fault(f"critic.{field}: {whose} {why}, or leave their dialogues out.", usage=True)
