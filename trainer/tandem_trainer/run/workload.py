"""Estimates the work of each stage in tokens and model FLOPs, from its data or from its limits alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from statistics import fmean
from typing import Literal

import numpy as np

from ..config import RunConfig
from ..config_fields import OptimiserConfig
from ..data.batch_order import micro_batches, step_batch
from ..data.pairs import first_of
from ..data.template import Template
from ..methods.settings import method_of, policy_settings, projects, trains_critic
from ..methods.sweet_rl import draw_pairs, histories, rank
from ..methods.sweet_rl_variants import weighted_candidates
from ..model.flops import Shape, Work, step_flops
from ..model.prefix_tree import forest_tokens
from ..turn import Candidates, Example, History, Turn
from .objective import counter, turns_of
from .optimise import stage_steps
from .prepare import Prepared
from .run import in_round
from .shards import SHARD

SAMPLED = 8  # batches or shards whose FLOPs are counted and scaled up to all
PACK = 4096  # tokens that are computed together, if the budget is unknown
REQUEST, REPLY = 512, 160  # tokens of a long request; tokens of a reply of 400 characters with its markup
WRITING = 10  # cost of a sampled token relative to a token that is read; estimated, not measured

Kind = Literal["train", "read", "write"]
Written = Sequence[Sequence[Turn]]  # candidates of some histories, grouped by history


@dataclass(frozen=True)
class Piece:
    """Repeated work of a stage: training on examples, reading without gradients, or sampling turns.

    flops: of the whole work; sampled tokens count WRITING times. sample: a typical part of it, for timing; of sampling,
    its prompts. of_sample: FLOPs of the sample, where its examples do not determine them.
    """

    kind: Kind
    flops: float
    sample: tuple[Example, ...] = ()
    of_sample: float = 0.0


@dataclass(frozen=True)
class Load:
    """The work of one stage. pieces: None when the data are unknown.

    largest, scored: tokens and scored tokens of the largest unit that is trained on at once; 0 without training.
    copies: exported models. graphs: exported graphs for ONNX Runtime. parts: on which processes can work in parallel.
    longest: tokens of the longest turn among those that are sampled side by side.
    """

    stage: str
    pieces: tuple[Piece, ...] | None = None
    largest: int = 0
    scored: int = 0
    copies: int = 0
    graphs: int = 0
    parts: int = 1
    longest: int = 0

    @property
    def flops(self) -> float | None:
        return None if self.pieces is None else sum(piece.flops for piece in self.pieces)


def loads_of(prepared: Prepared, shape: Shape, template: Template, written: Written | None = None) -> list[Load]:
    """Work on candidates follows from `written`, or else from the lengths of turns, as if all candidates differed."""
    config, method = prepared.config, method_of(prepared.config)
    if method.plays:
        # The lengths of dialogues to come are unknown; the memory is that of the longest possible.
        longest = longest_dialogue(config)
        return [Load("policy", largest=longest, scored=longest), _export(config)]
    if config.method == "archer":
        return [*_off_policy(prepared, config), _export(config)]
    critic = [_training("critic", prepared.critic, prepared, config.critic, shape)] if trains_critic(config) else []
    if not method.candidates:
        policy = _training("policy", prepared.policy, prepared, policy_settings(config), shape)
        return [*critic, policy, _export(config)]
    rounds = []
    one = _round(prepared, shape, template, written)
    for number in range(1, config.candidates.rounds + 1):
        rounds += [replace(load, stage=in_round(load.stage, number)) for load in one]
    return [*critic, *rounds, _export(config)]


def _off_policy(prepared: Prepared, config: RunConfig) -> list[Load]:
    """Of ArCHer: its times are unknown, because the turns that it trains on are still to be sampled.

    The memory is that of a dialogue with sampled turns as long as its own; the policy reads a part of that.
    """
    largest = scored = 0
    for example in prepared.policy:
        written = sum(len(turn.response) for turn in example.turns)
        largest = max(largest, forest_tokens(example.turns) + config.archer.samples * written)
        scored = max(scored, config.archer.samples * max(len(turn.response) for turn in example.turns))
    return [
        load
        for number in range(1, config.archer.iterations + 1)
        for load in (
            Load(in_round("candidates", number)),
            Load(in_round("critic", number), largest=largest),
            Load(in_round("policy", number), largest=largest, scored=scored),
        )
    ]


def longest_dialogue(config: RunConfig) -> int:
    """An upper limit of the tokens of a dialogue of GRPO: its request, and each message with its reply. The last
    prompt of a collaborator holds the dialogue so far."""
    return REQUEST + config.grpo.max_turns * (config.grpo.max_new_tokens + REPLY)


def _export(config: RunConfig) -> Load:
    # A log-ratio critic also needs a graph of its reference.
    graphs = {True: 3, False: 1}[trains_critic(config) and config.critic.score == "log-ratio"]
    copies = 2 if trains_critic(config) else 1
    return Load("export", copies=copies, graphs=graphs * len(config.export.onnx))


# ---- training


def _training(
    stage: str, examples: Sequence[Example], prepared: Prepared, settings: OptimiserConfig, shape: Shape
) -> Load:
    train, held_out = prepared.split(examples)
    held_out = prepared.measured(held_out, settings)
    if not train:
        return Load(stage, pieces=())
    sizes = [forest_tokens(example.turns) for example in (*train, *held_out)]
    scored = max(sum(len(turn.response) for turn in example.turns) for example in train)
    pieces = _pieces(stage, train, len(train), len(held_out), prepared, settings, shape)
    parts = min(settings.batch, len(train))
    return Load(stage, pieces=pieces, largest=max(sizes), scored=scored, parts=parts)


def _pieces(
    stage: str,
    examples: Sequence[Example],
    train: int,
    held_out: int,
    prepared: Prepared,
    settings: OptimiserConfig,
    shape: Shape,
) -> tuple[Piece, Piece]:
    """Of a training stage. examples: some whole batches of the training examples. train, held_out: total numbers."""
    config = prepared.config
    batch = min(settings.batch, len(examples))
    batches = [
        step_batch(examples, seed=config.seed, epoch=0, step_in_epoch=step, batch=batch)
        for step in range(min(SAMPLED, len(examples) // batch))
    ]
    each = {work: _flops_of_one(examples, batches, config, shape, work) for work in (config.model.training, "forward")}
    steps = stage_steps(train, settings)
    looks = steps // settings.evaluate_every + 2
    read = held_out * looks
    if _has_reference(stage, config):
        turns = turns_of(examples)
        read += (train + held_out) * len({id(turn) for turn in turns}) / len(turns)
        read += held_out if stage == "critic" else 0
    sample = tuple(examples[index] for index in batches[0])
    trained = steps * min(settings.batch, train)
    return (
        Piece("train", each[config.model.training] * trained, sample),
        Piece("read", each["forward"] * read, sample),
    )


def _has_reference(stage: str, config: RunConfig) -> bool:
    if stage == "critic":
        return config.critic.score == "log-ratio"
    return method_of(config).reference and not projects(config)


def _flops_of_one(
    examples: Sequence[Example], batches: Sequence[Sequence[int]], config: RunConfig, shape: Shape, work: Work
) -> float:
    """The mean over examples; those that are computed together share prefixes."""
    budget = config.resources.token_budget
    tokens = PACK if budget == "auto" else budget
    parts = [part for batch in batches for part in packs([examples[index] for index in batch], tokens)]
    return sum(step_flops(shape, turns_of(part), work) for part in parts) / sum(map(len, batches))


def packs(examples: Sequence[Example], budget: int, shared: bool = True) -> list[list[Example]]:
    """Micro-batches of at most `budget` tokens. shared: whether common prefixes count once."""
    return [
        [examples[index] for index in batch]
        for batch in micro_batches(range(len(examples)), counter(examples, shared), budget)
    ]


# ---- candidates, their ranking, and the policy that learns from it


def _round(prepared: Prepared, shape: Shape, template: Template, written: Written | None) -> list[Load]:
    """By the histories for which candidates will be sampled."""
    config = prepared.config
    settings, limit = config.candidates, config.policy.max_tokens
    dialogues = first_of(prepared.dialogues, settings.trajectories)
    room = limit - settings.max_new_tokens
    places = [history for history in histories(dialogues, template) if len(history.prompt) <= room]
    if not places:
        return [Load("candidates"), Load("ranking"), Load("policy")]
    lengths = sorted(len(turn.ids) for dialogue in dialogues for turn in dialogue.turns)
    expected = _Expected(config, shape, [min(settings.max_new_tokens, length) for length in lengths], written)
    shards = [places[start : start + SHARD] for start in range(0, len(places), SHARD)]
    counted = shards[:: ceil(len(shards) / SAMPLED)]

    def reading(hidden: bool) -> Piece:
        """One pass over all candidates."""
        some = [expected.candidates(shard, settings.per_turn, hidden) for shard in counted]
        flops = fmean(step_flops(shape, turns_of(examples), "forward") for examples in some if examples)
        return Piece("read", flops * len(shards), tuple(some[0]))

    of_history = 2.0 * WRITING * (shape.matrices + shape.head) * settings.sampled * fmean(expected.lengths)
    spread = tuple(expected.candidates(places[:: ceil(len(places) / SHARD)], 1, hidden=False))
    writing = Piece("write", of_history * len(places), spread, of_history * len(spread))
    compared = [reading(hidden=False)] if settings.top_p == 1 else []
    views = [config.critic.hidden_information] if trains_critic(config) else []
    known = any(history.hidden_prompt is not None for history in places)
    views = [hidden for hidden in [*views, True, False] if known or not hidden]

    # How long a server plays is not known.
    ranking = None if config.critic.is_played else tuple(reading(hidden) for hidden in views)

    some = places[:: ceil(len(places) / (SAMPLED * SHARD))]
    taught = [expected.taught(history, number) for number, history in enumerate(some)]
    per_history = fmean(map(len, taught))
    count = max(1, round(per_history * len(places)))
    kept = max(1, round(count * (1 - config.data.held_out)))
    measured = min(count - kept, max(1, config.policy.evaluate_every * config.policy.batch // 2))
    examples = list(chain.from_iterable(taught))
    sides = 1 if projects(config) else 2
    longest = max(len(history.prompt) for history in places)
    human = [forest_tokens(example.turns) for example in prepared.policy]
    return [
        Load(
            "candidates",
            pieces=(writing, *compared),
            parts=len(shards),
            longest=expected.longest(SHARD * settings.sampled),
        ),
        Load("ranking", pieces=ranking, parts=len(shards)),
        Load(
            "policy",
            pieces=_pieces("policy", examples, kept, measured, prepared, config.policy, shape) if examples else (),
            largest=max([longest + sides * settings.max_new_tokens, *human]),
            scored=sides * settings.max_new_tokens,
            parts=min(config.policy.batch, kept),
        ),
    ]


@dataclass(frozen=True)
class _Expected:
    """Written candidates, or random tokens with the lengths of turns in the dialogues. lengths: shortest first."""

    config: RunConfig
    shape: Shape
    lengths: Sequence[int]
    written: Written | None

    def longest(self, turns: int) -> int:
        """Estimates the tokens of the longest of so many turns."""
        return self.lengths[min(len(self.lengths) - 1, int(len(self.lengths) * (1 - 1 / turns)))]

    def candidates(self, places: Sequence[History], count: int, hidden: bool) -> list[Example]:
        """None for a history without the hidden information that `hidden` needs."""
        prompts = [place.hidden_prompt if hidden else place.prompt for place in places]
        return [
            Example(place.group, (turn,))
            for number, (place, prompt) in enumerate(zip(places, prompts, strict=True))
            if prompt is not None
            for turn in self._turns(number, prompt, count)
        ]

    def taught(self, place: History, number: int) -> list[Example]:
        """Pairs or weighted candidates that a critic with random scores would give."""
        settings = self.config.candidates
        turns = self._turns(number, place.prompt, settings.per_turn)
        scores = np.random.default_rng(number).random(len(turns))
        candidates = Candidates(place, tuple(turns), tuple(str(turn.response.tolist()) for turn in turns))
        ranked = rank(candidates, scores, scores)
        if projects(self.config):
            return weighted_candidates([ranked], self.config.policy.projection_lambda)
        return draw_pairs(ranked, settings.pairs_per_turn, self.config.seed)

    def _turns(self, number: int, prompt: np.ndarray, count: int) -> list[Turn]:
        if self.written is not None:
            written = self.written[number % len(self.written)]
            return [Turn(prompt, turn.response, sampled=True) for turn in written[:count]]
        generator = np.random.default_rng(number)
        lengths = generator.choice(self.lengths, count)
        rows = [generator.integers(0, self.shape.vocabulary, length).astype(np.int32) for length in lengths]
        return [Turn(prompt, row, sampled=True) for row in rows]
