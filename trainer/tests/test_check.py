"""`check` imports no torch, but reads tokenizers, templates and data exactly as a run does with torch."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch  # noqa: F401  so that this process reads as a run does
from check_reading import as_read
from families import tokenizer_of
from models import FAMILIES
from tiny_run import tiny_run

TRAINER = Path(__file__).parents[1]
STARTER = TRAINER.parent / "media" / "starter"
WITHOUT = """
import json, sys
sys.modules["torch"] = None
sys.path[:0] = ["tests", "."]
from check_reading import as_read
print(json.dumps([as_read(path) for path in sys.argv[1:]]))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    """Writes a run of each family, some with the family's own template, and one of the starter model."""
    folder = tmp_path_factory.mktemp("runs")
    paths = [tiny_run(folder / family, family=family, preferences=True) for family in FAMILIES]
    for family, own in (("qwen2", "qwen2_5"), ("qwen3", "qwen3"), ("mistral", "mistral"), ("llama", "llama3_1")):
        paths.append(tiny_run(folder / own, family=family))
        tokenizer_of(own).save_pretrained(folder / own / "base")
        config = folder / own / "base" / "config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), "vocab_size": 512}))  # no weights are read
    return [*paths, tiny_run(folder / "starter", model={"base": str(STARTER)})]


def test_tokens_templates_and_counts_are_the_same_with_and_without_torch(runs):
    with_torch = [as_read(path) for path in runs]
    without = subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, runs)], capture_output=True, text=True, cwd=TRAINER
    )
    assert json.loads(without.stdout) == with_torch


def test_check_imports_no_torch(runs):
    command = [sys.executable, "-X", "importtime", "-m", "tandem_trainer", "check", str(runs[-1]), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=TRAINER)
    assert done.returncode == 0
    imported = re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)
    assert "transformers" in imported
    assert not [name for name in imported if name.split(".")[0] in ("torch", "peft")]
    assert [line for line in done.stderr.splitlines() if not line.startswith("import time:")] == []
