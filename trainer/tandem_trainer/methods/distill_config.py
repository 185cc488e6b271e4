"""The settings of distillation, beside those of the policy's optimiser."""

from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from ..config_fields import STRICT, NotNegative


@dataclass(frozen=True, config=STRICT)
class DistillConfig:
    """What a teacher teaches the student."""

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
