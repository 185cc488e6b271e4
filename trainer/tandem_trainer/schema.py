"""The JSON schemas of `run.json` and of a run's events; a command for those who develop Tandem.

    python -m tandem_trainer schema run > ../media/run.schema.json
    python -m tandem_trainer schema events > ../media/events.schema.json

The first is made from `config.py` and `LogSelection`. The editor completes and underlines by it, has the form of a
new run from it, and refuses what it refuses before there is any Python. It describes the file that a person writes: the
fields that only Tandem reads have `"readBy": "tandem"`. The second is made from `events.py`; Tandem has the figures of
training from it, and the tests of its reader go by the rest.
"""

import argparse
import json
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from .config import STRICT, RunConfig
from .events import RunEvent

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def main(arguments: list[str]) -> int:
    about = "Print a JSON schema, for those who develop Tandem: both are committed."
    parser = argparse.ArgumentParser(prog="tandem_trainer schema", description=about)
    parser.add_argument("of", choices=("run", "events"), help="run.json, or the lines of events.jsonl")
    print(as_text(schema() if parser.parse_args(arguments).of == "run" else events_schema()))
    return 0


def as_text(made: dict[str, Any]) -> str:
    return json.dumps(made, indent=2, ensure_ascii=False)


def events_schema() -> dict[str, Any]:
    made = TypeAdapter(RunEvent).json_schema(schema_generator=WithoutTitles)
    figures = _figures(made["$defs"])
    return {"$schema": DIALECT, **made, "title": "Event of a Tandem training run", "figures": figures}


def _figures(definitions: dict[str, Any]) -> dict[str, Any]:
    """Moves the charted figures out of their events, so that a page can have them without the rest of the schema."""
    figures: dict[str, Any] = {}
    for kind in ("Step", "Evaluation"):
        fields = definitions[kind]["properties"]
        for name, node in fields.items():
            if "title" not in node:
                continue
            # Number or null is one type of two names here, so that the bounds stand beside the title.
            number, *null = node.pop("anyOf", [node])
            types = [each["type"] for each in (number, *null)]
            figure = figures.setdefault(name, {**node, **number, "type": types, "events": []})
            figure["events"].append(kind.lower())
            fields[name] = {"$ref": f"#/figures/{name}"}
    return figures


class WithoutTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, _: Any) -> bool:
        return False


def schema() -> dict[str, Any]:
    """The schema of run.json has no references."""
    whole = _inlined(TypeAdapter(RunConfig).json_schema())
    selection = _inlined(TypeAdapter(LogSelection).json_schema())["properties"]
    whole["properties"]["data"]["properties"] |= {
        name: {**node, "readBy": "tandem"} for name, node in selection.items()
    }
    return {"$schema": DIALECT, **whole, "title": "Tandem run"}


def _inlined(whole: dict[str, Any]) -> dict[str, Any]:
    """Puts each definition where it is used; each is used once. Adds the defaults that pydantic makes by calls."""
    definitions = whole.pop("$defs", {})

    def put(node: dict[str, Any]) -> dict[str, Any]:
        name = node.pop("$ref", "").removeprefix("#/$defs/")
        node = {**definitions.get(name, {}), **node}
        if "anyOf" in node:
            node["anyOf"] = [put(each) for each in node["anyOf"]]
        if "properties" not in node:
            return node
        required = node.get("required", [])
        node["properties"] = {name: put(each) for name, each in node["properties"].items()}
        for name, each in node["properties"].items():
            if name not in required and each.get("type") in ("array", "object") and "properties" not in each:
                each.setdefault("default", [] if each["type"] == "array" else {})
        return node

    return put(whole)


class LogFilter(TypedDict, total=False):
    """Dialogues of the log must match every field that is given."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    task: Annotated[str, Field(title="Task", description="The ID of a task.")]
    pack: Annotated[str, Field(title="Pack", description="The name of the task’s pack.")]
    agent: Annotated[str, Field(title="Agent", description="The model that played the agent.")]
    collaborator: Annotated[
        str, Field(title="Collaborator", description="The developer or simulator at the end of the dialogue.")
    ]
    collaborator_kind: Annotated[
        Literal["developer", "simulator", "rules"],
        Field(title="Kind of collaborator", description="Who replied at the end of the dialogue."),
    ]
    collection: Annotated[str, Field(title="Collection", description="The name of a collection.")]
    stars: Annotated[int, Field(ge=0, le=5, title="Rating", description="The lowest rating, in stars; 0: not rated.")]
    review: Annotated[
        Literal["accepted", "redo", "none"],
        Field(
            title="Review",
            description="The state that a person gave the dialogue in a review; none: nobody has reviewed it.",
        ),
    ]
    since: Annotated[
        date | AwareDatetime, Field(title="Since", description="The dialogue began at this date or time, or later.")
    ]
    until: Annotated[
        date | AwareDatetime, Field(title="Until", description="The dialogue began before this date or time.")
    ]


class LogSelection(TypedDict, total=False):
    """Fields of `data` that choose dialogues of a log. Tandem reads them and writes rows; the trainer refuses them."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    log: Annotated[
        str,
        Field(
            min_length=1,
            title="Log",
            description="A data folder, such as .tandem, whose log has the dialogues to train on.",
            json_schema_extra={"format": "path"},
        ),
    ]
    filter: Annotated[LogFilter, Field(title="Filter")]
    minimum_reward: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            title="Minimum reward of the log",
            description="Only dialogues with at least this reward. Pairs need lower ones, too: it is for imitation.",
        ),
    ]
    with_evaluations: Annotated[
        bool, Field(title="Include evaluation dialogues", description="The next evaluation then measures memorization.")
    ]
    with_redo: Annotated[
        bool,
        Field(title="Include dialogues marked for redo", description="A person who reviewed them wants another one."),
    ]
    with_own_code: Annotated[
        bool,
        Field(
            title="Include dialogues about own code",
            description="Of people who agreed. Their hidden information is the function after their edits. They have "
            "no grade: methods that need one leave them out.",
        ),
    ]
    exclude_models: Annotated[
        list[str],
        Field(
            title="Excluded models",
            description="Models whose text must not be trained on; * stands for anything. Not set: vscode:*, whose "
            "terms forbid it.",
        ),
    ]
