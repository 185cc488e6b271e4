"""Compares a critic's turn credits with measured ones: how much each draft of a page gained over the one before.

A page has a score for every draft, so that the gain of a turn is measured: score_t − score_{t−1}, and the score itself
for the first draft. Functions have no such truth. The comparison is within a dialogue, as is the use of credits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..turn import Turn
from .ranking_report import rank_correlation

if TYPE_CHECKING:
    from ..data.template import Template
    from .prepare import Prepared
    from .run import Run

RESAMPLES = 10_000

View = Sequence[Sequence[Turn]]  # the turns of each dialogue
# of the turns with and without hidden information: the critic's credits and the untrained model's, (T,) each
CreditsOf = Callable[[View, View], tuple[list[np.ndarray], list[np.ndarray]]]


def turn_gains(drafts: Sequence[tuple[int, float]], turns: int) -> np.ndarray:
    """Returns the gain of each turn, (turns,) float64; 0 for a turn without a draft.

    drafts: the number of each turn with one, from 0, and its score, in order.
    """
    gains = np.zeros(turns)
    before = 0.0
    for turn, of_draft in drafts:
        gains[turn] = of_draft - before
        before = of_draft
    return gains


def mean_correlation(
    credits: Sequence[np.ndarray], gains: Sequence[np.ndarray], seed: int = 0
) -> tuple[int, float, float, float]:
    """Returns the number of dialogues, the mean of their Spearman's ρ, and its 95 % interval.

    credits, gains: of the turns of each dialogue, (T,). A dialogue in which either is constant has no ρ and does not
    count. The interval is a percentile bootstrap over dialogues; NaN with fewer than two.
    """
    values = [rank_correlation(*both) for both in zip(credits, gains, strict=True)]
    known = np.array([value for value in values if value is not None])
    if len(known) < 2:
        return len(known), float(known.mean()) if len(known) else float("nan"), float("nan"), float("nan")
    drawn = np.random.default_rng(seed).choice(known, (RESAMPLES, len(known))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return len(known), float(known.mean()), float(low), float(high)


def report_gains(run: Run, template: Template, prepared: Prepared, credits_of: CreditsOf) -> dict[str, Any]:
    """Emits the event `gains` and returns its figures under that name; nothing without held-out pages.

    Measured on the held-out dialogues that have hidden information and scores of drafts, and are short enough for the
    critic. credits_of: gives the credits of each dialogue's turns by the critic and by the untrained model.
    """
    longest = run.config.critic.max_tokens
    held_out = [
        dialogue
        for dialogue in prepared.dialogues
        if dialogue.drafts and dialogue.hidden_information is not None and dialogue.task in prepared.apart
    ]
    views = zip(held_out, *(template.all_turns(held_out, hidden) for hidden in (True, False)), strict=True)
    short = [each for each in views if all(len(turn.prompt) + len(turn.response) <= longest for turn in each[1])]
    if not short:
        return {}
    dialogues, told, plain = (list(part) for part in zip(*short, strict=True))
    gains = [turn_gains(dialogue.drafts, len(dialogue.turns)) for dialogue in dialogues]
    credits, untrained = credits_of(told, plain)
    count, mean, low, high = mean_correlation(credits, gains, run.config.seed)
    _, of_untrained, untrained_low, untrained_high = mean_correlation(untrained, gains, run.config.seed)
    figures = {
        "dialogues": count,
        "rank_correlation": mean,
        "low": low,
        "high": high,
        "untrained_rank_correlation": of_untrained,
        "untrained_low": untrained_low,
        "untrained_high": untrained_high,
    }
    run.events.emit("gains", stage="critic", **figures)
    return {"gains": figures}
