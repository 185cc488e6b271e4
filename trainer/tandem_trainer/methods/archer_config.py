"""The settings of ArCHer."""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from ..config_fields import STRICT, Count, Epochs, NotNegative, Positive, ScheduleConfig, Share


@dataclass(frozen=True, config=STRICT)
class ArcherConfig(ScheduleConfig):
    """Off-policy actor and critic. What a policy is trained by is that of other methods; the critic has its own rate.

    Each iteration samples turns from the policy, trains the critic, and then the policy on the sampled turns. Each of
    these stages has a warm-up and a decay of its own.
    """

    epochs: Epochs = 1.0
    batch: Count = Field(
        32,
        title="Batch size",
        description="Dialogues of a step of the critic, and sampled turns of a step of the policy.",
    )
    iterations: Count = Field(
        3, title="Iterations", description="Each trains the critic and then the policy, on turns that it samples anew."
    )
    critic_epochs: Positive = Field(
        2.0, title="Critic epochs", description="Passes of the critic over all dialogues in each iteration."
    )
    critic_warmup: NotNegative = Field(
        4.0,
        title="Critic warm-up epochs",
        description="Further passes of the critic before the policy is trained for the first time.",
    )
    critic_learning_rate: Positive | None = Field(
        None,
        title="Critic learning rate",
        description="Not set: 1e-5 for all weights, and 1e-4 for adapters.",
    )
    gamma: Share = Field(
        1.0,
        title="Discount",
        description="What a reward one turn later is worth. Below 1 the agent is paid for answering early.",
    )
    tau: Share = Field(
        0.1, title="Tau", description="The target network takes this fraction of the critic after each of its steps."
    )
    hidden_information: bool = Field(
        False, title="Hidden information", description="The critic sees the hidden reference; the agent never does."
    )
    ratio_clip: Positive = Field(
        0.2,
        title="Ratio clipping",
        description="A token is trained until its probability has changed by this fraction since it was sampled.",
    )
    samples: Annotated[int, Field(ge=2)] = Field(
        4,
        title="Turns per history",
        description="The policy samples so many; the value of a history is their mean, of which one would be noise.",
    )
    max_new_tokens: Count = Field(
        1024, title="Max. message length", description="Of each sampled message, in tokens; the rest is cut off."
    )
    max_turns: Count = Field(
        10,
        title="Max. agent turns",
        description="Of the dialogues. The critic is told how many are left; new ones have no more.",
    )
    dialogues: Count = Field(
        64,
        title="New dialogues",
        description="Played in each iteration with tasks of data.tasks; without such packs none are.",
    )
    simulator: str = Field(
        "rules",
        title="Simulator",
        description="Replies in new dialogues: rules, or a model as for `tandem serve --simulator`, without an API "
        "key.",
    )

    @property
    def needs_hidden_information(self) -> bool:
        return self.hidden_information

    @property
    def policy_stages(self) -> int:
        return self.iterations
