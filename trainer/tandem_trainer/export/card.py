"""Writes README.md of an exported model: its data, settings, figures, and how to load it."""

import json
import platform
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..config import RunConfig
from ..data.dialogue import TESTS, Measure
from ..methods.settings import method_of
from ..model.base import Base, Name
from ..model.folder import license_of
from .folders import Check


def card_of(
    name: Name,
    config: RunConfig,
    base: Base,
    counts: Mapping[str, Any],
    figures: Mapping[str, Mapping[str, Any]],
    measure: Measure = TESTS,
) -> Callable[[Check], str]:
    """Returns a function that makes the card of the check by `export_model` or `export_critic`.

    counts: those of the event `data`. figures: of each stage, by name; the ranking's include the untrained baseline.
    config: of a base on the hub, `model.revision` is the commit. measure: of the rewards.
    """

    has_log_ratios = method_of(config).critic and config.critic.score == "log-ratio"

    def card(check: Check) -> str:
        parts = [
            _front(base.folder, config),
            f"# {_line(config.name or Path(config.model.base).name)}: {name} trained with Tandem",
            _opening(name, config) + (REGRESSION if has_log_ratios and measure != TESTS else ""),
            f"## Check of the export\n\n{check.sentence}",
            _use(name, check),
            f"## Data\n\n{_table({**counts, 'reward': str(measure)})}",
            _stages(figures, config),
            f"## Settings\n\n```json\n{json.dumps(_settings(config), indent=1, ensure_ascii=False)}\n```",
            _reproduction(config, base),
            _license(base.folder),
        ]
        return "\n\n".join(parts) + "\n"

    return card


def _line(text: str) -> str:
    """Escapes control characters as Python does, so that foreign text stays on its line."""
    return "".join(c if c == " " or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _front(folder: Path, config: RunConfig) -> str:
    """The hub reads this header. It names a base only when the base is on the hub."""
    lines = ["---", "library_name: transformers", "pipeline_tag: text-generation"]
    lines += [f"license: {license_of(folder) or 'unknown'}"]
    if config.model.revision is not None:
        lines += [f"base_model: {_line(config.model.base)}"]
    return "\n".join([*lines, f"tags: [tandem, {config.method}]", "---"])


def _opening(name: Name, config: RunConfig) -> str:
    model, method = config.model, method_of(config)
    base = (
        f"`{_line(Path(model.base).name)}` (a local folder)"
        if model.revision is None
        else f"{_line(model.base)} (commit `{model.revision}` on the hub)"
    )
    what = f"The {name} of a run of {method.title} ({method.source}), trained from {base} by {config.model.training}"
    if name == "policy":
        seats = {
            "agent": "agent of a dialogue in which somebody else knows what is wanted",
            "collaborator": "collaborator of a dialogue, who knows what is wanted and answers the agent",
        }
        checking = f"{config.role} of an agent that checks its drafts before it answers"
        return f"{what}. It plays the {seats.get(config.role, checking)}."
    knows = "knows" if config.critic.hidden_information else "does not know"
    return (
        f"{what}. It {knows} the hidden information of a task and scores the agent's turns; `critic.json` says how. It "
        "is no assistant, and its score is a difference from its base, which is needed beside it."
    )


REGRESSION = (
    " For pages the paper's critic is a vision model with a regression head (arXiv 2503.15478, appendix); this one "
    "reads the HTML of the wanted page and scores a turn by log-ratios."
)


def _use(name: Name, check: Check) -> str:
    if name == "critic":
        command = "python -m tandem_trainer score --critic FOLDER --out advantages.jsonl TRAJECTORIES.jsonl"
        return f"## Use\n\n```\n{command}\n```"
    text = "## Use\n\n```\ntransformers serve FOLDER\nvllm serve FOLDER"
    if check.widened:
        return (
            f"{text} --dtype float32\n```\n\nThe weights are float32 because what was learnt is finer than 16 bits: a "
            "runner that rounds them to 16 bits, as many do unless told otherwise, gives almost the base."
        )
    return f"{text}\n```"


def _stages(figures: Mapping[str, Mapping[str, Any]], config: RunConfig) -> str:
    text = "\n\n".join(f"### {stage}\n\n{_table(of_stage)}" for stage, of_stage in figures.items() if of_stage)
    if method_of(config).critic:
        text += (
            "\n\nThe untrained control is what a critic without training says, the pointwise mutual information "
            "between hidden information and turn. A ranking that agrees with it (rank correlation near 1) owes little "
            "to training."
        )
    return f"## Stages\n\n{text}"


def _table(values: Mapping[str, Any]) -> str:
    rows = [(key, _shown(value)) for key, value in _flat(values)]
    return "\n".join(["| | |", "|---|---|", *(f"| {key.replace('_', ' ')} | {value} |" for key, value in rows)])


def _flat(values: Mapping[str, Any], before: str = ""):
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}: ")
        else:
            yield f"{before}{key}", value


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _settings(config: RunConfig) -> dict[str, Any]:
    """Paths are left out: they are useless to others and may reveal private data."""
    settings = asdict(config)
    data = settings["data"]
    data["opening"] = data["opening"] is not None
    for key in ("trajectories", "earlier", "preferences", "tasks"):
        data[key] = len(data[key])
    settings["grpo"]["log"] = settings["grpo"]["log"] is not None
    for player in ("agent", "simulator"):  # `local:/home/ada/models/mine` becomes `local:mine`
        if (model := settings["grpo"][player] or "").startswith("local:"):
            settings["grpo"][player] = f"local:{Path(model).name}"
    if config.model.revision is None:
        settings["model"]["base"] = Path(config.model.base).name
    settings["model"]["chat_template"] = settings["model"]["chat_template"] is not None
    return settings


def _reproduction(config: RunConfig, base: Base) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "peft"))
    now = datetime.now(timezone.utc).date().isoformat()
    return (
        f"## Reproduction\n\nSeed {config.seed}; convention `{config.convention}`; Tandem {revision()}; {packages}; "
        f"Python {platform.python_version()}; {base.device.type}, {str(base.dtype).removeprefix('torch.')}; {now}."
    )


def _license(folder: Path) -> str:
    known = license_of(folder)
    if known:
        return f"## License\n\nThe base is under `{known}`, whose terms also bind what is derived from it."
    return "## License\n\nThe license of the base is not known here: check it before you share this model."


def revision() -> str:
    """The trainer's git revision in a checkout, marked when files were changed; else its version."""
    here = Path(__file__).parent
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],
            cwd=here, capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
        tracked = subprocess.run(
            ["git", "ls-files", "--error-unmatch", Path(__file__).name], cwd=here, capture_output=True, timeout=20
        )
        if tracked.returncode == 0:  # not an installation inside another repository
            return done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    try:
        return version("tandem-trainer")
    except PackageNotFoundError:
        return "of an unknown version"
