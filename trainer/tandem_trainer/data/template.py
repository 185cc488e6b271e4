"""Dialogues to turns: what the model reads before each turn of the agent, and the tokens of that turn.

The prompt of turn t is what a chat server would make of the messages so far: the chat template with the generation
prompt, tokenised. The response is what was sampled, else its text, tokenised once (`settle.py`). Which tokens are
trained on is thereby known from the start; nothing is searched in texts. A template that rewrites the history (Qwen 3
takes the thoughts out of earlier turns) only makes prompts that do not begin with each other.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

from ..fault import Fault
from ..turn import Turn
from .dialogue import Dialogue, Messages
from .encode import Encoder
from .prompt_file import Prompt, critic_prompt

CHUNK = 128  # dialogues that are tokenised together: enough to keep the tokenizer's threads busy
PROBE = "Zebra"  # the agent's message in the conversation that shows how a template ends a turn
# Some templates write today's date. In a run it is always Llama's own default, so that a run can be repeated.
SAME_DAY = """{%- macro strftime_now(format) %}{{ format | replace("%d", "26") | replace("%b", "Jul")
| replace("%B", "July") | replace("%m", "07") | replace("%Y", "2024") | replace("%A", "Friday") }}{% endmacro %}"""


class Template:
    """A tokenizer with its chat template. `end_of_turn` is the token that ends a message of the agent.

    options: given to the template, e.g. {"enable_thinking": False}.
    critic: what is put in front of the first user message when the critic reads; `{{hiddenInformation}}` stands for c.
    Raises Fault when the tokenizer has no chat template, or one that refuses a plain conversation.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, options: dict | None = None, critic: Prompt | None = None):
        require_template(tokenizer)
        self.tokenizer = tokenizer
        self.options = options or {}
        text = tokenizer.get_chat_template()
        self.text = SAME_DAY + text if "strftime_now" in text else text
        self.critic = critic or critic_prompt()
        self.end_of_turn = self._probe()
        special = {token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special}
        self.ends = special | {self.end_of_turn}  # the last token of a turn that the agent ended is one of these
        self.encoder = Encoder(tokenizer, self.end_of_turn)

    def render(self, messages: Messages, *, generation: bool = True, where: str = "") -> str:
        """The conversation as text. Raises Fault with the template's own reason when it refuses."""
        try:
            return self.tokenizer.apply_chat_template(
                list(messages),
                chat_template=self.text,
                tokenize=False,
                add_generation_prompt=generation,
                **self.options,
            )
        except TemplateError as error:
            what = f"the dialogue at {where}" if where else "a plain conversation of user and assistant"
            raise Fault(
                f"The chat template of {name_of(self.tokenizer)} refuses {what}: {str(error).rstrip('.')}; "
                "leave that out or set model.chat_template to a file with another template.",
                usage=True,
            ) from error

    def turns(self, dialogue: Dialogue, hidden: bool = False) -> tuple[Turn, ...]:
        """The turns of one settled dialogue; see `all_turns`."""
        return self.all_turns([dialogue], hidden)[0]

    def all_turns(self, dialogues: Sequence[Dialogue], hidden: bool = False) -> list[tuple[Turn, ...]]:
        """The turns of settled dialogues as the policy reads them, or, with `hidden`, as the critic does.

        The responses are the same in both. Prompts that the sampler logged are used in the policy's view only: the
        critic's are rendered anew with the hidden information. Prompts that begin with each other share their memory.
        Raises Fault when the template refuses, or a dialogue has no hidden information.
        """
        made = []
        for chunk in chunks(dialogues):
            if not all(dialogue.settled for dialogue in chunk):
                raise ValueError("Dialogues get their tokens from settle() before their turns are made.")
            views = [self.view(dialogue, hidden) for dialogue in chunk]
            texts = [
                self.render(messages[: turn.position], where=dialogue.where)
                for dialogue, messages in zip(chunk, views, strict=True)
                for turn in dialogue.turns
                if hidden or turn.prompt_ids is None
            ]
            rendered = iter(self.encoder.encode(texts))
            for dialogue in chunk:
                prompts = [
                    next(rendered) if hidden or turn.prompt_ids is None else turn.prompt_ids for turn in dialogue.turns
                ]
                made.append(
                    tuple(
                        Turn(prompt, turn.ids, turn.sampled, turn.log_probs)
                        for prompt, turn in zip(share_memory(prompts), dialogue.turns, strict=True)
                    )
                )
        return made

    def view(self, dialogue: Dialogue, hidden: bool) -> Messages:
        """The messages as the policy reads them, or as the critic does: with c in front of the first user message."""
        if not hidden:
            return dialogue.messages
        if dialogue.hidden_information is None:
            raise Fault(
                f"The dialogue at {dialogue.where} has no hidden information, which the critic reads; give rows with "
                "task.hidden_information or set critic.hidden_information to false.",
                usage=True,
            )
        told = self.critic.render(hiddenInformation=dialogue.hidden_information)
        messages = list(dialogue.messages)
        first = next(index for index, message in enumerate(messages) if message["role"] == "user")
        messages[first] = {"role": "user", "content": f"{told}\n\n{messages[first]['content']}"}
        return tuple(messages)

    def _probe(self) -> int:
        """The token that ends a message of the agent: the first added token behind one, else the end of a text."""
        conversation = ({"role": "user", "content": "Hello"}, {"role": "assistant", "content": PROBE})
        _, found, tail = self.render(conversation, generation=False).rpartition(PROBE)
        if not found:
            raise Fault(
                f"The chat template of {name_of(self.tokenizer)} leaves out what the assistant says.", usage=True
            )
        added = self.tokenizer.added_tokens_decoder
        for token in self.tokenizer(tail, add_special_tokens=False)["input_ids"]:
            if token in added and added[token].content.strip():
                return token
        if self.tokenizer.eos_token_id is None:
            raise Fault(f"Nothing ends a turn in the chat template of {name_of(self.tokenizer)}.", usage=True)
        return self.tokenizer.eos_token_id


def require_template(tokenizer: PreTrainedTokenizerBase) -> None:
    """Raises Fault when the tokenizer cannot turn a conversation into text."""
    if not tokenizer.chat_template:
        raise Fault(
            f"The tokenizer of {name_of(tokenizer)} has no chat template, without which it cannot read a conversation; "
            "take an instruction-tuned model or set model.chat_template to a file with a template.",
            usage=True,
        )


def name_of(tokenizer: PreTrainedTokenizerBase) -> str:
    return tokenizer.name_or_path or "the base model"


def chunks(dialogues: Sequence[Dialogue]) -> Iterator[Sequence[Dialogue]]:
    for start in range(0, len(dialogues), CHUNK):
        yield dialogues[start : start + CHUNK]


def share_memory(prompts: list[np.ndarray]) -> list[np.ndarray]:
    """Prompts that begin the next one become a part of its array: a long dialogue is then held once."""
    shared = list(prompts)
    for index in reversed(range(len(shared) - 1)):
        beginning = shared[index + 1][: len(shared[index])]
        if np.array_equal(beginning, shared[index]):
            shared[index] = beginning
    return shared
