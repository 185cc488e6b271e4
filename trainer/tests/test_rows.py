"""Reading rows of files: published trajectories, Tandem's exports, preferences."""

import json
from pathlib import Path

import datasets
import numpy as np
import pandas
import pytest

from tandem_trainer.data.dialogue import Parent, merge, own_turns
from tandem_trainer.data.json_rows import content_id, content_of
from tandem_trainer.data.prompt_file import agent_prompt
from tandem_trainer.data.rows import read_preferences, read_rows
from tandem_trainer.fault import Fault

TASK = {
    "problem_description": "Write mean(values).",
    "ground_truth": "def mean(values):\n    return sum(values) / len(values)",
    "test_cases": {"test1": "mean([1])", "test10": "mean([10])", "test2": "mean([2])"},
    "hidden_information": "An empty list gives 0.",
}
HISTORY = [
    {"role": "agent", "content": "Empty lists?", "input": "…", "output": "Hm.\nOUTPUT:\nEmpty lists?"},
    {"role": "human", "content": "Zero."},
    {"role": "agent", "content": "Done."},
]
ROW = {"task": TASK, "dialogue_history": HISTORY, "answer": "code", "reward": 0.5}
OPENING = agent_prompt().render(description="Write mean(values).", maxTurns=10, replyLimit=400)
MESSAGES = [
    {"role": "user", "content": OPENING},
    {"role": "assistant", "content": "Hm.\nOUTPUT:\nEmpty lists?"},
    {"role": "user", "content": "Zero."},
    {"role": "assistant", "content": "Done."},
]
SAID = {"token_ids": [5, 6], "logprobs": [-0.1, -0.2], "prompt_token_ids": [1], "finish_reason": "stop"}
TANDEM = {"episode": "e1", "task": "mean", "turns": [SAID, {"finish_reason": "length"}], "leaked": False}


def write(folder: Path, *rows: object, name: str = "rows.jsonl") -> Path:
    file = folder / name
    text = "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    file.write_text(text, encoding="utf-8")
    return file


def one(folder: Path, row: dict):
    (dialogue,) = read_rows([write(folder, row)]).dialogues
    return dialogue


def reasons(folder: Path, *bad: object) -> list[str]:
    """Reads bad rows beside a good one; returns the reasons why they cannot be used."""
    read = read_rows([write(folder, ROW, *bad)])
    assert len(read.dialogues) == 1
    assert [problem.line for problem in read.problems] == list(range(2, 2 + len(bad)))
    return [problem.reason for problem in read.problems]


def test_a_published_row_is_the_conversation_with_the_request_as_tandem_renders_it(tmp_path):
    dialogue = one(tmp_path, ROW)
    assert list(dialogue.messages) == MESSAGES
    assert [turn.position for turn in dialogue.turns] == [1, 3]
    assert all(turn.ids is None and turn.finish_reason == "other" for turn in dialogue.turns)
    assert (dialogue.reward, dialogue.hidden_information) == (0.5, "An empty list gives 0.")
    assert dialogue.where.endswith("rows.jsonl:1")


def test_a_row_has_the_ids_that_tandem_gives_to_its_task_and_to_the_imported_row(tmp_path):
    """The hashes were taken from `tandem import` of this row."""
    dialogue = one(tmp_path, ROW)
    assert dialogue.task == "fa123374c48bd6f8"
    assert dialogue.id == "imported-3407dbc2743bad3410dbd0378964d02f"
    assert one(tmp_path, {**ROW, "task": {**TASK, "id": "mean"}}).task == "mean"


def test_tests_are_taken_in_the_order_of_their_numbers():
    in_order = {name: TASK["test_cases"][name] for name in ("test1", "test2", "test10")}
    assert content_id(TASK) == content_id({**TASK, "test_cases": in_order})
    zeros, ones = "0" * 20_000, "1" * 20_000
    calls = {"test2": "f(2)", f"test{ones}": "f(3)", f"test{zeros}1": "f(1)"}
    assert content_of({**TASK, "test_cases": calls})[2] == ["f(1)", "f(2)", "f(3)"]
    renamed = {"b": "mean([1])", "a": "mean([2])"}
    assert content_id({**TASK, "test_cases": renamed}) != content_id(
        {**TASK, "test_cases": dict(reversed(renamed.items()))}
    )


