"""The JSON schemas of `run.json` and of a run's events; a command for those who develop Tandem.

    python -m tandem_trainer schema run > ../media/run.schema.json
    python -m tandem_trainer schema events > ../src/core/training/events.schema.json

The first is made from `config.py` and `log_selection.py`. The editor completes and underlines by it, has the form of a
new run from it, and refuses what it refuses before there is any Python. It describes the file that a person writes: the
fields that only Tandem reads have `"readBy": "tandem"`. The second is made from `events.py`; the tests of Tandem's
reader go by it.
"""

import argparse
import json
from typing import Any

from pydantic import TypeAdapter

from .config import RunConfig
from .events import RunEvent
from .log_selection import LogSelection

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def main(arguments: list[str]) -> int:
    """Prints a schema and returns 0."""
    about = "Print a JSON schema, for those who develop Tandem: both are committed."
    parser = argparse.ArgumentParser(prog="tandem_trainer schema", description=about)
    parser.add_argument("of", choices=("run", "events"), help="run.json, or the lines of events.jsonl")
    print(as_text(schema() if parser.parse_args(arguments).of == "run" else events_schema()))
    return 0


def as_text(made: dict[str, Any]) -> str:
    return json.dumps(made, indent=2, ensure_ascii=False)


def events_schema() -> dict[str, Any]:
    """Returns the schema of the events."""
    return {"$schema": DIALECT, **TypeAdapter(RunEvent).json_schema(), "title": "Event of a Tandem training run"}


def schema() -> dict[str, Any]:
    """Returns the schema of run.json, without references."""
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
