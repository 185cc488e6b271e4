"""Rejection fine-tuning: imitates the trajectories that succeeded (Yuan et al. 2023, arXiv 2308.01825)."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..config import RunConfig
from ..data.dialogue import counted
from ..losses import effective_sample_size, nll, turn_weight
from ..run.objective import Objective, Sums, sampler_difference, turns_of
from ..run.reference_cache import ReferenceCache
from ..run.stages import train_policy
from ..turn import Example, Turn
from .feedback import with_feedback

MIN_EFFECTIVE_SHARE = 1 / 5  # of the replayed turns: with a smaller effective sample size the run says so


def objectives(config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]:
    return {"policy": with_feedback(config, RejectionFineTuning(reference), reference)}


train = train_policy


class RejectionFineTuning(Objective):
    """Rejection fine-tuning (RFT): the negative log-likelihood of successful trajectories; others are ignored.

    It is the mean over the agent's tokens of each trajectory, so that each counts equally. In the mean of a replayed
    one, each turn has the weight min(1, ρ_t) of `turn_weight`, in which π is the policy at the start of the run: the
    weight of a turn does not grow while the turn is learned (decoupled from the trained policy, arXiv 2110.00641).
    """

    better = "loss"
    compares = False

    def __init__(self, reference: ReferenceCache):
        super().__init__(reference)
        self.weights: dict[Example, Tensor] = {}  # (T,) of each replayed example

    def precompute(self, examples: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> None:
        old = [example for example in examples if example.replayed]
        if not old:
            return
        self.reference.compute([turn for turn in turns_of(old) if is_logged(turn)], progress)
        self.weights = {example: torch.stack([self._weight(turn) for turn in example.chosen]) for example in old}
        unknown = sum(not is_logged(turn) for turn in turns_of(old))
        self.reference.budget.events.notice(replay_in_words(torch.cat(list(self.weights.values())), unknown))

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        sums = Sums()
        log_probs = iter(self.log_probs(model, turns_of(examples)))
        for example in examples:
            live = [next(log_probs) for _ in example.chosen]
            nats = loss = nll(live)
            if (weights := self.weights.get(example)) is not None:
                loss = nll([weight * turn for weight, turn in zip(weights, live, strict=True)])
                sums.weigh(weights)
            sums.add(example, loss, nll=nats, sampler_difference=sampler_difference(example.chosen, live))
        return sums.total()

    def _weight(self, turn: Turn) -> Tensor:
        """A turn without log-probabilities of its sampler counts in full."""
        if not is_logged(turn):
            return torch.ones((), device=self.reference.base.device)
        (start,) = self.reference.of([turn])
        return turn_weight(start, torch.from_numpy(turn.log_probs).to(start.device))


def is_logged(turn: Turn) -> bool:
    return turn.log_probs is not None and bool(torch.from_numpy(turn.log_probs).isfinite().any())


def replay_in_words(weights: Tensor, unknown: int) -> str:
    size = effective_sample_size(float(weights.sum()), float(weights.square().sum()))
    sentence = f"Effective sample size of {counted(len(weights), 'replayed turn')}: {size:.0f}"
    sentence += f", with a mean weight of {float(weights.mean()):.2f}"
    if unknown:
        sentence += f"; {unknown} without log-probabilities of their sampler count in full"
    if size < MIN_EFFECTIVE_SHARE * len(weights):
        sentence += (
            ". That is less than a fifth of them: the model would hardly write the others, so little is replayed; give "
            "dialogues of its own earlier rounds as data.earlier"
        )
    return f"{sentence}."