def test_an_exported_row_brings_messages_and_what_the_sampler_said(tmp_path):
    messages = [{"role": "user", "content": "My own prompt."}, *MESSAGES[1:]]
    dialogue = one(tmp_path, {**ROW, "messages": messages, "tandem": TANDEM})
    assert list(dialogue.messages) == messages
    assert (dialogue.id, dialogue.task) == ("e1", "mean")
    first, second = dialogue.turns
    assert first.ids.tolist() == [5, 6]
    assert first.log_probs.tolist() == pytest.approx([-0.1, -0.2])
    assert first.prompt_ids.tolist() == [1]
    assert (first.finish_reason, first.sampled, first.selected) == ("stop", True, False)
    assert (second.finish_reason, second.sampled, second.ids) == ("length", False, None)
    chat = one(tmp_path, {"messages": MESSAGES, "tandem": {"episode": "e1", "task": "mean", "reward": 1}})
    assert (chat.id, chat.task, chat.reward, chat.hidden_information) == ("e1", "mean", 1.0, None)
    assert [turn.position for turn in chat.turns] == [1, 3]


def test_a_turn_says_whether_a_critic_chose_it(tmp_path):
    selection = {"place": 1, "candidates": [{"model": "a", "score": None}, {"model": "b", "score": 0.2}]}
    tandem = {**TANDEM, "turns": [{**SAID, "selection": selection}, *TANDEM["turns"][1:]]}
    dialogue = one(tmp_path, {**ROW, "messages": MESSAGES, "tandem": tandem})
    assert [turn.selected for turn in dialogue.turns] == [True, False]


def test_the_end_of_a_turn_may_have_no_log_probability(tmp_path):
    spoken = {"token_ids": [5, 6, 2], "logprobs": [-0.1, -0.2], "finish_reason": "stop"}
    tandem = {**TANDEM, "turns": [spoken, *TANDEM["turns"][1:]]}
    first = one(tmp_path, {**ROW, "messages": MESSAGES, "tandem": tandem}).turns[0]
    assert first.log_probs[:2].tolist() == pytest.approx([-0.1, -0.2])
    assert np.isnan(first.log_probs[2])
    cut = {**tandem, "turns": [{**spoken, "finish_reason": "length"}, *TANDEM["turns"][1:]]}
    read = read_rows([write(tmp_path, ROW, {**ROW, "messages": MESSAGES, "tandem": cut})])
    assert str(read.problems[0]).endswith("tandem.turns[0] has 3 token ids and 2 log-probabilities.")


def test_what_other_writers_do_differently_is_understood(tmp_path):
    opened = [{"role": "user", "content": " Write mean(values).\n"}]
    renamed = [{**each, "role": {"agent": "Assistant", "human": "User"}[each["role"]]} for each in HISTORY]
    for row in (
        {**ROW, "task": json.dumps(TASK)},
        {**TASK, **{name: value for name, value in ROW.items() if name != "task"}},
        {**ROW, "dialogue_history": opened + renamed},
        {**ROW, "dialogue_history": [*HISTORY, {"role": "human", "content": "Thanks."}]},
    ):
        assert list(one(tmp_path, row).messages)[:4] == MESSAGES
    without = {name: value for name, value in TASK.items() if name != "hidden_information"}
    assert one(tmp_path, {**ROW, "task": without}).hidden_information == TASK["ground_truth"]


def test_rows_without_a_reward_and_leaked_rows_are_left_out_and_counted(tmp_path):
    leaked = {**ROW, "tandem": {**TANDEM, "leaked": True}}
    file = write(tmp_path, ROW, {**ROW, "reward": None}, leaked)
    read = read_rows([file])
    assert (len(read.dialogues), read.left_out, read.problems) == (1, {"not graded": 1, "leaked": 1}, [])
    assert len(read_rows([file], with_leaked=True).dialogues) == 2


@pytest.mark.parametrize("row", [ROW, {"messages": MESSAGES, "tandem": TANDEM, "reward": 0.5}])
def test_rows_with_an_empty_message_of_the_agent_are_left_out_and_counted(tmp_path, row):
    silent = json.loads(json.dumps(row).replace('"Done."', '" "'))
    assert silent != row
    read = read_rows([write(tmp_path, row, silent)])
    assert (len(read.dialogues), read.left_out) == (1, {"with an empty message of the agent": 1})


