"""The last stage of a run: writes `critic/` and `model/`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.template import Template
from ..fault import Fault
from ..model.base import Base
from ..run.objective import turns_of
from ..run.run import ended_early
from ..run.stages import Figures
from .card import card_of
from .folders import Beside, export_critic, export_policy

if TYPE_CHECKING:
    from ..run.prepare import Prepared
    from ..run.run import Run

READ = 8  # examples whose turns the check of an export may read


def export(run: Run, base: Base, template: Template, prepared: Prepared, figures: Figures) -> None:
    """Writes `critic/` and then `model/`, which marks the run as done; emits `result` and `done`.

    figures: of all stages. An existing folder was written and checked before the run was killed, and stays.
    """
    run.events.state("running", "export")
    config, folder = run.config, run.folder
    told: Figures = {"model": str(folder / "model"), "stages": figures}
    if (ended := ended_early(figures, config)) is not None:
        told["ended"] = asdict(ended)
    critic = run.result("critic")
    if critic is not None:
        told["critic"] = str(folder / "critic")
        if run.ranks.of_first(not (folder / "critic").exists()):
            turns = turns_of(prepared.critic[:READ])
            card = card_of("critic", config, base, prepared.counts, figures)
            head = critic.tensors("objective")
            scores = config.critic.score == "log-ratio" and config.model.training != "qlora"
            beside = graphs(run) if scores else None
            check = export_critic(base, folder / "critic", turns, card, config, head, beside=beside)
            told["critic_check"] = check and asdict(check)
    if run.ranks.of_first(not (folder / "model").exists()):
        seen = template.all_turns(prepared.dialogues[:READ])
        turns = [turn for of_dialogue in seen for turn in of_dialogue] or turns_of(prepared.policy[:READ])
        card = card_of("policy", config, base, prepared.counts, figures)
        check = export_policy(base, folder / "model", turns, card, beside=graphs(run))
        told["model_check"] = check and asdict(check)
    run.ranks.wait()
    run.events.emit("result", **told)
    run.clear()
    run.events.state("done", message=ended.sentence if ended else None)


def graphs(run: Run) -> Beside | None:
    """Returns a function that writes the graphs of `export.onnx`; failures are notices, since a model needs none."""
    precisions = run.config.export.onnx
    if not precisions:
        return None
    from .onnx.export import export_onnx  # ONNX Runtime is loaded only where it is used

    def beside(folder: Path) -> None:
        try:
            refused = export_onnx(folder, precisions, run.events.notice).refused
            for precision, fault in refused.items():
                run.events.notice(f"There is no {precision} graph; the others and the model itself are whole: {fault}")
        except Fault as fault:
            run.events.notice(f"There are no graphs for ONNX Runtime, and the model itself is whole: {fault}")

    return beside
