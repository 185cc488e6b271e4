"""One token of each of many turns, drawn by temperature and top-p."""

import torch
from torch import Tensor
from transformers import TopPLogitsWarper

from ..config import CandidatesConfig


def draw(log_probs: Tensor, settings: CandidatesConfig, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """log_probs (N, V) float32, at the temperature → tokens (N,) int64 and what top-p makes of their log p (N,)."""
    if settings.top_p < 1:
        log_probs = TopPLogitsWarper(settings.top_p)(None, log_probs).log_softmax(-1)
    # Where a number falls into the sums of all probabilities: one random number a turn, and not, as `multinomial`
    # wants, one for each token of the vocabulary, which took a fifth of the time. Probability 0 is no place to fall.
    sums = log_probs.double().exp_().cumsum_(-1)
    places = torch.rand(len(sums), 1, dtype=torch.float64, device=sums.device, generator=generator) * sums[:, -1:]
    tokens = torch.searchsorted(sums, places, right=True).clamp_(max=sums.shape[1] - 1)
    return tokens[:, 0], log_probs.gather(1, tokens)[:, 0]