def test_a_row_of_another_role_than_the_run_trains_is_a_bad_line(tmp_path):
    reply = {"role": "collaborator", "episode": "e", "task": "mean", "turn": 1, "reward": 1.0}
    replies = [{"messages": MESSAGES[:2], "tandem": {**reply, "turn": turn}} for turn in (1, 2)]
    read = read_rows([write(tmp_path, *replies, ROW)], role="collaborator")
    assert [dialogue.id for dialogue in read.dialogues] == ["e/1", "e/2"]
    assert "row of the agent, and this run trains the collaborator" in read.problems[0].reason
    assert len(read_rows([write(tmp_path, *replies, ROW)]).problems) == 2
    edit = {**STEP, "tandem": reply}
    assert len(read_preferences([write(tmp_path, edit, STEP)], "collaborator")[0]) == 1


def test_a_bad_line_is_told_with_file_line_and_reason_and_the_good_ones_load(tmp_path):
    deep = "[" * 10_000 + "]" * 10_000
    read = read_rows([write(tmp_path, ROW, "{", "", {**ROW, "reward": 2}, deep, {**ROW, "task": deep})])
    assert len(read.dialogues) == 1
    assert [str(problem) for problem in read.problems] == [
        f"{tmp_path}/rows.jsonl:2: The line is not JSON and is passed over.",
        f"{tmp_path}/rows.jsonl:4: The field reward must be a number from 0 to 1.",
        f"{tmp_path}/rows.jsonl:5: The line is not JSON and is passed over.",
        f"{tmp_path}/rows.jsonl:6: The field task is JSON that is nested too deeply.",
    ]


def test_each_reason_is_one_sentence(tmp_path):
    human, again = {"role": "human", "content": "Hello."}, {"role": "human", "content": "And more."}
    told = {
        "The line is not a JSON object and is passed over.": "[]",
        "The line has NaN, which is not JSON (write null in its place), and is passed over.": '{"reward": NaN}',
        "The field task is a string that is not JSON.": {**ROW, "task": "{"},
        "The field problem_description is missing or not a text.": {**ROW, "task": {}},
        "The field dialogue_history must be a list of messages.": {**ROW, "dialogue_history": []},
        'dialogue_history[0] has the role "robot"; it must be agent or human.': {
            **ROW,
            "dialogue_history": [{"role": "robot", "content": "?"}],
        },
        "dialogue_history[0] is the collaborator's, before the agent has said anything.": {
            **ROW,
            "dialogue_history": [human, *HISTORY],
        },
        "dialogue_history[2] is a second reply to the same turn.": {**ROW, "dialogue_history": [*HISTORY[:2], again]},
        "The field reward must be a number from 0 to 1.": {**ROW, "reward": True},
        "The field tandem must be an object.": {**ROW, "tandem": 3},
    }
    assert reasons(tmp_path, *told.values()) == list(told)


def test_tokens_that_do_not_add_up_are_told(tmp_path):
    def with_first(**said) -> dict:
        return {**ROW, "tandem": {**TANDEM, "turns": [{**SAID, **said}, {}]}}

    other = {"role": "assistant", "content": "Other."}
    told = {
        "has 3 token ids and 1 log-probabilities": with_first(token_ids=[5, 6, 2], logprobs=[-0.1]),
        "The token ids of tandem.turns[0] must be": with_first(token_ids=[1, -2]),
        "token ids of tandem.turns[0] must be": with_first(token_ids=[[1, 2], [3]]),
        "The log-probabilities of tandem.turns[0] must be": with_first(logprobs=["a", "b"]),
        "The prompt's token ids of tandem.turns[0] must be": with_first(prompt_token_ids=[0.5]),
        "must be a list of 2 objects": {**ROW, "tandem": {**TANDEM, "turns": [SAID]}},
        "are not those of dialogue_history": {**ROW, "messages": [*MESSAGES[:-1], other]},
        "a message of the user before those of the assistant": {**ROW, "messages": MESSAGES[1:]},
    }
    assert all(part in reason for part, reason in zip(told, reasons(tmp_path, *told.values()), strict=True))


