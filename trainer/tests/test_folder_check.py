"""A model folder is checked once: plan, training, export, conversion and play find the same in it, or refuse it."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from models import tiny_model, tiny_tokenizer
from transformers import AutoTokenizer

from tandem_trainer.config import ModelConfig
from tandem_trainer.model.folder import load_tokenizer

SPECIAL = json.loads((Path(__file__).parent / "special_tokens.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", SPECIAL["cases"], ids=lambda case: case["name"])
def test_special_tokens_are_found_where_play_finds_them(case, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(SPECIAL["tokenizers"][case["tokenizer"]]))
    for name, content in case["files"].items():
        (tmp_path / name).write_text(json.dumps(content))
    assert AutoTokenizer.from_pretrained(tmp_path).special_tokens_map == case["tokens"]
