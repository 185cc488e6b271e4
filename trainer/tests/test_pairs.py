"""Trajectories become examples, which are split into training and held-out ones."""

from dataclasses import replace

import numpy as np
import pytest
from families import tokenizer_of

from tandem_trainer.data.dialogue import Dialogue, Measure, Parent, Spoken
from tandem_trainer.data.pairs import (
    drop_long,
    first_of,
    held_out_tasks,
    imitation,
    preference_examples,
    returns,
    trajectory_pairs,
)
from tandem_trainer.data.rows import Preference
from tandem_trainer.data.template import Template
from tandem_trainer.fault import Fault
from tandem_trainer.turn import Example, Turn


def trajectory(name: str, task: str, reward: float) -> Dialogue:
    return Dialogue(name, task, (), (), reward)


def turn(name: str, prompt: int = 1) -> Turn:
    """Makes a turn whose response identifies the trajectory: its letters are the token ids."""
    return Turn(np.zeros(prompt, np.int32), np.array([ord(letter) for letter in name], np.int32))


def name_of(turns: tuple[Turn, ...]) -> str:
    return "".join(chr(token) for token in turns[0].response)


def turns_of(dialogues: list[Dialogue]) -> list[tuple[Turn, ...]]:
    return [(turn(dialogue.id),) for dialogue in dialogues]


PLAYED = [
    trajectory("a1", "a", 0.4),
    trajectory("b1", "b", 0.5),
    trajectory("a2", "a", 1.0),
    trajectory("b2", "b", 0.9),
    trajectory("a3", "a", 1.0),
    trajectory("a4", "a", 0.0),
    trajectory("c1", "c", 1.0),
    trajectory("b3", "b", 0.5),
]


def pairs(pairing: str, played: list[Dialogue] = PLAYED) -> list[tuple[str, str, str]]:
    examples = trajectory_pairs(played, turns_of, pairing)
    return [(each.group, name_of(each.chosen), name_of(each.rejected)) for each in examples]


def test_the_paper_pairs_the_first_success_of_a_task_with_every_lower_one():
    assert pairs("paper") == [("a", "a2", "a1"), ("a", "a2", "a4")]


def test_a_fork_is_paired_with_its_parent_only_and_from_the_turn_where_they_part():
    def turns(dialogues: list[Dialogue]) -> list[tuple[Turn, ...]]:
        own = {"parent": "xyz", "fork": "f", "deeper": "d", "reply": "r", "other": "o"}
        return [tuple(turn(name) for name in own[dialogue.id]) for dialogue in dialogues]

    played = [
        trajectory("parent", "a", 0.0),
        replace(trajectory("fork", "a", 1.0), parent=Parent("parent", 1, "message")),
        replace(trajectory("deeper", "a", 0.0), parent=Parent("fork", 1, "message")),
        replace(trajectory("reply", "a", 1.0), parent=Parent("parent", 1, "reply")),
        trajectory("other", "a", 0.5),
    ]
    examples = trajectory_pairs(played, turns, "paper")
    said = [
        tuple("".join(name_of((each,)) for each in side) for side in (one.chosen, one.rejected)) for one in examples
    ]
    assert said == [("f", "yz"), ("f", "d")]


def test_each_success_of_a_task_can_stand_against_every_lower_one():
    assert pairs("successes") == [("a", "a2", "a1"), ("a", "a2", "a4"), ("a", "a3", "a1"), ("a", "a3", "a4")]


def test_all_pairs_every_better_with_every_worse_trajectory_of_a_task():
    assert pairs("all") == [
        ("a", "a1", "a4"),
        ("a", "a2", "a1"),
        ("a", "a2", "a4"),
        ("a", "a3", "a1"),
        ("a", "a3", "a4"),
        ("b", "b2", "b1"),
        ("b", "b2", "b3"),
    ]


