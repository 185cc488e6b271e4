"""Dialogues become tokens by the chat templates of seven model families.

Run as a script, this file rewrites the golden files, which a person must then review.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dialogues import dialogue_of, turns_of, with_template
from families import SPECIALS, tokenizer_of

from tandem_trainer.data.prompt_file import Prompt
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


def extends(turn: Turn, before: Turn) -> bool:
    """Returns whether a prompt begins with the prompt and the response of the turn before."""
    history = np.concatenate([before.prompt, before.response])
    return np.array_equal(turn.prompt[: len(history)], history)


def rows_of(turns: tuple[Turn, ...]) -> list[list[tuple[str, np.ndarray]]]:
    """Returns the turns as rows of (kind, ids); turns that continue each other form one row."""
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
    """Lists each row's spans: whether they are trained on, their number of tokens, and their text."""
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
def test_a_prompt_is_what_a_chat_server_makes_of_the_messages_and_a_response_the_text_and_its_end(family):
    tokenizer = tokenizer_of(family)
    template, dialogue = Template(tokenizer), dialogue_of(*TEXTS)
    for spoken, turn in zip(dialogue.turns, turns_of(template, dialogue), strict=True):
        history = list(dialogue.messages[: spoken.position])
        served = tokenizer.apply_chat_template(history, add_generation_prompt=True)["input_ids"]
        assert turn.prompt.tolist() == served
        assert tokenizer.decode(turn.response.tolist()) == TEXTS[spoken.position] + SPECIALS[family][1]
        assert turn.prompt.dtype == turn.response.dtype == np.int32
        assert not turn.sampled and turn.log_probs is None


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
    assert [extends(turns[t + 1], turns[t]) for t in range(2)] == [True, True]
    assert all(np.shares_memory(turn.prompt, turns[2].prompt) for turn in turns[:2])


def test_a_template_that_refuses_a_dialogue_is_told_with_its_own_reason():
    with pytest.raises(Fault, match="rows.jsonl:1: System role not supported") as fault:
        turns_of(Template(tokenizer_of("gemma2")), dialogue_of("Sort.", "Which way?", system="Be brief."))
    assert fault.value.usage
    with pytest.raises(Fault, match="Roles must alternate"):
        Template(tokenizer_of("mistral")).render(({"role": "user", "content": "a"}, {"role": "user", "content": "b"}))


@pytest.mark.parametrize(
    ("template", "word"),
    [
        ("{{ raise_exception('Tools only.') }}", "Tools only"),
        ("{% for message in messages %}{{ message.role }}{% endfor %}", "leaves out what the user says"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_at_once(template, word):
    with pytest.raises(Fault, match=word) as fault:
        Template(with_template(template))
    assert fault.value.usage


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
    silent = Template(tokenizer_of("qwen3"), {"enable_thinking": False}).render(messages)
    assert silent == thinking + "<think>\n\n</think>\n\n"


def test_only_turns_of_the_dialogue_are_trained_on_not_earlier_messages_of_the_assistant():
    template = Template(tokenizer_of("qwen2_5"))
    dialogue = dialogue_of("Sort.", "Which way?", "Up.", "Done.")
    (turn,) = turns_of(template, replace(dialogue, turns=dialogue.turns[1:]))
    assert template.tokenizer.decode(turn.response.tolist()) == "Done.<|im_end|>"


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
    with pytest.raises(Fault, match="rows.jsonl:1 has no hidden information"):
        turns_of(template, dialogue_of("Sort.", "Which way?"), hidden=True)


if __name__ == "__main__":
    for each in SPECIALS:
        (GOLDEN / f"{each}.txt").write_text(golden_text(each), encoding="utf-8")
