"""The stages of a run, in their order. A stage that is done is not repeated: its result is read from its checkpoint."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from ..config import OptimiserConfig, RunConfig
from ..data.pairs import first_of
from ..data.template import Template
from ..fault import Fault
from ..model.base import Base
from ..objective.control import UntrainedScore
from ..objective.critic import Critic
from ..objective.multiturn_dpo import MultiTurnDpo
from ..objective.objective import Objective, turns_of
from ..objective.policy import Policy
from ..objective.reference_cache import ReferenceCache
from ..objective.rft import RejectionFineTuning
from ..objective.value_head import ValueHead
from ..ranking.candidates import Shards, histories
from ..ranking.ranking import Ranked, Ranking, ranking_figures
from ..result.card import card_of
from ..result.export import Beside, export_critic, export_policy
from ..turn import Example
from .ended import ended_early
from .optimise import optimise
from .prepare import Prepared
from .run import Run
from .shared_critic import SharedCritic

READ = 8  # examples whose turns the check of an export may read
LOOKED_AT = ("loss", "margin", "accuracy")  # figures of the held-out examples
SHOWN = 8  # ranked histories of a round that are told as samples, at most; from all over them

Figures = dict[str, Any]


def stage_names(config: RunConfig) -> list[str]:
    """In order. A second round has stages of its own: candidates-2, ranking-2, policy-2."""
    names = ["critic"] if trains_critic(config) else []
    if config.method == "sweet-rl":
        for number in range(1, config.candidates.rounds + 1):
            names += [in_round(stage, number) for stage in ("candidates", "ranking", "policy")]
    else:
        names.append("policy")
    return [*names, "export"]


def trains_critic(config: RunConfig) -> bool:
    return config.method == "sweet-rl" and config.critic.score != "untrained"


def in_round(stage: str, number: int) -> str:
    return stage if number == 1 else f"{stage}-{number}"


def sweet_rl(run: Run, base: Base, template: Template, prepared: Prepared, reference: ReferenceCache) -> Figures:
    """Critic, then in each round candidates, ranking and policy. Returns the figures of all stages, by their names."""
    config = run.config
    told: Figures = {}
    critic: Objective | None = None
    if trains_critic(config):
        critic = objective_of("critic", config, reference)
        # A value head is measured turn by turn, and has no pairs on which the control could be measured, too.
        control = (
            None
            if isinstance(critic, ValueHead)
            else UntrainedScore(config.critic, config.convention, reference, template, prepared.dialogues)
        )
        with base.adapter("critic"):
            told |= train_stage("critic", base, critic, prepared.critic, prepared, config.critic, run, {}, control)

    policy = objective_of("policy", config, reference)
    for number in range(1, config.candidates.rounds + 1):
        name = in_round("policy", number)
        if number > 1 and run.is_to_finish() and not run.has_begun(name):
            break  # with the policy of the round before
        pairs: list[Example] = []
        before: Figures = {}
        if run.result(name) is None:
            ranked, before = candidates_of_round(number, run, base, template, prepared, critic)
            pairs = pairs_of(ranked, config, number)
        settings = config.policy if name == run.last_trained else replace(config.policy, more_epochs=0.0)
        told |= train_stage(name, base, policy, pairs + prepared.policy, prepared, settings, run, before)
    return told


def baseline(run: Run, base: Base, prepared: Prepared, reference: ReferenceCache) -> Figures:
    """Rejection fine-tuning or multi-turn DPO: one stage."""
    objective = objective_of("policy", run.config, reference)
    return train_stage("policy", base, objective, prepared.policy, prepared, run.config.policy, run, {})


def objective_of(stage: Literal["critic", "policy"], config: RunConfig, reference: ReferenceCache) -> Objective:
    """What the stage minimises, by the method and the critic's score that are configured."""
    if stage == "critic":
        is_head = config.critic.score == "value-head"
        return ValueHead(reference) if is_head else Critic(config.critic, reference, config.convention)
    if config.method == "rft":
        return RejectionFineTuning(reference)
    if config.method == "multiturn-dpo":
        return MultiTurnDpo(config.policy, reference)
    plainly = config.candidates.temperature == 1 and config.candidates.top_p == 1
    return Policy(config.policy, reference, config.convention, plainly_sampled=plainly)