@pytest.mark.parametrize(
    ("played", "pairing", "word"),
    [
        ([("a1", "a", 1.0), ("b1", "b", 0.0)], "paper", "collect several rollouts"),
        ([("a1", "a", 0.5), ("a2", "a", 0.0)], "paper", 'with 0 successes; .*data.pairing to "all"'),
        ([("a1", "a", 0.5), ("a2", "a", 0.0)], "successes", "with 0 successes"),
        ([("a1", "a", 1.0), ("a2", "a", 1.0)], "all", "some go better than others"),
    ],
)
def test_no_pair_at_all_is_a_fault_that_says_what_to_collect(played, pairing, word):
    with pytest.raises(Fault, match=word) as fault:
        pairs(pairing, [trajectory(*each) for each in played])
    assert fault.value.usage


def test_trajectories_of_enough_reward_are_imitated():
    assert [name_of(each.chosen) for each in imitation(PLAYED, turns_of, 0.9)] == ["a2", "b2", "a3", "c1"]
    assert all(each.rejected == () for each in imitation(PLAYED, turns_of, 0.9))
    with pytest.raises(Fault, match=r"None of 1 trajectory has a reward of 1 or more, the best has 0.4"):
        imitation(PLAYED[:1], turns_of, 1.0)


def test_a_value_head_learns_the_reward_of_every_trajectory():
    examples = returns(PLAYED, turns_of)
    assert [(each.group, each.target) for each in examples] == [(each.task, each.reward) for each in PLAYED]


def some_tasks(count: int) -> list[str]:
    return [f"task {number}" for number in range(count)]


@pytest.mark.parametrize("count", [2, 3, 57])
@pytest.mark.parametrize("held_out", [0.01, 0.5, 0.99])
def test_something_is_held_out_and_something_is_left(count, held_out):
    assert 0 < len(held_out_tasks([some_tasks(count)], held_out, seed=3)) < count
    assert len(held_out_tasks([some_tasks(200)], 0.1, seed=0)) == 20


def test_what_is_held_out_is_drawn_by_the_seed_and_not_by_the_order():
    tasks = some_tasks(40)
    apart = held_out_tasks([tasks], 0.25, seed=1)
    assert held_out_tasks([tasks[::-1]], 0.25, seed=1) == apart
    assert held_out_tasks([tasks], 0.25, seed=2) != apart


def test_one_task_alone_is_trained_on_and_nothing_is_held_out_when_nothing_is_asked_for():
    assert held_out_tasks([some_tasks(1)], 0.5, seed=0) == frozenset()
    assert held_out_tasks([some_tasks(9)], 0.0, seed=0) == frozenset()


def test_what_is_held_out_of_one_stage_no_other_stage_trains_on():
    tasks = some_tasks(30)
    for_policy, for_critic = tasks[:3], tasks[1::2]
    for seed in range(20):
        apart = held_out_tasks([for_policy, for_critic], 0.1, seed)
        assert apart == held_out_tasks([for_policy[::-1], for_critic[::-1]], 0.1, seed)
        assert len(apart.intersection(for_policy)) >= 1
        assert len(apart.intersection(for_critic)) >= 2
        assert len(apart) <= 4


def test_stages_that_share_a_task_keep_it_while_it_is_their_last():
    for seed in range(20):
        assert held_out_tasks([["a", "b"], ["a"], []], 0.5, seed) == {"b"}
        assert held_out_tasks([["a", "b"], ["a"], ["b"]], 0.5, seed) == frozenset()


def test_the_first_of_the_dialogues_are_the_first_of_every_task_and_at_least_one():
    assert [each.id for each in first_of(PLAYED, 0.1)] == ["a1"]
    assert [each.id for each in first_of(PLAYED, 0.3)] == ["a1", "b1", "c1"]
    assert [each.id for each in first_of(PLAYED, 0.5)] == ["a1", "b1", "a2", "c1"]
    assert list(first_of(PLAYED, 1.0)) == PLAYED


def test_an_example_with_one_turn_too_long_is_left_out_whole_and_counted():
    short, long = turn("x", prompt=7), turn("x", prompt=8)
    examples = [Example("a", (short, short)), Example("b", (short,), (short, long)), Example("c", (long,))]
    kept, dropped = drop_long(examples, max_tokens=8)
    assert [each.group for each in kept] == ["a"]
    assert dropped == 2


