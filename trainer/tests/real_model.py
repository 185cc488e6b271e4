"""Shortens the real language model of the tests: what its runners agree about takes no thirty layers to show."""

import json
import shutil
from pathlib import Path

from safetensors.numpy import load_file, save_file

LAYERS = 6


def first_layers(folder: Path, target: Path) -> Path:
    """Writes the first LAYERS layers of a model of Llama's shape into `target` and returns it.

    Tokenizer, template and the shape of each layer are those of the whole model. It has 50 of 135 million parameters,
    and what it writes makes no sense.
    """
    target.mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json"):
        shutil.copy(folder / name, target)
    config = json.loads((folder / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**config, "num_hidden_layers": LAYERS}))
    weights = load_file(folder / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if _layer(name) < LAYERS}
    save_file(kept, target / "model.safetensors", {"format": "pt"})
    return target


def _layer(name: str) -> int:
    """Returns the number of the layer in `model.layers.3.mlp…`, and 0 for weights outside of the layers."""
    return int(name.split(".")[2]) if name.startswith("model.layers.") else 0
