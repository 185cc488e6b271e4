"""The JSON schemas of run.json and of a run's events are committed, so that Tandem has them without any Python."""

import subprocess
import sys
from pathlib import Path

import pytest

from tandem_trainer.schema import as_text, events_schema, schema

ROOT = Path(__file__).resolve().parents[2]


def nodes(node, where=""):
    """Every field of the file with its path, also groups of fields."""
    for name, each in node.get("properties", {}).items():
        here = f"{where}.{name}" if where else name
        yield here, each
        yield from nodes(each, here)


@pytest.mark.parametrize(
    ("of", "made", "file"),
    [("run", schema, "media/run.schema.json"), ("events", events_schema, "media/events.schema.json")],
)
def test_the_committed_schemas_are_current(of, made, file):
    assert (ROOT / file).read_text(encoding="utf-8") == as_text(made()) + "\n", (
        f"What {file} is made from was changed. In the folder `trainer`, write it again: "
        f"python -m tandem_trainer schema {of} > ../{file}"
    )


def test_every_field_has_a_title_a_sentence_and_a_type():
    for path, node in nodes(schema()):
        assert node["title"], path
        assert node["description"].endswith((".", "}.")), path
        assert {"type", "anyOf", "const"} & set(node), path
        assert "$ref" not in str(node), path


def test_every_field_but_the_model_has_a_default_or_is_read_by_tandem():
    without = [path for path, node in nodes(schema()) if "default" not in node and "properties" not in node]
    tandems = [path for path, node in nodes(schema()) if node.get("readBy") == "tandem"]
    assert [path for path in without if not path.startswith(tuple(tandems))] == ["model.base"]


def test_the_command_prints_it_without_torch():
    code = "import sys; from tandem_trainer.__main__ import main; sys.modules['torch'] = None; main()"
    command = [sys.executable, "-X", "utf8", "-c", code, "schema", "run"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == as_text(schema()) + "\n"
