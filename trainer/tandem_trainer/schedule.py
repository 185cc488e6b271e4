"""How many steps a stage takes, and the learning rate of each."""

import math

from .config import OptimiserConfig


def stage_steps(examples: int, settings: OptimiserConfig) -> tuple[int, int]:
    """(steps of the stage, steps of one whole epoch). The last batch of an epoch may be smaller than the others."""
    per_epoch = math.ceil(examples / settings.batch)
    steps = max(1, round(settings.epochs * per_epoch))
    return min(steps, settings.max_steps or steps), per_epoch


def learning_rate(step: int, steps: int, peak: float, warmup: float) -> float:
    """The rate of step 0 … steps − 1: linear up over the first `warmup` of the steps, then a cosine down to a tenth.

    Source: the paper's settings (arXiv 2503.15478, appendix): 3 % warm-up, cosine to 10 %.
    """
    rising = math.ceil(warmup * steps)
    if step < rising:
        return peak * (step + 1) / rising
    progress = (step - rising) / max(1, steps - 1 - rising)
    return peak * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * min(1.0, progress))))
