"""Describes a critic's scores to the user: its ranking, and how well its turn credits agree with measured gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..config import CriticConfig
from ..fault import Fault, UsageFault
from ..turn import History, Ranked, Turn
from .event_file import Events

if TYPE_CHECKING:
    from ..data.template import Template
    from .prepare import Prepared
    from .run import Run

# Smallest meaningful spread of scores, as a multiple of the difference of sampler and trainer. Measured on a CPU with a
# small model in bfloat16: at less spread the correlation with float32 scores was at most 0.2, at 1.7 times it was 0.8.
ROUNDING = 5.0
SHOWN = 8  # maximum number of ranked histories per round that are emitted as samples, evenly spread


def report_ranking(ranked: Sequence[Ranked], stage: str, events: Events) -> dict[str, float]:
    figures = ranking_figures(ranked)
    events.emit("ranking", stage=stage, **figures)
    for one in ranked[:: math.ceil(len(ranked) / SHOWN)]:
        events.emit("sample", stage=stage, **sample_of(one))
    return figures


def ranking_figures(ranked: Sequence[Ranked]) -> dict[str, float]:
    """All but the lengths are over distinct candidates.

    histories, candidates (distinct ones), repeated (further copies), without_pairs (histories that give none);
    rank_correlation: Spearman's ρ between critic and untrained score, the mean over histories in which both vary;
    spread, untrained_spread: the standard deviation within a history, the mean over histories;
    good_tokens, bad_tokens: mean lengths, which show whether the critic goes by length.
    """
    firsts = [[places[0] for places in one.candidates.different.values()] for one in ranked]
    scores = [one.scores[first] for one, first in zip(ranked, firsts, strict=True)]
    untrained = [one.untrained[first] for one, first in zip(ranked, firsts, strict=True)]
    correlations = [rank_correlation(*both) for both in zip(scores, untrained, strict=True)]
    lengths: dict[bool, list[int]] = {True: [], False: []}
    for one in ranked:
        for turn, judged in zip(one.candidates.turns, one.good, strict=True):
            if judged is not None:
                lengths[judged].append(len(turn.response))
    different = sum(map(len, firsts))
    return {
        "histories": len(ranked),
        "candidates": different,
        "repeated": sum(len(one.candidates.turns) for one in ranked) - different,
        "without_pairs": sum(True not in one.good for one in ranked),
        "rank_correlation": _mean([value for value in correlations if value is not None]),
        "spread": _mean([of_one.std() for of_one in scores]),
        "untrained_spread": _mean([of_one.std() for of_one in untrained]),
        "good_tokens": _mean(lengths[True]),
        "bad_tokens": _mean(lengths[False]),
    }


def rank_correlation(left: np.ndarray, right: np.ndarray) -> float | None:
    """Spearman's ρ, ties sharing their mean rank; None when one side is constant or unknown."""
    if np.isnan(left).any() or np.isnan(right).any() or np.ptp(left) == 0 or np.ptp(right) == 0:
        return None
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    below = (values[None] < values[:, None]).sum(axis=1)
    equal = (values[None] == values[:, None]).sum(axis=1)
    return below + (equal - 1) / 2


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def sample_of(one: Ranked) -> dict:
    """The content of one event `sample`, best first; a text with copies in both halves has no `good`."""
    shown = []
    for places in sorted(one.candidates.different.values(), key=lambda places: (-one.scores[places[0]], places[0])):
        first, halves = places[0], {one.good[place] for place in places}
        candidate = {
            "text": one.candidates.texts[first],
            "times": len(places),
            "score": float(one.scores[first]),
            "untrained": float(one.untrained[first]),
        }
        if len(halves) == 1 and None not in halves:
            candidate["good"] = halves.pop()
        shown.append(candidate)
    history = one.candidates.history
    return {"group": history.group, "history": list(history.messages), "candidates": shown}


def tell_of_rounding(
    ranked: Sequence[Ranked], figures: Mapping[str, float], settings: CriticConfig, dtype: torch.dtype, events: Events
) -> None:
    """Warns when rounding dominates the scores: a hardly trained critic then ranks by chance.

    The difference between sampler and trainer on a token, with the same weights, measures the rounding.
    """
    apart = figures.get("sampler_difference")
    if apart is None:
        return
    lengths = np.array([len(turn.response) for one in ranked for turn in one.candidates.turns])
    rounding = apart * float((lengths ** (-0.5 if settings.length_normalisation else 0.5)).mean())
    spread = _mean([one.scores.std() for one in ranked])
    if spread < ROUNDING * rounding:
        events.notice(
            f"The critic's scores of one history are only {spread:.1e} apart, which rounding in "
            f"{str(dtype).removeprefix('torch.')} does as well, so that the ranking is little more than chance: train "
            "the critic longer, with a higher learning_rate, or in float32."
        )


def report_unvalued(ranked: int, histories: int, events: Events) -> None:
    """Errors: Fault when no history can be ranked."""
    if ranked == 0:
        raise Fault(
            f"None of {histories} histories can be ranked, because a candidate of each has no value; the notice before "
            "says why the first has none."
        )
    if ranked < histories:
        events.notice(
            f"{histories - ranked} of {histories} histories are left out of the ranking, because a candidate has no "
            "value."
        )


def cannot_rank(history: History) -> Fault:
    if history.hidden_prompt is None:
        return UsageFault(
            f"The critic cannot rank the turns of {history.group}: its task has no hidden information. Set "
            "critic.hidden_information to false, or leave such tasks out."
        )
    return Fault(
        f"The critic's scores of the turns of {history.group} are no numbers: lower critic.learning_rate, or set "
        "model.dtype to float32, and begin a new run."
    )


# ---- gains: score_t − score_{t−1} of the drafts of a page, and the first score; functions have no such truth


RESAMPLES = 10_000

View = Sequence[Sequence[Turn]]  # the turns of each dialogue
# of the turns with and without hidden information: the critic's credits and the untrained model's, (T,) each
CreditsOf = Callable[[View, View], tuple[list[np.ndarray], list[np.ndarray]]]


def turn_gains(drafts: Sequence[tuple[int, float]], turns: int) -> np.ndarray:
    """Returns the gain of each turn, (turns,) float64; 0 for a turn without a draft.

    drafts: the number of each turn with one, from 0, and its score, in order.
    """
    gains = np.zeros(turns)
    gains[[turn for turn, _ in drafts]] = np.diff([score for _, score in drafts], prepend=0.0)
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
    names = ("dialogues", "rank_correlation", "low", "high")
    figures = dict(zip(names, mean_correlation(credits, gains, run.config.seed), strict=True))
    of_untrained = zip(names, mean_correlation(untrained, gains, run.config.seed), strict=True)
    figures |= {f"untrained_{name}": value for name, value in of_untrained if name != "dialogues"}
    run.events.emit("gains", stage="critic", **figures)
    return {"gains": figures}
