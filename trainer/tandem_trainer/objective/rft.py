"""The baseline rejection fine-tuning (RFT): imitate the trajectories that succeeded, forget the others."""

from collections.abc import Callable, Sequence

from torch import Tensor

from ..turn import Example
from .losses import nll
from .objective import Objective, Sums, sampler_difference, turns_of


class RejectionFineTuning(Objective):
    """Negative log-likelihood of the agent's tokens, the mean over each trajectory, so that each counts once."""

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
        """There is no reference."""
