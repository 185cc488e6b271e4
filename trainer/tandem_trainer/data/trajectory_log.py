"""Reads Tandem's trajectory log: segments of JSON lines, `<data folder>/log/*.jsonl` (docs/data.md).

What is left out, and why, has the names of `tandem train` (`selection.ts` and `prepare.ts` in `src/core`), which makes
rows of a log itself, so that a run on the log takes the same: nothing without the consent of the people in it, and
nothing that the terms of a model forbid. Rows of a file are taken as they are.
"""

from dataclasses import replace
from pathlib import Path

from ..fault import Fault
from .dialogue import Dialogue, Problem, Read, assistant_positions, conversation, counted
from .episode import KINDS, Episode, Trajectory, fold, read_event
from .fields import BadRow, object_of, text_of, time_of
from .json_lines import json_lines
from .prompt_file import Prompt, agent_prompt
from .rows import PUBLISHED_PROTOCOL, another_prompt, why_none
from .seal import Gap, Segment, is_changed

VERSION = 1
EVALUATION = "evaluation"  # how the name of a collection begins that measures an agent and must not train one
EXCLUDED = "vscode:"  # how the names of models begin that the editor offers; many terms forbid to train on their text


def read_log(
    folder: str | Path,
    mode: str = "fixed",
    with_leaked: bool = False,
    opening: str | None = None,
    *,
    with_doubtful: bool = False,
) -> Read:
    """The trajectories of a data folder that were answered, graded in `mode` and may be trained on, the oldest first.

    opening: a file like Tandem's agent.md; none: the one that ships with Tandem.
    Raises Fault when there is no log, or nothing of it can be used.
    """
    log = Path(folder) / "log"
    segments = sorted(log.glob("*.jsonl"))
    if not segments:
        raise Fault(f"{log} holds no *.jsonl, so {folder} is not a Tandem data folder; check data.log.", usage=True)
    read = Read()
    prompt = agent_prompt(opening)
    others = 0
    episodes, consents, gaps = read_episodes(segments, read.problems)
    for trajectory, task in oldest_first(episodes, gaps):
        reason = why_not(trajectory, mode, consents, with_leaked=with_leaked, with_doubtful=with_doubtful)
        if reason is not None:
            read.left_out[reason] += 1
            continue
        started = trajectory.started
        try:
            read.dialogues.append(dialogue_of(trajectory, task, mode, prompt))
        except BadRow as error:
            read.problems.append(Problem(started.file, started.line, str(error)))
            read.left_out["damaged"] += 1
            continue
        others += trajectory.prompts.get("agent.md", prompt.version) != prompt.version
    if others:
        read.notices.append(another_prompt(others, folder))
    if read.left_out["doubtful"]:
        read.notices.append(doubt(read.left_out["doubtful"]))
    if not read.dialogues:
        raise Fault(f"The log of {folder} holds no trajectory that can be used{why_none(read)}.", usage=True)
    return read


def doubt(count: int) -> str:
    """Why so many dialogues are left out as doubtful, and what to do."""
    return (
        f"{counted(count, 'dialogue is', 'dialogues are')} left out as doubtful: lines were lost from the log that may "
        "have been a deletion or a leak mark, and nobody can tell. Look through the list; data.with_doubtful takes "
        "doubtful dialogues all the same, and tandem check --repair --accept-loss settles it for good."
    )


