"""One episode of the trajectory log: its events, checked, and what they tell when they are folded in their order.

The rules are those of `src/core/trajectory/event.ts` and `fold.ts`.
"""

import heapq
from dataclasses import dataclass, field
from datetime import datetime, timezone

from .dialogue import Spoken
from .fields import BadRow, object_of, reward_of, spoken, text_of

TURNS = ("agent-turn", "reply", "leak", "hand-over")
KINDS = frozenset(("episode-started", *TURNS, "answered", "grade", "rating", "abandoned", "resumed", "deleted"))


@dataclass(frozen=True, eq=False)
class Event:
    """A line inside of an episode."""

    kind: str
    at: datetime
    file: str
    line: int
    body: dict
    spoken: Spoken | None = None  # of an agent turn; `body` holds its tokens no longer


@dataclass
class Episode:
    """All that the log says of one episode, segment by segment."""

    segments: dict[int, list[Event]] = field(default_factory=dict)  # by the number of the file
    task: dict | None = None
    unreadable: bool = False  # a line of it could not be read

    def events(self) -> list[Event]:
        """By time across segments, of equal times the earlier segment first; in the order of the file within one."""
        in_order = [self.segments[segment] for segment in sorted(self.segments)]
        return list(heapq.merge(*in_order, key=lambda event: event.at))


@dataclass
class Turn:
    number: int
    text: str
    spoken: Spoken
    reply: str | None = None
    leaked: bool = False


@dataclass
class Trajectory:
    """What is known of an episode while its events are folded one after the other."""

    started: Event
    prompts: dict[str, str]  # name and hash of the prompt files that it was played with
    turns: list[Turn] = field(default_factory=list)
    state: str = "not finished"
    grades: dict[str, dict] = field(default_factory=dict)  # the latest of each mode
    deleted: bool = False
    damaged: bool = False

    def take_answer_back(self) -> None:
        """A dialogue that goes on has no answer, and grades of the one that it had do not count."""
        if self.state == "answered":
            self.grades = {}
        self.state = "not finished"


def read_event(kind: str, body: dict, file: str, line: int) -> Event:
    """Checks the fields that are used here. Raises BadRow."""
    text_of(body, "episode")
    try:
        at = datetime.fromisoformat(text_of(body, "at").replace("Z", "+00:00"))
    except ValueError as error:
        raise BadRow("its time is not an ISO 8601 date.") from error
    at = at if at.tzinfo else at.replace(tzinfo=timezone.utc)  # so that all times can be compared
    if kind in TURNS and type(body.get("turn")) is not int:
        raise BadRow("it has no turn.")
    if kind in ("agent-turn", "reply") and not isinstance(body.get("text"), str):
        raise BadRow("it has no text.")
    if kind == "episode-started":
        text_of(body, "task")
    if kind == "grade":
        grade = object_of(body, "grade")
        text_of(grade, "mode")
        reward_of(grade)
    if kind != "agent-turn":
        return Event(kind, at, file, line, body)
    tokens = object_of(body, "tokens")
    said = spoken(
        0,
        tokens.get("ids"),
        tokens.get("logprobs"),
        body.get("promptTokenIds"),
        body.get("finishReason"),
        body.get("reasoning", ""),
        "the turn",
    )
    return Event(kind, at, file, line, {"turn": body["turn"], "text": body["text"]}, said)


def fold(episode: Episode) -> Trajectory | None:
    """The trajectory that the events tell; None when the episode never started.

    - An agent turn whose number was played before takes that turn and everything after it back.
    - `resumed` opens an episode again; an answer given before no longer counts, nor do its grades.
    - A second `episode-started` begins anew: it comes from an import that was repeated after an interruption.
    """
    trajectory: Trajectory | None = None
    for event in episode.events():
        if event.kind == "episode-started":
            deleted = trajectory is not None and trajectory.deleted
            trajectory = Trajectory(event, object_of(event.body, "prompts"), deleted=deleted)
            trajectory.damaged = episode.unreadable
        elif trajectory is not None:
            apply(trajectory, event)
    return trajectory


def apply(trajectory: Trajectory, event: Event) -> None:
    body = event.body
    match event.kind:
        case "agent-turn":
            play(trajectory, Turn(body["turn"], body["text"], event.spoken))
        case "reply" | "leak":
            of = next((turn for turn in trajectory.turns if turn.number == body["turn"]), None)
            if of is None:
                trajectory.damaged = True
            elif event.kind == "reply":
                of.reply = body["text"]
            else:
                of.leaked = body.get("leaked") is True
        case "answered":
            trajectory.state = "answered"
        case "abandoned":
            trajectory.take_answer_back()
            trajectory.state = "abandoned"
        case "resumed":
            trajectory.take_answer_back()
            trajectory.prompts = object_of(body, "prompts") or trajectory.prompts
        case "grade":
            trajectory.grades[body["grade"]["mode"]] = body["grade"]
        case "deleted":
            trajectory.deleted = True


def play(trajectory: Trajectory, turn: Turn) -> None:
    last = trajectory.turns[-1].number if trajectory.turns else 0
    if turn.number <= last:
        trajectory.turns = [earlier for earlier in trajectory.turns if earlier.number < turn.number]
        if trajectory.state == "answered":
            trajectory.take_answer_back()
    elif turn.number > last + 1:
        trajectory.damaged = True
    trajectory.turns.append(turn)
