"""The settings of the methods; those of SWEET-RL, critic, candidates and policy, come first."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from ..config_fields import (
    STRICT,
    Beta,
    Count,
    Epochs,
    MaxTokens,
    NegativeLogLikelihood,
    NotNegative,
    OptimiserConfig,
    Positive,
    ScheduleConfig,
    Share,
)


@dataclass(frozen=True, config=STRICT)
class CriticConfig(OptimiserConfig):
    """Stage 1: the critic learns which turns made a dialogue better."""

    epochs: Epochs = 4.0
    max_tokens: MaxTokens = 8192
    score: Literal["log-ratio", "value-head", "untrained", "answer-now", "monte-carlo"] = Field(
        "log-ratio",
        title="Score",
        description="The log-ratio to the reference model, as in the paper; a value head, to compare with; or without "
        "a critic: the untrained baseline, forced answers (answer-now), or dialogues played to their end "
        "(monte-carlo).",
    )
    hidden_information: bool = Field(
        True, title="Hidden information", description="The critic sees the hidden reference; the agent never does."
    )
    length_normalisation: bool = Field(
        True,
        title="Length normalization",
        description="A turn’s score is its mean over tokens, so that long turns do not win by length.",
    )
    beta: Beta = 0.1
    nll: NegativeLogLikelihood = 0.01
    samples: Annotated[int, Field(ge=1, le=1024)] = Field(
        8,
        title="Samples per value",
        description="Answers, or dialogues, whose mean reward is the score of a candidate, for answer-now and "
        "monte-carlo.",
    )
    player: str | None = Field(
        None,
        title="Player",
        description="Answers or plays on after each candidate, for answer-now and monte-carlo: a model as for "
        "`tandem serve --value-agent`, without an API key. Not set: the base model, which needs an ONNX graph.",
    )
    simulator: str = Field(
        "rules",
        title="Simulator",
        description="Replies to candidates, for answer-now and monte-carlo: rules, or a model as for `tandem serve "
        "--simulator`, without an API key.",
    )
    max_turns: Count = Field(
        10,
        title="Max. agent turns",
        description="The last message that the agent may send counts as its answer, for answer-now and monte-carlo.",
    )

    @property
    def is_played(self) -> bool:
        """Whether `tandem serve` values the candidates (`run/environment.py`)."""
        return self.score in ("answer-now", "monte-carlo")

    @property
    def needs_hidden_information(self) -> bool:
        return self.hidden_information and not self.is_played


@dataclass(frozen=True, config=STRICT)
class CandidatesConfig:
    """Stage 2: turns are sampled for the histories of the dialogues, and ranked by the critic."""

    per_turn: Annotated[int, Field(ge=2)] = Field(
        16, title="Candidates per turn", description="How many are sampled for each history."
    )
    # The logged turn helps a policy that rarely writes such turns. All our measurements sample every candidate.
    with_logged: bool = Field(
        False,
        title="With the logged turn",
        description="One of the candidates is the turn that was logged: for a model that seldom writes such turns. "
        "The paper samples all.",
    )
    pairs_per_turn: Count = Field(4, title="Pairs per turn", description="How many pairs are made of its candidates.")
    # The first trajectories of every task come first; a tenth of the paper's are 1,500.
    trajectories: Share = Field(
        0.1,
        title="Fraction of dialogues",
        description="Candidates are sampled for this fraction of the dialogues; the paper uses 0.1.",
    )
    rounds: Count = Field(
        1,
        title="Rounds",
        description="Each further round samples candidates from the policy of the previous round.",
    )
    temperature: Positive = Field(1.0, title="Temperature", description="Higher makes candidates differ more.")
    top_p: Share = Field(
        1.0, title="Top-p", description="Samples from the most likely tokens that together have this probability."
    )
    max_new_tokens: Count = Field(
        1024, title="Max. candidate length", description="In tokens; longer candidates are truncated."
    )

    @property
    def sampled(self) -> int:
        """Without the logged turn."""
        return self.per_turn - self.with_logged

    @property
    def policy_stages(self) -> int:
        return self.rounds


@dataclass(frozen=True, config=STRICT)
class PolicyConfig(OptimiserConfig):
    """Stage 3 of SWEET-RL, and the only stage of the baselines: the model that plays the agent is trained."""

    loss: Literal["preference", "projection"] = Field(
        "preference",
        title="Loss",
        description="Prefers the better of a pair, as in the paper; or imitates all candidates, each weighted by "
        "exp(score / lambda) (projection).",
    )
    projection_lambda: Positive = Field(
        1.0,
        title="Lambda",
        description="For loss projection: how little scores matter, in standard deviations of the scores of one "
        "history. Near 0 only the best candidate is imitated.",
    )
    beta: Beta = 0.1
    nll: NegativeLogLikelihood = 0.01
    more_epochs: NotNegative = Field(
        0.0, title="More epochs", description="After the other epochs, at their final learning rate."
    )
    minimum_reward: float = Field(
        1.0,
        title="Minimum reward",
        description="Dialogues with at least this reward are imitated; 1 is a success. Of a web page, only its best "
        "dialogue is: with 1, whatever its score.",
    )


@dataclass(frozen=True, config=STRICT)
class DistillConfig(OptimiserConfig):
    """What a teacher teaches the student, and how long."""

    rates: ClassVar[tuple[float, float]] = (1e-5, 1e-4)
    learning_rate: Positive | None = Field(
        None, title="Learning rate", description="Not set: 1e-5 for all weights, and 1e-4 for adapters."
    )
    epochs: Epochs = 3.0
    target: Literal["guided", "written"] = Field(
        "guided",
        title="Teacher",
        description="Guided: the base model, which chooses what to ask by the hidden information. Written: whoever "
        "wrote the questions in the dialogues, such as a larger model.",
    )
    eta: NotNegative = Field(
        4.0,
        title="Eta",
        description="How strongly the hidden information guides the choice. With 0 there is nothing to learn.",
    )

    @property
    def needs_hidden_information(self) -> bool:
        return self.target == "guided"


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
