"""A critic that predicts the return instead (the paper's ablation; like the turn-level critic of ArCHer, 2402.19446).

A linear head on the hidden state at the last token of a turn, which has read c, the history and the turn: σ(w·h + b) is
the predicted reward of the trajectory. Trained by cross-entropy against the reward that the trajectory got
(`losses.value_loss` says why), with the same model and adapter below it.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ..model.base import Base
from ..model.log_probs import last_hidden
from ..running.budget import TokenBudget
from ..turn import Example, Turn
from .losses import value_loss
from .objective import Objective, Sums, turns_of
from .reference_cache import ReferenceCache
from .scoring import in_batches


class ValueHead(Objective):
    """Examples hold one trajectory each, in `chosen`, and its reward in `target`."""

    better = "loss"

    def __init__(self, reference: ReferenceCache):
        super().__init__(reference)
        base = reference.base
        width = base.model.get_output_embeddings().weight.shape[1]
        # From zero, every turn is predicted even and no random numbers are needed.
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
        """(len(turns),) float32, the logit of the predicted reward after each turn."""
        return last_hidden(model, turns).float() @ self.weight + self.bias

    def scores(self, base: Base, turns: Sequence[Turn], budget: TokenBudget) -> np.ndarray:
        """(len(turns),) float32, `values` without gradients, as many at once as the budget allows."""
        return np.array(in_batches(base, turns, budget, lambda batch: self.values(base.model, batch).cpu().numpy()))

    def precompute(self, examples: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> None:
        """There is no reference."""

    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        return [("value_head.weight", self.weight), ("value_head.bias", self.bias)]

    def state(self) -> dict[str, Tensor]:
        return {name: parameter.detach() for name, parameter in self.parameters()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, parameter in self.parameters():
                parameter.copy_(state[name])
