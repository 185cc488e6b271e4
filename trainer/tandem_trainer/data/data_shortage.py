"""Warns before a run starts when its data are too few to expect a better agent.

The figures are from docs/training.md, "How many dialogues it takes": with the scoreboard's 600 dialogues of the starter
model, every method gave a better agent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..config import RunConfig
from ..methods.settings import method_of
from .dialogue import counted

Kind = Literal["pairs", "held_out_pairs", "successes", "dialogues", "token_ids", "tokenizer"]

DIALOGUES = 600
PAIRS = 300  # pairs from these dialogues, each success against every lower reward of its task
SUCCESSES = 140  # successes among these dialogues
# With 16 pairs, an accuracy of 3/4 is two standard errors above chance: 1/2 + 2 · (1/2) / sqrt(16).
HELD_OUT_PAIRS = 16


@dataclass(frozen=True)
class Shortage:
    """have: the amount; of turns, those with the model's own tokens. enough: from here on a gain can be expected."""

    kind: Kind
    have: int
    enough: int
    sentence: str


def shortages(config: RunConfig, counts: Mapping[str, Any]) -> list[Shortage]:
    """counts: those of the event `data`. A method that plays has as many dialogues as it needs.

    No amount was measured for other roles than the agent, nor for feedback without dialogues.
    """
    if method_of(config).plays or config.role != "agent" or (counts["feedback"] and not counts["trajectories"]):
        return []
    return _of_examples(config, counts) + _of_turns(config, counts)


def _of_examples(config: RunConfig, counts: Mapping[str, Any]) -> list[Shortage]:
    method = method_of(config)
    stage = "critic" if method.critic else "policy"
    train, held_out = counts[stage]["train"], counts[stage]["held_out"]
    if method.learns_from == "successes":
        said = f"{counted(train, 'dialogue')} to imitate: {_measured(SUCCESSES)}; collect more, of any agent."
        return _short("successes", train, SUCCESSES, said)
    if method.learns_from in ("rewards", "dialogues") or (method.critic and config.critic.score != "log-ratio"):
        have = counts["trajectories"]
        said = f"{counted(have, 'dialogue')} to learn from: {_measured(DIALOGUES)}; collect more."
        return _short("dialogues", have, DIALOGUES, said)
    learner = "The critic" if stage == "critic" else "The policy"
    said = (
        f"{learner} learns from {counted(train, 'pair')}: {_measured(PAIRS)}; collect several dialogues of more tasks, "
        "or pair more of them (data.pairing)."
    )
    found = _short("pairs", train, PAIRS, said)
    if config.data.held_out > 0:
        said = (
            f"{counted(held_out, 'pair')} held out: from {HELD_OUT_PAIRS} on, accuracy tells learning from chance; "
            "collect dialogues of more tasks, or raise data.held_out."
        )
        found += _short("held_out_pairs", held_out, HELD_OUT_PAIRS, said)
    return found


def _of_turns(config: RunConfig, counts: Mapping[str, Any]) -> list[Shortage]:
    """Tokenising a turn's text may give other tokens than were sampled."""
    turns, foreign = counts["turns"], counts["turns_of_another_tokenizer"]
    without = turns - counts["turns_as_sampled"] - foreign
    so = "their text is tokenised, which is how a warm start was measured."
    if method_of(config).reference:
        so = (
            "their text is tokenised, perhaps into others than were sampled. Gains were measured with the ids of every "
            "turn; collect dialogues with this model on this machine."
        )
    ids = f"{without:,} of {counted(turns, 'turn')} come without token ids: {so}"
    other = f"{foreign:,} of {counted(turns, 'turn')} have the token ids of another tokenizer than the model's: {so}"
    return _short("token_ids", turns - without, turns, ids) + _short("tokenizer", turns - foreign, turns, other)


def _measured(enough: int) -> str:
    return f"a better agent was measured with {enough}"


def _short(kind: Kind, have: int, enough: int, sentence: str) -> list[Shortage]:
    return [Shortage(kind, have, enough, sentence)] if have < enough else []
