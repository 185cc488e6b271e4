"""The configuration of a run, `run.json`, declared once.

The types, ranges, defaults, titles and descriptions here make the JSON schema (`schema.py`), from which the editor has
its form, its completions and its refusals; `run_json.py` reads the file. The settings of the methods are in
`methods/config.py`. What only Tandem reads of a file that a person writes is in `schema.py`. Settings of the paper
(arXiv 2503.15478, appendix) are the defaults where they fit full fine-tuning; LoRA takes ten times the learning rate.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from .config_fields import (
    STRICT,
    Count,
    NotNegative,
    PartOfAll,
    Positive,
    Version,
    Whole,
    around,
    elsewhere,
    file,
    folder,
    model,
    web_address,
)
from .methods import table
from .methods.config import ArcherConfig, CandidatesConfig, CriticConfig, DistillConfig, GrpoConfig, PolicyConfig

Method = Literal[tuple(table.METHODS)]  # type: ignore[valid-type]
Pairing = Literal["paper", "successes", "all"]
Mode = Literal["fixed", "paper"]
# Beside agent and collaborator, the roles in search trees (`ROLES` in src/core/trajectory/searchTree.ts).
Role = Literal["agent", "collaborator", "generator", "verifier", "refiner"]

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
class FeedbackConfig:
    """What people said of single turns, and did with answers: a weight for each, relative to one example of the method.

    Read by methods with `preferences`; the rows lie in files of `data.preferences`.
    """

    thumbs: NotNegative = Field(
        1.0, title="Thumbs", description="The weight of a thumb on a turn; 0 leaves thumbs out of training."
    )
    choices: NotNegative = Field(
        1.0,
        title="Choices",
        description="The weight of a choice between two candidates, taken from the log; 0 leaves them out.",
    )
    verdicts: NotNegative = Field(
        1.0,
        title="Verdicts",
        description="The weight of a verdict on a critic’s score: agreeing with praise is a thumb up; 0 leaves "
        "them out.",
    )
    edits: NotNegative = Field(
        1.0,
        title="Edited suggestions",
        description="The weight of a suggested reply that a person edited, for role collaborator; only where the "
        "person’s consent names edits.",
    )
    outcomes: NotNegative = Field(
        1.0,
        title="Outcomes",
        description="The weight of what became of an answer in a person’s own file: accepted, the kept share, or "
        "rejected; only where the person’s consent names outcomes.",
    )
    question_price: NotNegative = Field(
        0.1,
        title="Question price",
        description="What each question costs of an outcome, so that the agent does not learn to pester.",
    )
    beta: Positive = Field(
        0.1, title="Beta of feedback", description="How strongly feedback keeps the model close to the base model."
    )


@dataclass(frozen=True, config=STRICT)
class DataConfig:
    """The dialogues to train on, and the fraction that is held out: a log, or files of rows."""

    trajectories: list[File] = Field(
        default_factory=list,
        title="Dialogue files",
        description="Files of rows: published, exported, or of another run; they are added to those of the log.",
    )
    earlier: list[File] = Field(
        default_factory=list,
        title="Earlier dialogue files",
        description="Rows of earlier rounds or of other agents, of which some are replayed beside the new dialogues.",
    )
    replay: PartOfAll = Field(
        0.25,
        title="Replayed fraction",
        description="The fraction of the dialogues that are drawn from the earlier ones, so that they are not "
        "forgotten.",
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
    feedback: FeedbackConfig = Field(default_factory=FeedbackConfig, title="Feedback")
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
        description="Packs whose tasks GRPO plays during training, and ArCHer if there are any; others play none.",
    )
    opening: File | None = Field(
        None,
        title="Request",
        description="The agent.md that the dialogues were played with, or the simulator.md that a trained collaborator "
        "will play with; not set: Tandem’s own. To Tandem, short is the agent.md for small models.",
    )


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
        description="How the agent learns; each method has settings of its own.",
        json_schema_extra={"methods": table.as_schema()},
    )
    role: Role = Field(
        "agent",
        title="Trained role",
        description="Who learns: the agent; the collaborator, who knows what is wanted and replies, from people’s "
        "replies (rft), from suggestions that they edited (multiturn-dpo) or from dialogues with an agent that does "
        "not learn (grpo); or a role of an agent that checks its drafts, from its good and bad outputs in search trees "
        "(multiturn-dpo).",
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
    distill: DistillConfig = Field(default_factory=DistillConfig, title="Distillation")
    archer: ArcherConfig = Field(default_factory=ArcherConfig, title="ArCHer")
    grpo: GrpoConfig = Field(default_factory=GrpoConfig, title="GRPO")
    resources: ResourcesConfig = Field(default_factory=ResourcesConfig, title="Resources")
    export: ExportConfig = Field(default_factory=ExportConfig, title="Result")
