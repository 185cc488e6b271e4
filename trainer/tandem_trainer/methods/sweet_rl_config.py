"""The settings of SWEET-RL: its critic, its candidates and its policy, which the baselines share."""

from typing import Annotated, Literal

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
        """Whether `tandem serve` values the candidates (`run/played_values.py`)."""
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
