"""Tandem's trajectory log, written here line by line as `src/core/trajectory/event.ts` says."""

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from tandem_trainer.data.prompt_file import agent_prompt
from tandem_trainer.data.seal import number_of
from tandem_trainer.data.trajectory_log import read_log
from tandem_trainer.fault import Fault

TASK = {
    "id": "mean",
    "description": "Write mean(values).",
    "reference": "def mean(values):\n    return sum(values) / len(values)",
    "testCases": [{"name": "test1", "call": "mean([1])"}],
    "hiddenInformation": "An empty list gives 0.",
}


class Log:
    """Writes a data folder, one line after the other. Time passes by a second a line."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.segments: dict[str, list[str]] = {}
        self.seconds = 0
        (folder / "log").mkdir(parents=True)

    def add(self, event: str, *, segment: str = "one", **fields) -> None:
        self.seconds += 1
        at = f"2026-01-31T10:{self.seconds // 60:02d}:{self.seconds % 60:02d}.000Z"
        of = {"episode": fields.pop("episode")} if "episode" in fields else {}
        line = json.dumps({"version": 1, "event": event, **of, "at": fields.pop("at", at), **fields})
        self.segments.setdefault(segment, []).append(line + "\n")

    def start(self, episode: str, *, segment: str = "one", **fields) -> None:
        if not any('"event": "task"' in line for line in self.segments.get(segment, [])):
            self.add("task", segment=segment, task=TASK)
        prompts = {"agent.md": agent_prompt().version}
        protocol = {"maxTurns": 6, "replyLimit": 300}
        started = {"task": "mean", "agent": "model", "protocol": protocol, "prompts": prompts, "seed": 0, **fields}
        self.add("episode-started", segment=segment, episode=episode, **started)

    def turn(self, episode: str, turn: int, text: str, reply: str | None = None, **fields) -> None:
        segment = fields.pop("segment", "one")
        said = {"finishReason": "stop", "model": "model", **fields}
        self.add("agent-turn", segment=segment, episode=episode, turn=turn, text=text, **said)
        if reply is not None:
            self.add("reply", segment=segment, episode=episode, turn=turn, text=reply, author="simulator", by="rules")

    def answer(self, episode: str, reward: float | None = 1.0, mode: str = "fixed", segment: str = "one") -> None:
        self.add("answered", segment=segment, episode=episode, turn=2, answer="code", reason="answered")
        if reward is not None:
            self.grade(episode, reward, mode, segment=segment)

    def grade(self, episode: str, reward: float | None, mode: str = "fixed", segment: str = "one") -> None:
        grade = {"mode": mode, "reward": reward, "success": None if reward is None else reward == 1, "tests": []}
        self.add("grade", segment=segment, episode=episode, grade=grade)

    def played(self, episode: str, reward: float | None = 1.0, mode: str = "fixed", **fields) -> None:
        """A whole dialogue of two turns."""
        self.start(episode, **fields)
        self.turn(episode, 1, "Empty lists?", "Zero.")
        self.turn(episode, 2, "Done.")
        self.answer(episode, reward, mode)

    def read(self, *arguments, **named):
        for segment, lines in self.segments.items():
            (self.folder / "log" / f"{segment}.jsonl").write_text("".join(lines), encoding="utf-8")
        return read_log(self.folder, *arguments, **named)


@pytest.fixture
def log(tmp_path) -> Log:
    return Log(tmp_path / "data")


def names(read) -> list[str]:
    return [dialogue.id for dialogue in read.dialogues]


def test_a_trajectory_is_the_conversation_as_the_agent_saw_it(log):
    tokens = {"ids": [5, 6, 7], "logprobs": [-0.1, -0.2, -0.3]}
    log.start("a")
    log.turn("a", 1, "Hm.\nOUTPUT:\nEmpty lists?", "Zero.", tokens=tokens, promptTokenIds=[1, 2], reasoning="Hm.")
    log.turn("a", 2, "Done.", finishReason="length")
    log.answer("a", 0.5)
    (dialogue,) = log.read().dialogues
    opening = agent_prompt().render(description="Write mean(values).", maxTurns=6, replyLimit=300)
    assert dialogue.messages == (
        {"role": "user", "content": opening},
        {"role": "assistant", "content": "Hm.\nOUTPUT:\nEmpty lists?"},
        {"role": "user", "content": "Zero."},
        {"role": "assistant", "content": "Done."},
    )
    assert opening.endswith("Write mean(values).")
    assert "at most 6 messages" in opening
    assert (dialogue.id, dialogue.task, dialogue.reward) == ("a", "mean", 0.5)
    assert dialogue.hidden_information == "An empty list gives 0."
    first, second = dialogue.turns
    assert (first.position, first.finish_reason, first.reasoning, first.sampled) == (1, "stop", "Hm.", True)
    assert first.ids.tolist() == [5, 6, 7]
    assert first.prompt_ids.tolist() == [1, 2]
    assert first.log_probs.tolist() == pytest.approx([-0.1, -0.2, -0.3])
    assert (first.ids.dtype, first.log_probs.dtype) == (np.int32, np.float32)
    assert (second.position, second.finish_reason, second.ids, second.sampled) == (3, "length", None, False)


def test_only_finished_and_graded_trajectories_are_used_and_the_others_are_counted(log):
    log.played("good")
    log.played("ungraded", reward=None)
    log.played("other mode", mode="paper")
    log.played("evaluation", collection="evaluation-1")
    log.played("deleted")
    log.add("deleted", episode="deleted")
    log.played("restored")
    for event in ("deleted", "undeleted"):
        log.add(event, episode="restored")
    log.start("open")
    log.turn("open", 1, "Empty lists?", "Zero.")
    log.start("given up")
    log.add("abandoned", episode="given up", reason="cancelled", message="Cancelled.")
    log.played("not gradable")
    log.grade("not gradable", None)
    read = log.read()
    assert names(read) == ["good", "restored"]
    assert read.left_out == {
        "not graded": 3,
        "played in an evaluation": 1,
        "deleted": 1,
        "not finished": 1,
        "abandoned": 1,
    }
    assert names(log.read("paper")) == ["other mode"]


def test_a_leaked_trajectory_is_left_out_unless_asked_for(log):
    log.played("good")
    log.played("leaked")
    log.add("leak", episode="leaked", turn=1, fraction=0.6, leaked=True)
    log.add("leak", episode="good", turn=1, fraction=0.1, leaked=False, at="2026-01-31T11:00:00")
    assert names(log.read()) == ["good"]
    assert log.read().left_out == {"leaked": 1}
    assert names(log.read(with_leaked=True)) == ["good", "leaked"]


def test_nothing_is_taken_without_the_consent_of_the_people_in_it(log):
    developer = {"kind": "developer", "name": "finch"}
    log.played("by rules", collaborator={"kind": "rules", "name": "rules"})
    log.played("a developer's", collaborator=developer)
    log.played("handed over")
    log.add("hand-over", episode="handed over", turn=2, to=developer)
    log.start("edited")
    log.turn("edited", 1, "Empty lists?")
    log.add("reply", episode="edited", turn=1, text="Zero.", author="developer-edited-suggestion", by="finch")
    log.answer("edited")
    log.start("chosen")
    log.add("candidates", episode="chosen", turn=1, candidates=[{"agent": "model"}, {"agent": "model"}])
    log.add("choice", episode="chosen", turn=1, picked=0, by="finch")
    log.turn("chosen", 1, "Done.")
    log.answer("chosen")
    read = log.read()
    assert names(read) == ["by rules"]
    assert read.left_out == {"no consent": 4}
    log.add("consent", pseudonym="finch", purpose="Training", segment="two")
    assert len(log.read().dialogues) == 5


def test_nothing_is_taken_that_a_model_of_the_editor_wrote(log):
    log.played("own model")
    log.played("agent", agent="vscode:copilot/some")
    log.played("simulator", collaborator={"kind": "simulator", "name": "vscode:copilot/some"})
    log.start("turn")
    log.turn("turn", 1, "Done.", model="vscode:copilot/some")
    log.answer("turn")
    log.start("resumed")
    log.add("resumed", episode="resumed", agent="vscode:copilot/some")
    log.turn("resumed", 1, "Done.")
    log.answer("resumed")
    log.start("drafted")
    log.turn("drafted", 1, "Empty lists?")
    edited = {"text": "Zero.", "author": "developer-edited-suggestion", "by": "ada", "terms": "editor"}
    log.add("consent", pseudonym="ada", purpose="Training")
    log.add("reply", episode="drafted", turn=1, **edited)
    log.answer("drafted")
    log.start("drafted before the simulator was changed")
    log.turn("drafted before the simulator was changed", 1, "Empty lists?")
    sent = {"text": "Zero.", "author": "developer-sent-suggestion", "by": "ada", "suggestedBy": "vscode:copilot/some"}
    log.add("reply", episode="drafted before the simulator was changed", turn=1, **sent)
    log.answer("drafted before the simulator was changed")
    for episode, rival in (
        ("lost every choice", {"agent": "vscode:copilot/some"}),
        ("lost, renamed", {"agent": "some-2026", "terms": "editor"}),
    ):
        log.start(episode)
        log.add("candidates", episode=episode, turn=1, candidates=[{"agent": "model"}, rival])
        log.turn(episode, 1, "Done.")
        log.answer(episode)
    log.start("renamed")
    log.turn("renamed", 1, "Done.", model="some-2026", terms="editor")
    log.answer("renamed")
    read = log.read()
    assert names(read) == ["own model"]
    assert read.left_out == {"model terms": 9}


def test_the_latest_grade_of_a_mode_counts(log):
    log.played("a", 0.2)
    log.grade("a", 0.9, "paper")
    log.grade("a", 0.7)
    assert [dialogue.reward for dialogue in log.read().dialogues] == [0.7]


def test_a_turn_that_is_played_again_takes_back_what_came_after_it(log):
    log.played("a", 0.2)
    log.add("leak", episode="a", turn=1, fraction=0.9, leaked=True)
    log.turn("a", 1, "Other question?", "Other reply.")
    with pytest.raises(Fault, match="not finished"):
        log.read()
    log.turn("a", 2, "Other answer.")
    log.answer("a", 0.4)
    (dialogue,) = log.read().dialogues
    said = [message["content"] for message in dialogue.messages[1:]]
    assert said == ["Other question?", "Other reply.", "Other answer."]
    assert dialogue.reward == 0.4


def test_a_resumed_dialogue_has_no_answer_and_no_grade_until_it_gets_new_ones(log):
    log.played("a", 0.2)
    log.add("resumed", episode="a")
    with pytest.raises(Fault, match="1 not finished"):
        log.read()
    log.add("answered", episode="a", turn=2, answer="code", reason="answered")
    with pytest.raises(Fault, match="1 not graded"):
        log.read()
    log.grade("a", 1.0)
    assert names(log.read()) == ["a"]


def test_an_import_that_was_repeated_begins_anew(log):
    log.start("a")
    log.turn("a", 1, "Cut off")
    log.played("a")
    (dialogue,) = log.read().dialogues
    assert [message["content"] for message in dialogue.messages[1:]] == ["Empty lists?", "Zero.", "Done."]


def test_an_episode_that_goes_on_in_another_segment_is_put_together_by_time(log):
    log.start("a", segment="two")
    log.turn("a", 1, "Empty lists?", "Zero.", segment="two")
    log.turn("a", 2, "Done.", segment="one")
    log.answer("a", 1.0, segment="one")
    assert len(log.read().dialogues[0].turns) == 2


def test_trajectories_come_from_the_oldest_to_the_newest_whatever_segment_they_are_in(log):
    log.start("older", segment="two")
    log.played("newer")
    log.turn("older", 1, "Done.", segment="two")
    log.answer("older", segment="two")
    assert names(log.read()) == ["older", "newer"]


def test_an_episode_plays_the_task_of_its_own_segment(log):
    log.played("a")
    log.add("task", segment="two", task={**TASK, "description": "Write mean(values), anew."})
    log.start("b", segment="two")
    log.turn("b", 1, "Done.", segment="two")
    log.answer("b", segment="two")
    first, second = log.read().dialogues
    assert first.messages[0]["content"].endswith("Write mean(values).")
    assert second.messages[0]["content"].endswith("Write mean(values), anew.")


def test_an_episode_whose_task_is_missing_is_left_out_and_told(log):
    log.played("good")
    log.start("lost", task="gone")
    log.turn("lost", 1, "Done.")
    log.answer("lost")
    read = log.read()
    assert names(read) == ["good"]
    assert read.left_out == {"damaged": 1}
    assert "does not hold the task gone" in str(read.problems[0])


def test_a_trajectory_with_a_missing_line_is_left_out_as_damaged(log):
    log.played("good")
    log.start("turn missing")
    log.turn("turn missing", 2, "Done.")
    log.answer("turn missing")
    log.played("stray reply")
    log.add("reply", episode="stray reply", turn=7, text="?", author="simulator", by="rules")
    log.played("bad line")
    log.add("agent-turn", episode="bad line", turn="three", text="?")
    read = log.read()
    assert names(read) == ["good"]
    assert read.left_out == {"damaged": 3}
    assert [problem.reason for problem in read.problems] == ["The agent-turn event is passed over: it has no turn."]


def test_a_torn_last_line_is_passed_over_and_told(log):
    log.played("good")
    whole = "".join(log.segments["one"])
    log.segments["one"].append('{"version":1,"event":"deleted","episode":"go')
    read = log.read()
    assert names(read) == ["good"]
    (problem,) = read.problems
    assert problem.line == whole.count("\n") + 1
    assert "torn" in problem.reason
    log.segments["one"][-1] = '{"version":1,"event":"deleted","at":"2026-01-31T10:59:00Z","episode":"good"}'
    assert names(log.read()) == ["good"]  # whole but for its line feed: not yet written to the end


def test_bad_lines_are_told_with_file_and_line_and_lines_of_a_newer_tandem_are_passed_over(log):
    log.played("good")
    log.add("telepathy", episode="good", thought="hm")
    log.segments["one"][1:1] = ["not JSON\n", "\n", "[1]\n", '{"version":2,"event":"deleted","episode":"good"}\n']
    log.segments["one"].append('{"version":1,"event":"grade","at":"yesterday","episode":"x"}\n')
    read = log.read()
    assert names(read) == ["good"]
    file = log.folder / "log" / "one.jsonl"
    assert [str(problem) for problem in read.problems] == [
        f"{file}:2: The line is not JSON and is passed over.",
        f"{file}:4: The line is not a JSON object and is passed over.",
        f"{file}:{len(log.segments['one'])}: The grade event is passed over: its time is not an ISO 8601 date.",
    ]


def test_tokens_that_do_not_add_up_leave_their_trajectory_out(log):
    log.played("good")
    log.start("bad")
    log.turn("bad", 1, "Done.", tokens={"ids": [1, 2, 3], "logprobs": [-0.1]})
    log.answer("bad")
    read = log.read()
    assert names(read) == ["good"]
    assert read.left_out == {"damaged": 1}
    assert "has 3 token ids and 1 log-probabilities" in str(read.problems[0])


def test_dialogues_played_with_another_agent_prompt_are_told(log, tmp_path):
    log.played("a")
    assert log.read().notices == []
    own = tmp_path / "own.md"
    own.write_text("Please: {{description}}", encoding="utf-8")
    read = log.read(opening=str(own))
    assert read.dialogues[0].messages[0]["content"] == "Please: Write mean(values)."
    assert read.notices[0].startswith("In ")
    assert (
        "had another agent.md than the one that openings are rendered from here; give that one as data.opening"
        in read.notices[0]
    )


def test_a_folder_without_a_log_and_a_log_without_a_usable_trajectory_are_refused(log):
    with pytest.raises(Fault, match=r"is not a Tandem data folder; check data.log") as fault:
        read_log(log.folder / "elsewhere")
    assert fault.value.usage
    log.start("open")
    with pytest.raises(Fault, match=r"holds no trajectory that can be used \(1 not finished\)\.$"):
        log.read()


# As `test/unit/trajectory/damage.test.ts` says that the editor writes it.
SEALED = (
    '{"version":1,"event":"deleted","episode":"größe","at":"2026-03-04T05:06:07.089Z","number":12,"sum":"ae7b0dbd"}'
)


def sealed(lines: list[str]) -> list[str]:
    """Numbers and check sums as a segment of the editor has them, which also has no space between its fields."""
    numbered = [
        json.dumps(json.loads(line), separators=(",", ":"), ensure_ascii=False)[:-1] + f',"number":{number}'
        for number, line in enumerate(lines, start=1)
    ]
    return [f'{line},"sum":"{crc32(line.encode()):08x}"}}\n' for line in numbered]


def reply_of(lines: list[str], episode: str) -> int:
    """Where its reply stands, from 0."""
    return next(at for at, line in enumerate(lines) if '"event":"reply"' in line and f'"{episode}"' in line)


@pytest.fixture
def sealed_log(log) -> Log:
    log.played("first")
    log.played("second")
    log.played("third")
    log.segments["one"] = sealed(log.segments["one"])
    return log


def test_a_line_of_the_editor_has_the_check_sum_that_is_looked_for():
    assert number_of(SEALED.encode()) == 12
    assert number_of(SEALED.replace("deleted", "Deleted").encode()) is None


def test_lines_with_numbers_and_check_sums_are_read_like_those_of_older_tandems(sealed_log):
    read = sealed_log.read()
    assert names(read) == ["first", "second", "third"]
    assert read.problems == []


def test_a_changed_line_is_told_and_leaves_its_trajectory_out(sealed_log):
    lines = sealed_log.segments["one"]
    at = reply_of(lines, "second")
    lines[at] = lines[at].replace("Zero.", "One.")
    read = sealed_log.read()
    assert names(read) == ["first", "third"]
    assert read.left_out == {"damaged": 1}
    (problem,) = read.problems
    assert problem.line == at + 1
    assert problem.reason.startswith("The reply event was changed after it was written")


def test_a_lost_line_is_told_and_a_lost_reply_leaves_its_trajectory_out(sealed_log):
    lines = sealed_log.segments["one"]
    del lines[reply_of(lines, "second")]
    read = sealed_log.read()
    assert names(read) == ["third"]
    assert read.left_out == {"damaged": 1, "doubtful": 1}
    assert "1 line is missing before this one" in read.problems[0].reason


def test_a_lost_line_of_which_nobody_can_tell_what_it_said_makes_doubtful_what_began_before(log):
    log.played("deleted")
    log.played("before")
    log.played("restored later")
    log.add("deleted", episode="deleted")
    log.played("after")
    log.add("undeleted", episode="restored later")
    log.played("elsewhere before", segment="two", at="2026-01-31T10:00:00Z")
    whole = sealed(log.segments["one"])
    at = next(at for at, line in enumerate(whole) if '"event":"deleted"' in line)
    beginning = '{"version":1,"event":"deleted","episode":"deleted"'
    for change in (
        "",
        whole[at].replace(beginning, "{"),
        whole[at].replace('"episode":"deleted"', '"episode":"other"'),
    ):
        log.segments["one"] = [*whole[:at], *([change] if change else []), *whole[at + 1 :]]
        read = log.read()
        assert names(read) == ["restored later", "after"]
        assert read.left_out == {"doubtful": 3}
        assert read.notices[0].startswith("3 dialogues are left out as doubtful: lines were lost from the log")
        assert len(log.read(with_doubtful=True).dialogues) == 5
    # Its beginning says whose it was.
    log.segments["one"] = [*whole[:at], whole[at].replace('"at":"2', '"at":"3'), *whole[at + 1 :]]
    assert log.read().left_out == {"damaged": 1}


def test_a_lost_line_feed_loses_nothing(sealed_log):
    sealed_log.segments["one"] = ["".join(sealed_log.segments["one"]).replace("\n", "\0").rstrip("\0") + "\n"]
    read = sealed_log.read()
    assert names(read) == ["first", "second", "third"]
    assert read.problems == []


def test_lines_that_were_erased_are_not_missed(sealed_log):
    lines = [line for line in sealed_log.segments["one"] if '"second"' not in line]
    gone = [number for number, line in enumerate(sealed_log.segments["one"], start=1) if '"second"' in line]
    header = {"version": 1, "event": "segment", "at": "2026-01-31T10:00:00.000Z", "segment": "x"}
    sealed_log.segments["one"] = [json.dumps({**header, "without": [[gone[0], gone[-1]]]}) + "\n", *lines]
    read = sealed_log.read()
    assert names(read) == ["first", "third"]
    assert read.problems == []


def test_a_lost_task_is_taken_from_another_segment_unless_there_are_different_ones(sealed_log):
    lines = sealed_log.segments["one"]
    lines[0] = lines[0].replace("Write", "Wrote")
    sealed_log.start("other", segment="two")
    read = sealed_log.read()
    assert names(read) == ["first", "second", "third"]
    assert len(read.problems) == 1
    sealed_log.add("task", segment="two", task={**TASK, "description": "Write another mean(values)."})
    with pytest.raises(Fault, match="damaged"):
        sealed_log.read()


def test_a_dialogue_whose_lines_a_repair_lost_is_left_out(log):
    log.played("good")
    log.played("repaired")
    log.add("lines-lost", segment="two", episode="repaired", reason="The check sum of a line was wrong.")
    read = log.read()
    assert names(read) == ["good"]
    assert read.left_out == {"damaged": 1}
