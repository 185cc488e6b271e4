"""Turn credit for GRPO by rollouts, as in VinePPO (Kazemnejad et al. 2024, arXiv 2410.01679, section 4).

    V̂(h)   the mean reward of K dialogues that the present policy plays on from h to their end
    A_t    = V̂(h_{t+1}) − V̂(h_t), where the reward R is the value of the end; so Σ_t A_t = R − V̂(h_1)

h_t is what was said before the agent's t-th message, so V̂(h_{t+1}) is the value after the reply to it. The dialogues of
one task that have a history in common, as all have the first, share its value. The tokens of a turn share A_t, divided
by the root mean square of all A_t of the step, as VinePPO's code whitens over its batch: then they have the size of
GRPO's own advantages, for which `learning_rate` and `beta` are set. GRPO's division by the deviation of a group does
not fit, because turns differ where a group's rewards are equal. No mean is subtracted, so the sum keeps the sign of
R − V̂(h_1).

The server takes up a dialogue at a history and draws new wordings from there, so V̂ is unbiased for any simulator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from trl import GRPOTrainer

from tandem_env.grpo import Dialogues
from tandem_env.played import Played

from .config import GrpoConfig

EPSILON = 1e-4  # beside the root mean square, as TRL has it beside the standard deviation


class Vine:
    """rollouts: number of dialogues that were played on from histories in all steps, replays included. tokens: those
    that the policy wrote in them. Of the last step: has_differed, whether the values differed from each other, and
    dropped, the number of dialogues with a history of which no rollout counts."""

    def __init__(self, dialogues: Dialogues, settings: GrpoConfig):
        self.dialogues, self.settings = dialogues, settings
        self.rollouts = self.tokens = self.dropped = 0
        self.has_differed = False

    @property
    def figures(self) -> dict[str, int]:
        return {"rollouts": self.rollouts, "rollout_tokens": self.tokens}

    def begin(self, figures: dict[str, int]) -> None:
        """figures: those until the checkpoint from which a run goes on."""
        self.rollouts, self.tokens = figures["rollouts"], figures["rollout_tokens"]

    def credit(self, made: dict[str, list[Any]], trainer: Any) -> dict[str, list[Any]]:
        """Plays rollouts from the histories of the last call of `Dialogues`, which gave `made`.

        Returns `made` with `token_advantages`, each as long as the dialogue's `completion_ids`. A dialogue that has a
        history without a value is masked, as one without a reward is.
        """
        played = self.dialogues.last
        advantages = self.advantages(trainer)
        self.dropped = sum(
            own is None and self._reward(each) is not None for own, each in zip(advantages, played, strict=True)
        )
        known = [value for own in advantages if own is not None for value in own]
        size = math.sqrt(sum(value**2 for value in known) / max(1, len(known)))
        self.has_differed = size > EPSILON
        pairs = list(zip(played, advantages, made["env_mask"], strict=True))
        return made | {
            "env_mask": [[0] * len(mask) if own is None else mask for _, own, mask in pairs],
            "token_advantages": [
                [0.0] * len(mask)
                if own is None
                else by_token([value / (size + EPSILON) for value in own], each.starts, mask)
                for each, own, mask in pairs
            ],
        }

    def advantages(self, trainer: Any) -> list[list[float] | None]:
        """Returns the advantages of each dialogue's turns, (T,), in units of the reward; None for a dialogue without a
        reward, or with a history of which no rollout has one."""
        played = [(each, self._reward(each), each.histories) for each in self.dialogues.last]
        rolls: dict[tuple[str, tuple[int, ...]], list[Played]] = {}
        for each, reward, histories in played:
            for history in histories if reward is not None else ():
                key = each.task, history.ids
                if key not in rolls:
                    rolls[key] = [each.taken_up_at(history) for _ in range(self.settings.vine_samples)]
        every = [roll for group in rolls.values() for roll in group]
        self.dialogues.play(every, trainer, len(played))
        self.rollouts += sum(roll.times for roll in every)
        self.tokens += sum(roll.written for roll in every)
        values = {key: mean([self._reward(roll) for roll in group]) for key, group in rolls.items()}
        return [
            None
            if reward is None
            else turn_advantages([values[each.task, history.ids] for history in histories], reward)
            for each, reward, histories in played
        ]

    def _reward(self, played: Played) -> float | None:
        if self.settings.reward == "tests":
            return played.reward
        return None if played.success is None else float(played.success)


def mean(rewards: Sequence[float | None]) -> float | None:
    """Over the known ones; None when there is none."""
    known = [reward for reward in rewards if reward is not None]
    return sum(known) / len(known) if known else None


def turn_advantages(values: Sequence[float | None], reward: float) -> list[float] | None:
    """A_t = V(h_{t+1}) − V(h_t). values: (T,), of the histories before the turns; None where one has none."""
    if None in values:
        return None
    return [after - before for before, after in pairwise([*values, reward])]


def by_token(advantages: Sequence[float], starts: Sequence[int], mask: Sequence[int]) -> list[float]:
    """Gives each token of the agent the advantage of its turn, and 0 to the others.

    advantages, starts: (T,), of the turns, the first of which starts at 0. mask: (C,), 1 for the agent's tokens.
    """
    spans = zip(advantages, pairwise([*starts, len(mask)]), strict=True)
    return [value * own for value, (start, end) in spans for own in mask[start:end]]


class VineTrainer(GRPOTrainer):
    """Takes the advantages from the rollout's `token_advantages`, where GRPOTrainer computes one for each dialogue.

    The loss of TRL 1.16 takes them as (B, C) beside (B,); to replace them here is what TRL advises (trl issue 4525).
    """

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        made = super()._generate_and_score_completions(inputs)
        ids = made["completion_ids"]  # (B, C), padded on the right
        made["advantages"] = torch.zeros(ids.shape, dtype=torch.float32, device=ids.device)
        for row, each in zip(made["advantages"], inputs, strict=True):
            row[: len(each["token_advantages"])] = torch.tensor(each["token_advantages"])
        return made
