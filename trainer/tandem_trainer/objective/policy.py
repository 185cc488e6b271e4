"""Stage 3 of SWEET-RL: a policy that prefers the turns that the critic found good. It never sees c.

Step-wise DPO (eq. 4): the two sides of an example are two turns with one history, whatever happened afterwards. Pairs
of ranked candidates and human preferences are alike; the example's weight tells how much one counts.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from ..config import PolicyConfig
from ..turn import Example, Turn
from .losses import Convention, kl_estimate, log_ratios, nll, preference_loss
from .objective import Objective, Sums, ordered, sampler_difference, sides, turns_of
from .reference_cache import ReferenceCache


class Policy(Objective):
    """DPO plus a small likelihood of the chosen side, which keeps its probability from falling with the rejected one.

    Figures beside those of the critic: `nll` of the chosen side in nats a token; `sampler_difference`, where turns were
    sampled plainly; and `kl`, over the tokens of sampled turns: how far the policy went from the reference on what the
    reference itself writes, KL(π_ref ‖ π_φ) in nats a token. That is about right for candidates of the first round at
    temperature 1, because a pair takes one from either half of the ranking, though a turn that was sampled twice counts
    once; for turns that somebody else sampled it only tells that the policy moves.
    """

    better = "margin"

    def __init__(
        self,
        settings: PolicyConfig,
        reference: ReferenceCache,
        convention: Convention = "paper",
        plainly_sampled: bool = True,
    ):
        super().__init__(reference)
        self.settings = settings
        self.convention = convention
        self.plainly_sampled = plainly_sampled  # at temperature 1 and without top-p

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        turns, sums = turns_of(examples), Sums()
        imitated = [self.imitated(turn) for example in examples for turn in example.chosen]
        live = self.log_probs(model, [*turns, *imitated])  # tokens that are there already cost nothing
        likely = iter(live[len(turns) :])
        for example, chosen, rejected in sides(examples, live, self.reference.of(turns)):
            better, worse = log_ratios(*chosen).sum(), log_ratios(*rejected).sum()
            nats = nll([next(likely) for _ in example.chosen])
            both_live, both_fixed = chosen[0] + rejected[0], chosen[1] + rejected[1]
            sums.add(
                example,
                preference_loss(better, worse, self.settings.beta) + self.settings.nll * nats,
                margin=self.settings.beta * (better - worse),
                accuracy=ordered(better, worse),
                log_ratio_chosen=better,
                log_ratio_rejected=worse,
                nll=nats,
                kl=_kl(example.turns, both_live, both_fixed),
                sampler_difference=sampler_difference(example.turns, both_live) if self.plainly_sampled else None,
            )
        return sums.total()

    def imitated(self, turn: Turn) -> Turn:
        """What the likelihood is of: the response, or, by the convention of the reference code, the prompt as well."""
        if self.convention == "paper":
            return turn
        tokens = np.concatenate([turn.prompt, turn.response])
        return Turn(prompt=tokens[:1], response=tokens[1:])


def _kl(turns: Sequence[Turn], live: Sequence[Tensor], fixed: Sequence[Tensor]) -> Tensor | None:
    """Over the tokens of the turns that were sampled; None when none was."""
    sampled = [number for number, turn in enumerate(turns) if turn.sampled]
    return kl_estimate([live[n] for n in sampled], [fixed[n] for n in sampled]) if sampled else None
