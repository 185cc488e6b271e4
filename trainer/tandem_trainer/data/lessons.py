"""The examples of distillation: dialogues as the student reads them, and what a teacher teaches of each message.

Without PyTorch, as all that `check` counts.
"""

from collections.abc import Sequence
from typing import Literal

from ..turn import Example, Turn
from .choice import answers, choices
from .dialogue import Dialogue
from .template import Template


def taught(dialogues: Sequence[Dialogue], template: Template, target: Literal["guided", "written"]) -> list[Example]:
    """Makes one example of each dialogue. Its turns are those of the student: none has hidden information."""
    seen = template.all_turns(dialogues)
    lessons = guided(dialogues, template) if target == "guided" else written(dialogues, seen)
    return [
        Example(dialogue.task, turns, dialogues=(dialogue.id,), taught=of_dialogue)
        for dialogue, turns, of_dialogue in zip(dialogues, seen, lessons, strict=True)
    ]


def guided(dialogues: Sequence[Dialogue], template: Template) -> list[tuple[Turn, ...]]:
    """The choosing tokens of all turns, behind prompts with c. The only place where c is read."""
    informed = template.all_turns(dialogues, hidden=True)
    counts = iter(choices(template.tokenizer, [turn.response for turns in informed for turn in turns]))
    return [tuple(Turn(turn.prompt, turn.response[: next(counts)]) for turn in turns) for turns in informed]


def written(dialogues: Sequence[Dialogue], seen: Sequence[Sequence[Turn]]) -> list[tuple[Turn, ...]]:
    """All tokens of questions and none of answers; the last message counts as an answer."""
    return [
        tuple(
            turn if asks(dialogue, said.position) else Turn(turn.prompt, turn.response[:0])
            for said, turn in zip(dialogue.turns, turns, strict=True)
        )
        for dialogue, turns in zip(dialogues, seen, strict=True)
    ]


def asks(dialogue: Dialogue, position: int) -> bool:
    return position < len(dialogue.messages) - 1 and not answers(dialogue.messages[position]["content"])
