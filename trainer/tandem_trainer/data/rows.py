"""Rows of files: published trajectories, Tandem's exports of them, and preferences.

A trajectory row is `{task, dialogue_history, answer, reward}` (the offline data of arXiv 2503.15478); Tandem's exports
add the sampler's record under `tandem`, and the conversation as the agent saw it under `messages` (docs/data.md).
`tandem train` writes the rows of a log. This reader tolerates the same deviations as Tandem's import
(`src/core/trajectory/publishedRow.ts`), so that a row has the same id either way.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..fault import UsageFault
from .dialogue import (
    Dialogue,
    Messages,
    Parent,
    Problem,
    Read,
    Spoken,
    assistant_positions,
    conversation,
    counted,
    listed,
    merge,
)
from .json_rows import BadRow, content_id, is_page, json_lines, object_of, reward_of, row_id, spoken, task_of, text_of
from .measures import page_grade, why_unwanted
from .prompt_file import SHIPPED, Prompt, agent_prompt

AGENT = ("agent", "assistant")
COLLABORATOR = ("human", "user", "collaborator")
ROLES = ("system", "user", "assistant")
VERSION = 1  # of Tandem's rows: `ROW_VERSION` in src/core/trajectory/export/rows.ts; published rows have none
# The benchmark's limits, which its rows do not name.
PUBLISHED_PROTOCOL = {"maxTurns": 10, "replyLimit": 400}
PUBLISHED_PAGE_PROTOCOL = {"maxTurns": 10, "replyLimit": 1000}


@dataclass(frozen=True, eq=False)
class Preference:
    """A choice between two continuations by a person or by grades, or a person's word on one turn.

    group: equal after the same messages. chosen: the better one, or the turn; then `rejected` is None.
    signal: the field of `data.feedback` that the row is about; None for a choice in a file that names none.
    desirability: of a turn, 1 for desirable and 0 for undesirable. questions: see `return_of`, of an outcome.
    """

    group: str
    chosen: Dialogue
    rejected: Dialogue | None
    signal: str | None = None
    desirability: float | None = None
    questions: int = 0


Openings = dict[bool, Prompt]  # the requests that are rendered for rows without `messages`: of functions, of pages


def openings_of(file: str | None = None) -> Openings:
    """file: an agent.md, which replaces Tandem's for functions."""
    return {False: agent_prompt(file), True: agent_prompt(SHIPPED / "agent-page.md")}


def read_rows(
    paths: Iterable[str | Path],
    opening: str | None = None,
    *,
    with_leaked: bool = False,
    measure: str | None = None,
    renderer: str | None = None,
    without_grades: bool = False,
    role: str = "agent",
) -> Read:
    """Reads the rows of these files as one set of data.

    `opening` is the agent.md for rows without `messages`, by default Tandem's. With `measure` or `renderer`, dialogues
    whose rewards were measured otherwise are left out. A row of another `role` is a bad line. Raises Fault when no row
    can be used.
    """
    openings = openings_of(opening)

    def why_left_out(row: dict, dialogue: Dialogue) -> str | None:
        if dialogue.reward is None and not without_grades:
            return "not graded"
        if object_of(row, "tandem").get("leaked") is True and not with_leaked:
            return "leaked"
        if (reason := why_unwanted(dialogue.measure, measure, renderer)) is not None:
            return reason
        return "with an empty message of the agent" if has_empty_turn(dialogue.messages) else None

    def read_file(file: Path) -> Read:
        read, others = Read(), 0
        for line, row in json_lines(file, read.problems):
            try:
                require_role(row, role)
                dialogue = dialogue_of(row, file, line, openings)
            except BadRow as reason:
                read.problems.append(Problem(str(file), line, str(reason)))
                continue
            if (reason := why_left_out(row, dialogue)) is not None:
                read.left_out[reason] += 1
            else:
                read.dialogues.append(dialogue)
                others += "messages" not in row and played_with_another(row, dialogue.is_page, openings)
        if others:
            read.notices.append(
                f"In {file}, {counted(others, 'dialogue')} had another agent.md than the one that openings are "
                "rendered from here; give that one as data.opening."
            )
        if not read.dialogues:
            raise UsageFault(f"{file} holds no trajectory that can be used{why_none(read)}.")
        return read

    return merge(read_file(Path(path)) for path in paths)


