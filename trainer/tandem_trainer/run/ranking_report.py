"""Describes a ranking to the user: its figures, samples of it, and warnings about meaningless scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from ..config import CriticConfig
from ..fault import Fault
from ..turn import History, Ranked
from .event_file import Events

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
        return Fault(
            f"The critic cannot rank the turns of {history.group}: its task has no hidden information. Set "
            "critic.hidden_information to false, or leave such tasks out.",
            usage=True,
        )
    return Fault(
        f"The critic's scores of the turns of {history.group} are no numbers: lower critic.learning_rate, or set "
        "model.dtype to float32, and begin a new run."
    )
