"""Dialogues to tokens, for the chat templates of seven model families.

Run as a script, this file writes the golden files anew; what they say then has to be read by a person.
"""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from families import SPECIALS, tokenizer_of
from models import tiny_tokenizer
from tokenizers import AddedToken

from tandem_trainer.data.dialogue import Dialogue, Spoken, assistant_positions
from tandem_trainer.data.encode import Encoder
from tandem_trainer.data.prompt_file import Prompt, agent_prompt, critic_prompt, read_prompt
from tandem_trainer.data.settle import settle
from tandem_trainer.data.template import Template
from tandem_trainer.fault import Fault
from tandem_trainer.turn import Turn

GOLDEN = Path(__file__).parent / "golden"

# The replies repeat what the agent said, word for word: a mask that searches for strings would train on them.
TEXTS = (
    "Sort the values.\nassistant\nWhat about empty lists?",
    "<think>\nUnclear.\n</think>\n\nOUTPUT:\nWhat about empty lists?",
    "OUTPUT:\nWhat about empty lists?\nReturn 0.",
    "<think>\nAnd equal values?\n</think>\n\nOUTPUT:\nKeep equal values? ",
    "Keep equal values? Yes.",
    "OUTPUT:\nI WANT TO ANSWER:\ndef solve(values):\n    return sorted(values) if values else 0",
)


def dialogue_of(*texts: str, system: str | None = None, **fields) -> Dialogue:
    """A conversation in which user and assistant take turns."""
    messages = [{"role": "system", "content": system}] if system is not None else []
    messages += [{"role": ("user", "assistant")[index % 2], "content": text} for index, text in enumerate(texts)]
    turns = tuple(Spoken(position) for position in assistant_positions(messages))
    return Dialogue("dialogue", "task", tuple(messages), turns, where="rows.jsonl:1", **fields)


def turns_of(template: Template, dialogue: Dialogue, hidden: bool = False) -> tuple[Turn, ...]:
    return template.turns(settle(template, [dialogue]).dialogues[0], hidden)


def extends(turn: Turn, before: Turn) -> bool:
    """Whether a prompt begins with the prompt and the response of the turn before."""
    history = np.concatenate([before.prompt, before.response])
    return np.array_equal(turn.prompt[: len(history)], history)


def rows_of(turns: tuple[Turn, ...]) -> list[list[tuple[str, np.ndarray]]]:
    """The turns as rows of (kind, ids): turns that continue each other are one row."""
    rows: list[list[tuple[str, np.ndarray]]] = []
    for index, turn in enumerate(turns):
        if index > 0 and extends(turn, turns[index - 1]):
            before = turns[index - 1]
            rows[-1].append(("context", turn.prompt[len(before.prompt) + len(before.response) :]))
        else:
            rows.append([("context", turn.prompt)])
        rows[-1].append(("train", turn.response))
    return rows