def read_episodes(segments: list[Path], problems: list[Problem]) -> tuple[list[Episode], set[str], list[Gap]]:
    """All episodes, in the order in which they are first met, the pseudonyms under which people have consented, and
    where lines are lost of which nobody can tell what they said. Lines of a newer Tandem are passed over, and so are
    lines that are not what was written.
    """
    episodes: dict[str, Episode] = {}
    consents: set[str] = set()
    tasks: dict[str, list[dict]] = {}  # the different ones of each id
    elsewhere: list[tuple[Episode, str]] = []  # episodes whose own segment does not have their task
    damaged: set[str] = set()
    gaps: list[Gap] = []
    older: dict[str, dict] = {}  # what was noted of segments without check sums, by their names
    for number, path in enumerate(segments):
        file = str(path)
        own: dict[str, dict] = {}
        segment = Segment(path, problems, damaged, episodes.keys())
        events = json_lines(path, problems, torn=True, objects=segment.events, unreadable=segment.pass_over)
        for line, body in events:
            kind = body.get("event")
            segment.read(body, line)
            if body.get("version") != VERSION or kind not in KINDS | {"task", "consent"}:
                continue
            try:
                if kind == "task":
                    task = object_of(body, "task")
                    own[text_of(task, "id")] = task
                    known = tasks.setdefault(task["id"], [])
                    if task not in known:
                        known.append(task)
                    continue
                if kind == "consent":
                    consents.add(text_of(body, "pseudonym"))
                    continue
                event = read_event(kind, body, file, line)
            except BadRow as error:
                problems.append(Problem(file, line, f"The {kind} event is passed over: {error}"))
                if isinstance(body.get("episode"), str):
                    episodes.setdefault(body["episode"], Episode()).unreadable = True
                continue
            episode = episodes.setdefault(body["episode"], Episode())
            episode.segments.setdefault(number, []).append(event)
            if kind == "episode-started":
                episode.task = own.get(body["task"])
                if episode.task is None:
                    elsewhere.append((episode, body["task"]))
        gaps += segment.gaps(number)
        older |= {noted["name"]: noted for noted in segment.older}
    for number, path in enumerate(segments):
        if path.name in older and is_changed(path, older[path.name]):
            reason = "The file was changed after its check sum was noted in a later one; its lines have none."
            problems.append(Problem(str(path), 1, reason))
            gaps.append(Gap(number, None, time_of(older[path.name], "until")))
    for episode, task in elsewhere:
        copies = tasks.get(task, [])
        episode.task = episode.task or next(iter(copies), None)
        episode.unreadable = episode.unreadable or len(copies) > 1  # nobody can tell which of them was played
    for name in damaged & episodes.keys():
        episodes[name].unreadable = True
    return list(episodes.values()), consents, gaps


def oldest_first(episodes: list[Episode], gaps: list[Gap]) -> list[tuple[Trajectory, dict | None]]:
    folded = [(trajectory, episode.task) for episode in episodes if (trajectory := fold(episode, gaps)) is not None]
    return sorted(folded, key=lambda each: each[0].started.at)


def why_not(
    trajectory: Trajectory, mode: str, consents: set[str], *, with_leaked: bool, with_doubtful: bool
) -> str | None:
    """Why a trajectory is left out; None when it is not."""
    if trajectory.deleted:
        return "deleted"
    if trajectory.state != "answered":
        return trajectory.state
    collection = trajectory.started.body.get("collection")
    if isinstance(collection, str) and collection.startswith(EVALUATION):
        return "played in an evaluation"
    if not with_leaked and any(turn.leaked for turn in trajectory.turns):
        return "leaked"
    grade = trajectory.grades.get(mode, {})
    if grade.get("reward") is None or grade.get("success") is None:
        return "not graded"
    if trajectory.damaged:
        return "damaged"
    if trajectory.doubtful and not with_doubtful:
        return "doubtful"
    if not trajectory.developers() <= consents:
        return "no consent"
    bound = trajectory.bound() or any(name.startswith(EXCLUDED) for name in trajectory.models())
    return "model terms" if bound else None


def dialogue_of(trajectory: Trajectory, task: dict | None, mode: str, prompt: Prompt) -> Dialogue:
    """Raises BadRow."""
    started, turns = trajectory.started, trajectory.turns
    if task is None:
        raise BadRow(f"The log does not hold the task {started.body['task']}; a file of it may be missing.")
    if not turns:
        raise BadRow("The episode was answered without a turn of the agent.")
    protocol = {**PUBLISHED_PROTOCOL, **object_of(started.body, "protocol")}
    opening = prompt.render(
        description=text_of(task, "description"),
        maxTurns=protocol["maxTurns"],
        replyLimit=protocol["replyLimit"],
    )
    messages = conversation(opening, [turn.text for turn in turns], [turn.reply for turn in turns])
    positions = assistant_positions(messages)
    return Dialogue(
        id=started.body["episode"],
        task=started.body["task"],
        messages=messages,
        turns=tuple(replace(turn.spoken, position=at) for turn, at in zip(turns, positions, strict=True)),
        reward=float(trajectory.grades[mode]["reward"]),
        hidden_information=text_of(task, "hiddenInformation", default=task.get("reference")),
        where=f"{started.file}:{started.line}",
    )
