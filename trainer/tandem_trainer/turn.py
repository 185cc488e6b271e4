"""What is trained on: agent turns as token ids.

A turn is one (history, response) pair, exactly as the sampler saw and wrote it. A trajectory is a tuple of turns. Where
the chat template keeps the history, the prompt of turn t+1 begins with the prompt and the response of turn t; where it
rewrites the history, the prompts differ and each turn stands on its own. Nothing downstream has to know which: what two
turns share is found again by `forest.py`, token by token, and computed once.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Turn:
    """One agent turn. Loss and scores fall on `response` and nothing else.

    prompt:     (P,) int32, the history o_t as the model reads it, generation prompt included.
    response:   (L,) int32, L ≥ 1, the agent's turn a_t with the token that ends it, if it wrote one.
    sampled:    whether `response` holds the ids that were sampled; otherwise it was tokenised once from text.
    log_probs:  (L,) float32, natural logarithms, what the sampler said of its tokens, NaN for a token of which it did
                not say it, such as the end that a server leaves out; None when it said none.
    """

    prompt: np.ndarray
    response: np.ndarray
    sampled: bool = False
    log_probs: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Example:
    """One unit of a batch: what one term of a loss is computed from.

    Pairwise objectives compare `chosen` with `rejected`; the others leave `rejected` empty. A trajectory is all of its
    turns, a single turn a tuple of one. `target` is the return that a value head learns; `weight` scales the term.
    Examples of one `group` share a history and are kept side by side, because their common tokens are computed once.
    `dialogues` are the ids of those that a pair of trajectories was made of, the better one's first; else empty.
    """

    group: str
    chosen: tuple[Turn, ...]
    rejected: tuple[Turn, ...] = ()
    target: float | None = None
    weight: float = 1.0
    dialogues: tuple[str, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.chosen + self.rejected