def test_a_row_of_a_newer_version_is_refused_and_those_of_before_say_none(tmp_path):
    assert one(tmp_path, {**ROW, "tandem": {**TANDEM, "version": 1}}).id == one(tmp_path, {**ROW, "tandem": TANDEM}).id
    assert reasons(tmp_path, {**ROW, "tandem": {**TANDEM, "version": 2}}) == [
        "It is a row of version 2, and this trainer reads version 1: update Tandem."
    ]


def test_a_file_without_a_usable_row_is_refused_in_one_sentence(tmp_path):
    for rows, reason in {
        (): r"rows.jsonl holds no trajectory that can be used \(it has no rows\)\.",
        ('{"reward": 1}',): r"\(1 bad line, the first: .*rows.jsonl:1: The field problem_description is missing or not",
        (json.dumps({**ROW, "reward": None}),): r"\(1 not graded\)\.",
    }.items():
        with pytest.raises(Fault, match=reason) as fault:
            read_rows([write(tmp_path, *rows)])
        assert fault.value.usage
    with pytest.raises(Fault, match="cannot be read"):
        read_rows([tmp_path / "none.jsonl"])
    with pytest.raises(Fault, match="is a folder"):
        read_rows([tmp_path])
    (tmp_path / "rows.jsonl.gz").write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(Fault, match="is compressed"):
        read_rows([tmp_path / "rows.jsonl.gz"])
    for text in (json.dumps([ROW]), json.dumps([ROW], indent=1), "task,dialogue_history\n1,2\n"):
        with pytest.raises(Fault, match="JSON lines, with pandas by to_json"):
            read_rows([write(tmp_path, text)])


def test_rows_that_pandas_or_datasets_saved_again_are_the_same_dialogues(tmp_path):
    task = {**TASK, "facts": [{"topic": "lists", "keywords": ["empty"], "answers": ["Zero."]}]}
    other = {**TASK, "id": "12", "test_cases": {"test1": "mean([4])", "edge": "mean([])"}}
    exported = {**ROW, "task": other, "messages": MESSAGES, "tandem": {**TANDEM, "turns": [SAID, {"model": "m"}]}}
    rows = [exported, {**ROW, "task": task, "reward": 1}]
    as_written = read_rows([write(tmp_path, *rows)])
    datasets.Dataset.from_list(rows).to_json(tmp_path / "datasets.jsonl")
    pandas.DataFrame(rows).to_json(tmp_path / "pandas.jsonl", orient="records", lines=True)
    with_reals = (tmp_path / "pandas.jsonl").read_text().replace('"token_ids":[5,6]', '"token_ids":[5.0,6.0]')
    (tmp_path / "reals.jsonl").write_text(with_reals)
    for name in ("datasets.jsonl", "pandas.jsonl", "reals.jsonl"):
        read = read_rows([tmp_path / name])
        assert read.problems == []
        for again, before in zip(read.dialogues, as_written.dialogues, strict=True):
            assert (again.id, again.task, again.messages) == (before.id, before.task, before.messages)
            for turn, written in zip(again.turns, before.turns, strict=True):
                assert (turn.finish_reason, turn.reasoning) == (written.finish_reason, written.reasoning)
                np.testing.assert_equal(turn.ids, written.ids)
    untasked = {name: value for name, value in ROW.items() if name != "task"}
    flat = write(tmp_path, {**untasked, **other}, {**untasked, **TASK}, name="flat.jsonl")
    pandas.read_json(flat, lines=True).to_json(flat, orient="records", lines=True)
    assert '"id":12.0' in flat.read_text()
    assert [dialogue.task for dialogue in read_rows([flat]).dialogues] == ["12", content_id(TASK)]


def test_half_a_character_in_a_row_is_read_as_the_replacement_character(tmp_path):
    row = json.dumps({**ROW, "dialogue_history": [{"role": "agent", "content": "\ud83d\ude00 \ud83d"}]})
    assert one(tmp_path, row).messages[1]["content"] == "😀 \ufffd"


def test_a_dialogue_that_stands_in_two_sources_is_read_once(tmp_path):
    reads = [read_rows([write(tmp_path, ROW, {**ROW, "answer": "other"})]), read_rows([write(tmp_path, ROW)])]
    both = merge(reads)
    assert len(both.dialogues) == 2
    assert both.left_out == {"read twice": 1}


