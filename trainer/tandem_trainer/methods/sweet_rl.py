"""SWEET-RL from top to bottom (Zhou et al. 2025, arXiv 2503.15478), as it runs.

An agent asks a collaborator about a task in at most T turns and then answers. The collaborator knows hidden information
c, the agent does not. The paper's signs:

    o_t   the history before turn t         Turn.prompt    (P,) tokens
    a_t   the agent's turn, L tokens a_t^l  Turn.response  (L,) tokens
    τ     a trajectory, T turns             Example.chosen or .rejected
    π_ref the base model before training; π_θ the critic; π_φ the policy

    1. pairs        τ⁺, τ⁻ of one task, τ⁺ with the higher reward           `trajectory_pairs` of data/pairs.py
    2. critic       π_θ learns from the pairs which turns made τ⁺ better    `Critic`              eq. 2 and 3
    3. candidates   several turns a at each history o_t, from the policy    `sample_candidates`
    4. ranking      the critic scores them; the upper half is good          `rank_candidates`     eq. 3
    5. pairs        of a good and a bad candidate of one history            `draw_pairs`
    6. policy       π_φ learns to prefer the good one; it never sees c      `Policy`              eq. 4

`losses.py` has the equations, the other modules of this folder the methods and scores to compare with, `run/` what
makes a run go.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from torch import Tensor

from ..config import RunConfig
from ..data.batch_order import lot
from ..data.dialogue import Dialogue
from ..data.pairs import first_of
from ..data.template import Template
from ..fault import Fault
from ..losses import Convention, kl_estimate, log_ratios, nll, preference_loss, trajectory_advantage
from ..model.base import Base
from ..run.budget import TokenBudget, score
from ..run.candidate_work import hand_over
from ..run.critic_report import (
    cannot_rank,
    ranking_figures,
    report_gains,
    report_ranking,
    report_unvalued,
    tell_of_rounding,
)
from ..run.environment import PlayedValues
from ..run.objective import Objective, Sums, ordered, sampler_difference, sides, turns_of
from ..run.prepare import Prepared
from ..run.reference_cache import ReferenceCache
from ..run.run import Run, in_round
from ..run.shards import Shards, scores_of_turns
from ..run.stages import Figures, train_stage
from ..turn import Candidates, Example, History, Ranked, Turn
from .config import CandidatesConfig, CriticConfig, PolicyConfig
from .feedback import with_feedback
from .settings import projects, trains_critic
from .sweet_rl_variants import Projection, ValueHead, untrained_accuracy, weighted_candidates


def objectives(config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]:
    plainly = config.candidates.temperature == 1 and config.candidates.top_p == 1
    is_head = config.critic.score == "value-head"
    policy: Objective = Policy(config.policy, reference, config.convention, plainly_sampled=plainly)
    if projects(config):
        policy = Projection(reference, plainly_sampled=plainly)
    return {
        "critic": ValueHead(reference) if is_head else Critic(config.critic, reference, config.convention),
        "policy": with_feedback(config, policy, reference),
    }


def train(run: Run, base: Base, template: Template, prepared: Prepared, reference: ReferenceCache) -> Figures:
    """Runs the whole algorithm; results that are on the disk are not computed again. Returns the figures by stage.

    base: one frozen model with two adapters, the policy's and, inside `base.adapter("critic")`, the critic's.
    prepared.critic: the pairs of trajectories (step 1).
    """
    config, figures = run.config, {}
    both = objectives(config, reference)
    critic, policy = both["critic"] if trains_critic(config) else None, both["policy"]
    values = PlayedValues(run, prepared.valued_tasks, prepared.tasks) if config.critic.is_played else None
    control = None
    if config.critic.score == "log-ratio":  # measured on pairs, which a value head lacks
        about = config.critic, config.convention, reference, template, prepared.dialogues
        control = partial(untrained_accuracy, *about)
    gains = partial(report_gains, run, template, prepared, partial(credits_of, run, base, critic))
    if critic is not None:
        with base.adapter("critic"):
            beside = {"control": control, "measure": gains}
            figures |= train_stage("critic", base, critic, prepared.critic, prepared, config.critic, run, **beside)
    else:
        figures |= gains()
    for number in range(1, config.candidates.rounds + 1):  # the paper has one round
        name = in_round("policy", number)
        if number > 1 and run.is_to_finish() and not run.has_begun(name):
            break  # the result is the policy of the round before
        pairs, before = [], {}
        if run.result(name) is None:
            shards = shards_of_round(number, run, base, template, prepared.dialogues)
            hand_over(run, base, shards, list(score_names(config.critic)))
            before = sample_candidates(number, run, base, shards)
            ranked, of_ranking = rank_round(number, run, base, shards, critic, values)
            pairs, before = examples_of(ranked, config, number), before | of_ranking
        settings = config.policy if name == run.last_trained else replace(config.policy, more_epochs=0.0)
        examples = pairs + prepared.policy  # the latter are human preferences
        figures |= train_stage(name, base, policy, examples, prepared, settings, run, before)
    return figures


# ----------------------------------------------------------------------------------------------------------------------
# 2. critic


class Critic(Objective):
    """Learns from pairs of trajectories of one task, `chosen` with the higher reward; its prompts contain c.

    The critic is a language model, and the advantage of a turn is the mean log-ratio of its tokens under critic and
    reference, eq. 3. Training makes Σ_t A_θ of the better trajectory greater than that of the worse one, eq. 2. A small
    likelihood of the better one's turns is added, as in the paper's settings; without it both could become ever less
    likely, as long as the worse does so faster. For the paper's ablation the prompts lack c (`Template.turns`).

    Figures: `log_ratio_chosen` and `log_ratio_rejected` are the two sums of advantages, `margin` is β times their
    difference, `accuracy` how often it is positive, `nll` that of the chosen side's turns in nats per token.
    """

    def __init__(self, settings: CriticConfig, reference: ReferenceCache, convention: Convention = "paper"):
        super().__init__(reference)
        self.settings, self.convention = settings, convention

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        turns, sums = turns_of(examples), Sums()  # N turns of all sides
        live = self.log_probs(model, turns)  # log π_θ(a_t^l | o_t, a_t^{<l}, c): N tensors (L_t,), with gradients
        fixed = self.reference.of(turns)  # log π_ref(a_t^l | o_t, a_t^{<l}, c): N tensors (L_t,)
        for example, chosen, rejected in sides(examples, live, fixed):
            better = trajectory_advantage(*chosen, self.settings.length_normalisation, self.convention)  # Σ_t A_θ, ()
            worse = trajectory_advantage(*rejected, self.settings.length_normalisation, self.convention)  # ()
            nats = nll(chosen[0])
            sums.add(
                example,
                preference_loss(better, worse, self.settings.beta) + self.settings.nll * nats,  # eq. 2
                margin=self.settings.beta * (better - worse),
                accuracy=ordered(better, worse),
                log_ratio_chosen=better,
                log_ratio_rejected=worse,
                nll=nats,
            )
        return sums.total()


# ----------------------------------------------------------------------------------------------------------------------
# 3. candidates


def shards_of_round(number: int, run: Run, base: Base, template: Template, dialogues: Sequence[Dialogue]) -> Shards:
    """Returns the files for the candidates of a round.

    number: the round, from 1. The histories are those of a tenth of the trajectories in the paper's settings.
    Errors: Fault(usage) when no history leaves room for a turn.
    """
    config, name = run.config, in_round("candidates", number)
    run.events.state("running", name)
    every = histories(first_of(dialogues, config.candidates.trajectories), template, config.candidates)
    room = config.policy.max_tokens - config.candidates.max_new_tokens
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
    return Shards(run.folder, short, config.candidates, stop_ids, config.seed, number, config.resources.shared)


def sample_candidates(number: int, run: Run, base: Base, shards: Shards) -> Figures:
    """Samples 16 turns a ~ π_φ(· | o_t) at temperature 1 (`candidates.per_turn`, `.temperature`) for each history."""
    name = in_round("candidates", number)
    shards.sample(base, run.budget, run.progress(name, "candidates"))
    figures = shards.figures()
    run.events.emit("candidates", stage=name, **figures)
    return {name: figures}


def histories(
    dialogues: Sequence[Dialogue], template: Template, settings: CandidatesConfig | None = None
) -> list[History]:
    """Lists the histories o_t of settled dialogues in order, so that those with common tokens are neighbours.

    settings: decides whether logged turns are candidates; None: they are not.
    """
    found = []
    for dialogue, turns in zip(dialogues, template.all_turns(dialogues), strict=True):
        known = dialogue.hidden_information is not None
        told = template.turns(dialogue, hidden=True) if known else (None,) * len(turns)
        for number, (spoken, turn, hidden) in enumerate(zip(dialogue.turns, turns, told, strict=True)):
            before = dialogue.messages[: spoken.position]
            wanted = settings is not None and settings.with_logged and len(turn.response) <= settings.max_new_tokens
            group, told_prompt = f"{dialogue.id}/{number}", hidden.prompt if hidden else None
            found.append(History(group, turn.prompt, told_prompt, before, turn.response if wanted else None))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# 4. ranking


def rank_round(
    number: int,
    run: Run,
    base: Base,
    shards: Shards,
    critic: Critic | ValueHead | None,
    values: PlayedValues | None = None,
) -> tuple[list[Ranked], Figures]:
    config, name = run.config, in_round("ranking", number)
    run.events.state("running", name)
    head = critic if config.critic.score == "value-head" else None
    progress = run.progress(name, "ranking")
    ranked = rank_candidates(shards, config.critic, base, run.budget, config.convention, head, progress, values)
    return ranked, {name: report_ranking(ranked, name, run.events)}


def rank_candidates(
    shards: Shards,
    settings: CriticConfig,
    base: Base,
    budget: TokenBudget,
    convention: Convention = "paper",
    head: ValueHead | None = None,
    progress: Callable[[int, int], None] | None = None,
    values: PlayedValues | None = None,
) -> list[Ranked]:
    """Ranks the candidates of all histories, in order. Switches `base` to the critic and to the reference, and back.

    Scores stay beside the shards and are not computed again. head: the trained value head, if the critic scores by one.
    values: play for the scores, if no critic does; histories with a candidate that has no value are left out.
    Errors: Fault when the critic needs hidden information that a history lacks; Stopped.
    """
    names = score_names(settings)
    for name in names:
        if values is not None and name.startswith("values"):
            shards.write_scores(name, values.of_all, budget, values.served, progress)
            continue
        score_candidates(name, shards, settings, base, budget, head, progress)

    ranked: list[Ranked] = []
    for number in range(len(shards)):
        candidates = shards.read(number)  # n candidates of up to SHARD histories
        lengths = np.array([len(turn.response) for of_history in candidates for turn in of_history.turns])  # (n,)
        read = partial(shards.read_scores, number)  # scores of the candidates, (n,)
        *critics, told, plain = map(read, names)
        critic = critics[0] if critics else None
        scores, untrained = candidate_advantages(settings, convention, lengths, critic, told, plain)
        ends = np.cumsum([len(of_history.turns) for of_history in candidates])[:-1]
        parts = zip(candidates, np.split(scores, ends), np.split(untrained, ends), strict=True)
        ranked += [rank(*part) for part in parts if values is None or not np.isnan(part[1]).any()]
    if values is not None:
        report_unvalued(len(ranked), len(shards.all_histories), budget.events)
    if settings.score == "log-ratio":
        tell_of_rounding(ranked, shards.figures(), settings, base.dtype, budget.events)
    return ranked


def score_names(settings: CriticConfig) -> dict[str, bool]:
    """Returns the names of the scores that a ranking needs, and for each whether its model sees c.

    Last come those of the reference, with c and without; before them the critic's, unless the untrained model ranks, or
    the values that are played. A name depends on the settings, but not on the critic's weights; see `Shards`.
    """
    digest = hashlib.sha256(repr(settings).encode()).hexdigest()[:12]
    first = {} if settings.score == "untrained" else {f"critic-{digest}": settings.hidden_information}
    if settings.is_played:
        first = {f"values-{digest}": False}
    return {**first, "reference-hidden": True, "reference-plain": False}


def score_candidates(
    name: str,
    shards: Shards,
    settings: CriticConfig,
    base: Base,
    budget: TokenBudget,
    head: ValueHead | None = None,
    progress: Callable[[int, int], None] | None = None,
    numbers: Sequence[int] | None = None,
) -> None:
    """Writes the missing scores of that name beside the shards: log π(a | o) of each turn, or its value.

    name: one of `score_names`. numbers: of the shards that are looked at; None for all.
    """

    def log_p(turns: list[Turn]) -> list[float]:
        """log π(a | o) of each whole turn, the sum over its tokens."""
        return [float(tokens.sum()) for tokens in score(base, turns, budget)]

    is_critic = name.startswith("critic")
    scorer = partial(head.scores, base, budget=budget) if is_critic and head is not None else log_p
    within = partial(base.adapter, "critic") if is_critic else base.reference
    of_candidates = partial(scores_of_turns, hidden=score_names(settings)[name], scorer=scorer)
    shards.write_scores(name, of_candidates, budget, within, progress, numbers)


def candidate_advantages(
    settings: CriticConfig,
    convention: Convention,
    lengths: np.ndarray,
    critic: np.ndarray | None,
    told: np.ndarray,
    plain: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Computes A_θ(o, a, c) of n candidates, eq. 3, and the score of the untrained model, both (n,).

    critic: (n,) log π_θ(a | o, c); the values for a value head, or those that are played; None to score by the
    untrained model.
    told, plain: (n,) log π_ref(a | o, c) and log π_ref(a | o). Their difference is the untrained score: how much more
    probable c makes a turn (pointwise mutual information). In the reference code the critic's reference does not see c,
    so that its score contains the untrained one.
    """
    per = lengths if settings.length_normalisation else 1
    untrained = (told - plain) / per
    if critic is None:
        return untrained, untrained
    if settings.score == "value-head" or settings.is_played:
        return critic, untrained
    reference = told if settings.hidden_information and convention == "paper" else plain
    return (critic - reference) / per, untrained