def why_none(read: Read) -> str:
    """Returns the end of a sentence: the first bad line, and the counts."""
    reasons = [f"{counted(len(read.problems), 'bad line')}, the first: {read.problems[0]}"] if read.problems else []
    if read.left_out:
        reasons.append(listed(read.left_out))
    text = "; ".join(reasons) or "it has no rows"
    return f" ({text.rstrip('.')})"


def dialogue_of(row: dict, file: Path, line: int, openings: Openings) -> Dialogue:
    tandem = object_of(row, "tandem")
    version = tandem.get("version", VERSION)
    if version != VERSION:
        raise BadRow(f"It is a row of version {version}, and this trainer reads version {VERSION}: update Tandem.")
    if "dialogue_history" not in row and "messages" in row:
        return chat_dialogue(row, tandem, f"{file}:{line}")
    task = task_of(row)
    texts, contents, replies = history_of(row, task["problem_description"])
    if "messages" in row:
        messages = messages_of(row["messages"], "messages")
        refuse_without_request(messages, "messages")
        positions = assistant_positions(messages)
        if [messages[position]["content"] for position in positions] != texts:
            raise BadRow("The agent's turns in messages are not those of dialogue_history.")
    else:
        page = is_page(task)
        prompt = openings[page]
        protocol = {**(PUBLISHED_PAGE_PROTOCOL if page else PUBLISHED_PROTOCOL), **object_of(tandem, "protocol")}
        opening = prompt.render(
            description=task["problem_description"], maxTurns=protocol["maxTurns"], replyLimit=protocol["replyLimit"]
        )
        messages = conversation(opening, texts, replies)
        positions = assistant_positions(messages)
    reward = reward_of(row)
    measure, drafts = page_grade(task, tandem, len(positions))
    return Dialogue(
        id=tandem.get("episode") or row_id(task, texts, contents, replies, row, reward),
        task=task_id(task, tandem),
        messages=messages,
        turns=turns_of(tandem, positions),
        reward=reward,
        hidden_information=task.get("hidden_information") or task.get("ground_truth") or None,
        measure=measure,
        drafts=drafts,
        where=f"{file}:{line}",
        parent=parent_of(tandem),
    )


def task_id(task: dict, tandem: dict) -> str:
    return text_of({"id": task.get("id") or tandem.get("task") or content_id(task)}, "id")


def chat_dialogue(row: dict, tandem: dict, where: str) -> Dialogue:
    """Tandem's chat export has messages and origin, but no hidden information.

    A row of the collaborator is one reply of a dialogue.
    """
    messages = messages_of(row["messages"], "messages")
    refuse_without_request(messages, "messages")
    positions = assistant_positions(messages)
    if not positions:
        raise BadRow("messages has no turn of the agent.")
    measure, drafts = page_grade({}, tandem, len(positions))
    episode = text_of(tandem, "episode", default=where)
    return Dialogue(
        id=f"{episode}/{tandem.get('turn')}" if role_of(tandem) == "collaborator" else episode,
        task=text_of(tandem, "task", default=request_of(messages)),
        messages=messages,
        turns=turns_of(tandem, positions),
        reward=reward_of(row if "reward" in row else tandem),
        measure=measure,
        drafts=drafts,
        where=where,
        parent=parent_of(tandem),
    )


