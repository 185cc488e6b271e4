"""The stages of a run: how one is trained, and the last one, the export. A finished stage is not repeated."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from ..config import RunConfig
from ..config_fields import OptimiserConfig
from ..data.template import Template
from ..export.card import card_of
from ..export.folders import Beside, export_critic, export_model
from ..fault import Fault
from ..methods.settings import policy_settings, trains_critic
from ..model.base import Base
from ..turn import Example
from .checkpoint import Checkpoint, whole_checkpoints, write_checkpoint
from .distributed import Ranks
from .objective import Objective, objective_of, turns_of
from .optimise import optimise
from .reference_cache import ReferenceCache, turn_key
from .run import ended_early

if TYPE_CHECKING:
    from .prepare import Prepared
    from .run import Run

READ = 8  # examples whose turns the check of an export may read
HELD_OUT_FIGURES = ("loss", "margin", "accuracy")  # figures of held-out examples

Figures = dict[str, Any]


def train_stage(
    name: str,
    base: Base,
    objective: Objective,
    examples: Sequence[Example],
    prepared: Prepared,
    settings: OptimiserConfig,
    run: Run,
    before: Figures | None = None,
    control: Callable[..., dict[str, float]] | None = None,
    measure: Callable[[], Figures] | None = None,
) -> Figures:
    """Trains the live adapter of `base`, or loads an earlier result; it then has the stage's best weights.

    before: figures of the work that made the examples. control: gives figures of the held-out examples before
    training.
    measure: gives further figures of the result, once.
    """
    if (result := run.result(name)) is not None:
        result.load("trained", base.state())
        result.load("objective", objective.state())
        return result.state["figures"]
    run.events.state("running", name)
    train, held_out = prepared.split(examples)
    held_out = prepared.measured(held_out, settings)
    if not held_out:
        run.events.notice(f"No examples of {name} are held out: it trains to its end, and the last step is used.")
    shared = run.config.resources.shared if name == "critic" and trains_critic(run.config) else None
    critic = shared and SharedCritic(Path(shared), run.config, train, held_out)
    if critic and (found := run.ranks.of_first(critic.take(run.events.notice))) is not None:
        run.events.notice("Another run has trained this critic already, from the same start, data and settings.")
        found.load("trained", base.state())
        found.load("objective", objective.state())
        figures = found.state["figures"]
        tell_measured(run, name, figures[name])
    else:
        objective.precompute([*train, *held_out], run.progress(name, "reference"))
        untrained = control(held_out, run.progress(name, "control")) if control and held_out else {}
        if untrained:
            run.events.emit("control", stage=name, **untrained)
        trained = optimise(name, base, objective, train, held_out, settings, run)
        beside = {"held_out_untrained_accuracy": untrained["accuracy"]} if untrained else {}
        figures = {**(before or {}), name: {**trained, **beside}}
    if measure:
        figures = {**figures, **measure()}
    tensors = {"trained": base.state(), "objective": objective.state()}
    run.finish(name, figures, tensors)
    if critic and not found:
        critic.give(figures, tensors, run.ranks)
    return figures


def train_policy(run: Run, base: Base, _: Template, prepared: Prepared, reference: ReferenceCache) -> Figures:
    """The `train` of a method that learns from its dialogues alone."""
    objective = objective_of("policy", run.config, reference)
    return train_stage("policy", base, objective, prepared.policy, prepared, policy_settings(run.config), run)


def tell_measured(run: Run, stage: str, figures: Figures) -> None:
    """Emits the held-out figures of a shared critic, and of its baseline."""
    untrained = figures.get("held_out_untrained_accuracy")  # absent in results of older trainers
    if untrained is not None:
        run.events.emit("control", stage=stage, accuracy=untrained, examples=figures["held_out_examples"])
    best = {name: figures[f"held_out_{name}"] for name in HELD_OUT_FIGURES if f"held_out_{name}" in figures}
    if best:
        run.events.emit("evaluation", stage=stage, step=figures["used_step"], **best, best=True)


class SharedCritic:
    """A critic for runs that differ only in their policy, in `<shared>/critic/<hash of what it depends on>`."""

    def __init__(self, shared: Path, config: RunConfig, train: Sequence[Example], held_out: Sequence[Example]):
        """train, held_out: the critic's examples, in their order."""
        digest = hashlib.sha256()
        about = [asdict(config.model), asdict(config.critic), config.convention, config.seed]
        digest.update(json.dumps([*about, len(train), len(held_out)], default=str).encode())
        for example in (*train, *held_out):
            digest.update(json.dumps([example.group, len(example.chosen), example.target, example.weight]).encode())
            digest.update(b"".join(map(turn_key, example.turns)))
        self.folder = shared / "critic" / digest.hexdigest()[:24]

    def take(self, notice: Callable[[str], None]) -> Checkpoint | None:
        """Reports a damaged one."""
        found = whole_checkpoints(self.folder, notice) if self.folder.exists() else []
        return found[0] if found else None

    def give(self, figures: Mapping[str, Any], tensors: Mapping[str, Mapping[str, Tensor]], ranks: Ranks) -> None:
        """Writes the critic, whole or not at all. An existing one from another run stays, because it is equal."""
        making = self.folder.with_name(f"{self.folder.name}.{ranks.of_first(os.getpid())}.writing")
        write_checkpoint(making, "critic", {"step": "done", "figures": dict(figures)}, tensors, ranks)
        if not ranks.first:
            return
        try:
            os.rename(making, self.folder)
        except OSError:
            if not self.folder.exists():
                raise
            shutil.rmtree(making)


