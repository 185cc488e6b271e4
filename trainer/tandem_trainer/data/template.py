"""Converts dialogues to turns: the prompt before each turn of the agent, and the tokens of that turn.

The prompt of turn t is the one that a chat server would build from the messages so far: the chat template with the
generation prompt, tokenised. The response is the sampled tokens, else those of the text, tokenised once
(`tokenize_turns.py`). So the trained tokens are known without searching in texts. A template may rewrite the history
(Qwen 3 removes the thoughts of earlier turns); then a prompt does not begin with the prompt before it.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from transformers import PreTrainedTokenizerBase

from ..fault import UsageFault
from ..turn import Turn
from .dialogue import TESTS, Dialogue, Measure, Messages
from .prompt_file import Prompt, critic_prompt

CHUNK = 128  # dialogues tokenised together: enough to keep the tokenizer's threads busy
# A dialogue as Tandem sends it: texts, the roles in turn, and no system message. src/core/model/local/chat.ts has it.
PLAIN = (
    {"role": "user", "content": "Heron"},
    {"role": "assistant", "content": "Zebra"},
    {"role": "user", "content": "Otter"},
)
# Some templates write today's date. Here it is always Llama's default, so that a run can be repeated.
SAME_DAY = """{%- macro strftime_now(format) %}{{ format | replace("%d", "26") | replace("%b", "Jul")
| replace("%B", "July") | replace("%m", "07") | replace("%Y", "2024") | replace("%A", "Friday") }}{% endmacro %}"""


class Template:
    """end_of_turn: the token that ends a message of the agent. options: variables of the template, such as
    {"enable_thinking": False}. critic: text in front of the critic's first user message, where `{{hiddenInformation}}`
    becomes c; by default that for functions and that for pages. rows: of the model's embedding; by default as many as
    the tokenizer needs. Raises Fault when the chat template refuses a plain conversation.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        options: dict | None = None,
        critic: Prompt | None = None,
        *,
        rows: int | None = None,
    ):
        self.rows = rows if rows is not None else max(tokenizer.get_vocab().values()) + 1
        self.tokenizer = tokenizer
        self.options = options or {}
        text = tokenizer.get_chat_template()
        self.text = SAME_DAY + text if "strftime_now" in text else text
        self.critic, self.page_critic = critic or critic_prompt(), critic or critic_prompt("critic-page.md")
        self._require_plain_text()
        self.end_of_turn = self._probe()
        require_rows(tokenizer, [self.end_of_turn], self.rows)
        special = {token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special}
        self.ends = special | {self.end_of_turn}  # last tokens of turns that the agent ended
        self.encoder = Encoder(tokenizer, self.end_of_turn, self.rows)

    def render(self, messages: Messages, *, generation: bool = True, where: str = "") -> str:
        """Raises Fault with the template's own reason when it refuses."""
        try:
            return self.tokenizer.apply_chat_template(
                list(messages),
                chat_template=self.text,
                tokenize=False,
                add_generation_prompt=generation,
                **self.options,
            )
        except Exception as error:  # a template computes: it may divide by zero or add a text to a number
            what = f"the dialogue at {where}" if where else "a plain conversation of user and assistant"
            raise UsageFault(
                f"The chat template of {name_of(self.tokenizer)} refuses {what}: {str(error).rstrip('.')}; "
                "leave that out or set model.chat_template to a file with another template."
            ) from error

    def turns(self, dialogue: Dialogue, hidden: bool = False) -> tuple[Turn, ...]:
        return self.all_turns([dialogue], hidden)[0]

    def all_turns(self, dialogues: Sequence[Dialogue], hidden: bool = False) -> list[tuple[Turn, ...]]:
        """Returns the turns of settled dialogues as the policy reads them or, with `hidden`, as the critic does.

        The responses are equal in both. Logged prompts are only for the policy: the critic's are rendered with the
        hidden information. A prompt that begins with an earlier one shares its memory. Raises Fault when the template
        refuses, or a dialogue has no hidden information.
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
                        Turn(prompt, turn.ids)
                        if turn.selected
                        else Turn(prompt, turn.ids, turn.sampled, turn.log_probs)
                        for prompt, turn in zip(share_memory(prompts), dialogue.turns, strict=True)
                    )
                )
        return made

    def view(self, dialogue: Dialogue, hidden: bool) -> Messages:
        if not hidden:
            return dialogue.messages
        if dialogue.hidden_information is None:
            raise UsageFault(
                f"The dialogue at {dialogue.where} has no hidden information, which the critic reads; give rows with "
                "task.hidden_information or set critic.hidden_information to false."
            )
        told = self.critic_for(dialogue.measure).render(hiddenInformation=dialogue.hidden_information)
        messages = list(dialogue.messages)
        first = next(index for index, message in enumerate(messages) if message["role"] == "user")
        messages[first] = {"role": "user", "content": f"{told}\n\n{messages[first]['content']}"}
        return tuple(messages)

    def critic_for(self, measure: Measure) -> Prompt:
        return self.critic if measure == TESTS else self.page_critic

    def _require_plain_text(self) -> None:
        """Templates of vision models pass over a text without parts. Raises Fault."""
        text = self.render(PLAIN)
        for message in PLAIN:
            if message["content"] not in text:
                raise UsageFault(
                    f"The chat template of {name_of(self.tokenizer)} leaves out what the {message['role']} says in a "
                    "plain text, as Tandem sends it; set model.chat_template to a file with another template."
                )

    def _probe(self) -> int:
        """Finds the first added token behind a message of the agent, else the end of text."""
        text = self.render(PLAIN[:2], generation=False)
        tail = text.rpartition(PLAIN[1]["content"])[2]
        added = self.tokenizer.added_tokens_decoder
        for token in self.tokenizer(tail, add_special_tokens=False)["input_ids"]:
            if token in added and added[token].content.strip():
                return token
        if self.tokenizer.eos_token_id is None:
            raise UsageFault(f"Nothing ends a turn in the chat template of {name_of(self.tokenizer)}.")
        return self.tokenizer.eos_token_id


def require_rows(tokenizer: PreTrainedTokenizerBase, ids: Iterable[int], rows: int) -> None:
    """A token without a row of the embedding cannot be read. Errors: UsageFault."""
    if (last := max(ids, default=0)) >= rows:
        raise UsageFault(
            f"The tokenizer of {name_of(tokenizer)} has the token {tokenizer.convert_ids_to_tokens(last)} ({last}), "
            f"and its model {rows} rows for tokens: take the tokenizer that was published with the model, or leave the "
            "token out."
        )


def name_of(tokenizer: PreTrainedTokenizerBase) -> str:
    return tokenizer.name_or_path or "the base model"


def chunks(dialogues: Sequence[Dialogue]) -> Iterator[Sequence[Dialogue]]:
    for start in range(0, len(dialogues), CHUNK):
        yield dialogues[start : start + CHUNK]


def share_memory(prompts: list[np.ndarray]) -> list[np.ndarray]:
    """Makes each prompt that begins the next one a view of its array, so that a long dialogue is stored once."""
    shared = list(prompts)
    for index in reversed(range(len(shared) - 1)):
        beginning = shared[index + 1][: len(shared[index])]
        if np.array_equal(beginning, shared[index]):
            shared[index] = beginning
    return shared


class Encoder:
    """Tokenises rendered conversations, which repeat most of their text from turn to turn.

    A tokenizer first takes its added tokens (`<|im_end|>`) out of a text and then treats what stands between them piece
    by piece. So a text may be cut in front of such a token, and its ids are those of its pieces one behind the other.
    That holds only for tokens that match whatever stands around them; `cut` is the end of a turn if it is such a token,
    and without one every text is tokenised whole.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, end_of_turn: int, rows: int):
        self.tokenizer, self.rows = tokenizer, rows
        self.cut = tokenizer.convert_ids_to_tokens(end_of_turn) if matches_anywhere(tokenizer, end_of_turn) else None

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Returns (L_i,) int32 of each text, without the tokens that the tokenizer adds around it."""
        pieces = [self.pieces(text) for text in texts]
        distinct = list(dict.fromkeys(piece for of_text in pieces for piece in of_text))
        if not distinct:
            return [np.empty(0, np.int32) for _ in texts]
        encoded = self.tokenizer(
            distinct,
            add_special_tokens=False,
            return_attention_mask=False,
            padding=False,
            truncation=False,
            verbose=False,
        )["input_ids"]
        require_rows(self.tokenizer, (id for of_piece in encoded for id in of_piece), self.rows)
        ids = {piece: np.array(of_piece, np.int32) for piece, of_piece in zip(distinct, encoded, strict=True)}
        return [np.concatenate([np.empty(0, np.int32), *(ids[piece] for piece in of_text)]) for of_text in pieces]

    def pieces(self, text: str) -> list[str]:
        if self.cut is None or self.cut not in text:
            return [text] if text else []
        first, *others = text.split(self.cut)
        return ([first] if first else []) + [self.cut + other for other in others]


def matches_anywhere(tokenizer: PreTrainedTokenizerBase, token_id: int) -> bool:
    """True if the ids before a token do not depend on later text.

    Not so when it strips white space to its left, must be a single word, is matched after normalisation, or when
    another added token could take the beginning of its text.
    """
    added = tokenizer.added_tokens_decoder
    token = added.get(token_id)
    if token is None or not tokenizer.is_fast or tokenizer.split_special_tokens:
        return False
    normalised = token.normalized and tokenizer.backend_tokenizer.normalizer is not None
    if token.lstrip or token.single_word or normalised:
        return False
    text = token.content
    others = [other.content for other in added.values() if other.content != text]
    return not any(
        text in other or any(other.endswith(text[:length]) for length in range(1, len(text))) for other in others
    )