def parent_of(tandem: dict) -> Parent | None:
    if tandem.get("parent") is None:
        return None
    parent = object_of(tandem, "parent")
    turn, by = parent.get("turn"), parent.get("by")
    if type(turn) not in (int, float) or turn != turn // 1 or turn < 1 or by not in ("message", "reply"):
        raise BadRow("The field parent of tandem must have a turn from 1, and message or reply as by.")
    return Parent(text_of(parent, "episode"), int(turn) - 1, by)


def history_of(row: dict, description: str) -> tuple[list[str], list[str], list[str | None]]:
    """Returns the agent's text of each turn, the part that the collaborator saw, and the replies."""
    history = row.get("dialogue_history")
    if not isinstance(history, list) or not history:
        raise BadRow("The field dialogue_history must be a list of messages.")
    texts: list[str] = []
    contents: list[str] = []
    replies: list[str | None] = []
    for index, message in enumerate(history):
        where = f"dialogue_history[{index}]"
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            raise BadRow(f"{where} must have a role and a content.")
        role, content, output = str(message.get("role")).lower(), message["content"], message.get("output")
        if role in AGENT:
            if not isinstance(output, str | None):
                raise BadRow(f"The output of {where} must be a string.")
            texts.append(content if output is None else output)
            contents.append(content)
            replies.append(None)
        elif role not in COLLABORATOR:
            raise BadRow(f'{where} has the role "{role}"; it must be agent or human.')
        elif texts and replies[-1] is None:
            replies[-1] = content
        elif texts:
            raise BadRow(f"{where} is a second reply to the same turn.")
        elif content.strip() != description.strip():
            raise BadRow(f"{where} is the collaborator's, before the agent has said anything.")
    if not texts:
        raise BadRow("dialogue_history has no turn of the agent.")
    return texts, contents, replies


def messages_of(value: object, name: str) -> Messages:
    if not isinstance(value, list) or not value:
        raise BadRow(f"The field {name} must be a list of messages.")
    for index, message in enumerate(value):
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            raise BadRow(f"{name}[{index}] must have a role and a content.")
        if message.get("role") not in ROLES:
            raise BadRow(f"The role of {name}[{index}] must be system, user or assistant.")
    return tuple({"role": message["role"], "content": message["content"]} for message in value)


def refuse_without_request(messages: Messages, name: str) -> None:
    """The critic's prompt goes in front of the request, so the user must begin. Raises BadRow."""
    roles = [message["role"] for message in messages]
    if "user" not in roles or "assistant" in roles[: roles.index("user")]:
        raise BadRow(f"{name} must have a message of the user before those of the assistant.")


def request_of(messages: Messages) -> str:
    """The text before the agent's first message replaces the task in a row that names none."""
    positions = assistant_positions(messages)
    return "\n\n".join(message["content"] for message in messages[: positions[0] if positions else None])


def turns_of(tandem: dict, positions: list[int]) -> tuple[Spoken, ...]:
    said = tandem.get("turns")
    if said is None:
        return tuple(Spoken(position) for position in positions)
    if not isinstance(said, list) or len(said) != len(positions) or not all(isinstance(turn, dict) for turn in said):
        raise BadRow(f"tandem.turns must be a list of {len(positions)} objects, one for each turn of the agent.")
    return tuple(
        spoken(position, turn, f"tandem.turns[{index}]")
        for index, (position, turn) in enumerate(zip(positions, said, strict=True))
    )


