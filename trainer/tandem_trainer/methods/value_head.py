"""A critic of SWEET-RL that predicts the reward as a number, to compare with (`critic.score: value-head`)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ..losses import value_loss
from ..model.base import Base
from ..model.log_probs import last_hidden
from ..run.budget import TokenBudget, in_batches
from ..run.objective import Objective, Sums, turns_of
from ..run.reference_cache import ReferenceCache
from ..turn import Example, Turn


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
