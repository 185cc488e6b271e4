"""The events of a run, declared once: one JSON object per line in `events.jsonl`, which `run/event_file.py` writes.

Durations are in seconds. A figure is null where it is not a number, because JSON has no NaN. The JSON schema of these
types (`schema.py`) is committed as `media/events.schema.json`. Tandem takes the figures of a step and of an evaluation
from it, with their charts, and its reader of the other fields is tested by it. The tests of the trainer read every
event of their runs as these types (`tests/tiny_run.py`).
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from typing_extensions import NotRequired, TypedDict

CLOSED = ConfigDict(strict=True, extra="forbid")
OPEN = ConfigDict(strict=True, extra="allow")

Number = Annotated[int, Field(ge=0)]
Figure = float | None
APART = "Mean absolute difference of log-probabilities between sampler and trainer; absent with top-p."


def charted(kind: Any, title: str, note: str, *, terminal: bool = False, optional: bool = True, **limits: float) -> Any:
    """Declares a figure of a step or an evaluation that Tandem draws; charts are listed in the order of declaration.

    title, note: shown beside the curve, and translated. terminal: the command line prints the figure, too. limits: the
    ends of the axis. The unit of `kind` stands in saved tables and chooses the number format
    (`webview/chart/figures.ts`).
    """
    about = Field(title=title, description=note, json_schema_extra={"terminal": True} if terminal else {}, **limits)
    return Annotated[NotRequired[kind] if optional else kind, about]


def _in(unit: str) -> Any:
    return Field(json_schema_extra={"unit": unit})


Fraction = Annotated[Figure, Field(ge=0, le=1), _in("fraction")]
Nats = Annotated[Figure, _in("nats")]


class Closed(TypedDict):
    """No other fields than those declared."""

    __pydantic_config__ = CLOSED  # type: ignore[misc]


class Event(Closed):
    """Fields of every event. at: UTC, ISO 8601."""

    version: Literal[1]
    at: str


class State(Event):
    """A change of the run's state; `failed` and `stopped` say why in `message`."""

    event: Literal["state"]
    state: Literal["preparing", "running", "stopping", "stopped", "done", "failed"]
    stage: str
    message: NotRequired[str]


class Examples(Closed):
    """Numbers of examples of a stage."""

    train: Number
    held_out: Number


class Data(Event):
    """The size of the data after they were read and paired (`run/prepare.py`)."""

    event: Literal["data"]
    tasks: Number
    trajectories: Number
    successes: Number
    turns: Number
    turns_as_sampled: Annotated[Number, Field(description="Turns with the sampler's own token ids.")]
    turns_of_another_tokenizer: Number
    tokens: Number
    preferences: Annotated[Number, Field(description="Choices that name no signal of data.feedback.")]
    feedback: Annotated[dict[str, Number], Field(description="Rows of what people said of turns, by signal.")]
    critic: Examples
    policy: Examples
    left_out: Annotated[dict[str, Number], Field(description="Rows that are not used, by reason.")]
    bad_lines: Number


class Plan(Event):
    """What was chosen, whether it fits, and how long it takes: the fields of `Plan` in `run/plan.py`."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    event: Literal["plan"]


class Figures(Event):
    """Means over the examples. A figure that the stage's objective does not have is absent."""

    accuracy: charted(Fraction, "Pair accuracy", "Share of pairs ranked correctly (chance 50 %)", terminal=True)
    success: charted(
        Fraction, "Success rate", "Share of the dialogues whose answer passes all hidden tests", terminal=True
    )
    reward: charted(Figure, "Reward", "Mean over the dialogues of a step, less the price of leaks", terminal=True, le=1)
    leaked: charted(
        Fraction,
        "Leaked dialogues",
        "Share of the dialogues in which a reply gave the reference away, replays included",
        terminal=True,
    )
    turns: charted(Figure, "Turns", "Mean number of the agent’s messages in a dialogue", terminal=True, ge=0)
    loss: charted(Figure, "Loss", "The quantity that training minimizes; mean over a batch", terminal=True)
    margin: charted(
        Nats,
        "Margin",
        "Score of the better side of a pair minus that of the worse side, in log-probability",
        terminal=True,
    )
    kl: charted(Nats, "KL divergence", "How far the model has moved from the reference model", terminal=True)
    nll: charted(Nats, "Negative log-likelihood", "Of the better side; lower means more likely")
    log_ratio_chosen: charted(
        Nats, "Log-ratio, chosen", "Log-probability of the better side minus that under the reference model"
    )
    log_ratio_rejected: charted(
        Nats, "Log-ratio, rejected", "Log-probability of the worse side minus that under the reference model"
    )
    effective_sample_size: charted(
        Fraction,
        "Effective sample size",
        "Of old turns, as a share of their number; near zero when few of them outweigh the others",
        terminal=True,
    )
    sampler_difference: charted(
        Nats,
        "Sampler difference",
        "Difference between log-probabilities in sampling and in training; near zero when both agree",
        ge=0,
    )


