"""A run whose policy was ended by request: somebody wanted its model then, and not after all its steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..config import RunConfig


@dataclass(frozen=True)
class Ended:
    """After which of the steps that the stage would have had; the rounds behind it were not begun."""

    stage: str
    step: int
    steps: int

    @property
    def sentence(self) -> str:
        return f"It was ended at step {self.step:,} of {self.steps:,} of {self.stage}, as somebody has asked."


def is_policy(stage: str) -> bool:
    """Of any round."""
    return stage.partition("-")[0] == "policy"


def last_policy(config: RunConfig) -> str:
    rounds = config.candidates.rounds if config.method == "sweet-rl" else 1
    return "policy" if rounds == 1 else f"policy-{rounds}"


def is_ended(state: Mapping[str, Any], stage: str) -> bool:
    """Of the checkpoint of a stage: it is the result of one that was ended by request."""
    return state["done"] and "planned_steps" in state["figures"].get(stage, {})


def ended_early(figures: dict[str, dict[str, Any]], config: RunConfig) -> Ended | None:
    """None of a run that has come to its own end. figures: of all stages that are done, in their order."""
    stage = next(name for name in reversed(figures) if is_policy(name))
    steps = figures[stage]["steps"]
    planned = figures[stage].get("planned_steps")
    if planned is None and stage == last_policy(config):
        return None
    return Ended(stage, steps, planned or steps)
