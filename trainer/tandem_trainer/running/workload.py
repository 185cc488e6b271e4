"""What each stage of a run will compute, in tokens and model FLOPs, from its data or from its limits alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import fmean

from ..config import OptimiserConfig, RunConfig
from ..data.pairs import first_of
from ..data.template import Template
from ..model.flops import Shape, flops, step_flops
from ..model.forest import forest_tokens
from ..ranking.candidates import SHARD, histories
from ..turn import Example
from .prepare import Prepared
from .schedule import stage_steps
from .stages import in_round, stage_names, trains_critic

MEASURED = 256  # examples whose FLOPs are counted; those of more are scaled up from a regular sample
WRITING = 10  # a token that is sampled takes as long as so many that are only read: estimated, not measured


@dataclass(frozen=True)
class Load:
    """flops: of the whole stage, None when the data are not known; what is sampled counts WRITING times.

    largest, scored: tokens and scored tokens of the largest thing that is trained on at once, 0 where nothing is.
    prompt: the longest history that is sampled from. copies: models that are written. parts: into how many pieces the
    work falls that several processes do at the same time.
    """

    stage: str
    flops: float | None = None
    largest: int = 0
    scored: int = 0
    prompt: int = 0
    copies: int = 0
    parts: int = 1


def worst_loads(config: RunConfig) -> list[Load]:
    """Without data: examples as large as the limits allow. Two trajectories share next to nothing."""
    limit, new = config.policy.max_tokens, config.candidates.max_new_tokens
    sides = {"sweet-rl": limit + new, "rft": limit, "multiturn-dpo": 2 * limit}
    critic = config.critic.max_tokens * (1 if config.critic.score == "value-head" else 2)
    loads = []
    for stage in stage_names(config):
        kind = stage.partition("-")[0]
        if kind == "critic":
            loads.append(Load(stage, largest=critic, scored=critic // 2))
        elif kind == "policy":
            loads.append(Load(stage, largest=sides[config.method], scored=sides[config.method] // 2))
        elif kind == "candidates":
            loads.append(Load(stage, prompt=limit - new))
        else:
            loads.append(Load(stage, copies=_copies(config) if kind == "export" else 0))
    return loads


def loads_of(prepared: Prepared, shape: Shape, template: Template) -> list[Load]:
    """With data. Of SWEET-RL's policy stage they follow from histories and mean lengths of turns."""
    config = prepared.config
    critic = [_training("critic", prepared.critic, prepared, config.critic, shape)] if trains_critic(config) else []
    if config.method != "sweet-rl":
        return [_training("policy", prepared.policy, prepared, config.policy, shape), _export(config)]
    rounds = []
    for number in range(1, config.candidates.rounds + 1):
        rounds += [replace(load, stage=in_round(load.stage, number)) for load in _round(prepared, shape, template)]
    return [*critic, *rounds, _export(config)]


def _export(config: RunConfig) -> Load:
    return Load("export", copies=_copies(config))


def _copies(config: RunConfig) -> int:
    return 2 if trains_critic(config) else 1


def _training(
    stage: str, examples: Sequence[Example], prepared: Prepared, settings: OptimiserConfig, shape: Shape
) -> Load:
    """Epochs over the examples, looks at the held-out ones, and the reference once over all."""
    train, held_out = prepared.split(examples)
    held_out = prepared.measured(held_out, settings)
    if not train:
        return Load(stage, flops=0.0)
    work = prepared.config.model.training
    steps = stage_steps(len(train), settings)
    looks = steps // settings.evaluate_every + 2
    each = {kind: _mean_flops(train, shape, kind) for kind in (work, "forward")}
    whole = each[work] * steps * min(settings.batch, len(train))
    whole += each["forward"] * (len(held_out) * looks + len(train) + len(held_out))
    sizes = [forest_tokens(example.turns) for example in (*train, *held_out)]
    scored = max(sum(len(turn.response) for turn in example.turns) for example in train)
    parts = min(settings.batch, len(train))
    return Load(stage, flops=whole, largest=max(sizes), scored=scored, parts=parts)


def _mean_flops(examples: Sequence[Example], shape: Shape, work: str) -> float:
    chosen = examples[:: max(1, len(examples) // MEASURED)]
    return fmean(step_flops(shape, example.turns, work) for example in chosen)


def _round(prepared: Prepared, shape: Shape, template: Template) -> list[Load]:
    """Candidates, ranking and policy, from the histories that candidates will be sampled for."""
    config = prepared.config
    settings = config.candidates
    dialogues = first_of(prepared.dialogues, settings.trajectories)
    room = config.policy.max_tokens - settings.max_new_tokens
    prompts = [len(h.prompt) for h in histories(dialogues, template) if len(h.prompt) <= room]
    if not prompts:
        return [Load("candidates"), Load("ranking"), Load("policy")]
    lengths = [len(turn.ids) for dialogue in dialogues for turn in dialogue.turns]
    length = min(settings.max_new_tokens, round(fmean(lengths)))
    prompt = round(fmean(prompts))

    def group(turns: int, work: str) -> float:
        """One pass over a history and `turns` ways to go on."""
        ways = [(0, prompt + length)] + [(prompt, prompt + length)] * (turns - 1)
        return flops(shape, prompt + turns * length, turns * length, ways, work)

    written = len(prompts) * settings.per_turn * length
    passes = 3 if trains_critic(config) else 2  # critic, and the reference with and without hidden information
    pairs = len(prompts) * settings.pairs_per_turn
    kept = round(pairs * (1 - config.data.held_out))
    measured = min(pairs - kept, config.policy.evaluate_every * config.policy.batch // 2)
    steps = stage_steps(max(1, kept), config.policy)
    looks = steps // config.policy.evaluate_every + 2
    sides = 2 * settings.pairs_per_turn
    trained = group(sides, config.model.training) * steps * config.policy.batch / settings.pairs_per_turn
    looked = group(sides, "forward") * (measured * looks + pairs) / settings.pairs_per_turn
    human = [forest_tokens(example.turns) for example in prepared.policy]
    longest = max(prompts)
    shards = ceil(len(prompts) / SHARD)
    writing = 2.0 * WRITING * (shape.matrices + shape.head) * written
    return [
        Load("candidates", flops=writing, prompt=longest, parts=shards),
        Load("ranking", flops=passes * group(settings.per_turn, "forward") * len(prompts), parts=shards),
        Load(
            "policy",
            flops=trained + looked,
            largest=max([longest + 2 * settings.max_new_tokens, *human]),
            scored=2 * settings.max_new_tokens,
            parts=min(config.policy.batch, max(1, kept)),
        ),
    ]
