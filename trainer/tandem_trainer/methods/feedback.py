"""What people left on single turns, trained beside the dialogues of a method or alone (`data.feedback`).

A pair (a choice, an edited suggestion) is DPO on its turn (arXiv 2305.18290, eq. 7). A turn without a pair (a thumb, a
verdict, a turn before an outcome) is KTO (arXiv 2402.01306, eq. 8). docs/training.md says what each signal becomes.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from ..config import FeedbackConfig, RunConfig
from ..events import Figures
from ..losses import log_ratios, preference_loss, reference_point, unpaired_loss
from ..run.objective import Objective, Sums, ordered, turns_of
from ..run.reference_cache import ReferenceCache
from ..turn import Example

FIGURES = tuple(Figures.__annotations__)


def with_feedback(config: RunConfig, objective: Objective, reference: ReferenceCache) -> Objective:
    return WithFeedback(objective, config.data.feedback, reference) if config.data.preferences else objective


class WithFeedback(Objective):
    """Adds the loss of examples with a `signal` to that of a method, which gets the others.

    Figures of feedback: `margin` is β times the log-ratio of the better side less that of the worse; of a turn without
    a pair less z₀, with its sign turned if the turn is undesirable. `accuracy` is how often it is positive.
    """

    def __init__(self, method: Objective, settings: FeedbackConfig, reference: ReferenceCache):
        super().__init__(reference)
        self.method, self.settings, self.better = method, settings, method.better
        self.parameters, self.state, self.after_step = method.parameters, method.state, method.after_step

    def precompute(self, examples: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> None:
        of_method, feedback = split(examples)
        if of_method:
            self.method.precompute(of_method, progress)
        if feedback:
            self.reference.compute(turns_of(feedback), progress)

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        of_method, feedback = split(examples)
        losses, figures = [], []
        for part, loss in ((of_method, self.method.loss), (feedback, self.of_feedback)):
            if part:
                of_part, told = loss(model, part)
                losses.append(of_part)
                figures.append(told)
        return torch.stack(losses).sum(), joined(figures)

    def of_feedback(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        turns, sums, beta = turns_of(examples), Sums(), self.settings.beta
        ratios = iter(log_ratios(self.log_probs(model, turns), self.reference.of(turns)))
        for example in examples:
            chosen, rejected, mismatched = (
                [next(ratios) for _ in side] for side in (example.chosen, example.rejected, example.samples)
            )
            better = torch.stack(chosen).sum()
            if example.target is None:
                worse = torch.stack(rejected).sum()
                loss = preference_loss(better, worse, beta)
            else:
                z0 = reference_point(mismatched)
                loss = unpaired_loss(better, z0, example.target, beta)
                worse = torch.zeros_like(better) if z0 is None else z0
                if example.target < 0.5:
                    better, worse = worse, better
            sums.add(example, loss, margin=beta * (better - worse), accuracy=ordered(better, worse))
        return sums.total()


def split(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    of_method = [example for example in examples if example.signal is None]
    return of_method, [example for example in examples if example.signal is not None]


def joined(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Adds the sums of two objectives. A figure that one of them lacks is counted as absent from its examples."""
    total: Counter[str] = Counter()
    for figures in parts:
        absent = (name for name in FIGURES if name not in figures and f"without_{name}" not in figures)
        total.update(figures)
        total.update({f"without_{name}": figures["examples"] for name in absent})
    return dict(total)