def credits_of(
    run: Run,
    base: Base,
    critic: Critic | ValueHead | None,
    told: Sequence[Sequence[Turn]],
    plain: Sequence[Sequence[Turn]],
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Computes the credits of each dialogue's turns by the critic, eq. 3, and by the untrained model, (T,) each.

    told, plain: the turns of each dialogue with and without hidden information. A value head's credit of a turn is its
    value, the logit of the reward predicted after it.
    """
    config, ends = run.config, np.cumsum([len(turns) for turns in told])[:-1]
    with_c, without = ([turn for turns in view for turn in turns] for view in (told, plain))
    seen = with_c if config.critic.hidden_information else without

    def log_p(turns: Sequence[Turn]) -> np.ndarray:
        return np.array([tokens.sum() for tokens in score(base, turns, run.budget)])

    of_critic = None
    if critic is not None:
        with base.adapter("critic"):
            has_head = config.critic.score == "value-head"
            of_critic = critic.scores(base, seen, run.budget) if has_head else log_p(seen)
    with base.reference():
        references = log_p(with_c), log_p(without)
    lengths = np.array([len(turn.response) for turn in with_c])
    scores, untrained = candidate_advantages(config.critic, config.convention, lengths, of_critic, *references)
    return np.split(scores, ends), np.split(untrained, ends)


def rank(candidates: Candidates, scores: np.ndarray, untrained: np.ndarray) -> Ranked:
    """Follows the rules of `Ranked`; scores (n,). Errors: Fault when one is NaN."""
    first = [candidates.texts.index(text) for text in candidates.texts]
    scores, untrained = scores[first], untrained[first]
    if np.isnan(scores).any():
        raise cannot_rank(candidates.history)
    half = len(scores) // 2 if np.ptp(scores) > 0 else 0
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    good: list[bool | None] = [None] * len(scores)
    for place in order[:half]:
        good[place] = True
    for place in order[len(scores) - half :]:
        good[place] = False
    return Ranked(candidates, scores, untrained, tuple(good))


# ----------------------------------------------------------------------------------------------------------------------
# 5. pairs of candidates


def examples_of(ranked: Sequence[Ranked], config: RunConfig, number: int) -> list[Example]:
    """Draws four pairs of each history in the paper's settings; with the loss `projection` it takes all candidates.

    Errors: Fault when there is no pair at all, or no score differs.
    """
    if projects(config):
        lam = config.policy.projection_lambda * ranking_figures(ranked)["spread"]
        return weighted_candidates(ranked, lam)
    pairs = [pair for one in ranked for pair in draw_pairs(one, config.candidates.pairs_per_turn, config.seed, number)]
    if not pairs:
        raise Fault(
            f"The ranking of {len(ranked)} histories gives no pair, because all candidates of each are alike: raise "
            "candidates.temperature or candidates.per_turn."
        )
    return pairs


def draw_pairs(ranked: Ranked, count: int, seed: int, round: int = 1) -> list[Example]:
    """Draws `count` pairs (a⁺, a⁻) of a good and a bad candidate of one history, or returns all.

    Seed, round and group determine the draw. Pairs of the same two texts become one example with their number as
    its weight. Candidates with the same text or the same score form no pair.
    """
    candidates, scores = ranked.candidates, ranked.scores
    group, texts, turns, different = candidates.history.group, candidates.texts, candidates.turns, candidates.different
    good = [place for place, judged in enumerate(ranked.good) if judged is True]
    bad = [place for place, judged in enumerate(ranked.good) if judged is False]
    possible = [(high, low) for high in good for low in bad if scores[high] > scores[low]]
    drawn = sorted(possible, key=lambda pair: lot(seed, round, group, *pair))[:count]
    times = Counter((different[texts[high]][0], different[texts[low]][0]) for high, low in drawn)
    return [
        Example(group, chosen=(turns[high],), rejected=(turns[low],), weight=float(number))
        for (high, low), number in times.items()
    ]


# ----------------------------------------------------------------------------------------------------------------------
# 6. policy


class Policy(Objective):
    """Step-wise DPO, eq. 4: the two sides of an example are two turns with one history, and later turns do not matter.

    Human preferences are treated like pairs of candidates. A small likelihood of the chosen side keeps its probability
    from falling with that of the rejected one. Applied to all turns of each side it is multi-turn DPO.

    Figures beside those of the critic: `sampler_difference`, for plainly sampled turns (at temperature 1 and without
    top-p); and `kl`, KL(π_ref ‖ π_φ) in nats per token over sampled turns. It is approximately right for candidates of
    the first round at temperature 1, because a pair takes one from either half of the ranking, though a turn that was
    sampled twice counts once. For turns of another sampler it only shows that the policy moves.
    """

    def __init__(
        self,
        settings: PolicyConfig,
        reference: ReferenceCache,
        convention: Convention = "paper",
        plainly_sampled: bool = True,
    ):
        super().__init__(reference)
        self.settings, self.convention, self.plainly_sampled = settings, convention, plainly_sampled

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        turns, sums = turns_of(examples), Sums()  # N turns of all sides
        imitated = [self.imitated(turn) for example in examples for turn in example.chosen]
        live = self.log_probs(model, [*turns, *imitated])  # log π_φ(a^l | o, a^{<l}): tensors (L,), with gradients
        likely = iter(live[len(turns) :])  # tokens of shared prefixes were computed once
        for example, chosen, rejected in sides(examples, live, self.reference.of(turns)):
            better, worse = log_ratios(*chosen).sum(), log_ratios(*rejected).sum()  # log π_φ(a|o)/π_ref(a|o), ()
            nats = nll([next(likely) for _ in example.chosen])
            both_live, both_fixed = chosen[0] + rejected[0], chosen[1] + rejected[1]
            sampled = [number for number, turn in enumerate(example.turns) if turn.sampled]
            of_sampled = ([both[number] for number in sampled] for both in (both_live, both_fixed))
            sums.add(
                example,
                preference_loss(better, worse, self.settings.beta) + self.settings.nll * nats,  # eq. 4
                margin=self.settings.beta * (better - worse),
                accuracy=ordered(better, worse),
                log_ratio_chosen=better,
                log_ratio_rejected=worse,
                nll=nats,
                kl=kl_estimate(*of_sampled) if sampled else None,
                sampler_difference=sampler_difference(example.turns, both_live) if self.plainly_sampled else None,
            )
        return sums.total()

    def imitated(self, turn: Turn) -> Turn:
        """Returns the tokens of the likelihood term: the response; in convention `reference-code` also the prompt."""
        if self.convention == "paper":
            return turn
        tokens = np.concatenate([turn.prompt, turn.response])
        return Turn(prompt=tokens[:1], response=tokens[1:])
