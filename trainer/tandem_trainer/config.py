"""The configuration of a run, `run.json`, parsed once by `read_config.py` and trusted inside.

Every field of the file is a field here; a field that is unknown, missing, of the wrong kind or out of its range is
refused with one sentence. Paths are relative to the folder of `run.json`. Settings of the paper (arXiv 2503.15478,
appendix) are the defaults where they fit full fine-tuning; LoRA takes ten times the learning rate.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

Method = Literal["sweet-rl", "rft", "multiturn-dpo"]
Pairing = Literal["paper", "successes", "all"]


@dataclass(frozen=True)
class Range:
    """What a number must lie in. `low` and `high` belong to the range unless they are said to be left out."""

    low: float
    high: float = float("inf")
    without_low: bool = False
    without_high: bool = False


@dataclass(frozen=True)
class PathTo:
    """A path that must exist, made absolute when it is read. A model may also be a name on the hub."""

    kind: Literal["file", "folder", "model"]


Count = Annotated[int, Range(1)]
Whole = Annotated[int, Range(0)]
Positive = Annotated[float, Range(0, without_low=True)]
NotNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, 1, without_low=True)]
File = Annotated[str, PathTo("file")]
Folder = Annotated[str, PathTo("folder")]


@dataclass(frozen=True)
class ModelConfig:
    """The base model and what of it is trained."""

    base: Annotated[str, PathTo("model")]  # folder of a Hugging Face model, or its name on the hub
    # Of a name on the hub: a commit, tag or branch; none: its main branch. A run keeps the commit that it began with.
    revision: str | None = None
    training: Literal["lora", "qlora", "full"] = "lora"
    lora_rank: Count = 16
    lora_alpha: Positive = 32.0
    device: Literal["auto", "cuda", "mps", "cpu"] = "auto"
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"  # auto: bfloat16 on CUDA, float32 elsewhere
    chat_template: File | None = None  # a file that replaces the folder's own
    template_options: dict = field(default_factory=dict)  # given to the template, e.g. {"enable_thinking": false}


@dataclass(frozen=True)
class DataConfig:
    """Where trajectories come from, and what is kept apart. At least one of log, trajectories or preferences."""

    log: Folder | None = None  # a Tandem data folder
    trajectories: list[File] = field(default_factory=list)  # files of published or exported rows
    preferences: list[File] = field(default_factory=list)  # rows `prompt`, `chosen`, `rejected` of single steps
    preference_weight: NotNegative = 1.0  # of one human preference against one ranked pair
    # Which stand against every lower one of their task: the first success (paper), each success, or all.
    pairing: Pairing = "paper"
    mode: Literal["fixed", "paper"] = "fixed"  # whose rewards count, when data come from the log
    with_leaked: bool = False
    with_doubtful: bool = False  # also those that lines lost from the log may have deleted or marked as leaked
    held_out: Annotated[float, Range(0, 1, without_high=True)] = 0.1  # fraction of tasks measured, never trained on
    opening: File | None = None  # a file like Tandem's agent.md, for rows that do not hold the agent's messages


@dataclass(frozen=True)
class OptimiserConfig:
    """Adam with cosine decay to a tenth after a warm-up; one batch is `batch` examples, whatever fits in memory."""

    learning_rate: Positive | None = None  # none: 2e-7 for full fine-tuning (the paper), 2e-6 for LoRA
    batch: Count = 8
    epochs: Positive = 1.0
    max_steps: Count | None = None
    max_tokens: Count = 16384  # longer rows are left out and counted
    warmup: Annotated[float, Range(0, 1, without_high=True)] = 0.03  # fraction of the steps
    clip: Positive = 1.0  # largest gradient norm
    weight_decay: NotNegative = 0.0
    evaluate_every: Count = 25  # steps between two looks at held-out examples, half as many as those steps train on
    patience: Whole = 4  # looks without a better held-out figure until the stage ends; 0: never


@dataclass(frozen=True)
class CriticConfig(OptimiserConfig):
    """Stage 1: who deserves the credit. `untrained` skips the training: the control that every report shows."""

    epochs: Positive = 4.0
    max_tokens: Count = 8192
    score: Literal["log-ratio", "value-head", "untrained"] = "log-ratio"
    hidden_information: bool = True
    length_normalisation: bool = True
    beta: Positive = 0.1
    nll: NotNegative = 0.01  # weight of the negative log-likelihood of the better trajectory; not of a value head


@dataclass(frozen=True)
class CandidatesConfig:
    """Stage 2: turns sampled for the histories of the trajectories, and ranked by the critic."""

    per_turn: Annotated[int, Range(2)] = 16
    # One of them is the turn that was logged, if it is not longer than max_new_tokens; else all are sampled, as in the
    # paper and in everything that was measured. For a policy that hardly writes such turns by itself.
    with_logged: bool = False
    pairs_per_turn: Count = 4
    # The fraction whose histories are used, first the first ones of every task; the paper takes a tenth of its 15,000.
    trajectories: Share = 0.1
    rounds: Count = 1  # more: sample anew from the policy of the last round
    temperature: Positive = 1.0
    top_p: Share = 1.0
    max_new_tokens: Count = 1024

    @property
    def sampled(self) -> int:
        """Of those of a turn."""
        return self.per_turn - self.with_logged


@dataclass(frozen=True)
class PolicyConfig(OptimiserConfig):
    """Stage 3, and the only one of the baselines."""

    beta: Positive = 0.1
    nll: NotNegative = 0.01  # weight of the negative log-likelihood of the chosen side
    more_epochs: NotNegative = 0.0  # of the last round after `epochs`, at the last rate: a run that is done goes on
    minimum_reward: float = 1.0  # rejection fine-tuning: the reward from which a trajectory is imitated


@dataclass(frozen=True)
class ResourcesConfig:
    """What the run may use. `auto` is decided by the plan, from the memory that is free at the start."""

    token_budget: Count | Literal["auto"] = "auto"  # tokens of one micro-batch, after sharing
    checkpoint_activations: bool | Literal["auto"] = "auto"  # compute them again instead of keeping them
    logits_mb: Count = 256  # logits are made in pieces no larger than this
    checkpoint_minutes: NotNegative = 10.0  # 0: after every step
    threads: Count | None = None  # of the CPU; none: as torch chooses
    # Of this machine, one for each GPU; whoever launches the run starts them, with torchrun when there are several.
    processes: Count = 1
    # Where runs that begin with the same weights share what these and the data decide: log-probabilities of the
    # reference, and of runs with the same seed the first candidates and a critic of the same settings. Whoever changes
    # the weights takes another folder.
    shared: Folder | None = None


@dataclass(frozen=True)
class ExportConfig:
    """What stands in the result besides the model as transformers reads it."""

    onnx: list[Literal["fp32", "int8", "int4"]] = field(default_factory=list)  # graphs that ONNX Runtime plays


@dataclass(frozen=True)
class RunConfig:
    """All of `run.json`. The folder of the file is the run folder, into which everything is written."""

    model: ModelConfig
    data: DataConfig
    version: Literal[1] = 1
    name: str = ""
    method: Method = "sweet-rl"
    convention: Literal["paper", "reference-code"] = "paper"
    seed: Whole = 0
    critic: CriticConfig = field(default_factory=CriticConfig)
    candidates: CandidatesConfig = field(default_factory=CandidatesConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    resources: ResourcesConfig = field(default_factory=ResourcesConfig)
    export: ExportConfig = field(default_factory=ExportConfig)
