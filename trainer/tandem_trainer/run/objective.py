"""The interface between training loop and objectives, and code that the objectives share."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ..config import RunConfig
from ..losses import effective_sample_size
from ..model.log_probs import token_log_probs
from ..model.prefix_tree import forest_tokens
from ..turn import Example, Turn
from .reference_cache import ReferenceCache

ROUNDING = 1e-6  # possible difference of one turn's score in packs with other neighbours

Scored = tuple[list[Tensor], list[Tensor]]  # the turns of one side: log π_θ and log π_ref, each (L_t,)


class Objective:
    """A loss over Examples, with figures that describe it."""

    # Criterion on held-out examples: higher margin, lower loss, or the last step where neither tells what is better.
    better: Literal["margin", "loss", "last"] = "margin"
    # Whether the loss compares with the base model, whose log-probabilities are then computed first.
    compares = True

    def __init__(self, reference: ReferenceCache):
        self.reference = reference

    def loss(self, model, examples: Sequence[Example]) -> tuple[Tensor, dict[str, float]]:
        """The weighted sum over `examples`, with gradients, and `Sums.figures`."""
        raise NotImplementedError

    def precompute(self, examples: Sequence[Example], progress: Callable[[int, int], None] | None = None) -> None:
        """Computes the reference log-probabilities, also of held-out examples; must run before `loss`."""
        if self.compares:
            self.reference.compute(turns_of(examples), progress)

    def parameters(self) -> list[tuple[str, torch.nn.Parameter]]:
        """Those that are trained beside the weights of the model."""
        return []

    def state(self) -> dict[str, Tensor]:
        """The values of `parameters` by name, not copied, and whatever else a resumed stage needs."""
        return {}

    def after_step(self) -> None:
        """Is called after each step of the optimiser."""

    def log_probs(self, model, turns: Sequence[Turn]) -> list[Tensor]:
        """(L_t,) float32 of each turn, with gradients."""
        return token_log_probs(model, turns, logits_bytes=self.reference.logits_bytes)


def algorithm_of(method: str) -> ModuleType:
    """Returns the module of a method, which has its mathematics:

        objectives(config, reference)                     the Objective of each stage that is trained, by stage
        train(run, base, template, prepared, reference)   trains, and returns the figures of each stage

    A method with `trl` has instead `train(run, tokenizer, path)`, which loads the model itself and returns it with some
    of the dialogues that it played and the figures.
    """
    return import_module(f"..methods.{method.replace('-', '_')}", __package__)


def objective_of(stage: str, config: RunConfig, reference: ReferenceCache) -> Objective:
    return algorithm_of(config.method).objectives(config, reference)[stage]


def sides(
    examples: Sequence[Example], live: Sequence[Tensor], fixed: Sequence[Tensor]
) -> Iterator[tuple[Example, Scored, Scored]]:
    """Splits scores into chosen and rejected turns. live, fixed: in the order of `turns_of`, perhaps longer."""
    at = 0
    for example in examples:
        middle, end = at + len(example.chosen), at + len(example.turns)
        yield example, (live[at:middle], fixed[at:middle]), (live[middle:end], fixed[middle:end])
        at = end


def turns_of(examples: Sequence[Example]) -> list[Turn]:
    return [turn for example in examples for turn in example.turns]


def counter(examples: Sequence[Example], shared: bool) -> Callable[[Sequence[int]], int]:
    """Returns a function of indices; shared: common prefixes count once."""
    return lambda indices: forest_tokens(turns_of([examples[index] for index in indices]), shared=shared)


def ordered(better: Tensor, worse: Tensor) -> Tensor:
    """1 in the right order, 0 in the wrong one, ½ when equal, as before training."""
    difference = (better - worse).detach()
    return torch.where(difference.abs() < ROUNDING, 0.5, (difference > 0).float())


def sampler_difference(turns: Sequence[Turn], live: Sequence[Tensor]) -> Tensor | None:
    """The mean |log p of the trainer − log p of the sampler| over tokens with a sampler's figure, or None.

    For turns that the model itself sampled at temperature 1 this starts near 0, apart from rounding, and grows as
    training moves the model away from the sampling weights.
    """
    told = [(said, now) for turn, now in zip(turns, live, strict=True) if (said := turn.log_probs) is not None]
    said = np.concatenate([np.empty(0, np.float32), *(said for said, _ in told)])
    known = np.flatnonzero(np.isfinite(said))
    if not len(known):
        return None
    now = torch.cat([now for _, now in told]).detach()
    of_trainer = now[torch.from_numpy(known).to(now.device)]
    return (of_trainer - torch.from_numpy(said[known]).to(now.device)).abs().mean()


class Sums:
    """Sums a loss and its figures over examples, with one transfer from the device at the end.

    An example without a figure is counted in `without_<figure>`. `means` turns sums into means.
    """

    def __init__(self) -> None:
        self.losses: list[Tensor] = []
        self.values: dict[str, list[Tensor]] = defaultdict(list)
        self.counts: dict[str, float] = defaultdict(float)

    def add(self, example: Example, loss: Tensor, **values: Tensor | None) -> None:
        self.losses.append(example.weight * loss)
        self.counts["examples"] += 1
        self.counts["tokens"] += sum(len(turn.response) for turn in example.turns)
        for name, value in values.items():
            if value is None:
                self.counts[f"without_{name}"] += 1
            else:
                self.values[name].append(value.detach().float())

    def weigh(self, weights: Tensor) -> None:
        """weights: (T,) of old turns; `means` has their effective sample size."""
        self.counts["weighed"] += len(weights)
        for name, power in (("weights", 1), ("squared_weights", 2)):
            self.values[name].append(weights.detach().float().pow(power).sum())

    def total(self) -> tuple[Tensor, dict[str, float]]:
        loss = torch.stack(self.losses).sum()
        sums = [loss.detach(), *(torch.stack(values).sum() for values in self.values.values())]
        named = zip(["loss", *self.values], torch.stack(sums).tolist(), strict=True)
        return loss, {**dict(named), **self.counts}


def means(figures: dict[str, float]) -> dict[str, float]:
    told = {}
    figures = dict(figures)
    if count := figures.pop("weighed", 0):
        size = effective_sample_size(figures.pop("weights"), figures.pop("squared_weights"))
        told["effective_sample_size"] = min(1.0, size / count)  # rounding may exceed n
    for name, value in figures.items():
        having = figures["examples"] - figures.get(f"without_{name}", 0)
        if name not in ("examples", "tokens") and not name.startswith("without_") and having > 0:
            told[name] = value / having
    return told
