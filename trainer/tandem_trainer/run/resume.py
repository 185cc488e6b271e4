"""Records the initial configuration of a run, so that a resumed run continues with the same."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..config import DataConfig, ModelConfig, ResourcesConfig, RunConfig
from ..fault import UsageFault
from .disk_space import write_whole

BEGUN = "configuration.json"


def as_begun(model: ModelConfig, folder: Path) -> ModelConfig:
    """The run keeps the commit with which it began, even if the branch has moved.

    Nothing changes for another model in run.json, which `check_same_configuration` refuses.
    """
    try:
        begun = json.loads((folder / BEGUN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return model
    was = begun["configuration"]["model"]
    is_same = (was["base"], was.get("revision")) == (model.base, model.revision)
    return replace(model, revision=begun["commit"]) if is_same and begun.get("commit") else model


def as_planned_before(resources: ResourcesConfig, folder: Path) -> ResourcesConfig:
    """Replaces `auto` by the plan of the first start: the memory that is free today must not change the result."""
    try:
        before = json.loads((folder / "plan.json").read_text())
    except FileNotFoundError:
        return resources
    names = ("token_budget", "checkpoint_activations")
    return replace(resources, **{name: before[name] for name in names if getattr(resources, name) == "auto"})


def check_same_configuration(
    folder: Path, config: RunConfig, fingerprint: str | None, commit: str | None = None
) -> None:
    """Refuses to resume a run with another configuration or other data. Errors: UsageFault naming the difference.

    `configuration.json` holds the initial one: every field with its default, paths relative to the folder, the
    fingerprint of the data and, for a base on the hub, the commit. `name`, `resources` and `export` may change, and
    also `more_epochs` and `patience` of the policy, which only decide when it ends.
    """
    path = folder / BEGUN
    now = _relative(asdict(config), folder)
    if not path.exists():
        content = {"version": 1, "configuration": now, "data": fingerprint, "commit": commit}
        write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
        return
    begun = json.loads(path.read_text(encoding="utf-8"))
    # A field that is newer than the run has the default.
    for group, fields in asdict(RunConfig(model=ModelConfig(base=""), data=DataConfig())).items():
        if isinstance(fields, dict):
            begun["configuration"][group] = {**fields, **begun["configuration"].get(group, {})}
    differs = _first_difference(begun["configuration"], now)
    if differs is None and fingerprint not in (None, begun["data"]):
        differs = "the data are"
    if differs is not None:
        raise UsageFault(
            f"The run in {folder} cannot go on, because {differs} not what it began with: undo that, or start a new "
            "run in another folder."
        )


def _relative(value: Any, folder: Path) -> Any:
    if isinstance(value, dict):
        return {name: _relative(entry, folder) for name, entry in value.items()}
    if isinstance(value, list):
        return [_relative(entry, folder) for entry in value]
    inside = isinstance(value, str) and value.startswith(f"{folder}{os.sep}")
    return os.path.relpath(value, folder) if inside else value


def _first_difference(begun: dict[str, Any], now: dict[str, Any]) -> str | None:
    for group, fields in now.items():
        if group in ("name", "resources", "export") or begun.get(group) == fields:
            continue
        if not isinstance(fields, dict):
            return f"{group} is {json.dumps(fields)} instead of {json.dumps(begun.get(group))}, which is"
        ends = ("more_epochs", "patience") if group == "policy" else ()
        differing = (name for name, value in fields.items() if begun.get(group, {}).get(name) != value)
        name = next((name for name in differing if name not in ends), None)
        if name is None:
            continue
        was, is_now = json.dumps(begun.get(group, {}).get(name)), json.dumps(fields[name])
        return f"{group}.{name} is {is_now} instead of {was}, which is"
    return None
