"""Sampled token ids are trained on as they were sampled, or give way to the text."""

from dataclasses import replace

import numpy as np
from dialogues import dialogue_of, turns_of
from families import tokenizer_of

from tandem_trainer.data.dialogue import Dialogue, Spoken
from tandem_trainer.data.settle import settle
from tandem_trainer.data.template import Template


def sampled(template: Template, text: str, *, end: bool = True) -> np.ndarray:
    """Makes a sampled turn with one token for each character, unlike the tokenizer's."""
    ids = [token for letter in text for token in template.tokenizer(letter)["input_ids"]]
    return np.array(ids + [template.end_of_turn] * end, np.int32)


def with_turn(text: str, **fields) -> Dialogue:
    dialogue = dialogue_of("Sort the values.", text, hidden_information="up")
    return replace(dialogue, turns=(Spoken(1, **fields),))


def test_sampled_ids_are_trained_on_as_they_were_sampled():
    template = Template(tokenizer_of("qwen2_5"))
    ids = sampled(template, "Which way?")
    log_probs = np.full(len(ids), -0.5, np.float32)
    dialogue = with_turn("Which way?", ids=ids, log_probs=log_probs, finish_reason="stop")
    settled = settle(template, [dialogue])
    turn = template.turns(settled.dialogues[0])[0]
    assert turn.response.tolist() == ids.tolist()
    assert turn.sampled
    assert turn.log_probs.tolist() == log_probs.tolist()
    assert settled.mismatched == 0


def test_a_sampled_turn_that_was_ended_gets_the_end_that_its_server_left_out():
    template = Template(tokenizer_of("qwen2_5"))
    ids = sampled(template, "Which way?", end=False)
    log_probs = np.full(len(ids), -0.5, np.float32)
    ended = with_turn("Which way?", ids=ids, log_probs=log_probs, finish_reason="stop")
    turn = turns_of(template, ended)[0]
    assert turn.response.tolist() == [*ids, template.end_of_turn]
    assert turn.sampled
    assert turn.log_probs[:-1].tolist() == log_probs.tolist()
    assert np.isnan(turn.log_probs[-1])  # the added token has no log-probability
    silent = turns_of(template, with_turn("Which way?", ids=ids, finish_reason="stop"))[0]
    assert silent.log_probs is None
    cut = with_turn("Which way?", ids=ids, log_probs=log_probs, finish_reason="length")
    assert turns_of(template, cut)[0].response.tolist() == ids.tolist()


def test_only_the_log_probability_of_an_end_may_be_missing():
    template = Template(tokenizer_of("qwen2_5"))
    for end in (True, False):
        ids = sampled(template, "Which way?", end=end)
        log_probs = np.full(len(ids), -0.5, np.float32)
        log_probs[-1] = np.nan
        turn = turns_of(template, with_turn("Which way?", ids=ids, log_probs=log_probs, finish_reason="stop"))[0]
        assert (turn.log_probs is None) != end


def test_a_sampled_turn_that_ends_with_the_end_of_a_text_gets_no_second_end():
    template = Template(tokenizer_of("llama3_1"))
    end_of_text = template.tokenizer.convert_tokens_to_ids("<|end_of_text|>")
    ids = np.append(sampled(template, "Up?", end=False), np.int32(end_of_text))
    assert turns_of(template, with_turn("Up?", ids=ids, finish_reason="stop"))[0].response.tolist() == ids.tolist()


def test_a_text_that_was_cut_gets_no_end():
    template = Template(tokenizer_of("qwen2_5"))
    turn = turns_of(template, with_turn("Which way", finish_reason="length"))[0]
    assert template.tokenizer.decode(turn.response.tolist()) == "Which way"


def test_logged_prompts_are_used_in_the_view_of_the_policy_only():
    template = Template(tokenizer_of("qwen2_5"))
    prompt = np.array([7, 8, 9], np.int32)
    dialogue = with_turn("Up?", ids=sampled(template, "Up?"), prompt_ids=prompt, finish_reason="stop")
    assert turns_of(template, dialogue)[0].prompt.tolist() == [7, 8, 9]
    assert "up\n</hidden>" in template.tokenizer.decode(turns_of(template, dialogue, hidden=True)[0].prompt.tolist())


def test_ids_of_another_tokenizer_give_way_to_the_text_and_are_counted():
    template = Template(tokenizer_of("qwen2_5"))
    other = np.arange(50, 60, dtype=np.int32)
    wrong = with_turn(
        "Which way?", ids=other, log_probs=np.zeros(10, np.float32), prompt_ids=other, finish_reason="stop"
    )
    settled = settle(template, [wrong])
    turn = template.turns(settled.dialogues[0])[0]
    assert template.tokenizer.decode(turn.response.tolist()) == "Which way?<|im_end|>"
    assert not turn.sampled
    assert turn.log_probs is None
    assert turn.prompt.tolist() == turns_of(template, with_turn("Which way?"))[0].prompt.tolist()
    assert settled.mismatched == 1
    assert settled.notices[0].startswith("Of 1 turn the sampled token ids do not decode to the text")


def test_space_around_the_text_and_thoughts_that_the_server_took_out_are_no_mismatch():
    template = Template(tokenizer_of("qwen3"))
    thought = sampled(template, "<think>\nHm.\n</think>\n\nUp?\n")
    dialogues = [
        with_turn("Up?", ids=thought, reasoning="\nHm.\n", finish_reason="stop"),
        with_turn(" Up?", ids=sampled(template, "Up? "), finish_reason="stop"),
    ]
    assert [dialogue.turns[0].sampled for dialogue in settle(template, dialogues).dialogues] == [True, True]
    assert settle(template, [with_turn("Up?", ids=thought, finish_reason="stop")]).mismatched == 1


def test_ids_beyond_the_vocabulary_give_way_to_the_text_and_are_counted():
    template = Template(tokenizer_of("qwen2_5"))
    beyond = np.array([3, 151000], np.int32)
    known = sampled(template, "Up?")
    by_turn = with_turn("Up?", ids=beyond, finish_reason="stop")
    by_prompt = with_turn("Up?", ids=known, prompt_ids=beyond, finish_reason="stop")
    settled = settle(template, [by_turn, by_prompt, dialogue_of("Sort.", "Up?")])
    turns = [turn for (turn,) in template.all_turns(settled.dialogues)]
    assert [turn.response.tolist() for turn in turns] == [known.tolist()] * 3
    assert [turn.sampled for turn in turns] == [False] * 3
    assert max(turns[1].prompt) < 151000
    assert settled.mismatched == 2 and not settled.left_out


def test_a_turn_that_was_cut_before_its_first_token_leaves_the_dialogue_out():
    settled = settle(Template(tokenizer_of("qwen2_5")), [with_turn("", finish_reason="length")])
    assert settled.left_out == {"turns without tokens": 1}
    assert settled.dialogues == []
