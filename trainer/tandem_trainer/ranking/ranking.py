"""Stage 2 of SWEET-RL, second half: candidates scored by the critic, the better half called good, the others bad.

Beside the critic's score always stands that of the untrained model, log π_ref(a|o,c) − log π_ref(a|o): how much more
probable the hidden information makes a turn, without any training (pointwise mutual information). Under the convention
`reference-code` the critic's score contains it. So a ranking has to be compared with what it alone would have said.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import numpy as np

from ..config import CriticConfig
from ..data.order import lot
from ..fault import Fault
from ..model.base import Base
from ..objective.losses import Convention
from ..objective.scoring import score
from ..objective.value_head import ValueHead
from ..running.budget import TokenBudget
from ..running.events import Events
from ..running.whole_file import make_missing
from ..turn import Example, Turn
from .candidates import Candidates, History, Shards

# Times the difference of sampler and trainer. Measured on a CPU with a small model in bfloat16: scores with less spread
# had a correlation of at most 0.2 with the same in float32, and with 1.7 times that spread one of 0.8.
ROUNDING = 5.0

View = Literal["hidden", "plain"]  # a history with the hidden information in front, or as the agent reads it


@dataclass(frozen=True, eq=False)
class Ranked:
    """One history's candidates, all that were sampled.

    A turn that was sampled several times counts several times, as in the paper's halves: what the policy mostly says is
    then most of one half, and it is pulled towards it or away from it that much more.

    scores:     (n,) of the critic. Candidates with the same text have the score of the first of them.
    untrained:  (n,) of the untrained model; NaN where there is no hidden information.
    good:       (n,) True for the n // 2 best, False for the n // 2 worst, None for the one between them when n is odd;
                None for all when n is 1 or all scores are equal. Of equal scores the first that was sampled is better.
    """

    candidates: Candidates
    scores: np.ndarray
    untrained: np.ndarray
    good: tuple[bool | None, ...]

    @cached_property
    def different(self) -> dict[str, list[int]]:
        """The different texts, each with the places at which it was sampled, in the order of the first ones."""
        places: dict[str, list[int]] = {}
        for place, text in enumerate(self.candidates.texts):
            places.setdefault(text, []).append(place)
        return places

    def pairs(self, count: int, seed: int, round: int = 1) -> list[Example]:
        """`count` pairs of a good and a bad candidate, or all there are; seed, round and group decide which.

        Pairs of the same two texts are one example with their number as its weight. Two candidates on either side of
        the middle with the same text or the same score are no pair.
        """
        group, texts, turns = self.candidates.history.group, self.candidates.texts, self.candidates.turns
        good = [place for place, judged in enumerate(self.good) if judged is True]
        bad = [place for place, judged in enumerate(self.good) if judged is False]
        possible = [(high, low) for high in good for low in bad if self.scores[high] > self.scores[low]]
        drawn = sorted(possible, key=lambda pair: lot(seed, round, group, *pair))[:count]
        times = Counter((self.different[texts[high]][0], self.different[texts[low]][0]) for high, low in drawn)
        return [
            Example(group, chosen=(turns[high],), rejected=(turns[low],), weight=float(number))
            for (high, low), number in times.items()
        ]

    def sample(self) -> dict:
        """For the event `sample`, best first; a text with copies in both halves is in neither."""
        order = sorted(self.different.values(), key=lambda places: (-self.scores[places[0]], places[0]))
        shown = []
        for places in order:
            halves = {self.good[place] for place in places}
            shown.append(
                {
                    "text": self.candidates.texts[places[0]],
                    "times": len(places),
                    "score": float(self.scores[places[0]]),
                    "untrained": float(self.untrained[places[0]]),
                    "good": halves.pop() if len(halves) == 1 else None,
                }
            )
        history = self.candidates.history
        return {"group": history.group, "history": list(history.messages), "candidates": shown}


def rank(candidates: Candidates, scores: np.ndarray, untrained: np.ndarray) -> Ranked:
    """Applies the rules that `Ranked` states to scores of all candidates. Errors: Fault when a score is no number."""
    first_of_text = {text: place for place, text in reversed(list(enumerate(candidates.texts)))}
    first = [first_of_text[text] for text in candidates.texts]
    scores, untrained = scores[first], untrained[first]
    if np.isnan(scores).any():
        raise _cannot_rank(candidates.history)
    half = len(scores) // 2 if np.ptp(scores) > 0 else 0
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    good: list[bool | None] = [None] * len(scores)
    for place in order[:half]:
        good[place] = True
    for place in order[len(scores) - half :]:
        good[place] = False
    return Ranked(candidates, scores, untrained, tuple(good))


def _cannot_rank(history: History) -> Fault:
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


class Ranking:
    """Scores the candidates of a round; what is scored is on disk beside the shards and is not computed again.

    The file of the critic is named after its settings, but not its weights: see `Shards`.
    head: the trained value head, when that is the critic's score.
    """

    def __init__(
        self,
        shards: Shards,
        settings: CriticConfig,
        convention: Convention = "paper",
        head: ValueHead | None = None,
    ):
        self.shards, self.settings, self.convention, self.head = shards, settings, convention, head
        self.view: View = "hidden" if settings.hidden_information else "plain"
        self.critic = f"critic-{hashlib.sha256(repr(settings).encode()).hexdigest()[:12]}"

    def rank(
        self,
        base: Base,
        budget: TokenBudget,
        progress: Callable[[int, int], None] | None = None,
        *,
        logits_bytes: int = 256 << 20,
    ) -> list[Ranked]:
        """All histories in order. Switches `base` to the critic's adapter and to the reference, and back.

        Errors: Fault when the critic wants hidden information that a history does not have; Stopped.
        """
        log_p = partial(_sums, base, budget, logits_bytes)
        if self.settings.score == "log-ratio":
            self._pass(self.critic, self.view, log_p, budget, lambda: base.adapter("critic"), progress)
        if self.settings.score == "value-head":
            values = partial(self.head.scores, base, budget=budget)
            self._pass(self.critic, self.view, values, budget, lambda: base.adapter("critic"), progress)
        for view in ("hidden", "plain"):
            self._pass(f"reference-{view}", view, log_p, budget, base.reference, progress)
        ranked = [one for number in range(len(self.shards)) for one in self._ranked(number)]
        if self.settings.score == "log-ratio":
            self._tell_of_rounding(ranked, base, budget.events)
        return ranked

    def _pass(
        self,
        name: str,
        view: View,
        scorer: Callable[[list[Turn]], Sequence[float]],
        budget: TokenBudget,
        within: Callable[[], AbstractContextManager],
        progress: Callable[[int, int], None] | None,
    ) -> None:
        """Writes for each shard the number that `scorer` gives each candidate, NaN where there is no such view."""

        def make(number: int | None) -> bytes:
            candidates = [] if number is None else self.shards.read(number)
            turns = [_turns(of_history, view) for of_history in candidates]
            scores = iter(scorer([turn for part in turns for turn in part]))
            numbers = [
                next(scores) if part else np.nan
                for part, of_history in zip(turns, candidates, strict=True)
                for _ in of_history.turns
            ]
            return np.array(numbers, "<f4").tobytes()

        paths = [self._path(number, name) for number in range(len(self.shards))]
        make_missing(paths, make, budget.ranks, within=within, progress=progress)

    def _path(self, number: int, name: str) -> Path:
        return self.shards.path(number, f"-{name}.f32")

    def _ranked(self, number: int) -> list[Ranked]:
        candidates = self.shards.read(number)
        scores, untrained = self._scores(number, candidates)
        ends = np.cumsum([len(of_history.turns) for of_history in candidates])[:-1]
        parts = zip(candidates, np.split(scores, ends), np.split(untrained, ends), strict=True)
        return [rank(*part) for part in parts]

    def _scores(self, number: int, candidates: Sequence[Candidates]) -> tuple[np.ndarray, np.ndarray]:
        """The advantage of each candidate by the critic, eq. 3, and by the untrained model, all of a shard in a row.

        In the reference code the critic's reference does not see the hidden information.
        """
        hidden, plain = self._read(number, "reference-hidden"), self._read(number, "reference-plain")
        lengths = np.array([len(turn.response) for of_history in candidates for turn in of_history.turns])
        per = lengths if self.settings.length_normalisation else 1
        untrained = (hidden - plain) / per
        if self.settings.score == "untrained":
            return untrained, untrained
        critic = self._read(number, self.critic)
        if self.settings.score == "value-head":
            return critic, untrained
        reference = hidden if self.settings.hidden_information and self.convention == "paper" else plain
        return (critic - reference) / per, untrained

    def _tell_of_rounding(self, ranked: Sequence[Ranked], base: Base, events: Events) -> None:
        """A critic that has hardly moved gives log-ratios that rounding hides, and its ranking is then chance.

        How much rounding matters is seen where sampler and trainer, with the same weights, differ on a token.
        """
        apart = self.shards.figures().get("sampler_difference")
        if apart is None:
            return
        lengths = np.array([len(turn.response) for one in ranked for turn in one.candidates.turns])
        rounding = apart * float((lengths ** (-0.5 if self.settings.length_normalisation else 0.5)).mean())
        spread = _mean([one.scores.std() for one in ranked])
        if spread < ROUNDING * rounding:
            events.notice(
                f"The critic's scores of one history are only {spread:.1e} apart, which rounding in "
                f"{str(base.dtype).removeprefix('torch.')} does as well, so that the ranking is little more than "
                "chance: train the critic longer, with a higher learning_rate, or in float32."
            )

    def _read(self, number: int, name: str) -> np.ndarray:
        return np.fromfile(self._path(number, name), "<f4")


def ranking_figures(ranked: Sequence[Ranked]) -> dict[str, float]:
    """How a ranking went.

    histories, candidates (different ones), repeated (beyond these), without_pairs (histories that give none);
    rank_correlation: Spearman's, between critic and untrained score, the mean over histories in which both differ;
    spread, untrained_spread: the standard deviation within a history, the mean over histories;
    good_tokens, bad_tokens: mean lengths, which tell whether the critic goes by length.
    All but the lengths are over different candidates.
    """
    firsts = [[places[0] for places in one.different.values()] for one in ranked]
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
    """Spearman's ρ, equal values sharing their mean rank; None when one side has only one value or is not known."""
    if np.isnan(left).any() or np.isnan(right).any() or np.ptp(left) == 0 or np.ptp(right) == 0:
        return None
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    below = (values[None] < values[:, None]).sum(axis=1)
    equal = (values[None] == values[:, None]).sum(axis=1)
    return below + (equal - 1) / 2


def _turns(candidates: Candidates, view: View) -> list[Turn]:
    """The candidates behind the history as `view` has it; none when there is no hidden information to show."""
    prompt = candidates.history.hidden_prompt if view == "hidden" else candidates.history.prompt
    return [] if prompt is None else [Turn(prompt, turn.response) for turn in candidates.turns]


def _sums(base: Base, budget: TokenBudget, logits_bytes: int, turns: list[Turn]) -> list[float]:
    """log p of each whole turn."""
    return [float(log_probs.sum()) for log_probs in score(base, turns, budget, logits_bytes=logits_bytes)]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
