"""Sampled token ids are trained on as they were sampled, or give way to the text."""

import json
from dataclasses import replace

import numpy as np
import pytest
from dialogues import dialogue_of, turns_of
from families import tokenizer_of
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from tandem_trainer.data.dialogue import Dialogue, Read, Spoken
from tandem_trainer.data.template import Template
from tandem_trainer.data.tokenize_turns import settle


def sampled(template: Template, text: str, *, end: bool = True) -> np.ndarray:
    """Makes a sampled turn with one token for each character, unlike the tokenizer's."""
    ids = [token for letter in text for token in template.tokenizer(letter)["input_ids"]]
    return np.array(ids + [template.end_of_turn] * end, np.int32)


def foreign(settled: Read) -> int:
    return sum(turn.foreign for dialogue in settled.dialogues for turn in dialogue.turns)


def with_turn(text: str, **fields) -> Dialogue:
    dialogue = dialogue_of("Sort the values.", text, hidden_information="up")
    return replace(dialogue, turns=(Spoken(1, **fields),))


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


@pytest.mark.parametrize("end", [True, False])
def test_sampled_ids_are_trained_on_and_only_the_log_probability_of_an_end_may_be_missing(end):
    template = Template(tokenizer_of("qwen2_5"))
    ids = sampled(template, "Which way?", end=end)
    log_probs = np.full(len(ids), -0.5, np.float32)
    log_probs[-1] = np.nan
    settled = settle(template, [with_turn("Which way?", ids=ids, log_probs=log_probs, finish_reason="stop")])
    turn = template.turns(settled.dialogues[0])[0]
    assert turn.response.tolist() == [*ids, *([] if end else [template.end_of_turn])]
    assert turn.sampled and foreign(settled) == 0
    assert (turn.log_probs is None) != end


def test_a_turn_that_a_critic_chose_is_trained_on_and_counts_as_no_plain_sample():
    template = Template(tokenizer_of("qwen2_5"))
    ids = sampled(template, "Which way?")
    log_probs = np.full(len(ids), -0.5, np.float32)
    chosen = with_turn("Which way?", ids=ids, log_probs=log_probs, finish_reason="stop", selected=True)
    turn = turns_of(template, chosen)[0]
    assert turn.response.tolist() == ids.tolist()
    assert not turn.sampled and turn.log_probs is None


def test_a_sampled_turn_that_ends_with_the_end_of_a_text_gets_no_second_end():
    template = Template(tokenizer_of("llama3_1"))
    end_of_text = template.tokenizer.convert_tokens_to_ids("<|end_of_text|>")
    ids = np.append(sampled(template, "Up?", end=False), np.int32(end_of_text))
    assert turns_of(template, with_turn("Up?", ids=ids, finish_reason="stop"))[0].response.tolist() == ids.tolist()


def test_logged_prompts_are_used_in_the_view_of_the_policy_only():
    template = Template(tokenizer_of("qwen2_5"))
    prompt = np.array([7, 8, 9], np.int32)
    dialogue = with_turn("Up?", ids=sampled(template, "Up?"), prompt_ids=prompt, finish_reason="stop")
    assert turns_of(template, dialogue)[0].prompt.tolist() == [7, 8, 9]
    assert "up\n</hidden>" in template.tokenizer.decode(turns_of(template, dialogue, hidden=True)[0].prompt.tolist())


@pytest.mark.parametrize("other", [range(50, 60), [3, 151000]], ids=["another tokenizer", "beyond the vocabulary"])
def test_ids_that_are_not_the_text_give_way_to_it_and_are_counted(other):
    template, other = Template(tokenizer_of("qwen2_5")), np.array(other, np.int32)
    log_probs = np.zeros(len(other), np.float32)
    wrong = with_turn("Which way?", ids=other, log_probs=log_probs, prompt_ids=other, finish_reason="stop")
    settled = settle(template, [wrong])
    turn = template.turns(settled.dialogues[0])[0]
    assert template.tokenizer.decode(turn.response.tolist()) == "Which way?<|im_end|>"
    assert not turn.sampled
    assert turn.log_probs is None
    assert turn.prompt.tolist() == turns_of(template, with_turn("Which way?"))[0].prompt.tolist()
    assert foreign(settled) == 1 and not settled.left_out


def test_ids_of_a_vocabulary_with_gaps_are_ones_own_up_to_the_last_row():
    content = json.loads(tokenizer_of("qwen2_5").backend_tokenizer.to_str())
    words = content["model"]["vocab"]
    words |= {word: id + 1000 for word, id in words.items() if id >= 300}
    sparse = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(content)), eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    sparse.chat_template = tokenizer_of("qwen2_5").chat_template
    ids = np.array(sparse("What should the list return?")["input_ids"], np.int32)
    assert ids.max() >= len(sparse)
    dialogue = with_turn("What should the list return?", ids=ids, finish_reason="stop")
    for template in (Template(sparse), Template(sparse, rows=2048)):
        settled = settle(template, [dialogue])
        assert foreign(settled) == 0 and settled.dialogues[0].turns[0].sampled
    assert foreign(settle(Template(sparse, rows=int(ids.max()) + 1), [dialogue])) == 0


def test_space_around_the_text_and_thoughts_that_the_server_took_out_are_no_mismatch():
    template = Template(tokenizer_of("qwen3"))
    thought = sampled(template, "<think>\nHm.\n</think>\n\nUp?\n")
    dialogues = [
        with_turn("Up?", ids=thought, reasoning="\nHm.\n", finish_reason="stop"),
        with_turn(" Up?", ids=sampled(template, "Up? "), finish_reason="stop"),
    ]
    assert [dialogue.turns[0].sampled for dialogue in settle(template, dialogues).dialogues] == [True, True]
    assert foreign(settle(template, [with_turn("Up?", ids=thought, finish_reason="stop")])) == 1


def test_a_prompt_beyond_the_vocabulary_gives_way_as_well():
    template = Template(tokenizer_of("qwen2_5"))
    beyond, known = np.array([3, 151000], np.int32), sampled(template, "Up?")
    settled = settle(template, [with_turn("Up?", ids=known, prompt_ids=beyond, finish_reason="stop")])
    turn = template.turns(settled.dialogues[0])[0]
    assert turn.response.tolist() == known.tolist() and not turn.sampled
    assert max(turn.prompt) < 151000 and foreign(settled) == 1


def test_a_text_that_was_cut_gets_no_end_and_one_cut_before_its_first_token_is_left_out():
    template = Template(tokenizer_of("qwen2_5"))
    turn = turns_of(template, with_turn("Which way", finish_reason="length"))[0]
    assert template.tokenizer.decode(turn.response.tolist()) == "Which way"
    settled = settle(template, [with_turn("", finish_reason="length")])
    assert (settled.dialogues, settled.left_out) == ([], {"turns without tokens": 1})
