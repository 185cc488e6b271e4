"""The configuration of a run, `run.json`, declared once.

The types, ranges, defaults, titles and descriptions here make the JSON schema (`schema.py`), from which the editor has
its form, its completions and its refusals; `run_json.py` reads the file. What only Tandem reads of a file that a person
writes is in `schema.py`. Settings of the paper (arXiv 2503.15478,
appendix) are the defaults where they fit full fine-tuning; LoRA takes ten times the learning rate.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema
from pydantic.dataclasses import dataclass

from .config_paths import around, elsewhere, file, folder, model, web_address

Method = Literal["sweet-rl", "rft", "multiturn-dpo", "grpo"]
Pairing = Literal["paper", "successes", "all"]
Mode = Literal["fixed", "paper"]

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
# A path must exist; it is relative to the folder of run.json, and becomes absolute when it is read.
File = Annotated[str, AfterValidator(file), Field(json_schema_extra={"format": "path"})]
Folder = Annotated[str, AfterValidator(folder), Field(json_schema_extra={"format": "path"})]
Model = Annotated[str, AfterValidator(model)]
# A folder that exists and holds that of run.json.
Around = Annotated[str, AfterValidator(around), Field(json_schema_extra={"format": "path"})]
# A folder of another machine.
Elsewhere = Annotated[str, AfterValidator(elsewhere)]
Address = Annotated[str, AfterValidator(web_address)]


@dataclass(frozen=True, config=STRICT)
class ModelConfig:
    """The base model, and which of its weights are trained."""

    base: Model = Field(
        title="Base model",
        description="The folder of a model in Hugging Face transformers format, or its ID on the hub: owner/name.",
    )
    revision: str | None = Field(
        None,
        title="Revision",
        description="A commit, tag or branch on Hugging Face; not set: the newest. A run keeps the commit that it "
        "starts with.",
    )
    training: Literal["lora", "qlora", "full"] = Field(
        "lora",
        title="Trained weights",
        description="LoRA adapters, LoRA adapters on 4-bit weights (QLoRA), or all weights.",
    )
    lora_rank: Count = Field(16, title="LoRA rank", description="A higher rank can learn more and takes more memory.")
    lora_alpha: Positive = Field(32.0, title="LoRA alpha", description="Scales the adapters; twice the rank is usual.")
    device: Literal["auto", "cuda", "mps", "cpu"] = Field(
        "auto", title="Device", description="Where the run computes: on an NVIDIA or AMD GPU, an Apple GPU, or the CPU."
    )
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto",
        title="Precision",
        description="Number format of the weights; auto is bfloat16 on a GPU and float32 elsewhere.",
    )
    chat_template: File | None = Field(
        None, title="Chat template", description="A file with the template to use in place of the model’s own."
    )
    template_options: dict = Field(
        default_factory=dict,
        title="Template options",
        description='Variables of the chat template, such as {"enable_thinking": false}.',
    )


@dataclass(frozen=True, config=STRICT)
class DataConfig:
    """The dialogues to train on, and the fraction that is held out: a log, or files of rows."""

    trajectories: list[File] = Field(
        default_factory=list,
        title="Dialogue files",
        description="Files of rows: published, exported, or of another run; they are added to those of the log.",
    )
    preferences: list[File] = Field(
        default_factory=list,
        title="Preferences",
        description="Files of choices between two messages at one turn, as rows of prompt, chosen and rejected.",
    )
    mode: Mode = Field(
        "fixed", title="Grading", description="The grading mode whose rewards are used where the log has both."
    )
    pairing: Pairing = Field(
        "paper",
        title="Pairs",
        description="The first success of a task against every lower reward, as in the paper, which pairs all "
        "dialogues about a page; each success against them; or all pairs of different reward.",
    )
    pair_margin: NotNegative | None = Field(
        None,
        title="Pair margin",
        description="The least difference of two rewards of a pair. Not set: 0.1 for web pages, as in the paper, and "
        "any difference for functions.",
    )
    measure: str | None = Field(
        None,
        title="Measure",
        description="Only dialogues whose reward is of this measure: tests, structure, checks or clip, also with its "
        "version (structure 1). A run refuses a mixture.",
    )
    renderer: str | None = Field(
        None, title="Renderer", description="Only pages that were drawn by this renderer, as the rows name it."
    )
    held_out: PartOfAll = Field(
        0.1,
        title="Held-out fraction",
        description="The fraction of tasks that are used for evaluation and never for training.",
    )
    preference_weight: NotNegative = Field(
        1.0,
        title="Preference weight",
        description="The weight of one choice between two candidates, relative to one ranked pair.",
    )
    with_leaked: bool = Field(
        False,
        title="Include leaked dialogues",
        description="A reply gave the reference away; the agent may learn to wait for that.",
    )
    with_doubtful: bool = Field(
        False,
        title="Include doubtful dialogues",
        description="The log is damaged; these may have been deleted or marked as leaks. Review them first.",
    )
    tasks: list[File] = Field(
        default_factory=list,
        title="Task packs",
        description="Packs whose tasks GRPO plays during training; the other methods learn from dialogues.",
    )
    opening: File | None = Field(
        None,
        title="Request",
        description="The agent.md that the dialogues were played with; not set: Tandem’s own. To Tandem, short is the "
        "one for small models.",
    )


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
class OptimiserConfig:
    """Adam with cosine decay to a tenth after a warm-up; one batch is `batch` examples, whatever fits in memory."""

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
    patience: Whole = Field(
        4,
        title="Early stopping patience",
        description="Evaluations without improvement before stopping; 0 turns early stopping off.",
    )


@dataclass(frozen=True, config=STRICT)
class CriticConfig(OptimiserConfig):
    """Stage 1: the critic learns which turns made a dialogue better."""

    epochs: Epochs = 4.0
    max_tokens: MaxTokens = 8192
    score: Literal["log-ratio", "value-head", "untrained"] = Field(
        "log-ratio",
        title="Score",
        description="The log-ratio to the reference model, as in the paper; a value head, to compare with; or no "
        "training, as a baseline.",
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


@dataclass(frozen=True, config=STRICT)
class PolicyConfig(OptimiserConfig):
    """Stage 3 of SWEET-RL, and the only stage of the baselines: the model that plays the agent is trained."""

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


@dataclass(frozen=True, config=STRICT)
class ClusterConfig:
    """A Ray cluster that trains the run in place of this machine. Its nodes see the folder of the run, or a copy."""

    address: Address = Field(
        title="Address", description="The dashboard of the Ray cluster, which takes jobs: http://head:8265."
    )
    workers: Count = Field(
        1,
        title="Workers",
        description="Processes that train together; each batch is split across them. With fewer free places in the "
        "cluster the run continues with fewer.",
    )
    gpus_per_worker: Annotated[int, Field(ge=0, le=1)] = Field(
        0, title="GPUs per worker", description="1 gives each worker a GPU of its own; 0 trains on processors."
    )
    sampler: Literal["auto", "own", "vllm"] = Field(
        "auto",
        title="Sampler",
        description="Draws the candidates: vLLM, or the trainer itself; auto is vLLM where workers have GPUs and the "
        "trainer’s Python has vLLM.",
    )
    storage: Around | None = Field(
        None,
        title="Storage",
        description="A folder that all nodes see under the same path; the folder of the run must lie in it. Not set: "
        "the folder of the run is known to be shared.",
    )
    copy_to: Elsewhere | None = Field(
        None,
        title="Copy to",
        description="For a cluster that does not see the files of this machine: a folder that all its nodes see under "
        "the same path. The run is copied there and its small files come back; the trained model stays there.",
    )


@dataclass(frozen=True, config=STRICT)
class ResourcesConfig:
    """Resources that the run may use. The plan decides `auto` from the memory that is free at the start."""

    token_budget: Count | Literal["auto"] = Field(
        "auto", title="Tokens per micro-batch", description="Auto uses as many as fit into free memory."
    )
    checkpoint_activations: bool | Literal["auto"] = Field(
        "auto",
        title="Gradient checkpointing",
        description="Recomputes activations: slower, with a fraction of the memory; auto uses it where needed.",
    )
    logits_mb: Count = Field(
        256, title="Logits memory (MB)", description="Logits are computed in chunks no larger than this."
    )
    checkpoint_minutes: NotNegative = Field(
        10.0,
        title="Minutes between checkpoints",
        description="The most work that a crash can lose; 0 writes a checkpoint after every step.",
    )
    threads: Count | None = Field(None, title="Threads", description="CPU threads; not set: PyTorch chooses.")
    processes: Count = Field(
        1, title="Processes", description="On this machine, one per GPU; each batch is split across them."
    )
    # It holds the reference's log-probabilities and, for runs with the same seed, the candidates of the first round and
    # critics with the same settings.
    shared: Folder | None = Field(
        None,
        title="Shared folder",
        description="Runs with the same base weights share what they compute here; use another folder when the weights "
        "have changed.",
    )
    cluster: ClusterConfig | None = Field(
        None, title="Ray cluster", description="Trains on the machines of a Ray cluster; not set: on this machine."
    )


@dataclass(frozen=True, config=STRICT)
class ExportConfig:
    """What is written beside the model folder for transformers."""

    onnx: list[Literal["fp32", "int8", "int4"]] = Field(
        default_factory=list,
        title="ONNX export precision",
        description="With an ONNX graph the model plays in the editor without PyTorch; 8 bits is small and close to "
        "the original.",
    )


@dataclass(frozen=True, config=STRICT)
class RunConfig:
    """The configuration of a Tandem training run. Relative paths begin at the folder of the file."""

    model: ModelConfig = Field(title="Model")
    data: DataConfig = Field(title="Data")
    version: Version = Field(1, title="Version", description="The version of this format.")
    name: str = Field("", title="Name", description="The name of the run in the list.")
    method: Method = Field(
        "sweet-rl",
        title="Method",
        description="SWEET-RL, rejection fine-tuning (RFT), multi-turn DPO, or online GRPO, which plays new dialogues.",
    )
    convention: Literal["paper", "reference-code"] = Field(
        "paper", title="Convention", description="Follow the paper or its code where the two differ."
    )
    seed: Whole = Field(
        0, title="Seed", description="Two runs with the same seed and data draw the same random numbers."
    )
    critic: CriticConfig = Field(default_factory=CriticConfig, title="Critic")
    candidates: CandidatesConfig = Field(default_factory=CandidatesConfig, title="Candidates")
    policy: PolicyConfig = Field(default_factory=PolicyConfig, title="Policy")
    grpo: GrpoConfig = Field(default_factory=GrpoConfig, title="GRPO")
    resources: ResourcesConfig = Field(default_factory=ResourcesConfig, title="Resources")
    export: ExportConfig = Field(default_factory=ExportConfig, title="Result")