def golden_text(family: str) -> str:
    """Each row's spans: whether they are trained on, how many tokens, and what they say."""
    tokenizer = tokenizer_of(family)
    lines = []
    for number, row in enumerate(rows_of(turns_of(Template(tokenizer), dialogue_of(*TEXTS))), start=1):
        lines.append(f"row {number}")
        for kind, ids in row:
            said = json.dumps(tokenizer.decode(ids.tolist(), skip_special_tokens=False), ensure_ascii=False)
            lines.append(f"{kind:7} {len(ids):4} {said}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("family", SPECIALS)
def test_the_mask_is_the_one_of_the_golden_file(family):
    assert golden_text(family) == (GOLDEN / f"{family}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("family", SPECIALS)
def test_the_token_that_ends_a_turn_is_found_by_a_neutral_conversation(family):
    template = Template(tokenizer_of(family))
    assert template.tokenizer.convert_ids_to_tokens(template.end_of_turn) == SPECIALS[family][1]


@pytest.mark.parametrize("family", SPECIALS)
def test_a_prompt_is_what_a_chat_server_makes_of_the_messages(family):
    tokenizer = tokenizer_of(family)
    dialogue = dialogue_of(*TEXTS)
    for spoken, turn in zip(dialogue.turns, turns_of(Template(tokenizer), dialogue), strict=True):
        history = list(dialogue.messages[: spoken.position])
        served = tokenizer.apply_chat_template(history, add_generation_prompt=True)["input_ids"]
        assert turn.prompt.tolist() == served
        assert turn.prompt.dtype == turn.response.dtype == np.int32


@pytest.mark.parametrize("family", SPECIALS)
def test_a_response_is_the_text_and_the_end_of_the_turn(family):
    tokenizer = tokenizer_of(family)
    for turn, text in zip(turns_of(Template(tokenizer), dialogue_of(*TEXTS)), TEXTS[1::2], strict=True):
        assert tokenizer.decode(turn.response.tolist()) == text + SPECIALS[family][1]
        assert not turn.sampled
        assert turn.log_probs is None


def test_where_the_template_keeps_the_history_the_prompts_extend_each_other():
    turns = turns_of(Template(tokenizer_of("qwen2_5")), dialogue_of(*TEXTS))
    assert [extends(turns[t + 1], turns[t]) for t in range(2)] == [True, True]


def test_qwen_3_takes_thoughts_out_of_earlier_turns_so_that_each_turn_is_a_row_of_its_own():
    turns = turns_of(Template(tokenizer_of("qwen3")), dialogue_of(*TEXTS))
    assert [extends(turns[t + 1], turns[t]) for t in range(2)] == [False, False]
    plain = turns_of(
        Template(tokenizer_of("qwen3")), dialogue_of("Sort.", "Which way?", "Up.", "Done.", "Thanks.", "Ok.")
    )
    assert [extends(plain[t + 1], plain[t]) for t in range(2)] == [True, True]


def test_a_template_that_trims_the_agents_text_leaves_the_response_as_it_was_said():
    tokenizer = tokenizer_of("llama3_1")
    turns = turns_of(Template(tokenizer), dialogue_of("Sort.", "  Which way?\n\n", "Up.", "Done."))
    assert tokenizer.decode(turns[0].response.tolist()) == "  Which way?\n\n<|eot_id|>"
    assert "\n\nWhich way?<|eot_id|>" in tokenizer.decode(turns[1].prompt.tolist())
    assert not extends(turns[1], turns[0])


def test_prompts_that_extend_each_other_are_held_in_memory_once():
    turns = turns_of(Template(tokenizer_of("qwen2_5")), dialogue_of(*TEXTS))
    assert np.shares_memory(turns[0].prompt, turns[2].prompt)
    assert np.shares_memory(turns[1].prompt, turns[2].prompt)


def test_a_template_that_refuses_a_dialogue_is_told_with_its_own_reason():
    with pytest.raises(
        Fault, match=r"gemma2 refuses the dialogue at rows.jsonl:1: System role not supported; "
    ) as fault:
        turns_of(Template(tokenizer_of("gemma2")), dialogue_of("Sort.", "Which way?", system="Be brief."))
    assert fault.value.usage
    with pytest.raises(Fault, match="Roles must alternate"):
        Template(tokenizer_of("mistral")).render(({"role": "user", "content": "a"}, {"role": "user", "content": "b"}))


def test_a_template_that_refuses_any_conversation_is_told_at_once():
    tokenizer = with_template("{{ raise_exception('Tools only.') }}")
    with pytest.raises(Fault, match="refuses a plain conversation of user and assistant: Tools only; "):
        Template(tokenizer)


def test_a_tokenizer_without_a_template_is_refused():
    with pytest.raises(Fault, match="has no chat template") as fault:
        Template(with_template(None))
    assert fault.value.usage


def test_a_template_that_drops_what_the_assistant_says_is_refused():
    with pytest.raises(Fault, match="leaves out what the assistant says"):
        Template(with_template("{% for message in messages %}{{ message.role }}{% endfor %}"))


def test_a_template_whose_turns_end_in_plain_text_ends_them_with_the_end_of_a_text():
    template = Template(
        with_template("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}")
    )
    assert template.end_of_turn == template.tokenizer.eos_token_id


def test_a_template_that_writes_the_date_writes_the_same_in_every_run():
    dated = "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y') }}{% endif %}"
    dated += "{% for message in messages %}{{ message.content }}<|im_end|>{% endfor %}"
    template = Template(with_template(dated))
    assert template.render(dialogue_of("Sort.").messages) == "26 Jul 2024Sort.<|im_end|>"


def test_options_reach_the_template():
    messages = dialogue_of("Sort.").messages
    thinking = Template(tokenizer_of("qwen3")).render(messages)
    assert (
        Template(tokenizer_of("qwen3"), {"enable_thinking": False}).render(messages)
        == thinking + "<think>\n\n</think>\n\n"
    )


# The critic's view


def test_the_critic_reads_the_hidden_information_in_front_of_the_first_user_message():
    tokenizer = tokenizer_of("qwen2_5")
    template = Template(tokenizer, critic=Prompt("<!-- for people -->\nOnly you know:\n{{hiddenInformation}}\n"))
    dialogue = dialogue_of(*TEXTS, system="Be brief.", hidden_information="def solve(): {{description}}")
    seen, known = turns_of(template, dialogue), turns_of(template, dialogue, hidden=True)
    told = "<|im_start|>user\nOnly you know:\ndef solve(): {{description}}\n\nSort the values."
    for turn, critics in zip(seen, known, strict=True):
        text = tokenizer.decode(critics.prompt.tolist())
        assert text.replace("Only you know:\ndef solve(): {{description}}\n\n", "") == tokenizer.decode(
            turn.prompt.tolist()
        )
        assert text.count(told) == 1
        assert critics.response.tolist() == turn.response.tolist()


def test_the_shipped_critic_prompt_holds_the_hidden_information_and_no_comment():
    told = critic_prompt().render(hiddenInformation="def solve(): pass")
    assert "<hidden>\ndef solve(): pass\n</hidden>" in told
    assert "<!--" not in told
    assert "{{" not in told


def test_a_dialogue_without_hidden_information_cannot_be_shown_to_the_critic():
    with pytest.raises(Fault, match=r"The dialogue at rows.jsonl:1 has no hidden information"):
        turns_of(Template(tokenizer_of("qwen2_5")), dialogue_of("Sort.", "Which way?"), hidden=True)


# What was sampled


def sampled(template: Template, text: str, *, end: bool = True) -> np.ndarray:
    """The text as other tokens than the tokenizer would make of it: each character on its own."""
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
    assert np.isnan(turn.log_probs[-1])  # nothing is known of the token that was added
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


def test_only_turns_of_the_dialogue_are_trained_on_not_earlier_messages_of_the_assistant():
    template = Template(tokenizer_of("qwen2_5"))
    dialogue = dialogue_of("Sort.", "Which way?", "Up.", "Done.")
    (turn,) = turns_of(template, replace(dialogue, turns=dialogue.turns[1:]))
    assert template.tokenizer.decode(turn.response.tolist()) == "Done.<|im_end|>"


# Text to tokens


@pytest.mark.parametrize("family", SPECIALS)
def test_tokenising_piece_by_piece_gives_what_tokenising_whole_gives(family):
    tokenizer = tokenizer_of(family)
    template = Template(tokenizer)
    assert template.encoder.cut == SPECIALS[family][1]
    parts = ["", " ", "\n", "\n\n", "  x ", "What ", "é🙂", "<|", "|>", "<think>", *SPECIALS[family]]
    chance = random.Random(0)
    texts = ["".join(chance.choices(parts, k=chance.randint(0, 12))) for _ in range(300)]
    whole = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    assert [ids.tolist() for ids in template.encoder.encode(texts)] == whole


@pytest.mark.parametrize(
    "token",
    [
        AddedToken("<|im_end|>", lstrip=True),
        AddedToken("<|im_end|>", single_word=True),
        AddedToken("<|im_end|>|", normalized=False),
        AddedToken("x<|im", normalized=False),
    ],
    ids=["takes space to its left", "is a single word", "is in another", "is begun by another"],
)
def test_texts_are_not_cut_where_the_token_depends_on_what_stands_around_it(token):
    tokenizer = with_template(None)
    tokenizer.add_tokens([token])
    encoder = Encoder(tokenizer, tokenizer.convert_tokens_to_ids("<|im_end|>"))
    assert encoder.cut is None
    texts = ["What x<|im_end|>| is ", "", " <|im_end|> "]
    assert [ids.tolist() for ids in encoder.encode(texts)] == [tokenizer(text)["input_ids"] for text in texts]


# Prompt files


def test_the_request_is_rendered_from_a_copy_of_the_file_that_tandem_plays_with():
    tandems = Path(__file__).parents[2] / "src" / "core" / "dialogue" / "prompts" / "agent.md"
    if not tandems.exists():
        pytest.skip("this is not a checkout of Tandem")
    assert agent_prompt().text == tandems.read_text(encoding="utf-8")


def test_a_prompt_is_rendered_without_its_comment_and_fills_in_only_its_own_placeholders():
    prompt = Prompt("\ufeff <!-- a\nb --> \n\u2003Do {{ description }} in {{maxTurns}}.\n\u00a0\ufeff")
    assert prompt.render(description="{{maxTurns}}\\1", maxTurns=10) == "Do {{maxTurns}}\\1 in 10."


def test_a_prompt_file_that_cannot_be_used_is_refused_in_one_sentence(tmp_path):
    cases = {
        "<!-- only a comment -->": "is empty",
        "Do {{something}}.": "uses {{something}}, which does not exist; it may use {{description}}, {{maxTurns}}",
        "Do it.": "lacks {{description}}",
    }
    for text, reason in cases.items():
        (tmp_path / "agent.md").write_text(text, encoding="utf-8")
        with pytest.raises(Fault) as fault:
            agent_prompt(str(tmp_path / "agent.md"))
        assert reason in str(fault.value)
    with pytest.raises(Fault, match="cannot be read"):
        read_prompt(tmp_path / "none.md", ("description",))


def with_template(template: str | None):
    """The tiny tokenizer of the other tests, with another chat template."""
    tokenizer = type(tiny_tokenizer())(tokenizer_object=tiny_tokenizer().backend_tokenizer, eos_token="<|im_end|>")
    tokenizer.chat_template = template
    return tokenizer


if __name__ == "__main__":
    for each in SPECIALS:
        (GOLDEN / f"{each}.txt").write_text(golden_text(each), encoding="utf-8")
