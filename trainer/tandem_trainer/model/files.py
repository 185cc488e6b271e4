"""What of a model is in its folder, by the names of its files."""

import json
from pathlib import Path

INDEX = "model.safetensors.index.json"
GGUF = ".gguf"


def weight_files(folder: Path) -> list[Path]:
    """The files that transformers reads the weights from, in order: safetensors, or where there are none PyTorch's.

    Some models come with a second copy in their maker's own form, `consolidated*`.
    """
    safe = [file for file in folder.glob("*.safetensors") if not file.name.startswith("consolidated")]
    return sorted(safe or folder.glob("*.bin"))


def missing(folder: Path, *, weights: bool = True) -> str | None:
    """The first thing that a model needs and this folder has not; None for a whole model. weights: it needs some."""
    names = {path.name for path in folder.iterdir()}
    if "config.json" not in names:
        return "config.json"
    if weights and not weight_files(folder):
        return "weights (model.safetensors)"
    if weights and INDEX in names and (absent := sorted(_shards(folder / INDEX) - names)):
        return absent[0]
    if not any(name.startswith(("tokenizer", "vocab", "tekken")) for name in names):
        return "tokenizer (tokenizer.json)"
    return None


def only_gguf(place: Path) -> Path | None:
    """The GGUF file that is given instead of a model folder, or that lies in one without a configuration."""
    if place.is_file() and place.suffix.lower() == GGUF:
        return place
    if not place.is_dir() or (place / "config.json").exists():
        return None
    return next((path for path in sorted(place.iterdir()) if path.suffix.lower() == GGUF), None)


def not_gguf(file: Path) -> str:
    """Says what such a file is and both ways on; src/core/model/local/gguf.ts says the same."""
    return (
        f"{file} is a GGUF file, the format of llama.cpp, and a model folder in Hugging Face format is needed: make "
        f"one with `tandem convert {file} {file.with_suffix('')}`, or let llama.cpp serve the file "
        f"(`llama-server -m {file}`) and connect to it as to any server."
    )


def called(folder: Path) -> str:
    """How sentences call a model: a folder of the hub's cache by its name on the hub, any other by its path."""
    cache = folder.parent.parent.name
    if folder.parent.name == "snapshots" and cache.startswith("models--"):
        return cache.removeprefix("models--").replace("--", "/")
    return str(folder)


def _shards(index: Path) -> set[str]:
    """The files that an index names; none when it is damaged, which whoever loads the weights says."""
    try:
        return set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()
