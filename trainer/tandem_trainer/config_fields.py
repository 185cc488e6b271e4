"""The types of fields in `run.json`, and the settings that every trained stage has."""

from pathlib import Path, PurePosixPath
from typing import Annotated, ClassVar, NoReturn
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

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


# ---- files, folders and models: they must exist, and become absolute when run.json is read
#
# The folder of run.json comes as the validation's context. A configuration that is made in code has none, and keeps its
# paths. Errors of all: PydanticCustomError with the end of a sentence.


INSTEAD = "`tandem train` writes the rows of a data folder and starts the run"


def file(value: str, about: ValidationInfo) -> str:
    if about.context is None:
        return value
    path = _path(value, about)
    if is_data_folder(path):
        _refuse(f"{path} is a data folder: {INSTEAD}")
    if not path.is_file():
        _refuse(f"there is no file at {path}")
    return str(path.resolve())


def folder(value: str, about: ValidationInfo) -> str:
    if about.context is None:
        return value
    path = _path(value, about)
    if not path.is_dir():
        _refuse(f"there is no folder at {path}")
    return str(path.resolve())


def around(value: str, about: ValidationInfo) -> str:
    """The folder must hold that of run.json."""
    if about.context is None:
        return value
    if not Path(value).is_absolute():
        _refuse(f"{value} is not an absolute path, and other machines have other working directories")
    if not Path(value).is_dir():
        _refuse(f"there is no folder at {value}")
    inside = about.context["folder"]
    if not inside.is_relative_to(Path(value).resolve()):
        _refuse(f"the folder of the run, {inside}, is not in {value}: give `tandem train` a --data folder that is")
    return value


def elsewhere(value: str) -> str:
    """The path must be absolute on other machines, which have Linux."""
    if not PurePosixPath(value).is_absolute():
        _refuse(f"{value} is not an absolute path, and other machines have other working directories")
    return value


def web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number, or of brackets without an address
        sound = False
    if not sound:
        _refuse(f"{value} is not the address of a dashboard, such as http://head:8265")
    return value


def model(value: str, about: ValidationInfo) -> str:
    """A name on the hub, `owner/name`, stays as it is."""
    if about.context is None:
        return value
    path = _path(value, about)
    if path.is_dir():
        if not (path / "config.json").is_file():
            _refuse(f"{path} is not a Hugging Face model, because it has no config.json")
        return str(path.resolve())
    if value == "" or value[0] in "./~\\" or value.count("/") > 1 or "\\" in value:
        _refuse(f"there is no model folder at {path}")
    return value


def is_data_folder(path: Path) -> bool:
    return (path / "log").is_dir()


def _path(value: str, about: ValidationInfo) -> Path:
    return about.context["folder"] / Path(value).expanduser()


def _refuse(sentence: str) -> NoReturn:
    # The sentence is a value of the template, because a path may hold braces.
    raise PydanticCustomError("place", "{sentence}", {"sentence": sentence})
