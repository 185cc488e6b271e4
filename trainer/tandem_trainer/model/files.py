"""Finds the files of a model in its folder, by their names."""

import json
from pathlib import Path

from ..regular_file import read_text

INDEX = "model.safetensors.index.json"
GGUF = ".gguf"


def weight_files(folder: Path) -> list[Path]:
    """Lists them in the order of transformers: safetensors, or else PyTorch's.

    Some models contain a second copy in the maker's own format, `consolidated*`; it is not listed.
    """
    safe = [file for file in folder.glob("*.safetensors") if not file.name.startswith("consolidated")]
    return sorted(safe or folder.glob("*.bin"))


def missing(folder: Path, *, weights: bool = True) -> str | None:
    """Returns the first file that the folder lacks, None for a complete model."""
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
    """Returns the GGUF file at `place`, or the one in a folder that has no configuration; None without one."""
    if place.is_file() and place.suffix.lower() == GGUF:
        return place
    if not place.is_dir() or (place / "config.json").exists():
        return None
    return next((path for path in sorted(place.iterdir()) if path.suffix.lower() == GGUF), None)


def not_gguf(file: Path) -> str:
    """src/core/model/local/files.ts has the same text."""
    return (
        f"{file} is a GGUF file, the format of llama.cpp, and a model folder in Hugging Face format is needed: make "
        f"one with `tandem convert {file} {file.with_suffix('')}`, or let llama.cpp serve the file "
        f"(`llama-server -m {file}`) and connect to it as to any server."
    )


def called(folder: Path) -> str:
    """The hub name if it is in the hub's cache, otherwise the path."""
    cache = folder.parent.parent.name
    if folder.parent.name == "snapshots" and cache.startswith("models--"):
        return cache.removeprefix("models--").replace("--", "/")
    return str(folder)


def _shards(index: Path) -> set[str]:
    """Empty for a damaged index, which loading the weights reports."""
    try:
        return set(json.loads(read_text(index))["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()
