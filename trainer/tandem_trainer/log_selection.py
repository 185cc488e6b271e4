"""Fields of `data` that Tandem reads and the trainer refuses: Tandem takes dialogues from a log and writes rows.

They are declared here because the JSON schema (`schema.py`) describes the file that a person writes.
"""

from datetime import date
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field
from typing_extensions import TypedDict

from .config import STRICT


class LogFilter(TypedDict, total=False):
    """Dialogues of the log must match every field that is given."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    task: Annotated[str, Field(title="Task", description="The ID of a task.")]
    pack: Annotated[str, Field(title="Pack", description="The name of the task’s pack.")]
    agent: Annotated[str, Field(title="Agent", description="The model that played the agent.")]
    collaborator: Annotated[
        str, Field(title="Human", description="The name of the collaborator at the end of the dialogue.")
    ]
    collaborator_kind: Annotated[
        Literal["developer", "simulator", "rules"],
        Field(title="Played by", description="The kind of the collaborator at the end of the dialogue."),
    ]
    collection: Annotated[str, Field(title="Collection", description="The name of a collection.")]
    stars: Annotated[int, Field(ge=0, le=5, title="Rating", description="The lowest rating, in stars; 0: not rated.")]
    review: Annotated[
        Literal["accepted", "redo", "none"],
        Field(
            title="Review",
            description="The state that a person gave the dialogue in a review; none: nobody has reviewed it.",
        ),
    ]
    since: Annotated[
        date | AwareDatetime, Field(title="Since", description="The dialogue began at this date or time, or later.")
    ]
    until: Annotated[
        date | AwareDatetime, Field(title="Until", description="The dialogue began before this date or time.")
    ]


class LogSelection(TypedDict, total=False):
    """Fields of `data` that choose dialogues of a log."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    log: Annotated[
        str,
        Field(
            min_length=1,
            title="Log",
            description="A data folder, such as .tandem, whose log has the dialogues to train on.",
            json_schema_extra={"format": "path"},
        ),
    ]
    filter: Annotated[LogFilter, Field(title="Filter")]
    minimum_reward: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            title="Minimum reward of the log",
            description="Only dialogues with at least this reward. Pairs need lower ones, too: it is for imitation.",
        ),
    ]
    with_evaluations: Annotated[
        bool,
        Field(title="Include evaluation dialogues", description="The next evaluation then measures memorization."),
    ]
    with_redo: Annotated[
        bool,
        Field(title="Include dialogues marked for redo", description="A person who reviewed them wants another one."),
    ]
    exclude_models: Annotated[
        list[str],
        Field(
            title="Excluded models",
            description="Models whose text must not be trained on; * stands for anything. Not set: vscode:*, whose "
            "terms forbid it.",
        ),
    ]
