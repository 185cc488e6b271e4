"""What the settings of a run ask of its method.

What depends on settings is a property of their group, where it has one: `needs_hidden_information`, and
`policy_stages`, the number of stages that train the policy.
"""

from __future__ import annotations

from typing import Any

from ..config import RunConfig
from ..config_fields import ScheduleConfig
from .table import METHODS, Method


def method_of(config: RunConfig) -> Method:
    return METHODS[config.method]


def policy_settings(config: RunConfig) -> ScheduleConfig:
    """Returns the settings of the stage `policy`."""
    return getattr(config, method_of(config).policy)


def trains_critic(config: RunConfig) -> bool:
    return method_of(config).critic and config.critic.score != "untrained" and not config.critic.is_played


def plays_values(config: RunConfig) -> bool:
    """Whether the run starts `tandem serve` to value candidates by what is played after them."""
    return method_of(config).critic and config.critic.is_played


def projects(config: RunConfig) -> bool:
    """Whether the policy learns from all candidates, each by its weight, and not from pairs of them."""
    return method_of(config).candidates and config.policy.loss == "projection"


def runs_in_parallel(config: RunConfig) -> bool:
    return config.resources.processes > 1 or config.resources.cluster is not None


def needs_hidden_information(config: RunConfig) -> bool:
    """Whether every dialogue must have it. What is played needs only the task's tests."""
    return any(_asked(config, "needs_hidden_information"))


def rounds_of(config: RunConfig) -> int:
    """The number of stages that train the policy."""
    return max(_asked(config, "policy_stages"), default=1)


def _asked(config: RunConfig, name: str) -> list[Any]:
    """Returns the property of each group of settings that has it."""
    groups = [getattr(config, group) for group in method_of(config).settings]
    return [getattr(group, name) for group in groups if hasattr(group, name)]