def test_rows_played_with_another_agent_prompt_are_told_when_they_bring_no_messages(tmp_path):
    played = {**TANDEM, "prompts": {"agent.md": "0123456789ab"}}
    assert "give that one as data.opening" in read_rows([write(tmp_path, {**ROW, "tandem": played})]).notices[0]
    assert read_rows([write(tmp_path, {**ROW, "messages": MESSAGES, "tandem": played})]).notices == []


# Preferences

STEP = {
    "prompt": MESSAGES[:3],
    "chosen": [{"role": "assistant", "content": "And negative ones?"}],
    "rejected": [{"role": "assistant", "content": "Done."}],
}


def test_a_preference_between_two_drafts_has_one_turn_on_each_side_and_its_history_is_context(tmp_path):
    preferences, _ = read_preferences(
        [write(tmp_path, STEP, {**STEP, "chosen": [{"role": "assistant", "content": "Hm."}]})]
    )
    first, second = preferences
    assert list(first.chosen.messages) == [*STEP["prompt"], *STEP["chosen"]]
    assert [turn.position for turn in first.chosen.turns] == [3]
    assert [turn.position for turn in first.rejected.turns] == [3]
    assert first.group == second.group
    assert len({side.id for each in preferences for side in (each.chosen, each.rejected)}) == 4


def test_a_preference_between_dialogues_has_all_their_turns_and_the_task(tmp_path):
    row = {"prompt": MESSAGES[:1], "chosen": MESSAGES[1:], "rejected": MESSAGES[3:], "tandem": {"task": "mean"}}
    ((preference,), _) = read_preferences([write(tmp_path, row)])
    assert [turn.position for turn in preference.chosen.turns] == [1, 3]
    assert [turn.position for turn in preference.rejected.turns] == [1]
    assert preference.chosen.task == "mean"


def test_where_no_task_is_named_it_is_what_the_agent_was_asked(tmp_path):
    system = {"role": "system", "content": "Be brief."}
    rows = [
        {"messages": [system, {"role": "user", "content": request}, *MESSAGES[1:]], "reward": 1}
        for request in ("Sort.", "Add up.")
    ]
    sort, add = read_rows([write(tmp_path, *rows)]).dialogues
    assert sort.task != add.task
    early = {"prompt": sort.messages[:2], "chosen": sort.messages[2:3], "rejected": MESSAGES[3:]}
    late = {**early, "prompt": sort.messages[:4]}
    preferences, _ = read_preferences([write(tmp_path, early, late)])
    assert [each.chosen.task for each in preferences] == [sort.task] * 2


def test_preferences_that_say_nothing_are_told(tmp_path):
    told = {
        "chosen and rejected are the same.": {**STEP, "rejected": STEP["chosen"]},
        "rejected has an empty message of the assistant.": {
            **STEP,
            "rejected": [{"role": "assistant", "content": ""}],
        },
        "The field chosen must be a list of messages.": {**STEP, "chosen": "And negative ones?"},
        "chosen must begin with a message of the assistant.": {**STEP, "chosen": MESSAGES[2:]},
        "The role of prompt[0] must be": {**STEP, "prompt": [{"role": "tool", "content": ""}]},
    }
    preferences, problems = read_preferences([write(tmp_path, STEP, *told.values())])
    assert len(preferences) == 1
    assert all(problem.reason.startswith(part) for part, problem in zip(told, problems, strict=True))
    with pytest.raises(Fault, match="holds no preference that can be used"):
        read_preferences([write(tmp_path, {})])


def test_a_fork_says_where_it_leaves_its_parent_and_brings_its_own_turns(tmp_path):
    parent = {"episode": "e0", "turn": 1, "by": "reply"}
    dialogue = one(tmp_path, {**ROW, "messages": MESSAGES, "tandem": {**TANDEM, "parent": parent}})
    assert dialogue.parent == Parent("e0", 0, "reply")
    assert [turn.position for turn in own_turns(dialogue).turns] == [turn.position for turn in dialogue.turns[1:]]
    assert "by" in reasons(tmp_path, {**ROW, "tandem": {**TANDEM, "parent": {"episode": "e0", "turn": 0}}})[0]