def preference(chosen: list[str], rejected: list[str], *, line: int = 1) -> Preference:
    prompt = ({"role": "user", "content": "Sort."}, {"role": "assistant", "content": "Which way?"})
    prompt += ({"role": "user", "content": "Up."},)
    sides = []
    for name, texts in (("chosen", chosen), ("rejected", rejected)):
        roles = ("assistant", "user")
        said = tuple({"role": roles[index % 2], "content": text} for index, text in enumerate(texts))
        turns = tuple(Spoken(len(prompt) + index) for index in range(0, len(texts), 2))
        where = f"human.jsonl:{line}"
        sides.append(Dialogue(f"{where}/{name}", "sort", prompt + said, turns, where=where))
    return Preference("history", *sides)


def test_a_preference_between_two_drafts_is_a_pair_of_single_turns_with_a_weight():
    template = Template(tokenizer_of("qwen2_5"))
    ((example,), _) = preference_examples([preference(["And equal ones?"], ["Done."])], template, weight=2.5)
    assert (example.group, example.weight) == ("history", 2.5)
    assert not any(turn.sampled for turn in example.turns)
    decode = template.tokenizer.decode
    assert [decode(each.response.tolist()) for each in example.turns] == [
        "And equal ones?<|im_end|>",
        "Done.<|im_end|>",
    ]
    assert example.chosen[0].prompt.tolist() == example.rejected[0].prompt.tolist()
    assert decode(example.chosen[0].prompt.tolist()).endswith("Up.<|im_end|>\n<|im_start|>assistant\n")
    ((whole,), _) = preference_examples([preference(["Equal ones?", "Keep.", "Done."], ["Done."])], template)
    assert [len(whole.chosen), len(whole.rejected)] == [2, 1]  # all turns after the prompt


def test_a_preference_is_left_out_with_either_of_its_sides():
    template = Template(tokenizer_of("qwen2_5"))
    good, bad = preference(["Equal ones?"], ["Done."]), preference(["Equal ones?"], [""], line=2)
    cut = replace(bad.rejected.turns[0], finish_reason="length")
    bad = replace(bad, rejected=replace(bad.rejected, turns=(cut,)))
    examples, settled = preference_examples([good, bad], template)
    assert len(examples) == 1
    assert str(settled.problems[0]).startswith("human.jsonl:2: ")


def page(name: str, task: str, reward: float) -> Dialogue:
    return Dialogue(name, task, (), (), reward, measure=Measure("structure", 1, "fixed", "browser"))


PAGES = [
    page("a1", "a", 0.6),
    page("a2", "a", 0.7),
    page("b1", "b", 0.5),
    page("a3", "a", 0.65),
    page("b2", "b", 0.59),
    page("a4", "a", 0.7),
    page("c1", "c", 0.0),
]


def test_pages_are_paired_by_a_margin_of_a_tenth():
    assert pairs("paper", PAGES) == [("a", "a2", "a1"), ("a", "a4", "a1")]
    assert pairs("all", PAGES) == pairs("paper", PAGES)


def test_a_margin_can_be_chosen_for_pages_and_for_functions():
    by_margin = trajectory_pairs(PAGES, turns_of, "paper", 0.05)
    assert [each.dialogues for each in by_margin] == [
        *[("a2", "a1"), ("a2", "a3"), ("a3", "a1"), ("a4", "a1"), ("a4", "a3")],
        ("b2", "b1"),
    ]
    by_half = trajectory_pairs(PLAYED, turns_of, "all", 0.5)
    assert [each.dialogues for each in by_half] == [("a2", "a1"), ("a2", "a4"), ("a3", "a1"), ("a3", "a4")]


def test_pages_that_are_too_alike_say_which_margin_to_lower():
    with pytest.raises(Fault, match=r"data\.pair_margin if their rewards differ by less than 0\.1"):
        pairs("paper", PAGES[2:5:2])


def test_the_best_dialogue_of_each_page_is_imitated():
    assert [name_of(each.chosen) for each in imitation(PAGES, turns_of, 1.0)] == ["a2", "b2"]
    assert [name_of(each.chosen) for each in imitation(PAGES, turns_of, 0.6)] == ["a2"]
    with pytest.raises(Fault, match="the best has 0;"):
        imitation(PAGES[-1:], turns_of, 1.0)
