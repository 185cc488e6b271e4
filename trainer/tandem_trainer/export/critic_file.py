"""`critic.json`: the facts needed to score with an exported critic, beside its weights."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import ModelConfig, RunConfig
from ..data.prompt_file import Prompt
from ..fault import UsageFault
from ..model.files import called, weight_files
from ..regular_file import read_text

if TYPE_CHECKING:
    from ..model.base import Base

FILE = "critic.json"
VALUE_HEAD = "value_head.safetensors"
VERSION = 1


@dataclass(frozen=True)
class CriticFile:
    """base: folder or hub name of the reference model. fingerprint: hash of its configuration and the sizes of its
    weights. revision: commit of a base on the hub. training: after "qlora" the reference is the 4-bit base. prompt:
    text in front of the first user message, with `{{hiddenInformation}}` for c. template_options: variables of the chat
    template. value_head: file with `value_head.weight` (d,) and `value_head.bias` ().
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
    revision: str | None = None


def about_critic(config: RunConfig, base: Base, value_head: str | None, prompt: Prompt) -> dict[str, Any]:
    model, critic = base.config, config.critic
    return {
        "version": VERSION,
        "base": str(base.folder.resolve()) if model.revision is None else model.base,
        "revision": model.revision,
        "fingerprint": fingerprint(base.folder),
        "training": model.training,
        "score": critic.score,
        "hidden_information": critic.hidden_information,
        "length_normalisation": critic.length_normalisation,
        "convention": config.convention,
        "beta": critic.beta,
        "prompt": prompt.text,
        "template_options": model.template_options,
        "value_head": value_head,
    }


def read_critic_file(folder: Path) -> CriticFile:
    """Errors: UsageFault when the folder holds no exported critic."""
    try:
        about = json.loads(read_text(folder / FILE))
        version = about.pop("version")
        if version != VERSION:
            raise UsageFault(f"{folder / FILE} has version {version}, which this trainer does not know.")
        return CriticFile(**about)
    except FileNotFoundError:
        raise UsageFault(
            f"{folder} has no {FILE}, so it is not an exported critic: give the folder `critic` of a SWEET-RL run."
        ) from None
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise UsageFault(f"{folder / FILE} cannot be read: {error}.") from error


def reference_of(critic: CriticFile, folder: Path, given: str | None) -> Path:
    """Returns the folder of the model against which the critic in `folder` was trained.

    given: its present folder or hub name; None for the original one. A base on the hub is downloaded at the critic's
    commit. Errors: UsageFault when it is missing or another model.
    """
    base = given or critic.base
    try:
        path = _place(base, critic.revision if base == critic.base else None)
        found = fingerprint(path)
    except OSError as error:
        raise UsageFault(
            f"The base {base} that the critic in {folder} was trained with is gone: give where it is now with --base."
        ) from error
    if found != critic.fingerprint:
        raise UsageFault(
            f"The model {called(path)} is not the one that the critic in {folder} was trained with: its configuration "
            "or the size of its weights differs; give the right one with --base."
        )
    return path


def _place(base: str, revision: str | None) -> Path:
    if Path(base).is_dir() or Path(base).is_absolute() or base.startswith((".", "~")):
        return Path(base).expanduser()
    # Imported here because it imports transformers, which takes seconds.
    from ..model.folder import find_model, quiet

    quiet()
    return find_model(ModelConfig(base=base, revision=revision), Path.cwd())


def fingerprint(folder: Path) -> str:
    """Hashes the configuration and the names and sizes of the weight files. Errors: OSError without a model."""
    digest = hashlib.sha256(json.dumps(json.loads(read_text(folder / "config.json")), sort_keys=True).encode())
    for file in weight_files(folder):
        digest.update(f"\n{file.name} {file.stat().st_size}".encode())
    return digest.hexdigest()[:16]
