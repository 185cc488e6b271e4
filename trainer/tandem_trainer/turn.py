"""The training data: agent turns as token ids, and the histories at which candidates for a turn are sampled.

A turn is one (history, response) pair, exactly as the sampler saw and wrote it. A trajectory is a tuple of turns. Where
the chat template keeps the history, the prompt of turn t+1 begins with the prompt and the response of turn t; where it
rewrites the history, the prompts differ and each turn stands on its own. Later code need not know which:
`prefix_tree.py` finds common prefixes token by token, and they are computed once.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .data.dialogue import Messages


@dataclass(frozen=True, eq=False)
class Turn:
    """One agent turn. Loss and scores fall on `response` and nothing else.

    prompt:     (P,) int32, the history o_t as the model reads it, generation prompt included.
    response:   (L,) int32, L ≥ 1, the agent's turn a_t with the token that ends it, if it wrote one.
    sampled:    whether `response` is a plain sample: it holds the ids that were sampled, and no critic chose it among
                candidates.
    log_probs:  (L,) float32, the sampler's natural log-probabilities of its tokens; NaN for a token without one, such
                as an end token that the server leaves out; None when there are none.
    """

    prompt: np.ndarray
    response: np.ndarray
    sampled: bool = False
    log_probs: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Example:
    """One unit of a batch; one term of the loss is computed from it.

    Pairwise objectives compare `chosen` with `rejected`; the others leave `rejected` empty. A trajectory is the tuple
    of all its turns, a single turn a tuple of one. `target` is the return that a value head learns; `weight` scales the
    term.
    Examples of one `group` share a history and are kept side by side, because their common tokens are computed once.
    `samples` are turns that the present policy sampled at the histories of `chosen`, as many at each, in their order;
    of a person's word on one turn, turns of other dialogues behind its history (`reference_point`).
    `dialogues` holds the ids of the dialogues of a pair of trajectories, the better first, or of the one trajectory.
    `replayed` says that the dialogue is of an earlier round or of another agent (`data.earlier`).
    `taught` is for distillation: the first tokens of each chosen turn, which a teacher teaches, behind the prompt that
    the teacher reads. That may hold hidden information, and is in no input of the trained model.
    `signal` is what a person left on this turn, a field of `data.feedback`; `target` is then its desirability.
    """

    group: str
    chosen: tuple[Turn, ...]
    rejected: tuple[Turn, ...] = ()
    target: float | None = None
    weight: float = 1.0
    dialogues: tuple[str, ...] = ()
    taught: tuple[Turn, ...] = ()
    samples: tuple[Turn, ...] = ()
    signal: str | None = None
    replayed: bool = False

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.chosen + self.rejected + self.samples


@dataclass(frozen=True, eq=False)
class History:
    """The history of one turn of a trajectory, o_t.

    group:          "<trajectory>/<turn>", turns counted from 0.
    prompt:         (P,) int32, as the agent reads it, for sampling and training.
    hidden_prompt:  (P',) int32, with the hidden information c in front, for the critic only; None without c.
    messages:       the prompt as messages, for display.
    logged:         (L,) int32, the logged turn, when it is one of the candidates.
    """

    group: str
    prompt: np.ndarray
    hidden_prompt: np.ndarray | None
    messages: Messages = ()
    logged: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Candidates:
    """Turns sampled at one history, and then its logged turn if there is one; their prompt is the history's."""

    history: History
    turns: tuple[Turn, ...]
    texts: tuple[str, ...]

    @cached_property
    def different(self) -> dict[str, list[int]]:
        """Distinct texts in the order of their first samples, each with its indices."""
        places: dict[str, list[int]] = {}
        for place, text in enumerate(self.texts):
            places.setdefault(text, []).append(place)
        return places


@dataclass(frozen=True, eq=False)
class Ranked:
    """The n candidates of one history with their scores; the better half is good, the other half bad.

    A turn that was sampled several times counts several times, as in the paper's halves. So the policy's most frequent
    turn makes up most of one half, and training moves towards it or away from it accordingly more.

    scores:     (n,) by the critic. Candidates with the same text have the score of the first of them.
    untrained:  (n,) by the untrained model; NaN without hidden information.
    good:       (n,) True for the n // 2 best, False for the n // 2 worst, None for the middle one when n is odd;
                None for all when n is 1 or all scores are equal. Of equal scores the first sampled is better.
    """

    candidates: Candidates
    scores: np.ndarray
    untrained: np.ndarray
    good: tuple[bool | None, ...]
