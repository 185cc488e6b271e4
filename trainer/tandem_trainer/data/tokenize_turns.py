"""Gives every turn of a dialogue its tokens: the sampled ones, else those of its text, which is tokenised once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .dialogue import Dialogue, Problem, Read, Spoken, counted
from .template import Template, chunks


@dataclass(frozen=True)
class Place:
    dialogue: Dialogue
    turn: Spoken

    @property
    def text(self) -> str:
        return self.dialogue.messages[self.turn.position]["content"]


def settle(template: Template, dialogues: Sequence[Dialogue]) -> Read:
    """Raises Fault when the template refuses a dialogue without token ids.

    Ids that the tokenizer lacks, or that decode to another text than was logged, come from another tokenizer; the text
    is used instead. A turn that the agent ended gets the end-of-turn token if its ids lack it, and so does a text
    unless it was cut. The log-probability of an added end is NaN; the others are kept if every token has one.
    """
    settled = Read()
    for chunk in chunks(dialogues):
        places = [Place(dialogue, turn) for dialogue in chunk for turn in dialogue.turns]
        fits = decode_to_their_text(template, places)
        from_text = iter(tokenise(template, [place for place, fit in zip(places, fits, strict=True) if not fit]))
        turns = iter(
            [
                sampled_turn(template, place.turn) if fit else text_turn(template, place.turn, next(from_text))
                for place, fit in zip(places, fits, strict=True)
            ]
        )
        for dialogue in chunk:
            made = replace(dialogue, turns=tuple(next(turns) for _ in dialogue.turns), settled=True)
            if all(len(turn.ids) for turn in made.turns):
                settled.dialogues.append(made)
                continue
            file, _, line = made.where.rpartition(":")
            settled.problems.append(Problem(file, int(line), "A turn of the agent was cut before its first token."))
            settled.left_out["turns without tokens"] += 1
    if foreign := sum(turn.foreign for dialogue in settled.dialogues for turn in dialogue.turns):
        settled.notices.append(
            f"Of {counted(foreign, 'turn')} the sampled token ids do not decode to the text, as if they were another "
            "tokenizer's; the text was tokenised instead."
        )
    return settled


def are_known(template: Template, turn: Spoken) -> bool:
    return turn.ids is not None and all(ids is None or ids.max() < template.rows for ids in (turn.ids, turn.prompt_ids))


def decode_to_their_text(template: Template, places: Sequence[Place]) -> list[bool]:
    """Ignores special tokens and outer space."""
    known = [are_known(template, place.turn) for place in places]
    sampled = [without_end(template, place.turn.ids) for place, has in zip(places, known, strict=True) if has]
    decoded: Iterator[str] = iter(
        template.tokenizer.batch_decode(sampled, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    )
    return [
        has and says(next(decoded), place.text, place.turn.reasoning) for place, has in zip(places, known, strict=True)
    ]


def says(decoded: str, text: str, reasoning: str) -> bool:
    """The logged text may end inside a character or lack the model's reasoning."""
    decoded, text, reasoning = decoded.rstrip("\ufffd").strip(), text.rstrip("\ufffd").strip(), reasoning.strip()
    return decoded == text or (reasoning != "" and decoded.endswith(text) and reasoning in decoded)


def tokenise(template: Template, places: Sequence[Place]) -> list[np.ndarray]:
    """Tokenises texts behind their prompts, or alone where that would change the prompt's tokens."""
    encode = template.encoder.encode
    texts = [place.text for place in places]
    prompts = [
        template.render(place.dialogue.messages[: place.turn.position], where=place.dialogue.where) for place in places
    ]
    encoded = encode([*prompts, *map(str.__add__, prompts, texts)])
    responses = [
        whole[len(prompt) :].copy() if np.array_equal(whole[: len(prompt)], prompt) else None
        for prompt, whole in zip(encoded[: len(texts)], encoded[len(texts) :], strict=True)
    ]
    alone = iter(encode([text for text, response in zip(texts, responses, strict=True) if response is None]))
    return [next(alone) if response is None else response for response in responses]


def sampled_turn(template: Template, turn: Spoken) -> Spoken:
    ids, said = turn.ids, turn.log_probs
    if turn.finish_reason != "stop" or ids[-1] in template.ends:
        return replace(turn, sampled=True)
    # A log-probability other than that of the end is missing, and it is unknown which token lacks it.
    if said is not None:
        said = None if np.isnan(said[-1]) else np.append(said, np.float32(np.nan))
    return replace(turn, ids=with_end(template, ids), sampled=True, log_probs=said)


def text_turn(template: Template, turn: Spoken, ids: np.ndarray) -> Spoken:
    """Drops the logged prompt, which was another tokenizer's."""
    if turn.finish_reason != "length" and (len(ids) == 0 or ids[-1] not in template.ends):
        ids = with_end(template, ids)
    return replace(turn, ids=ids, sampled=False, foreign=turn.ids is not None, log_probs=None, prompt_ids=None)


def with_end(template: Template, ids: np.ndarray) -> np.ndarray:
    return np.append(ids, np.int32(template.end_of_turn))


def without_end(template: Template, ids: np.ndarray) -> np.ndarray:
    return ids[:-1] if ids[-1] in template.ends else ids
