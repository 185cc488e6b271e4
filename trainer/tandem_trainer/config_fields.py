"""The types of numbers in `run.json`, and the settings that every trained stage has."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, WithJsonSchema
from pydantic.dataclasses import dataclass

# Strict: `true` is not a number, and 1.0 is not a whole number.
STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(gt=0, le=1)]
PartOfAll = Annotated[float, Field(ge=0, lt=1)]
# Not Literal[1], for which pydantic takes true.
Version = Annotated[int, Field(ge=1, le=1), WithJsonSchema({"const": 1, "type": "integer"})]

# Fields of both stages that are trained, with defaults of their own.
Epochs = Annotated[Positive, Field(title="Epochs", description="Passes over all examples.")]
MaxTokens = Annotated[
    Count, Field(title="Max. example length", description="In tokens; longer examples are dropped and counted.")
]
Beta = Annotated[
    Positive, Field(title="Beta", description="How strongly the model is kept close to the reference model.")
]
NegativeLogLikelihood = Annotated[
    NotNegative,
    Field(
        title="NLL weight",
        description="Weight of the negative log-likelihood of the better side in the preference loss.",
    ),
]


@dataclass(frozen=True, config=STRICT)
class ScheduleConfig:
    """Adam with cosine decay to a tenth after a warm-up; one batch is `batch` examples, whatever fits in memory.

    rates: the learning rates for all weights and for adapters, where `learning_rate` is not set.
    """

    rates: ClassVar[tuple[float, float]] = (2e-7, 2e-6)
    learning_rate: Positive | None = Field(
        None,
        title="Learning rate",
        description="Not set: 2e-7 for all weights, as in the paper, and 2e-6 for adapters.",
    )
    batch: Count = Field(8, title="Batch size", description="Examples per step.")
    epochs: Epochs = 1.0
    max_steps: Count | None = Field(None, title="Max. steps", description="Ends the stage early; not set: no limit.")
    max_tokens: MaxTokens = 16384
    warmup: PartOfAll = Field(
        0.03, title="Warm-up", description="The fraction of the steps in which the learning rate rises."
    )
    clip: Positive = Field(
        1.0, title="Gradient clipping (max norm)", description="Larger gradients are scaled down to this norm."
    )
    weight_decay: NotNegative = Field(0.0, title="Weight decay", description="Pulls the weights toward 0.")
    evaluate_every: Count = Field(
        25,
        title="Evaluate every N steps",
        description="Steps between evaluations, each on half as many held-out examples as those steps train on.",
    )


@dataclass(frozen=True, config=STRICT)
class OptimiserConfig(ScheduleConfig):
    """With early stopping, for a stage whose held-out examples tell which step is best."""

    patience: Whole = Field(
        4,
        title="Early stopping patience",
        description="Evaluations without improvement before stopping; 0 turns early stopping off.",
    )
