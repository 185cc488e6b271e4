"""ArCHer from top to bottom (Zhou et al. 2024, arXiv 2402.19446), as it runs: an actor and a critic, off-policy.

The critic values whole utterances, the policy learns token by token:

    o_t     the history before turn t, and the number of turns that are left
    a_t     the agent's turn; ã one that the present policy samples at o_t
    Q_i, V_i   two values each of a turn and of a history: heads on the critic's adapter      `Heads`
    Q̄_i, V̄_i   the same by the target network, which follows slowly: θ̄ ← (1 − τ) θ̄ + τ θ

    each iteration:
    1. play     new dialogues with the policy, if there are tasks; they join those of the log   `run/play.py`
    2. sample   four turns ã ~ π_φ(· | o_t) at every history of the buffer                      `sample_turns`
    3. critic   Q_i(o, a) → r + γ V̄_i(o′)  and  V_i(o) → mean of Q̄_i(o, ã)                      `Critic`, eq. 1 and 2
    4. policy   the gradient of Σ_l A(o, ã) log π_φ(ã^l | o, ã^{<l}), A = min Q − min V          `Actor`, eq. 3

The replay buffer is the dialogues of the log, whoever played them, and those of step 1. From them all the critic learns
the values of the present policy, because V follows the turns that this policy samples. The first iteration trains the
critic longer (`critic_warmup`), since the gradient by an untrained critic is noise. Unlike in the paper, critic and
policy are adapters of one model, and the turns of step 2 serve both for a whole iteration: the policy moves away from
what sampled them, which a clipped ratio of probabilities corrects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields

import numpy as np
import torch
from torch import Tensor, nn

from ..config import RunConfig
from ..config_fields import OptimiserConfig, ScheduleConfig
from ..data.batch_order import lot
from ..data.dialogue import Dialogue
from ..data.template import Template
from ..fault import Fault
from ..losses import (
    actor_critic_error,
    nll,
    policy_gradient_loss,
    polyak,
    q_targets,
    turn_weight,
    utterance_advantage,
    v_targets,
)
from ..model.base import Base
from ..model.log_probs import last_hidden
from ..run.budget import TokenBudget
from ..run.environment import Environment, lost_server
from ..run.objective import Objective, Sums, counter, sampler_difference, turns_of
from ..run.prepare import Prepared
from ..run.reference_cache import ReferenceCache
from ..run.run import Run, in_round
from ..run.sampler import Sampler
from ..run.shards import Shards
from ..run.stages import Figures, train_stage
from ..turn import Candidates, Example, Turn
from .config import ArcherConfig, CandidatesConfig
from .sweet_rl import histories, sample_candidates

HIDDEN = 64  # width of a head


def objectives(config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]:
    return {"critic": Critic(config.archer, reference, config.seed), "policy": Actor(config.archer, reference)}


def train(run: Run, base: Base, template: Template, prepared: Prepared, reference: ReferenceCache) -> Figures:
    config, settings, figures = run.config, run.config.archer, {}
    both = objectives(config, reference)
    critic, actor = both["critic"], both["policy"]
    buffer = fitting(prepared.dialogues, template, settings)
    if not buffer:
        raise Fault(
            f"None of {len(prepared.dialogues)} dialogues leaves room for a turn: archer.max_tokens "
            f"({settings.max_tokens:,}) must hold a history and archer.max_new_tokens ({settings.max_new_tokens:,}).",
            usage=True,
        )
    if without := len(prepared.dialogues) - len(buffer):
        run.events.notice(f"{without} of {len(prepared.dialogues)} dialogues are too long for archer.max_tokens.")
    for number in range(1, settings.iterations + 1):
        name = in_round("policy", number)
        if number > 1 and run.is_to_finish() and not run.has_begun(name):
            break  # the result is the policy of the iteration before
        of_play: Figures = {}
        if config.data.tasks:
            played, of_play = play_round(number, run, base, template, prepared)
            prepared.tasks |= {dialogue.id: dialogue.task for dialogue in played}
            buffer += fitting(played, template, settings)
        sampled, of_samples = sample_turns(number, run, base, template, buffer)
        with base.adapter("critic"):
            rate = settings.critic_learning_rate or (1e-5 if config.model.training == "full" else 1e-4)
            epochs = settings.critic_epochs + (settings.critic_warmup if number == 1 else 0.0)
            how = stage_settings(settings, learning_rate=rate, epochs=epochs)
            learnt_from = trajectories(buffer, sampled, settings.hidden_information)
            stage = in_round("critic", number)
            before = of_play | of_samples
            figures |= train_stage(stage, base, critic, learnt_from, prepared, how, run, before)
            advantages = critic.advantages(base, learnt_from, run.budget, run.progress(stage, "advantages"))
        turns = advised(sampled, advantages)
        how = stage_settings(settings, learning_rate=settings.learning_rate, epochs=settings.epochs)
        figures |= train_stage(name, base, actor, turns, prepared, how, run)
    return figures


def fitting(dialogues: Sequence[Dialogue], template: Template, settings: ArcherConfig) -> list[Dialogue]:
    """Returns the dialogues whose histories leave room for a turn, as policy and critic read them."""
    views = [template.all_turns(dialogues)]
    if settings.hidden_information:
        views.append(template.all_turns(dialogues, hidden=True))
    return [
        dialogue
        for dialogue, *seen in zip(dialogues, *views, strict=True)
        if all(
            len(turn.prompt) + max(len(turn.response), settings.max_new_tokens) <= settings.max_tokens
            for turns in seen
            for turn in turns
        )
    ]


def stage_settings(settings: ArcherConfig, *, learning_rate: float | None, epochs: float) -> OptimiserConfig:
    """Without early stopping: the held-out figures do not tell which step is best."""
    shared = {field.name: getattr(settings, field.name) for field in fields(ScheduleConfig)}
    return OptimiserConfig(**{**shared, "learning_rate": learning_rate, "epochs": epochs}, patience=0)


# ----------------------------------------------------------------------------------------------------------------------
# 1. play


def play_round(
    number: int, run: Run, base: Base, template: Template, prepared: Prepared
) -> tuple[list[Dialogue], Figures]:
    """Plays new dialogues of tasks that are not held out, or reads those that are on the disk.

    Every iteration plays the next tasks of an order that the seed gives. Errors: Stopped; Fault.
    """
    from ..run.play import play, read_dialogues, write_rows  # needs websockets, which a run offline does not

    config, name = run.config, in_round("play", number)
    settings, path = config.archer, run.folder / "played" / f"{name}.jsonl"
    if not path.exists():
        run.events.state("running", name)
        tasks = sorted(prepared.to_play.keys() - prepared.apart, key=lambda task: lot(config.seed, "play", task))
        if not tasks:
            raise Fault("All tasks of data.tasks are held out: give more tasks, or lower data.held_out.", usage=True)
        first = (number - 1) * settings.dialogues
        chosen = [tasks[place % len(tasks)] for place in range(first, first + settings.dialogues)]
        one = CandidatesConfig(per_turn=2, with_logged=True, max_new_tokens=settings.max_new_tokens)  # samples one turn
        sampler = Sampler(base, one, {*base.stop_ids, template.end_of_turn}, run.stop, run.events)
        about = {"max_tokens": settings.max_tokens, "with_leaked": config.data.with_leaked}
        with Environment(config, run.folder) as environment, sampler.ready(), lost_server(environment):
            rows = play(environment, chosen, sampler, template, (config.seed, name), **about)
        write_rows(path, rows)
    played = read_dialogues(path, prepared.to_play)
    figures = {
        "dialogues": settings.dialogues,
        "used": len(played),
        "success": float(np.mean([dialogue.reward == 1 for dialogue in played])) if played else None,
        "reward": float(np.mean([dialogue.reward for dialogue in played])) if played else None,
    }
    return played, {name: figures}


# ----------------------------------------------------------------------------------------------------------------------
# 2. sample


def sample_turns(
    number: int, run: Run, base: Base, template: Template, buffer: Sequence[Dialogue]
) -> tuple[list[Candidates], Figures]:
    """Samples turns of the present policy at each history of the buffer; those that are on the disk are read.

    Returns them in the order of the dialogues and their turns, and the figures of the stage.
    """
    config, settings = run.config, run.config.archer
    run.events.state("running", in_round("candidates", number))
    how = CandidatesConfig(per_turn=settings.samples, max_new_tokens=settings.max_new_tokens)
    places, stop_ids = histories(buffer, template), {*base.stop_ids, template.end_of_turn}
    shards = Shards(run.folder, places, how, stop_ids, config.seed, number, config.resources.shared)
    figures = sample_candidates(number, run, base, shards)
    return [each for shard in range(len(shards)) for each in shards.read(shard)], figures


# ----------------------------------------------------------------------------------------------------------------------
# 3. critic


def trajectories(buffer: Sequence[Dialogue], sampled: Sequence[Candidates], hidden: bool) -> list[Example]:
    """Makes an example of each dialogue, with its reward as target and the sampled turns ã of all its histories.

    hidden: whether the prompts hold the hidden information, which the policy's never do.
    """
    at, made = iter(sampled), []
    for dialogue in buffer:
        turns, samples = [], []
        for spoken in dialogue.turns:
            here = next(at)
            prompt = here.history.hidden_prompt if hidden else here.history.prompt
            turns.append(Turn(prompt, spoken.ids))
            samples += [Turn(prompt, turn.response) for turn in here.turns]
        made.append(
            Example(
                dialogue.task, tuple(turns), target=dialogue.reward, dialogues=(dialogue.id,), samples=tuple(samples)
            )
        )
    return made


class Heads(nn.Module):
    """Two values of each hidden state and of the number of turns that are left: (N, d), (N,) → (2, N).

    The number is an input of its own, because a prompt need not say how many turns there are. Two heads start
    differently, so that the smaller of their values is less often an overestimate.
    """

    def __init__(self, width: int, generator: torch.Generator):
        super().__init__()
        self.inner = nn.Parameter(torch.randn(2, width + 1, HIDDEN, generator=generator) / width**0.5)
        self.inner_bias = nn.Parameter(torch.zeros(2, 1, HIDDEN))
        self.outer = nn.Parameter(torch.randn(2, HIDDEN, 1, generator=generator) * 0.1 / HIDDEN**0.5)
        self.outer_bias = nn.Parameter(torch.full((2, 1, 1), 0.5))  # the middle of the rewards

    def forward(self, hidden: Tensor, left: Tensor) -> Tensor:
        seen = torch.cat([hidden.float(), left[:, None]], 1)
        return ((seen @ self.inner + self.inner_bias).tanh() @ self.outer + self.outer_bias)[..., 0]


class Critic(Objective):
    """Learns Q and V from whole dialogues, whose reward comes with the last turn; it starts where it was left.

    Figures: `accuracy`, how often Q of a turn lies on the side of 1/2 on which the reward of its dialogue does.
    """

    better = "last"
    compares = False

    def __init__(self, settings: ArcherConfig, reference: ReferenceCache, seed: int):
        super().__init__(reference)
        self.settings = settings
        base = reference.base
        generator = torch.Generator().manual_seed(int.from_bytes(lot(seed, "heads")[:7], "big"))
        width = base.model.get_output_embeddings().weight.shape[1]
        self.q, self.v = (Heads(width, generator).to(base.device) for _ in range(2))
        with base.adapter("critic"):
            self.trained = [*base.trainable(), *self.parameters()]
        # In float32: a small fraction of a step would be rounded away in 16 bits.
        self.target = {name: weight.detach().float().clone() for name, weight in self.trained}

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        lengths = [len(example.chosen) for example in examples]
        turns = [turn for example in examples for turn in example.chosen]  # N of all dialogues
        states, samples, left, each = self._read(examples)
        with torch.no_grad(), self._as_target():
            of_states = self.v(last_hidden(model, states), left)  # (2, N)
            of_samples = self.q(last_hidden(model, samples), left.repeat_interleave(each)).unflatten(1, (-1, each))
        last = torch.cumsum(torch.tensor(lengths, device=left.device), 0) - 1
        is_last = torch.zeros_like(left, dtype=torch.bool).index_fill(0, last, True)
        rewards = torch.zeros_like(left).index_put(
            (last,), torch.tensor([float(example.target) for example in examples], device=left.device)
        )
        of_q = q_targets(rewards, of_states.roll(-1, 1), is_last, self.settings.gamma)
        of_v = v_targets(of_samples)
        hidden = last_hidden(model, [*turns, *states])
        q, v = self.q(hidden[: len(turns)], left), self.v(hidden[len(turns) :], left)  # (2, N) each
        sums = Sums()
        parts = (each.split(lengths, -1) for each in (q, v, of_q, of_v))
        for example, *of_dialogue in zip(examples, *parts, strict=True):
            right = (of_dialogue[0].amin(0) > 0.5) == (example.target > 0.5)
            sums.add(example, actor_critic_error(*of_dialogue), accuracy=right.float().mean())
        return sums.total()

    def advantages(
        self, base: Base, examples: Sequence[Example], budget: TokenBudget, progress: Callable[[int, int], None]
    ) -> np.ndarray:
        """Computes A(o, ã) of all sampled turns, without gradients, in their order. progress: gets (done, all)."""
        found: dict[int, np.ndarray] = {}

        def work(indices: Sequence[int]) -> dict[str, float]:
            some = [examples[index] for index in indices]
            states, samples, left, each = self._read(some)
            with torch.no_grad():
                v = self.v(last_hidden(base.model, states), left).repeat_interleave(each, 1)
                q = self.q(last_hidden(base.model, samples), left.repeat_interleave(each))
            parts = utterance_advantage(q, v).cpu().numpy()
            ends = np.cumsum([len(example.samples) for example in some])[:-1]
            found.update(zip(indices, np.split(parts, ends), strict=True))
            progress(len(found), len(examples))
            return {}

        budget.spend(range(len(examples)), counter(examples, base.shares_prefixes), work, lambda: None)
        return np.concatenate([found[index] for index in range(len(examples))])

    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        heads = (("q", self.q), ("v", self.v))
        return [(f"{head}.{name}", weight) for head, of in heads for name, weight in of.named_parameters()]

    def state(self) -> dict[str, Tensor]:
        heads = {name: weight.detach() for name, weight in self.parameters()}
        return heads | {f"target.{name}": weight for name, weight in self.target.items()}

    def after_step(self) -> None:
        for name, weight in self.trained:
            self.target[name].copy_(polyak(self.target[name], weight.detach().float(), self.settings.tau))

    def _read(self, examples: Sequence[Example]) -> tuple[list[Turn], list[Turn], Tensor, int]:
        """Returns the N histories of dialogues; the N · K turns sampled there; the fraction of turns that are left at
        each history, (N,); and K."""
        most = self.settings.max_turns
        states = [history_of(turn) for example in examples for turn in example.chosen]
        samples = [turn for example in examples for turn in example.samples]
        before = [number for example in examples for number in range(len(example.chosen))]
        left = torch.tensor([max(0, most - number) / most for number in before], device=self.reference.base.device)
        return states, samples, left, len(samples) // len(states)

    @contextmanager
    def _as_target(self) -> Iterator[None]:
        """Inside the context model and heads have the weights of the target network."""
        live = [weight.data for _, weight in self.trained]
        try:
            for name, weight in self.trained:
                weight.data = self.target[name].to(weight.dtype)
            yield
        finally:
            for (_, weight), data in zip(self.trained, live, strict=True):
                weight.data = data


def history_of(turn: Turn) -> Turn:
    """Ends where the turn begins, so that the hidden state at its end is that of the history."""
    return Turn(turn.prompt[:-1], turn.prompt[-1:])


# ----------------------------------------------------------------------------------------------------------------------
# 4. policy


def advised(sampled: Sequence[Candidates], advantages: np.ndarray) -> list[Example]:
    """Makes an example of each sampled turn, as the policy reads it, with its advantage as target."""
    turns = [(each.history.group, turn) for each in sampled for turn in each.turns]
    return [
        Example(group, (turn,), target=float(advantage))
        for (group, turn), advantage in zip(turns, advantages, strict=True)
    ]


class Actor(Objective):
    """The policy gradient with the advantage of the utterance for each of its tokens."""

    better = "last"
    compares = False

    def __init__(self, settings: ArcherConfig, reference: ReferenceCache):
        super().__init__(reference)
        self.settings = settings

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        turns, sums = turns_of(examples), Sums()
        for example, turn, live in zip(examples, turns, self.log_probs(model, turns), strict=True):
            sampled = torch.from_numpy(turn.log_probs).to(live.device)
            loss = policy_gradient_loss(live, sampled, example.target, self.settings.ratio_clip)
            sums.add(example, loss, nll=nll([live]), sampler_difference=sampler_difference([turn], [live]))
            sums.weigh(turn_weight(live, sampled)[None])
        return sums.total()
