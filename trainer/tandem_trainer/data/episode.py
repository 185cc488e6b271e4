"""One episode of the trajectory log: its events, checked, and what they tell when they are folded in their order.

The rules are those of `event.ts`, `fold.ts` and `people.ts` in `src/core/trajectory`.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from .dialogue import Spoken
from .fields import BadRow, object_of, reward_of, spoken, text_of, time_of
from .seal import Gap

TURNS = ("agent-turn", "candidates", "choice", "reply", "leak", "hand-over")
KINDS = frozenset(
    (
        "episode-started",
        *TURNS,
        "answered",
        "grade",
        "rating",
        "abandoned",
        "resumed",
        "deleted",
        "undeleted",
        "lines-lost",
    )
)


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

    def events(self, gaps: Iterable[Gap] = ()) -> list[Event]:
        """By time across segments, of equal times the earlier segment first; in the order of the file within one.

        Gaps are events of the kind `loss`; behind events of the same time in other segments.
        """
        in_order = {segment: self.segments[segment] for segment in sorted(self.segments)}
        elsewhere = []
        for gap in gaps:
            loss = Event("loss", gap.at, "", gap.line or 0, {})
            own = in_order.get(gap.segment) if gap.line is not None else None
            if own is None:
                elsewhere.append([loss])
            else:
                in_order[gap.segment] = sorted([loss, *own], key=lambda event: event.line)
        return list(heapq.merge(*in_order.values(), *elsewhere, key=lambda event: event.at))


@dataclass
class Turn:
    number: int
    text: str
    spoken: Spoken
    model: str
    reply: str | None = None
    author: str = "simulator"  # of the reply: `simulator`, or a developer in one of two ways
    by: str = ""  # the developer's pseudonym, or the simulator's model
    drafted_by: str = ""  # the simulator whose suggestion the developer edited or sent
    leaked: bool = False
    bound: bool = False  # a model whose terms go with its text wrote some of it, or drafted what a developer edited


@dataclass
class Trajectory:
    """What is known of an episode while its events are folded one after the other."""

    started: Event
    prompts: dict[str, str]  # name and hash of the prompt files that it was played with
    agent: str  # who plays it, or went on with it last
    seat: dict  # who has the collaborator's seat, after any hand-over: kind and name
    candidates: list[dict] = field(default_factory=list)  # messages that somebody was to choose from
    choosers: set[str] = field(default_factory=set)  # the pseudonyms of those who did
    turns: list[Turn] = field(default_factory=list)
    state: str = "not finished"
    grades: dict[str, dict] = field(default_factory=dict)  # the latest of each mode
    deleted: bool = False
    damaged: bool = False
    doubtful: bool = False  # lost lines may have deleted it, or marked a leak in it

    def take_answer_back(self) -> None:
        """A dialogue that goes on has no answer, and grades of the one that it had do not count."""
        if self.state == "answered":
            self.grades = {}
        self.state = "not finished"

    def developers(self) -> set[str]:
        """The pseudonyms of the people who had the collaborator's seat, wrote or edited a reply, or chose."""
        seats = (object_of(self.started.body, "collaborator"), self.seat)
        seated = {str(seat.get("name")) for seat in seats if seat.get("kind") == "developer"}
        replied = {turn.by for turn in self.turns if turn.reply is not None and turn.author != "simulator"}
        return seated | replied | self.choosers

    def models(self) -> set[str]:
        """Everything that wrote some of it by name: agents, also of candidates, simulators, and who else replied."""
        seats = (object_of(self.started.body, "collaborator"), self.seat)
        named = {str(self.started.body.get("agent")), self.agent, *(str(seat.get("name")) for seat in seats)}
        named |= {str(candidate.get("agent")) for candidate in self.candidates}
        return named | {name for turn in self.turns for name in (turn.model, turn.by, turn.drafted_by)}

    def bound(self) -> bool:
        """Whether some of it carries the terms of a model."""
        tagged = any("terms" in candidate for candidate in self.candidates)
        return tagged or any(turn.bound for turn in self.turns)


def read_event(kind: str, body: dict, file: str, line: int) -> Event:
    """Checks the fields that are used here. Raises BadRow."""
    text_of(body, "episode")
    at = time_of(body)
    if kind in TURNS and type(body.get("turn")) is not int:
        raise BadRow("it has no turn.")
    if kind in ("agent-turn", "reply") and not isinstance(body.get("text"), str):
        raise BadRow("it has no text.")
    if kind == "choice":
        text_of(body, "by")
    if kind == "candidates":
        shown = body.get("candidates")
        if not isinstance(shown, list) or not all(isinstance(candidate, dict) for candidate in shown):
            raise BadRow("its candidates must be a list of objects.")
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
    kept = {name: body.get(name) for name in ("turn", "text", "model", "terms")}
    return Event(kind, at, file, line, kept, said)


def fold(episode: Episode, gaps: Iterable[Gap] = ()) -> Trajectory | None:
    """The trajectory that the events tell; None when the episode never started.

    - An agent turn whose number was played before takes that turn and everything after it back.
    - `resumed` opens an episode again; an answer given before no longer counts, nor do its grades.
    - A gap after the start makes it doubtful, unless it was deleted or restored later.
    - A second `episode-started` begins anew: it comes from an import that was repeated after an interruption.
    """
    trajectory: Trajectory | None = None
    for event in episode.events(gaps):
        if event.kind == "episode-started":
            deleted = trajectory is not None and trajectory.deleted
            doubtful = trajectory is not None and trajectory.doubtful
            body = event.body
            seat = object_of(body, "collaborator")
            trajectory = Trajectory(event, object_of(body, "prompts"), str(body.get("agent")), seat, deleted=deleted)
            trajectory.damaged, trajectory.doubtful = episode.unreadable, doubtful
        elif trajectory is not None:
            apply(trajectory, event)
    return trajectory


def apply(trajectory: Trajectory, event: Event) -> None:
    body = event.body
    match event.kind:
        case "agent-turn":
            bound = body["terms"] is not None
            play(trajectory, Turn(body["turn"], body["text"], event.spoken, str(body["model"]), bound=bound))
        case "candidates":
            trajectory.candidates += body["candidates"]
        case "choice":
            trajectory.choosers.add(body["by"])
        case "reply" | "leak":
            of = next((turn for turn in trajectory.turns if turn.number == body["turn"]), None)
            if of is None:
                trajectory.damaged = True
            elif event.kind == "reply":
                of.reply, of.author, of.by = body["text"], str(body.get("author")), str(body.get("by"))
                of.drafted_by = str(body.get("suggestedBy", ""))
                of.bound = of.bound or "terms" in body
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
            trajectory.agent = str(body.get("agent", trajectory.agent))
        case "hand-over":
            trajectory.seat = object_of(body, "to")
        case "grade":
            trajectory.grades[body["grade"]["mode"]] = body["grade"]
        case "deleted" | "undeleted":
            trajectory.deleted, trajectory.doubtful = event.kind == "deleted", False
        case "loss":
            trajectory.doubtful = True
        case "lines-lost":
            trajectory.damaged = True


def play(trajectory: Trajectory, turn: Turn) -> None:
    last = trajectory.turns[-1].number if trajectory.turns else 0
    if turn.number <= last:
        trajectory.turns = [earlier for earlier in trajectory.turns if earlier.number < turn.number]
        if trajectory.state == "answered":
            trajectory.take_answer_back()
    elif turn.number > last + 1:
        trajectory.damaged = True
    if trajectory.turns and trajectory.turns[-1].reply is None:
        trajectory.damaged = True
    trajectory.turns.append(turn)
