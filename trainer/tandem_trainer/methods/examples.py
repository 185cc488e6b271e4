"""The training examples of a run, by what its method learns from; without PyTorch, so that `check` can count them.

A method that needs more of a dialogue than these examples hold makes it in its `train` from `prepared.dialogues`.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ..config import RunConfig
from ..data.dialogue import Dialogue
from ..data.lessons import taught
from ..data.pairs import imitation, returns, trajectory_pairs
from ..data.template import Template
from ..turn import Example
from .settings import method_of, trains_critic


class Examples(NamedTuple):
    """critic: empty when no critic is trained. policy: all examples, or those beside the candidates to come."""

    critic: list[Example]
    policy: list[Example]


def examples_of(config: RunConfig, dialogues: Sequence[Dialogue], template: Template) -> Examples:
    """dialogues: settled. Errors: Fault(usage) when there is nothing to learn from."""
    method, data = method_of(config), config.data
    if method.critic:
        if not trains_critic(config):
            return Examples([], [])
        read = partial(template.all_turns, hidden=config.critic.hidden_information)
        if config.critic.score == "value-head":
            return Examples(returns(dialogues, read), [])
        return Examples(trajectory_pairs(dialogues, read, data.pairing, data.pair_margin), [])
    if not dialogues:  # then there are human preferences
        return Examples([], [])
    if method.learns_from == "successes":
        return Examples([], imitation(dialogues, template.all_turns, config.policy.minimum_reward))
    if method.learns_from == "pairs":
        return Examples([], trajectory_pairs(dialogues, template.all_turns, data.pairing, data.pair_margin))
    if config.method == "distill":
        return Examples([], taught(dialogues, template, config.distill.target))
    return Examples([], returns(dialogues, template.all_turns))