def read_preferences(
    paths: Iterable[str | Path], role: str = "agent", only_feedback: bool = False
) -> tuple[list[Preference], list[Problem]]:
    """Reads rows `prompt`, `chosen`, `rejected`: the messages before the choice, and two continuations.

    A person's choice between two drafts has one assistant message on each side; Tandem's preference export has the rest
    of two dialogues. A row `prompt`, `completion`, `label` or `reward` is a person's word on one message. With
    `only_feedback` a choice that names no signal is a bad line. Raises Fault when no row can be used.
    """
    preferences, problems = [], []
    for path in paths:
        bad: list[Problem] = []
        good = []
        for line, row in json_lines(Path(path), bad):
            try:
                require_role(row, role)
                preference = preference_of(row, f"{path}:{line}")
                if only_feedback and preference.signal is None:
                    raise BadRow("It is a choice without a signal, and this method learns from feedback alone.")
                good.append(preference)
            except BadRow as reason:
                bad.append(Problem(str(path), line, str(reason)))
        if not good:
            raise UsageFault(f"{path} holds no preference that can be used{why_none(Read(problems=bad))}.")
        preferences += good
        problems += bad
    return preferences, problems


def preference_of(row: dict, where: str) -> Preference:
    prompt = messages_of(row.get("prompt"), "prompt")
    refuse_without_request(prompt, "prompt")
    tandem = object_of(row, "tandem")
    group = f"preference-{hashlib.sha256(json.dumps(prompt).encode()).hexdigest()[:16]}"
    task = text_of(tandem, "task", default=request_of(prompt))
    is_single = "completion" in row
    signal = signal_of(tandem, "thumbs" if is_single else None)
    sides: dict[str, Dialogue] = {}
    for name in ("completion",) if is_single else ("chosen", "rejected"):
        side = messages_of(row.get(name), name)
        if side[0]["role"] != "assistant":
            raise BadRow(f"{name} must begin with a message of the assistant.")
        if has_empty_turn(side):
            raise BadRow(f"{name} has an empty message of the assistant.")
        messages = prompt + side
        turns = tuple(Spoken(at) for at in assistant_positions(messages) if at >= len(prompt))
        if len(turns) == 1:  # its tokens as they were sampled, where the row has them
            turns = (spoken(turns[0].position, object_of(tandem, name), f"tandem.{name}"),)
        sides[name] = Dialogue(f"{where}/{name}", task, messages, turns, where=where)
    if not is_single:
        if sides["chosen"].messages == sides["rejected"].messages:
            raise BadRow("chosen and rejected are the same.")
        return Preference(group, **sides, signal=signal)
    if len(sides["completion"].turns) != 1:
        raise BadRow("completion must be one message of the assistant.")
    label, questions = row.get("label"), tandem.get("questions", 0)
    if type(questions) is not int or questions < 0:
        raise BadRow("The field questions must be a whole number from 0.")
    if label is None:
        desirability = reward_of(row)
    elif isinstance(label, bool):
        desirability = float(label)
    else:
        raise BadRow("The field label must be true or false.")
    if desirability is None:
        raise BadRow("A row with a completion must have a label, or a reward.")
    return Preference(group, sides["completion"], None, signal, desirability, questions)


SIGNALS = ("thumbs", "choices", "verdicts", "edits", "outcomes")  # the weights of `FeedbackConfig`


def signal_of(tandem: dict, default: str | None) -> str | None:
    signal = tandem.get("signal", default)
    if signal is not None and signal not in SIGNALS:
        raise BadRow(f"The field signal must be one of {', '.join(SIGNALS)}: update Tandem.")
    return signal


def has_empty_turn(messages: Messages) -> bool:
    """True for a model that spent all its tokens on thoughts; trained on, it would teach to say nothing."""
    return any(message["role"] == "assistant" and not message["content"].strip() for message in messages)


def role_of(tandem: dict) -> str:
    """Who the assistant of the messages is."""
    return text_of(tandem, "role", default="agent")


def require_role(row: dict, role: str) -> None:
    """Raises BadRow."""
    of_row = role_of(object_of(row, "tandem"))
    if of_row != role:
        raise BadRow(f"It is a row of the {of_row}, and this run trains the {role} (role in run.json).")


def played_with_another(row: dict, page: bool, openings: Openings) -> bool:
    played = object_of(object_of(row, "tandem"), "prompts").get("agent-page.md" if page else "agent.md")
    return played is not None and played != openings[page].version
