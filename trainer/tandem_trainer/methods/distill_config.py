"""The settings of distillation."""

from typing import ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from ..config_fields import STRICT, Epochs, NotNegative, OptimiserConfig, Positive


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