def train_stage(
    name: str,
    base: Base,
    objective: Objective,
    examples: Sequence[Example],
    prepared: Prepared,
    settings: OptimiserConfig,
    run: Run,
    before: Figures,
    control: UntrainedScore | None = None,
) -> Figures:
    """Trains the live adapter of `base`, or takes what was trained before; afterwards it is the stage's best.

    before: figures of what led to the examples, which are kept with those of the stage. Returns both.
    control: is measured on the examples that are held out of this stage, before it is trained.
    """
    if (result := run.result(name)) is not None:
        base.load_state(result.tensors("trained"))
        objective.load_state(result.tensors("objective"))
        return result.state["figures"]
    run.events.state("running", name)
    train, held_out = prepared.split(examples)
    held_out = prepared.measured(held_out, settings)
    if not held_out:
        run.events.notice(f"No examples of {name} are held out: it trains to its end, and the last step is used.")
    shared = run.config.resources.shared if name == "critic" else None
    critic = shared and SharedCritic(Path(shared), run.config, train, held_out)
    if critic and (found := run.ranks.of_first(critic.take(run.events.notice))) is not None:
        run.events.notice("Another run has trained this critic already, from the same start, data and settings.")
        base.load_state(found.tensors("trained"))
        objective.load_state(found.tensors("objective"))
        figures = found.state["figures"]
        tell_measured(run, name, figures[name])
    else:
        objective.precompute([*train, *held_out], run.progress(name, "reference"))
        untrained = control.measure(held_out, run.progress(name, "control")) if control and held_out else {}
        if untrained:
            run.events.emit("control", stage=name, **untrained)
        trained = optimise(name, base, objective, train, held_out, settings, run)
        beside = {"held_out_untrained_accuracy": untrained["accuracy"]} if untrained else {}
        figures = {**before, name: {**trained, **beside}}
    tensors = {"trained": base.state(), "objective": objective.state()}
    run.finish(name, figures, tensors)
    if critic and not found and run.ranks.first:
        critic.give(figures, tensors)
    return figures


def tell_measured(run: Run, stage: str, figures: Figures) -> None:
    """Of a critic that another run trained: how its control and it did on the held-out pairs, which are the same."""
    untrained = figures.get("held_out_untrained_accuracy")  # not there in what an older trainer left
    if untrained is not None:
        run.events.emit("control", stage=stage, accuracy=untrained, examples=figures["held_out_examples"])
    best = {name: figures[f"held_out_{name}"] for name in LOOKED_AT if f"held_out_{name}" in figures}
    if best:
        run.events.emit("evaluation", stage=stage, step=figures["used_step"], **best, best=True)


def candidates_of_round(
    number: int, run: Run, base: Base, template: Template, prepared: Prepared, critic: Objective | None
) -> tuple[list[Ranked], Figures]:
    """Samples from the live policy and has the critic rank. What is on disk already is not computed again."""
    config = run.config
    told: Figures = {}
    name = in_round("candidates", number)
    run.events.state("running", name)
    dialogues = first_of(prepared.dialogues, config.candidates.trajectories)
    room = config.policy.max_tokens - config.candidates.max_new_tokens
    every = histories(dialogues, template, config.candidates)
    short = [history for history in every if len(history.prompt) <= room]
    if not short:
        raise Fault(
            f"None of {len(every)} histories leaves room for a turn: policy.max_tokens ({config.policy.max_tokens:,}) "
            f"must hold a history and candidates.max_new_tokens ({config.candidates.max_new_tokens:,}).",
            usage=True,
        )
    if len(short) < len(every):
        run.events.notice(f"{len(every) - len(short)} of {len(every)} histories are too long for policy.max_tokens.")
    stop_ids = {*base.stop_ids, template.end_of_turn}
    shared = config.resources.shared and Path(config.resources.shared)
    shards = Shards(run.folder, short, config.candidates, stop_ids, config.seed, number, shared)
    logits_bytes = config.resources.logits_mb << 20
    shards.sample(base, run.budget, run.progress(name, "candidates"), logits_bytes=logits_bytes)
    told[name] = shards.figures()
    run.events.emit("candidates", stage=name, **told[name])

    name = in_round("ranking", number)
    run.events.state("running", name)
    head = critic if isinstance(critic, ValueHead) else None
    ranking = Ranking(shards, config.critic, config.convention, head)
    ranked = ranking.rank(base, run.budget, run.progress(name, "ranking"), logits_bytes=logits_bytes)
    told[name] = ranking_figures(ranked)
    run.events.emit("ranking", stage=name, **told[name])
    for one in ranked[:: math.ceil(len(ranked) / SHOWN)]:
        run.events.emit("sample", stage=name, **_without_null(one.sample()))
    return ranked, told


