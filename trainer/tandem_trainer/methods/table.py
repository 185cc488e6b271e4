"""The training methods: one entry each, and one module in this folder that reads like its paper.

An entry says what others must know without loading PyTorch: the form of a new run, its checks and its plan go by it.
`algorithm_of` of run/objective.py says what the module of a method has, and CONTRIBUTING.md how to add one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Method:
    """title, description: as the form and the card of a model show them. source: where it was published.

    settings: the groups of run.json that it reads beside those of every run. ignores: fields that it does not read, of
        these groups and of others; a path stands for all below it.
    policy: the group with the settings of its stage `policy`.
    learns_from: what must be enough of: pairs of trajectories, successes, rewards (graded dialogues), dialogues, or
        tasks that it plays itself.
    may_play: whether it plays tasks beside its dialogues when there are packs; it trains in one process.
    preferences: whether rows of what people preferred or said of turns can stand beside the dialogues, or alone; of
        `feedback` only rows that name a signal of `data.feedback`.
    collaborator: what it learns from when it trains the collaborator: replies, edits of suggested ones, or dialogues
        that it plays.
    reference: whether the loss of the policy compares with the base model.
    trl: whether TRL trains it, in one process.
    """

    title: str
    description: str
    source: str
    settings: tuple[str, ...] = ("policy",)
    ignores: tuple[str, ...] = ()
    policy: str = "policy"
    learns_from: Literal["pairs", "successes", "rewards", "dialogues", "tasks"] = "dialogues"
    may_play: bool = False
    preferences: Literal["alone", "beside", "feedback", "none"] = "none"
    collaborator: Literal["replies", "edits", "dialogues", "none"] = "none"
    reference: bool = True
    trl: bool = False

    @property
    def critic(self) -> bool:
        return "critic" in self.settings

    @property
    def candidates(self) -> bool:
        """Whether it samples candidates for the turns of dialogues and ranks them."""
        return "candidates" in self.settings

    @property
    def plays(self) -> bool:
        return self.learns_from == "tasks"


METHODS: dict[str, Method] = {
    "sweet-rl": Method(
        title="SWEET-RL",
        description="A critic learns which turns helped, then the agent learns from turns that it ranks.",
        source="Zhou et al., 2025, arXiv 2503.15478",
        settings=("critic", "candidates", "policy"),
        ignores=("policy.minimum_reward",),
        learns_from="pairs",
        preferences="beside",
    ),
    "rft": Method(
        title="Rejection fine-tuning",
        description="The agent imitates the dialogues that succeeded.",
        source="Yuan et al., 2023, arXiv 2308.01825",
        ignores=(
            *("policy.beta", "policy.nll", "policy.loss", "policy.projection_lambda"),
            *("data.preferences", "data.preference_weight"),
        ),
        learns_from="successes",
        preferences="feedback",
        collaborator="replies",
        reference=False,
    ),
    "multiturn-dpo": Method(
        title="Multi-turn DPO",
        description="The agent learns to prefer whole dialogues that succeeded to those that did not.",
        source="Rafailov et al., 2023, arXiv 2305.18290, on whole dialogues",
        ignores=("policy.minimum_reward", "policy.loss", "policy.projection_lambda"),
        learns_from="pairs",
        preferences="alone",
        collaborator="edits",
    ),
    "distill": Method(
        title="Distillation",
        description="The agent learns to ask as a teacher does that sees the hidden information. Needs neither grades "
        "nor several dialogues of a task.",
        source="the teacher and student of arXiv 2401.06603, by the model's own guided choice",
        settings=("distill",),
        ignores=("data.preferences", "data.preference_weight", "data.pairing", "data.pair_margin"),
        policy="distill",
        preferences="feedback",
    ),
    "archer": Method(
        title="ArCHer",
        description="A critic learns from all dialogues what each turn is worth, and the agent learns to write turns "
        "that are worth more. It may also play new dialogues.",
        source="Zhou et al., 2024, arXiv 2402.19446",
        settings=("archer",),
        ignores=(
            *("data.preferences", "data.preference_weight", "data.feedback"),
            *("data.pairing", "data.pair_margin"),
        ),
        policy="archer",
        learns_from="rewards",
        may_play=True,
        reference=False,
    ),
    "grpo": Method(
        title="GRPO",
        description="The agent plays new dialogues while it trains, and learns from their rewards. Needs the Python "
        "package trl.",
        source="Shao et al., 2024, arXiv 2402.03300, by TRL, online with a simulator",
        settings=("grpo",),
        ignores=(
            *("data.trajectories", "data.earlier", "data.replay"),
            *("data.preferences", "data.preference_weight", "data.feedback"),
            *("data.pairing", "data.pair_margin", "data.measure", "data.renderer"),
            "data.with_doubtful",
        ),
        learns_from="tasks",
        collaborator="dialogues",
        trl=True,
    ),
}


def as_schema() -> dict[str, dict[str, Any]]:
    """The entries for the schema of run.json, by which the form shows the settings of a method."""
    return {name: asdict(method) for name, method in METHODS.items()}
