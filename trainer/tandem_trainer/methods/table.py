"""The training methods: one entry each, and one module in this folder that reads like its paper.

An entry says what others must know without loading PyTorch: the form of a new run, its checks and its plan go by it.
What depends on settings is a property of their group, where it has one: `needs_hidden_information`, and
`policy_stages`, the number of stages that train the policy. The module of a method has its mathematics:

    objectives(config, reference)                     the Objective of each stage that is trained, by stage
    train(run, base, template, prepared, reference)   trains, and returns the figures of each stage

A method with `trl` has instead `train(run, tokenizer, path)`, which loads the model itself and returns it with some of
the dialogues that it played and the figures. CONTRIBUTING.md says how to add a method.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..config_fields import ScheduleConfig
    from ..data.template import Template
    from ..model.base import Base
    from ..run.objective import Objective
    from ..run.prepare import Prepared
    from ..run.reference_cache import ReferenceCache
    from ..run.run import Run
    from ..run.stages import Figures


@dataclass(frozen=True)
class Method:
    """title, description: as the form and the card of a model show them. source: where it was published.

    settings: the groups of run.json that it reads beside those of every run. ignores: fields that it does not read, of
        these groups and of others; a path stands for all below it.
    policy: the group with the settings of its stage `policy`.
    learns_from: what must be enough of: pairs of trajectories, successes, rewards (graded dialogues), dialogues, or
        tasks that it plays itself.
    may_play: whether it plays tasks beside its dialogues when there are packs; it trains in one process.
    preferences: whether human preferences can stand beside the dialogues, or alone.
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
    preferences: Literal["alone", "beside", "none"] = "none"
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
    ),
    "archer": Method(
        title="ArCHer",
        description="A critic learns from all dialogues what each turn is worth, and the agent learns to write turns "
        "that are worth more. It may also play new dialogues.",
        source="Zhou et al., 2024, arXiv 2402.19446",
        settings=("archer",),
        ignores=(*("data.preferences", "data.preference_weight", "data.pairing", "data.pair_margin"),),
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
            *("data.trajectories", "data.preferences", "data.preference_weight"),
            *("data.pairing", "data.pair_margin", "data.measure", "data.renderer"),
            "data.with_doubtful",
        ),
        learns_from="tasks",
        collaborator="dialogues",
        trl=True,
    ),
}


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


def as_schema() -> dict[str, dict[str, Any]]:
    """The entries for the schema of run.json, by which the form shows the settings of a method."""
    return {name: asdict(method) for name, method in METHODS.items()}


class Algorithm(Protocol):
    """What a module of this folder defines; see above."""

    def objectives(self, config: RunConfig, reference: ReferenceCache) -> dict[str, Objective]: ...

    def train(
        self, run: Run, base: Base, template: Template, prepared: Prepared, reference: ReferenceCache
    ) -> Figures: ...


def algorithm_of(method: str) -> Algorithm:
    return import_module(f"{__package__}.{method.replace('-', '_')}")  # type: ignore[return-value]


def objective_of(stage: str, config: RunConfig, reference: ReferenceCache) -> Objective:
    return algorithm_of(config.method).objectives(config, reference)[stage]
