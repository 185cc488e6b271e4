"""A policy loss of SWEET-RL without pairs: the closed form of KL-regularised improvement (`policy.loss: projection`).

The policy with the highest E[A] − λ KL(π ‖ π_ref) is π* ∝ π_ref exp(A/λ) (LINVIT, arXiv 2402.16181). Turns that π_ref
sampled, weighted by exp(A/λ), stand for samples of π*, and the policy learns by their likelihood. All n candidates of a
history teach; none is pushed down. In later rounds π_ref is the policy of the round before, which sampled them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..fault import Fault
from ..losses import nll, projection_weights, turn_nll
from ..run.objective import Objective, Sums, sampler_difference, turns_of
from ..run.reference_cache import ReferenceCache
from ..turn import Example, Ranked


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
