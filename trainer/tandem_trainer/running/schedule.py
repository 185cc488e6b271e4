"""How many steps a stage takes, and the learning rate of each."""

import math

from ..config import ModelConfig, OptimiserConfig, PolicyConfig
from ..data.order import steps_per_epoch


def stage_steps(examples: int, settings: OptimiserConfig) -> int:
    """Steps of a stage; part of an epoch, as in 1.5 epochs, is rounded to whole steps."""
    more = settings.more_epochs if isinstance(settings, PolicyConfig) else 0.0
    return scheduled_steps(examples, settings) + round(more * steps_per_epoch(examples, settings.batch))


def scheduled_steps(examples: int, settings: OptimiserConfig) -> int:
    """Those over which the learning rate rises and falls; the others keep its last value."""
    steps = max(1, round(settings.epochs * steps_per_epoch(examples, settings.batch)))
    return min(steps, settings.max_steps or steps)


def peak_learning_rate(settings: OptimiserConfig, model: ModelConfig) -> float:
    """The configured one, or the paper's 2e-7 for full fine-tuning and ten times that for adapters."""
    return settings.learning_rate or (2e-7 if model.training == "full" else 2e-6)


def learning_rate(step: int, steps: int, peak: float, warmup: float) -> float:
    """The rate of step 0 … steps − 1: linear up over the first `warmup` of the steps, then a cosine down to a tenth,
    which every later step keeps.

    Source: the paper's settings (arXiv 2503.15478, appendix): 3 % warm-up, cosine to 10 %.
    """
    rising = math.ceil(warmup * steps)
    if step < rising:
        return peak * (step + 1) / rising
    progress = min(1.0, (step - rising) / max(1, steps - 1 - rising))
    return peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * progress)))
