"""The settings of GRPO."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from ..config_fields import STRICT, Count, NotNegative, Positive


@dataclass(frozen=True, config=STRICT)
class GrpoConfig:
    """Online reinforcement learning by TRL's GRPOTrainer: the policy plays new dialogues in every step."""

    dialogues: Count = Field(
        600, title="Dialogues", description="Played during training, in all; each is used for one step."
    )
    tasks_per_step: Count = Field(
        4, title="Tasks per step", description="A step plays a group of dialogues of each of these tasks."
    )
    group: Annotated[int, Field(ge=2)] = Field(
        8,
        title="Group size",
        description="Dialogues of one task, whose rewards are compared with each other: only a difference teaches.",
    )
    credit: Literal["group", "vine"] = Field(
        "group",
        title="Credit",
        description="group: a dialogue's reward, compared with its group, for all its turns. vine: for each turn the "
        "change of the mean reward of dialogues that the policy plays on from there (VinePPO), which costs many more.",
    )
    vine_samples: Annotated[int, Field(ge=2)] = Field(
        4,
        title="Rollouts per history",
        description="Dialogues that credit vine plays on from before each turn, beside those of the groups.",
    )
    learning_rate: Positive | None = Field(
        None,
        title="Learning rate",
        description="It stays constant. Not set: 1e-6 for all weights, and 1e-5 for adapters.",
    )
    beta: NotNegative = Field(
        0.04,
        title="Beta",
        description="Weight of the KL divergence from the base model; 0 saves the memory of the base model.",
    )
    reward: Literal["tests", "success"] = Field(
        "tests",
        title="Reward",
        description="The fraction of the hidden tests that the answer passes, or 1 only for all of them.",
    )
    simulator: str = Field(
        "rules",
        title="Simulator",
        description="Replies to the agent: rules, or a model as for `tandem serve --simulator`, without an API key.",
    )
    agent: str | None = Field(
        None,
        title="Agent",
        description="Asks and answers where the collaborator is trained, and does not learn: a model as for `tandem "
        "serve --agent`, without an API key.",
    )
    leak_price: NotNegative | None = Field(
        None,
        title="Leak price",
        description="Is subtracted from the reward of a dialogue in which a reply gives the reference away. Not set: 1 "
        "for the collaborator; an agent plays such a dialogue again, or drops it.",
    )
    max_turns: Count = Field(
        10, title="Max. agent turns", description="The last message that the agent may send counts as its answer."
    )
    max_new_tokens: Count = Field(
        1024, title="Max. message length", description="Of each message of the agent, in tokens; the rest is cut off."
    )
    temperature: Positive = Field(1.0, title="Temperature", description="Higher makes the dialogues differ more.")
    evaluate_every: Count = Field(
        10,
        title="Evaluate every N steps",
        description="Steps between evaluations on held-out tasks, each with at most as many dialogues as a step.",
    )
    log: str | None = Field(
        None,
        title="Log",
        description="A data folder, such as .tandem, into whose log the dialogues are written; not set: they are not "
        "kept.",
        json_schema_extra={"format": "path"},
    )

    @property
    def batch(self) -> int:
        return self.tasks_per_step * self.group

    @property
    def steps(self) -> int:
        """At least `dialogues` are played."""
        return -(-self.dialogues // self.batch)