def export(run: Run, base: Base, template: Template, prepared: Prepared, figures: Figures) -> None:
    """`model/` marks the run as done. An existing folder was written and checked before a kill, and stays."""
    run.events.state("running", "export")
    config, folder = run.config, run.folder
    told: Figures = {"model": str(folder / "model"), "stages": figures}
    if (ended := ended_early(figures, config)) is not None:
        told["ended"] = asdict(ended)
    critic = run.result("critic") if trains_critic(config) else None
    if critic is not None:
        told["critic"] = str(folder / "critic")
        if run.ranks.of_first(not (folder / "critic").exists()):
            turns = turns_of(prepared.critic[:READ])
            card = card_of("critic", config, base, prepared.counts, figures, prepared.measure)
            head = critic.tensors("objective")
            scores = config.critic.score == "log-ratio" and config.model.training != "qlora"
            beside = graphs(run) if scores else None
            prompt = template.critic_for(prepared.measure)
            check = export_critic(base, folder / "critic", turns, card, config, prompt, head, beside)
            told["critic_check"] = check and asdict(check)
    if run.ranks.of_first(not (folder / "model").exists()):
        seen = template.all_turns(prepared.dialogues[:READ])
        turns = [turn for of_dialogue in seen for turn in of_dialogue] or turns_of(prepared.policy[:READ])
        card = card_of("policy", config, base, prepared.counts, figures, prepared.measure)
        check = export_model(base, "policy", folder / "model", turns, card, graphs(run))
        told["model_check"] = check and asdict(check)
    run.ranks.wait()
    run.events.emit("result", **told)
    run.clear()
    run.events.state("done", message=ended.sentence if ended else None)


def graphs(run: Run) -> Beside | None:
    """Writes the graphs of `export.onnx`; failures are notices, since a model needs none."""
    precisions = run.config.export.onnx
    if not precisions:
        return None
    from ..export.onnx.export import export_onnx  # ONNX Runtime is loaded only where it is used

    def beside(folder: Path) -> None:
        try:
            _, refused = export_onnx(folder, precisions, run.events.notice)
            for precision, fault in refused.items():
                run.events.notice(f"There is no {precision} graph; the others and the model itself are whole: {fault}")
        except Fault as fault:
            run.events.notice(f"There are no graphs for ONNX Runtime, and the model itself is whole: {fault}")

    return beside
