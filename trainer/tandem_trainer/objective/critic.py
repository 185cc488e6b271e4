"""Stage 1 of SWEET-RL: a critic that knows the hidden information c and learns which turns made a trajectory better.

The critic is a language model. The advantage of a turn is by how much it finds its tokens more probable than the
reference does, on average (eq. 3). It is trained so that the advantages of the better of two trajectories of one task
add up to more than those of the worse (eq. 2), with a small likelihood of the better one's turns beside it, as in the
paper's settings: without it both may become ever less likely, as long as the worse does so faster.
The turns come with c in their prompts or, for the ablation, without (`Template.turns`); nothing here knows which.
"""

from collections.abc import Sequence

from torch import Tensor

from ..config import CriticConfig
from ..turn import Example
from .losses import Convention, nll, preference_loss, trajectory_advantage
from .objective import Objective, Sums, ordered, sides, turns_of
from .reference_cache import ReferenceCache


class Critic(Objective):
    """Bradley–Terry over pairs of trajectories of one task, of which `chosen` has the higher reward.

    Figures: `log_ratio_chosen` and `log_ratio_rejected` are the two sums of advantages, `margin` is β times their
    difference, `accuracy` how often it is positive, `nll` that of the chosen side's turns in nats a token.
    """

    better = "margin"

    def __init__(self, settings: CriticConfig, reference: ReferenceCache, convention: Convention = "paper"):
        super().__init__(reference)
        self.settings = settings
        self.convention = convention

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        turns, sums = turns_of(examples), Sums()
        for example, chosen, rejected in sides(examples, self.log_probs(model, turns), self.reference.of(turns)):
            better = trajectory_advantage(*chosen, self.settings.length_normalisation, self.convention)
            worse = trajectory_advantage(*rejected, self.settings.length_normalisation, self.convention)
            nats = nll(chosen[0])
            sums.add(
                example,
                preference_loss(better, worse, self.settings.beta) + self.settings.nll * nats,
                margin=self.settings.beta * (better - worse),
                accuracy=ordered(better, worse),
                log_ratio_chosen=better,
                log_ratio_rejected=worse,
                nll=nats,
            )
        return sums.total()
