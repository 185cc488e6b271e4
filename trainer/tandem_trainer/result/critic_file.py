"""`critic.json`: what one must know to score with an exported critic, beside its weights."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import RunConfig
from ..data.prompt_file import critic_prompt
from ..fault import Fault

if TYPE_CHECKING:
    from ..model.base import Base

FILE = "critic.json"
VALUE_HEAD = "value_head.safetensors"
VERSION = 1


@dataclass(frozen=True)
class CriticFile:
    """base: folder or name of the reference model. fingerprint: of its configuration and the sizes of its weights.
    training: how it was trained; after "qlora" the reference is the 4-bit base. prompt: what stood in front of the
    first user message, with `{{hiddenInformation}}` for c. template_options: given to the chat template.
    value_head: the file with `value_head.weight` (d,) and `value_head.bias` ().
    """

    base: str
    fingerprint: str
    training: str
    score: str
    hidden_information: bool
    length_normalisation: bool
    convention: str
    beta: float
    prompt: str
    template_options: dict[str, Any]
    value_head: str | None


def about_critic(config: RunConfig, base: Base, value_head: str | None) -> dict[str, Any]:
    """What `critic.json` holds."""
    # Only here: it imports transformers, and `score` reads a critic's file before that.
    from ..model.folder import find_model

    path = find_model(base.config, Path.cwd())
    critic = config.critic
    return {
        "version": VERSION,
        "base": str(Path(path).resolve()) if Path(path).is_dir() else path,
        "fingerprint": fingerprint(path),
        "training": base.config.training,
        "score": critic.score,
        "hidden_information": critic.hidden_information,
        "length_normalisation": critic.length_normalisation,
        "convention": config.convention,
        "beta": critic.beta,
        "prompt": critic_prompt().text,
        "template_options": base.config.template_options,
        "value_head": value_head,
    }


def read_critic_file(folder: Path) -> CriticFile:
    """Errors: Fault(usage) when the folder is no exported critic."""
    try:
        about = json.loads((folder / FILE).read_text(encoding="utf-8"))
        version = about.pop("version")
        if version != VERSION:
            raise Fault(f"{folder / FILE} has version {version}, which this trainer does not know.", usage=True)
        return CriticFile(**about)
    except FileNotFoundError:
        raise Fault(
            f"{folder} has no {FILE}, so it is not an exported critic: give the folder `critic` of a SWEET-RL run.",
            usage=True,
        ) from None
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise Fault(f"{folder / FILE} cannot be read: {error}.", usage=True) from error


def require_same_base(critic: CriticFile, folder: Path, path: str) -> None:
    """The reference must be what the critic was trained against. Errors: Fault(usage)."""
    try:
        found = fingerprint(path)
    except OSError as error:
        raise Fault(
            f"The base {path} that the critic in {folder} was trained with is gone: give where it is now with --base.",
            usage=True,
        ) from error
    if found != critic.fingerprint:
        raise Fault(
            f"The model {path} is not the one that the critic in {folder} was trained with: its configuration or the "
            "size of its weights differs; give the right one with --base.",
            usage=True,
        )


def fingerprint(path: str) -> str:
    """16 hexadecimal digits of a model's configuration and of the names and sizes of its files of weights.

    Errors: OSError when the model is not on this machine.
    """
    folder = folder_of(path)
    digest = hashlib.sha256(json.dumps(json.loads((folder / "config.json").read_text()), sort_keys=True).encode())
    for file in sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")]):
        digest.update(f"\n{file.name} {file.stat().st_size}".encode())
    return digest.hexdigest()[:16]


def folder_of(path: str) -> Path:
    """The folder itself, or where a model of the hub was downloaded to. Errors: OSError when it is not here."""
    if Path(path).is_dir():
        return Path(path)
    if Path(path).is_absolute():
        raise FileNotFoundError(path)
    # Only here, where it costs seconds: a folder is known without it.
    from transformers.utils import cached_file

    return Path(cached_file(path, "config.json", local_files_only=True)).parent
