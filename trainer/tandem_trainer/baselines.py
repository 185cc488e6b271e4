"""What SWEET-RL is compared with: rejection fine-tuning, multi-turn DPO, a value head and the untrained score."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from .config import CriticConfig, PolicyConfig, RunConfig
from .data.dialogue import Dialogue
from .data.template import Template
from .losses import Convention, nll, trajectory_advantage, value_loss
from .model.base import Base
from .model.log_probs import last_hidden
from .run.budget import TokenBudget, in_batches
from .run.objective import Objective, Sums, ordered, sampler_difference, turns_of
from .run.reference_cache import ReferenceCache
from .sweet_rl import Critic, Policy
from .turn import Example, Turn


def objective_of(stage: Literal["critic", "policy"], config: RunConfig, reference: ReferenceCache) -> Objective:
    if stage == "critic":
        is_head = config.critic.score == "value-head"
        return ValueHead(reference) if is_head else Critic(config.critic, reference, config.convention)
    if config.method == "rft":
        return RejectionFineTuning(reference)
    if config.method == "multiturn-dpo":
        return multi_turn_dpo(config.policy, reference)
    plainly = config.candidates.temperature == 1 and config.candidates.top_p == 1
    return Policy(config.policy, reference, config.convention, plainly_sampled=plainly)


class RejectionFineTuning(Objective):
    """Rejection fine-tuning (RFT): the negative log-likelihood of successful trajectories; others are ignored.

    It is the mean over the agent's tokens of each trajectory, so that each counts equally.
    """

    better = "loss"

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        sums = Sums()
        log_probs = iter(self.log_probs(model, turns_of(examples)))
        for example in examples:
            live = [next(log_probs) for _ in example.chosen]
            nats = nll(live)
            sums.add(example, nats, nll=nats, sampler_difference=sampler_difference(example.chosen, live))
        return sums.total()

    def precompute(self, examples: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> None:
        """Does nothing: there is no reference."""


def multi_turn_dpo(settings: PolicyConfig, reference: ReferenceCache) -> Policy:
    """Compares the better and the worse trajectory of one task as a whole (arXiv 2305.18290, eq. 7).

    The log-ratios of all the agent's tokens are summed; the policy's loss is the case of one turn. So every turn of the
    better trajectory becomes likelier, useless ones included; a turn-wise critic should improve on that. The
    collaborator's tokens are in no turn and thus masked, as in the reference code: here the conventions do not differ.
    """
    return Policy(settings, reference, convention="paper")


class ValueHead(Objective):
    """A critic that predicts the return instead of log-ratios (the paper's ablation; like ArCHer's, 2402.19446).

    A linear head reads the hidden state h at the last token of a turn, which depends on c, the history and the turn:
    σ(w·h + b) is the predicted reward of the trajectory. It is trained by cross-entropy against the trajectory's reward
    (`value_loss` explains why), together with the adapter below it.
    Examples hold one trajectory each, in `chosen`, and its reward in `target`.
    """

    better = "loss"

    def __init__(self, reference: ReferenceCache):
        super().__init__(reference)
        base = reference.base
        width = base.model.get_output_embeddings().weight.shape[1]
        # Starting at zero predicts 1/2 for every turn and needs no random numbers.
        self.weight = nn.Parameter(torch.zeros(width, dtype=torch.float32, device=base.device))
        self.bias = nn.Parameter(torch.zeros((), dtype=torch.float32, device=base.device))

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        sums = Sums()
        lengths = [len(example.chosen) for example in examples]
        values = self.values(model, turns_of(examples)).split(lengths)
        for example, of_turns in zip(examples, values, strict=True):
            right = (of_turns > 0) == (example.target > 0.5)
            sums.add(example, value_loss(of_turns, example.target), accuracy=right.float().mean())
        return sums.total()

    def values(self, model, turns: Sequence[Turn]) -> Tensor:
        """Computes the logit of the predicted reward after each turn, (len(turns),) float32."""
        return last_hidden(model, turns).float() @ self.weight + self.bias

    def scores(self, base: Base, turns: Sequence[Turn], budget: TokenBudget) -> np.ndarray:
        """Computes `values` without gradients, (len(turns),) float32, as many at once as the budget allows."""
        return np.array(in_batches(base, turns, budget, lambda batch: self.values(base.model, batch).cpu().numpy()))

    def precompute(self, examples: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> None:
        """Does nothing: there is no reference."""

    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        return [("value_head.weight", self.weight), ("value_head.bias", self.bias)]

    def state(self) -> dict[str, Tensor]:
        return {name: parameter.detach() for name, parameter in self.parameters()}


class UntrainedScore:
    """The untrained score of a turn: how much more probable the hidden information makes it, without any training.

    Its accuracy on the critic's held-out pairs is the control: only accuracy above it is the effect of training.

    dialogues: settled, including those of the pairs. settings: the critic's; turns are summed by its rules.
    """

    def __init__(
        self,
        settings: CriticConfig,
        convention: Convention,
        reference: ReferenceCache,
        template: Template,
        dialogues: Sequence[Dialogue],
    ):
        self.settings, self.convention = settings, convention
        self.reference, self.template, self.dialogues = reference, template, dialogues

    def measure(self, pairs: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> dict[str, float]:
        """Returns the `accuracy` over the pairs, computed as the critic's, and their number.

        pairs: as the critic reads them, with computed reference scores. The result is empty when a pair has no hidden
        information or is too long with it: on other pairs than the critic's the figure would be meaningless.
        """
        other = self._other_view(pairs)
        if other is None:
            return {}
        self.reference.compute([turn for turns in other.values() for turn in turns], progress)
        right = 0.0
        for pair in pairs:
            better, worse = (
                self._advantage(seen, other[id])
                for seen, id in zip((pair.chosen, pair.rejected), pair.dialogues, strict=True)
            )
            right += float(ordered(better, worse))
        return {"accuracy": right / len(pairs), "examples": len(pairs)}

    def _other_view(self, pairs: Sequence[Example]) -> dict[str, tuple[Turn, ...]] | None:
        """Returns each dialogue's turns in the view that the critic does not use; None when one lacks it."""
        hidden = not self.settings.hidden_information
        wanted = {id for pair in pairs for id in pair.dialogues}
        some = [dialogue for dialogue in self.dialogues if dialogue.id in wanted]
        if not some or (hidden and any(dialogue.hidden_information is None for dialogue in some)):
            return None
        views = self.template.all_turns(some, hidden=hidden)
        if any(len(turn.prompt) + len(turn.response) > self.settings.max_tokens for turns in views for turn in turns):
            return None
        return dict(zip([dialogue.id for dialogue in some], views, strict=True))

    def _advantage(self, seen: Sequence[Turn], other: Sequence[Turn]):
        """Sums log π_ref(a|o,c) − log π_ref(a|o) over the turns of a trajectory, as the critic sums advantages."""
        told, plain = (seen, other) if self.settings.hidden_information else (other, seen)
        return trajectory_advantage(
            self.reference.of(told), self.reference.of(plain), self.settings.length_normalisation, self.convention
        )