class Step(Figures):
    """A step of a stage, with its figures over the batch. mfu, gpu_use: null where the device does not tell."""

    event: Literal["step"]
    stage: str
    step: Annotated[int, Field(ge=1)]
    steps: Number
    epoch: float
    gradient_norm: charted(Figure, "Gradient norm", "Before it is clipped", terminal=True, optional=False)
    learning_rate: charted(
        float, "Learning rate", "Warm-up, then cosine decay to a tenth; constant with GRPO", optional=False
    )
    tokens_per_second: charted(
        Annotated[float, _in("tokens/s")],
        "Tokens/s",
        "Tokens processed in a step, divided by its duration",
        terminal=True,
        optional=False,
        ge=0,
    )
    memory_mb: charted(
        Annotated[Figure, _in("MB")],
        "Memory",
        "Peak memory: on a GPU since the previous step, on the CPU since the start",
        terminal=True,
        optional=False,
        ge=0,
    )
    gpu_use: charted(Fraction, "GPU utilization", "Share of the time in which the GPU was busy", optional=False)
    mfu: charted(
        Annotated[Figure, _in("fraction")],
        "Model FLOPs utilization (MFU)",
        "Share of the device’s peak FLOPs",
        optional=False,
        ge=0,
    )
    entropy: charted(
        Nats, "Entropy", "Of the agent’s tokens, in nats; near zero when the model always writes the same", ge=0
    )
    waiting: charted(
        Fraction,
        "Waiting for the environment",
        "Share of the time in which the developer’s replies and the grades were awaited",
    )
    tokens: Annotated[Number, Field(description="Computed ones, after prefixes were shared.")]
    seconds_left: Annotated[Figure, Field(description="Until the end of the whole run.")]
    dialogues: Annotated[NotRequired[Number], Field(description="Played until the end of this step.")]
    rollouts: Annotated[
        NotRequired[Number], Field(description="Dialogues played on from histories until then, beside those.")
    ]
    rollout_tokens: Annotated[NotRequired[Number], Field(description="Tokens that the policy wrote in them.")]


class Evaluation(Figures):
    """The figures over held-out examples. best: it is the stage's best step so far, and is kept."""

    event: Literal["evaluation"]
    stage: str
    step: Number
    best: bool


class Control(Event):
    """Accuracy of the untrained baseline on a critic's held-out pairs, and the number of pairs."""

    event: Literal["control"]
    stage: str
    accuracy: Figure
    examples: Number


class Gains(Event):
    """Rank correlation of turn credits and the gains of drafts on held-out pages (`run/critic_report.py`)."""

    event: Literal["gains"]
    stage: str
    dialogues: Annotated[Number, Field(description="Those in which both credits and gains vary.")]
    rank_correlation: Annotated[Figure, Field(description="Spearman's ρ within a dialogue, the mean over dialogues.")]
    low: Annotated[Figure, Field(description="Lower end of its 95 % interval over dialogues.")]
    high: Figure
    untrained_rank_correlation: Annotated[Figure, Field(description="The same of the untrained score.")]
    untrained_low: Figure
    untrained_high: Figure


class Progress(Event):
    """Progress of work without steps. seconds_left: of this part."""

    event: Literal["progress"]
    stage: str
    part: str
    done: Number
    total: Number
    seconds_left: Figure


class Candidates(Event):
    """Figures of the candidates of a round. cut: those that reached the limit without an end."""

    event: Literal["candidates"]
    stage: str
    histories: Number
    candidates: Number
    tokens: Number
    cut: Number
    sampler_difference: Annotated[NotRequired[Figure], Field(description=APART)]


class Ranking(Event):
    """Figures of the ranking of a round (`run/critic_report.py`)."""

    event: Literal["ranking"]
    stage: str
    histories: Number
    candidates: Annotated[Number, Field(description="Distinct ones.")]
    repeated: Annotated[Number, Field(description="Further copies of them.")]
    without_pairs: Annotated[Number, Field(description="Histories that give no pair.")]
    rank_correlation: Annotated[Figure, Field(description="Spearman's ρ between critic and untrained score.")]
    spread: Annotated[Figure, Field(description="Standard deviation of scores within a history, the mean of them.")]
    untrained_spread: Annotated[Figure, Field(description="The same of the untrained score.")]
    good_tokens: Annotated[Figure, Field(description="Mean length of the better half.")]
    bad_tokens: Figure


class Message(Closed):
    """A message as the agent saw it."""

    role: str
    content: str


class Candidate(Closed):
    """A distinct text. times: how often it was sampled; good: absent when it is in neither half, or in both."""

    text: str
    times: Annotated[int, Field(ge=1)]
    score: Figure
    untrained: NotRequired[Figure]
    good: NotRequired[bool]


class Sample(Event):
    """The candidates of one history, the best first."""

    event: Literal["sample"]
    stage: str
    group: str
    history: Annotated[list[Message], Field(description="The dialogue before the turn.")]
    candidates: list[Candidate]


class Notice(Event):
    """A sentence for the user that does not end the run."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    event: Literal["notice"]
    message: str


class ClusterNode(Closed):
    """A node of a Ray cluster. idle: it is there, without a worker of the run; back: it was lost, and works again."""

    id: str
    host: str
    workers: Number
    gpus: Annotated[list[str], Field(description="The name of each worker's GPU.")]
    state: Literal["works", "back", "lost", "idle"]


class Nodes(Event):
    """The nodes of a run on a Ray cluster at the start of its workers (`cluster/worker.py`)."""

    event: Literal["nodes"]
    nodes: list[ClusterNode]
    asked: Annotated[int, Field(ge=1, description="Number of workers in the configuration.")]


class Ended(Closed):
    """The point at which the policy was ended by request (`run/run.py`)."""

    stage: str
    step: Number
    steps: Number


class Result(Event):
    """The run is done. model, critic: folders. stages: the figures of each."""

    event: Literal["result"]
    model: str
    stages: dict[str, dict[str, Any]]
    critic: NotRequired[str]
    ended: NotRequired[Ended]
    critic_check: NotRequired[dict[str, Any]]
    model_check: NotRequired[dict[str, Any]]


RunEvent = Annotated[
    State
    | Data
    | Plan
    | Step
    | Evaluation
    | Control
    | Gains
    | Progress
    | Candidates
    | Ranking
    | Sample
    | Notice
    | Nodes
    | Result,
    Field(discriminator="event"),
]
