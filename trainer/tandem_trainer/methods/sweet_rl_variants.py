"""What SWEET-RL is compared with: two other scores of turns, and a policy loss without pairs."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ..data.dialogue import Dialogue
from ..data.template import Template
from ..fault import Fault
from ..losses import Convention, nll, projection_weights, trajectory_advantage, turn_nll, value_loss
from ..model.base import Base
from ..model.log_probs import last_hidden
from ..run.budget import TokenBudget, in_batches
from ..run.objective import Objective, Sums, ordered, sampler_difference, turns_of
from ..run.reference_cache import ReferenceCache
from ..turn import Example, Ranked, Turn
from .config import CriticConfig


class ValueHead(Objective):
    """A critic that predicts the return instead of log-ratios (an ablation in SWEET-RL's paper).

    A linear head reads the hidden state h at the last token of a turn, which depends on c, the history and the turn:
    σ(w·h + b) is the predicted reward of the trajectory. It is trained by cross-entropy against the trajectory's reward
    (`value_loss` explains why), together with the adapter below it.
    Examples hold one trajectory each, in `chosen`, and its reward in `target`.
    """

    better = "loss"
    compares = False

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

    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        return [("value_head.weight", self.weight), ("value_head.bias", self.bias)]

    def state(self) -> dict[str, Tensor]:
        return {name: parameter.detach() for name, parameter in self.parameters()}


# ---- the untrained score


def untrained_accuracy(
    settings: CriticConfig,
    convention: Convention,
    reference: ReferenceCache,
    template: Template,
    dialogues: Sequence[Dialogue],
    pairs: Sequence[Example],
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, float]:
    """Returns the `accuracy` of the untrained score over the critic's held-out pairs, and their number.

    It is the control: only accuracy above it is the effect of training. The untrained score of a turn is how much more
    probable the hidden information makes it, log π_ref(a|o,c) − log π_ref(a|o), summed as the critic sums advantages.

    dialogues: settled, including those of the pairs. pairs: as the critic reads them, with computed reference scores.
    The result is empty when a pair has no hidden information or is too long with it: on other pairs than the critic's
    the figure would be meaningless.
    """
    hidden = not settings.hidden_information  # the view that the critic does not use
    wanted = {id for pair in pairs for id in pair.dialogues}
    some = [dialogue for dialogue in dialogues if dialogue.id in wanted]
    if not some or (hidden and any(dialogue.hidden_information is None for dialogue in some)):
        return {}
    views = template.all_turns(some, hidden=hidden)
    turns = [turn for of_dialogue in views for turn in of_dialogue]
    if any(len(turn.prompt) + len(turn.response) > settings.max_tokens for turn in turns):
        return {}
    reference.compute(turns, progress)
    other = dict(zip([dialogue.id for dialogue in some], views, strict=True))

    def advantage(seen: Sequence[Turn], id: str) -> Tensor:
        told, plain = (other[id], seen) if hidden else (seen, other[id])
        return trajectory_advantage(reference.of(told), reference.of(plain), settings.length_normalisation, convention)

    right = 0.0
    for pair in pairs:
        better, worse = map(advantage, (pair.chosen, pair.rejected), pair.dialogues)
        right += float(ordered(better, worse))
    return {"accuracy": right / len(pairs), "examples": len(pairs)}


# ---- projection


def weighted_candidates(ranked: Sequence[Ranked], lam: float) -> list[Example]:
    """Returns an example of each distinct candidate, whose weight is n·Σ w_i over its copies.

    lam: λ in units of the scores. As λ grows each weight nears the number of copies: imitation of the samples. As it
    falls to 0, the best candidate of a history gets all n. Histories whose scores are all equal hold the policy to its
    samples. Errors: Fault when that is so of all histories.
    """
    if not lam > 0:
        raise Fault(
            f"The candidates of each of {len(ranked)} histories have the same score, which teaches nothing: raise "
            "candidates.temperature or candidates.per_turn."
        )
    examples = []
    for one in ranked:
        turns = one.candidates.turns
        weights = len(turns) * projection_weights(torch.from_numpy(one.scores), lam)
        for places in one.candidates.different.values():
            weight = float(weights[places].sum())
            examples.append(Example(one.candidates.history.group, chosen=(turns[places[0]],), weight=weight))
    return examples


class Projection(Objective):
    """The weighted likelihood of candidates, −log π_φ(a | o) summed over the tokens of a turn.

    plainly_sampled: whether they were sampled at temperature 1 and without top-p, as figure `sampler_difference` needs.
    """

    better = "loss"
    compares = False

    def __init__(self, reference: ReferenceCache, plainly_sampled: bool = True):
        super().__init__(reference)
        self.plainly_sampled = plainly_sampled

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        sums = Sums()
        for example, live in zip(examples, self.log_probs(model, turns_of(examples)), strict=True):
            moved = sampler_difference(example.chosen, [live]) if self.plainly_sampled else None
            sums.add(example, turn_nll(live), nll=nll([live]), sampler_difference=moved)
        return sums.total()
