"""Rejection fine-tuning: imitates the trajectories that succeeded (Yuan et al. 2023, arXiv 2308.01825)."""

from collections.abc import Sequence

from torch import Tensor

from ..config import RunConfig
from ..losses import nll
from ..run.objective import Objective, Sums, sampler_difference, turns_of
from ..run.reference_cache import ReferenceCache
from ..run.stages import train_policy
from ..turn import Example


def objectives(config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]:
    return {"policy": RejectionFineTuning(reference)}


train = train_policy


class RejectionFineTuning(Objective):
    """Rejection fine-tuning (RFT): the negative log-likelihood of successful trajectories; others are ignored.

    It is the mean over the agent's tokens of each trajectory, so that each counts equally.
    """

    better = "loss"
    compares = False

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        sums = Sums()
        log_probs = iter(self.log_probs(model, turns_of(examples)))
        for example in examples:
            live = [next(log_probs) for _ in example.chosen]
            nats = nll(live)
            sums.add(example, nats, nll=nats, sampler_difference=sampler_difference(example.chosen, live))
        return sums.total()