def _without_null(sample: Figures) -> Figures:
    """The event leaves `good` out where a candidate is neither good nor bad."""
    candidates = [
        {name: value for name, value in candidate.items() if value is not None} for candidate in sample["candidates"]
    ]
    return {**sample, "candidates": candidates}


def pairs_of(ranked: Sequence[Ranked], config: RunConfig, number: int) -> list[Example]:
    pairs = [pair for one in ranked for pair in one.pairs(config.candidates.pairs_per_turn, config.seed, number)]
    if not pairs:
        raise Fault(
            f"The ranking of {len(ranked)} histories gives no pair, because all candidates of each are alike: raise "
            "candidates.temperature or candidates.per_turn."
        )
    return pairs


def export(run: Run, base: Base, template: Template, prepared: Prepared, figures: Figures) -> None:
    """Writes `critic/` and then `model/`, whose presence says that the run is done; tells `result` and `done`.

    figures: of all stages. What is there already was written, and checked, before the run was killed.
    """
    run.events.state("running", "export")
    config, folder = run.config, run.folder
    told: Figures = {"model": str(folder / "model"), "stages": figures}
    if (ended := ended_early(figures, config)) is not None:
        told["ended"] = asdict(ended)
    critic = run.result("critic")
    if run.ranks.first and critic is not None:
        told["critic"] = str(folder / "critic")
        if not (folder / "critic").exists():
            turns = turns_of(prepared.critic[:READ])
            card = card_of("critic", config, base, prepared.counts, figures)
            head = critic.tensors("objective")
            scores = config.critic.score == "log-ratio" and config.model.training != "qlora"
            beside = graphs(run) if scores else None
            check = export_critic(base, folder / "critic", turns, card, config, head, beside=beside)
            told["critic_check"] = asdict(check)
    if run.ranks.first and not (folder / "model").exists():
        seen = template.all_turns(prepared.dialogues[:READ])
        turns = [turn for of_dialogue in seen for turn in of_dialogue] or turns_of(prepared.policy[:READ])
        card = card_of("policy", config, base, prepared.counts, figures)
        told["model_check"] = asdict(export_policy(base, folder / "model", turns, card, beside=graphs(run)))
    run.ranks.wait()
    run.events.emit("result", **told)
    run.clear()
    run.events.state("done", message=ended.sentence if ended else None)


def graphs(run: Run) -> Beside | None:
    """What writes the graphs that `export.onnx` asks for. A result without them is still one, so that is only told."""
    precisions = run.config.export.onnx
    if not precisions:
        return None
    from ..onnx.export import export_onnx  # ONNX Runtime is loaded only where it is used

    def beside(folder: Path) -> None:
        try:
            refused = export_onnx(folder, precisions, run.events.notice).refused
            for precision, fault in refused.items():
                run.events.notice(f"There is no {precision} graph; the others and the model itself are whole: {fault}")
        except Fault as fault:
            run.events.notice(f"There are no graphs for ONNX Runtime, and the model itself is whole: {fault}")

    return beside
